import Accounts
import Base
import Campaigns
import Planning
import PushServices
import Synchronization

/// What a campaign's text would send, saved or not, as a child found it out: how many devices get
/// which text, and what some of them see.
struct DraftPreview: Sendable {
    /// What one device sees.
    struct Sample: Sendable {
        var service: String
        var variant: String
        /// The language of its text; blank for the text above the languages.
        var language: String
        var push: ShownPush
        /// Whether the device lacks a value that the text may print.
        var hasBlanks: Bool
    }

    /// How many samples there are of each text.
    static let samplesOfText = 12

    var audience: Int
    /// Skipped rows by reason, the most frequent first.
    var skipped: [(reason: String, rows: Int)]
    /// Devices by their own language, the most frequent first.
    var languages: [(name: String, devices: Int)]
    /// Devices by the text that they get.
    var texts: [(variant: String, language: String, devices: Int)]
    var samples: [Sample]
    /// For the next text; nil where a child has to read the exports again.
    var devices: SampledDevices?

    static func json(of preview: Preview) -> JSONValue {
        .object(pairs: [
            ("preview", preview.json), ("blanks", .array(preview.samplesWithBlanks.map { .integer(Int64($0)) })),
            ("devices", preview.devices?.json ?? .null),
        ])
    }

    /// - Parameter usual: the service of samples that name none.
    /// - Returns: nil for what no child wrote.
    init?(_ text: String, usual: any PushService) {
        guard let document = try? JSONValue(parsing: text), let preview = document["preview"],
            let audience = preview["audience"]?.integerValue
        else { return nil }
        func counts(_ key: String) -> [(String, Int)] {
            guard case .object(let members)? = preview[key] else { return [] }
            return members.map { ($0.name, Int($0.value.integerValue ?? 0)) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
        }
        func array(_ value: JSONValue?) -> [JSONValue] { if case .array(let items)? = value { items } else { [] } }
        self.audience = Int(audience)
        skipped = counts("skipped")
        languages = counts("languages")
        texts = array(preview["messages"]).map {
            (
                $0["variant"]?.stringValue ?? "", $0["language"]?.stringValue ?? "",
                Int($0["recipients"]?.integerValue ?? 0)
            )
        }
        let blanks = array(document["blanks"]).compactMap(\.integerValue).map(Int.init)
        samples = Self.samples(array(preview["samples"]), blanks, usual)
        devices = SampledDevices(document["devices"])
    }

    private static func samples(_ items: [JSONValue], _ blanks: [Int], _ usual: any PushService) -> [Sample] {
        items.enumerated().map { place, sample in
            let service = sample["service"]?.stringValue.flatMap(PushServices.named) ?? usual
            return Sample(
                service: service.name, variant: sample["variant"]?.stringValue ?? "",
                language: sample["language"]?.stringValue ?? "",
                push: service.shown(sample["payload"] ?? .null), hasBlanks: blanks.contains(place))
        }
    }

    /// How many devices get a text; nil where that is not known.
    func devices(variant: String? = nil, language: String? = nil) -> Int {
        texts.filter { (variant ?? $0.variant) == $0.variant && (language ?? $0.language) == $0.language }.reduce(0) {
            $0 + $1.devices
        }
    }

    // MARK: - Finding it out

    /// What is known of a text.
    enum State: Sendable {
        /// Until the devices are counted, the samples are those of another text's devices, if there
        /// was one with this audience.
        case counting([Sample])
        case known(DraftPreview)
        /// Nothing is known before the text is mended; with the reason, where it is another one.
        case mistakes(HTML)
    }

    /// - Parameters:
    ///   - text: the source, saved or not.
    ///   - begins: whether it is found out if it is not known.
    static func of(_ item: CampaignCache.Item, text: String, begins: Bool = true, _ visit: Visit, _ site: Site) throws
        -> State
    {
        let project = try site.project()
        let draft = CampaignSaving.draft(Array(text.utf8), file: item.path, project, at: visit.now)
        // The child reads the exports of the app that the text names.
        guard let app = draft.app?.value, visit.may(.seeCampaigns, app: app) else {
            return .mistakes(
                draft.app.map { "<ul class=\"findings\">\(CampaignsPage.finding(CampaignSaving.foreign($0)))</ul>" }
                    ?? "")
        }
        let question = PlanningJobs.Question(
            kind: .draft, file: item.path, input: text, stamps: [FileStamp(path: site.projectFile)])
        let usual = project.app(named: app)?.services.first?.service ?? PushServices.standard
        // When the console is busy, the page tries again.
        let answer =
            begins
            ? (try? site.jobs.answer(to: question, for: visit.person?.account)) ?? nil : site.jobs.known(question)
        guard let result = answer else {
            var campaign = CampaignFile(item.path, text: text, in: site.campaigns.choice)
            campaign.isConfined = true
            // What devices would get that were read before: the exports are not.
            let found = devices(of: item, text: text, site)?.samples(of: campaign, most: samplesOfText, at: visit.now)
            return .counting(found.map { samples($0.samples, $0.blanks, usual) } ?? [])
        }
        guard !result.hasMistakes else { return .mistakes("") }
        guard let known = DraftPreview(result.output, usual: usual) else { return .mistakes(PlanningJobs.unreadable) }
        if let devices = known.devices { site.sampled.keep(devices, of: audience(of: item, text, site), at: result.at) }
        return .known(known)
    }

    /// Devices that a text goes to, if they were read lately.
    static func devices(of item: CampaignCache.Item, text: String, _ site: Site) -> SampledDevices? {
        site.sampled.devices(of: audience(of: item, text, site))
    }

    private static func audience(of item: CampaignCache.Item, _ text: String, _ site: Site) -> AudienceText {
        AudienceText(file: item.path, text, project: FileStamp(path: site.projectFile))
    }
}

/// A campaign's text without what its devices read: texts with the same rest go to the same
/// devices.
struct AudienceText: Hashable, Sendable {
    private let file: String
    private let rest: String?
    /// Of volley.yaml, which says what the columns of exports are.
    private let project: FileStamp?

    init(file: String, _ text: String, project: FileStamp? = nil) {
        (self.file, self.project) = (file, project)
        var edit = YAMLEdit(text)
        for key in ["content", "description"] { try? edit?.set(nil, at: [key]) }
        rest = edit?.keys(at: []).contains("content") == false ? edit?.text : nil
    }

    /// Whether the rest could be told from the text.
    var isKnown: Bool { rest != nil }
}

/// Devices of audiences that were read lately, so that a new text for them is shown at once.
final class SampledAudiences: Sendable {
    private let known = Mutex<[AudienceText: (devices: SampledDevices, at: Timestamp)]>([:])
    private static let most = 20
    /// As long as answers of children.
    private static let secondsToLive = 300.0

    func devices(of audience: AudienceText) -> SampledDevices? {
        known.withLock { known in
            known[audience].flatMap { Timestamp.now() < $0.at.adding(seconds: Self.secondsToLive) ? $0.devices : nil }
        }
    }

    func keep(_ devices: SampledDevices, of audience: AudienceText, at moment: Timestamp) {
        guard audience.isKnown else { return }
        known.withLock { known in
            if known[audience] == nil, known.count >= Self.most,
                let oldest = known.min(by: { $0.value.at < $1.value.at })
            {
                known[oldest.key] = nil
            }
            known[audience] = (devices, moment)
        }
    }
}
