import Accounts
import Base
import Campaigns
import Planning
import PushServices

/// What a campaign's text would send, saved or not, as a child found it out: how many devices get which text, and what some of them see.
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

    static func json(of preview: Preview) -> JSONValue {
        .object(pairs: [
            ("preview", preview.json), ("blanks", .array(preview.samplesWithBlanks.map { .integer(Int64($0)) })),
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
            ($0["variant"]?.stringValue ?? "", $0["language"]?.stringValue ?? "", Int($0["recipients"]?.integerValue ?? 0))
        }
        let blanks = Set(array(document["blanks"]).compactMap(\.integerValue).map(Int.init))
        samples = array(preview["samples"]).enumerated().map { place, sample in
            let service = sample["service"]?.stringValue.flatMap(PushServices.named) ?? usual
            return Sample(
                service: service.name, variant: sample["variant"]?.stringValue ?? "", language: sample["language"]?.stringValue ?? "",
                push: service.shown(sample["payload"] ?? .null), hasBlanks: blanks.contains(place))
        }
    }

    /// How many devices get a text; nil where that is not known.
    func devices(variant: String? = nil, language: String? = nil) -> Int {
        texts.filter { (variant ?? $0.variant) == $0.variant && (language ?? $0.language) == $0.language }.reduce(0) { $0 + $1.devices }
    }

    // MARK: - Finding it out

    /// What is known of a text.
    enum State: Sendable {
        case counting
        case known(DraftPreview)
        /// Nothing is known before this is mended.
        case mistakes(HTML)
    }

    /// - Parameter text: the source, saved or not.
    static func of(_ item: CampaignCache.Item, text: String, _ visit: Visit, _ site: Site) throws -> State {
        let project = try site.project()
        let draft = CampaignSaving.draft(Array(text.utf8), file: item.path, project, at: visit.now)
        // The child reads the exports of the app that the text names.
        guard let app = draft.app?.value, visit.may(.seeCampaigns, app: app) else {
            return .mistakes(draft.app.map { "<ul class=\"findings\">\(CampaignsPage.finding(CampaignSaving.foreign($0)))</ul>" } ?? "")
        }
        let question = PlanningJobs.Question(kind: .draft, file: item.path, input: text, stamps: [FileStamp(path: site.projectFile)])
        // When the console is busy, the page tries again.
        guard let result = (try? site.jobs.answer(to: question, for: visit.person?.account)) ?? nil else { return .counting }
        let services = project.app(named: app)?.services.map(\.service) ?? []
        guard !result.hasMistakes, let known = DraftPreview(result.output, usual: services.first ?? PushServices.standard) else {
            return .mistakes(result.piece)
        }
        return .known(known)
    }
}
