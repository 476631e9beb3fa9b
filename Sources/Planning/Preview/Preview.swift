import Audience
public import Base
import Campaigns
import Content
import PushServices
public import Runs

/// The devices that would get a campaign, and its texts: the answer of `preview`, which `send` also
/// shows before it lets you confirm.
public struct Preview: Sendable {
    var campaign: String
    var app: String
    /// The services that the pushes would go to, at least one.
    var services: [PreviewService]
    /// Where the pushes would go, for people.
    var destination: String
    /// The campaign's settings in words.
    var words: PreviewWords
    var audience: AudienceResult
    var payloadBytes: PayloadBytes?
    /// How many devices get each variant and each text.
    var groups: PreviewGroups
    /// In the order of the messages.
    var samples: [PreviewSample]
    /// Why rows were skipped.
    var notes: [SkipNote]
    /// The campaign's last run; nil without one.
    var comparison: RunComparison?
    /// How many of its devices got another push lately; nil where a service chooses them.
    var lately: RecentlyReached?
    /// When the campaign goes out; nil without a schedule.
    var schedule: PreviewSchedule?
    package var lint: Lint
    /// That the store could not be asked; nil if it could.
    public var storeAway: Diagnostic? { lint.shown.first { $0.name == .storeAway } }
    var planHash: String
    /// The calls where a service chooses the devices, so that recipients are calls; nil where
    /// Volley does.
    var calls: [AudienceCall]?
    /// Some of the devices, where the preview is of a text that is still being written; nil
    /// otherwise.
    public internal(set) var devices: SampledDevices?

    /// The most samples that are shown where the preview is not the main output.
    public static let cardsBesidePlan = 6

    /// The first of the services.
    var service: any PushService { services[0].service }

    /// The service that is sent to longest, as all are sent to at the same time; the first one when
    /// that is not known.
    var longest: PreviewService { services.max { ($0.secondsAtPace ?? 0) < ($1.secondsAtPace ?? 0) } ?? services[0] }

    /// The seconds that sending to the audience takes at the pace; nil without a pace.
    var secondsAtPace: Double? { longest.secondsAtPace }

    /// Recipients by language; empty when the export gives no languages.
    var languages: [(name: String, recipients: Int)] {
        guard audience.languages.keys.contains(where: { !$0.isEmpty }) else { return [] }
        let names = audience.languages.map {
            ($0.key.isEmpty ? "unknown" : TargetRedaction.cell($0.key, maximumBytes: 80), $0.value)
        }
        return Dictionary(names, uniquingKeysWith: +).map { ($0.key, $0.value) }
            .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }

    /// Rows by skip reason, in the order of the reasons, those without rows left out.
    var skipped: [(name: String, rows: Int)] {
        SkipReason.allCases.compactMap { reason in
            audience.skipped[reason].flatMap { $0 > 0 ? (reason.rawValue, $0) : nil }
        }
    }

    /// The counts of each condition of `where`, with its words.
    var conditions: [(words: String, count: ConditionCount)] { Array(zip(words.conditions, audience.conditions)) }

    /// The document of `preview --json`.
    public var json: JSONValue {
        .object(pairs: contractPairs + groups.pairs + morePairs + [("environment", .string(destination))] + words.pairs)
            .withoutTokens
    }

    private var morePairs: [(String, JSONValue)] {
        var pairs = [("skipped_why", JSONValue.array(notes.map(\.json))), ("warnings", .array(lint.shown.map(\.json)))]
        if !audience.conditions.isEmpty {
            pairs.append(("conditions", .array(conditions.map { $0.count.json(words: $0.words) })))
        }
        if !audience.exclusions.isEmpty { pairs.append(("excluded_by", .array(audience.exclusions.map(\.json)))) }
        if !lint.silenced.isEmpty { pairs.append(("silenced", lint.silencedJSON)) }
        if let schedule { pairs.append(("schedule", schedule.json)) }
        if let comparison { pairs.append(("compared_with", comparison.json)) }
        if let reached = lately?.json { pairs.append(("reached_lately", reached)) }
        if let unread = lately?.unreadJSON { pairs.append(("reached_lately_unread", unread)) }
        if services.count > 1 { pairs.append(("services", .array(services.map(\.json)))) }
        if let calls {
            pairs += [("by", .string(service.accountName)), ("calls", .array(CallsOfKind.all(of: calls).map(\.json)))]
        }
        return pairs
    }

    private var contractPairs: [(String, JSONValue)] {
        [
            ("campaign", .string(campaign)),
            ("app", .string(app)),
            ("rows", .integer(Int64(audience.rows))),
            ("audience", .integer(Int64(audience.audience))),
            ("skipped", Self.counts(skipped)),
            ("selected_by", Self.counts(audience.selectedBy.map { ($0.selector, $0.recipients) })),
            ("languages", Self.counts(languages)),
            ("variants", Self.counts(groups.variants)),
            (
                "payload_bytes",
                payloadBytes?.json ?? .null
            ),
            ("seconds_at_pace", secondsAtPace.map { .double($0) } ?? .null),
            ("samples", .array(samples.map(\.json))),
            ("plan_hash", .string(planHash)),
        ]
    }

    static func counts(_ pairs: [(String, Int)]) -> JSONValue {
        .object(pairs: pairs.map { ($0.0, .integer(Int64($0.1))) })
    }
}

extension CallsOfKind {
    /// How many names are listed; a list may have thousands.
    private static var listedNames: Int { 20 }

    /// Its member of `calls` in `preview --json`.
    var json: JSONValue {
        guard let selector else { return .object(pairs: [("everyone", .bool(true))]) }
        return .object(pairs: [
            ("selector", .string(selector.rawValue)), ("calls", .integer(Int64(calls))),
            ("count", .integer(Int64(names.count))),
            (
                "first",
                .array(
                    names.prefix(Self.listedNames).map {
                        .string(selector == .registrationIDs ? selector.shown($0) : $0)
                    })
            ),
        ])
    }
}

extension ConditionCount {
    /// Its member of `conditions` in `preview --json`.
    func json(words: String) -> JSONValue {
        .object(pairs: [
            ("column", .string(condition.column.value)), ("condition", .string(words)), ("rows", .integer(Int64(rows))),
            ("holds", .integer(Int64(holdingRows))), ("unreadable", .integer(Int64(unreadableRows))),
        ])
    }
}

extension ExclusionCount {
    /// For people: the list, or the key under `exclude`.
    var name: String { kind == .devices ? list ?? "other lists" : kind.rawValue }

    /// What it left out, after the number of devices: `have one of the 3 excluded tags`.
    var effect: String {
        func words(_ one: String, _ many: String, _ noun: String, plural: String? = nil) -> String {
            let verb = TextFormat.plural(devices, one: "device \(one)", many: "devices \(many)")
            let excluded =
                entries == 1
                ? "the excluded \(noun)" : "one of the \(TextFormat.count(entries)) excluded \(plural ?? noun + "s")"
            return "\(verb) \(excluded)"
        }
        switch kind {
        case .tags: return words("has", "have", "tag")
        case .aliases: return words("belongs to", "belong to", "alias", plural: "aliases")
        case .registrationIDs: return words("has", "have", "registration id")
        case .devices:
            let lines = TextFormat.counted(entries, one: "line")
            let unknown =
                unmatched == 0
                ? ""
                : "; \(TextFormat.count(unmatched)) of them \(TextFormat.plural(unmatched, one: "names", many: "name")) no device of the exports"
            return
                "\(TextFormat.plural(devices, one: "device is", many: "devices are")) on this list of \(lines)\(unknown)"
        }
    }

    /// Its member of `excluded_by` in `preview --json`.
    var json: JSONValue {
        .object(
            pairs: [("key", .string(kind.rawValue))] + (list.map { [("file", .string($0))] } ?? [])
                + [("entries", .integer(Int64(entries))), ("devices", .integer(Int64(devices)))]
                + (kind == .devices ? [("not_found", .integer(Int64(unmatched)))] : []))
    }
}

extension PreviewSample {
    /// Its member of `samples` in `preview --json`.
    var json: JSONValue {
        let names = [("service", serviceName), ("variant", variant), ("language", language)].filter { !$0.1.isEmpty }
            .map {
                ($0, JSONValue.string($1))
            }
        return .object(
            pairs: [
                (service.choosesDevices ? "call" : "device_token", .string(shownToken)),
                ("selected_by", .array(selectedBy.map { .string($0) })),
                ("payload", shownPayload),
            ] + names)
    }
}

/// One rendered push of a preview.
struct PreviewSample: Sendable {
    var recipient: Recipient
    /// The number of the message.
    var message: Int
    /// The service that it goes through.
    var service: any PushService
    /// The service's name where the app has several; blank otherwise.
    var serviceName: String
    /// Blank when the campaign has no variants.
    var variant: String
    /// The language of `content.languages` whose text it gets; blank for the text above them.
    var language: String
    var payload: [UInt8]
    /// What is in the payload in place of what only a run has.
    var placeholders: [String] = []
    var selectedBy: [String]

    var token: Target { recipient.token }

    /// For people: the call where the service chooses the devices.
    var shownToken: String { AudienceCall(target: token.text.utf8).map(\.words) ?? token.redacted }

    /// The payload as it may be shown: tokens that a text prints from a column are shortened, and
    /// the zeros of placeholders are not, although a token may have as many.
    var shownPayload: JSONValue {
        // Rendered payloads are JSON by construction; a null here would be a mistake in the
        // template code, which tests check for.
        let shown = shown(String(decoding: payload, as: UTF8.self)[...], placeholders[...])
        return (try? JSONValue(parsing: Array(shown.utf8))) ?? .null
    }

    private func shown(_ text: Substring, _ placeholders: ArraySlice<String>) -> String {
        guard let placeholder = placeholders.first else {
            let isCall = AudienceCall(target: token.text.utf8) != nil
            return SecretText.withoutTokens(isCall ? String(text) : token.redacted(in: String(text)))
        }
        return text.split(separator: placeholder, omittingEmptySubsequences: false).map {
            shown($0, placeholders.dropFirst())
        }
        .joined(separator: placeholder)
    }
}

/// Sizes of all rendered payloads in bytes.
struct PayloadBytes: Hashable, Sendable {
    var min: Int
    var p50: Int
    var max: Int

    /// From the number of payloads of each size; nil without payloads.
    init?(counts: [Int: Int]) {
        let total = counts.values.reduce(0, +)
        let sizes = counts.filter { $0.value > 0 }.keys.sorted()
        guard let least = sizes.first, let most = sizes.last else { return nil }
        var seen = 0
        let middle = sizes.first { size in
            seen += counts[size] ?? 0
            return seen * 2 >= total
        }
        min = least
        p50 = middle ?? most
        max = most
    }

    /// A member of `preview --json`.
    var json: JSONValue {
        .object(pairs: [("min", .integer(Int64(min))), ("p50", .integer(Int64(p50))), ("max", .integer(Int64(max)))])
    }
}

extension Preview {
    /// The samples whose devices lack a value that a text may print, by their places in `samples`
    /// of the JSON document.
    public var samplesWithBlanks: [Int] {
        samples.indices.filter { samples[$0].recipient.fields.contains(where: Blank.isText) }
    }
}

/// Previews which devices would get a campaign, and what. Writes nothing.
/// - Parameters:
///   - samples: how many rendered payloads of each text; nil for three, or for one of each when
///     there are several texts.
///   - checking: called before the exports are read, to check that the result can be used.
/// - Throws: `Diagnostics`, `Diagnostic`: what is wrong with the campaign, volley.yaml or the
///   exports.
///
/// ```swift
/// let shown = try preview(campaign, samples: 3, planning, at: .now())
/// print(shown.text(width: 100, colour: false))
/// ```
public func preview(
    _ campaign: CampaignFile, samples: Int?, _ options: PlanOptions, at now: Timestamp,
    checking check: (_ catalog: RunsFolder) throws -> Void = { _ in }
) throws -> Preview {
    let context = try CampaignContext.read(campaign, now: now)
    try check(context.catalog)
    var planner = try Planner(context: context, options, now: now)
    planner.sendingTime = .ofPreview(context.campaign, now: now)
    return try planner.preview(samples: samples ?? (context.messages.hasChoice ? 1 : 3), in: context.catalog)
}

/// The same of a text that is still being written: with some of the devices, for which the next one
/// can be rendered.
public func draftPreview(_ campaign: CampaignFile, samples: Int, _ options: PlanOptions, at now: Timestamp) throws
    -> Preview
{
    let context = try CampaignContext.read(campaign, now: now)
    var planner = try Planner(context: context, options, now: now)
    planner.sendingTime = .ofPreview(context.campaign, now: now)
    planner.carriesAllColumns =
        context.ownAudience == nil && context.databaseQuery == nil && context.app.services.count == 1
    return try planner.preview(samples: samples, in: context.catalog)
}

/// Explains step by step why a device would get a campaign or not.
/// - Parameter who: a target, whole or as `7276…89f1`, an alias, or a registration id.
///
/// ```swift
/// print(try explain("7276…89f1", campaign, planning, at: .now()).text(width: 100, colour: false))
/// ```
public func explain(
    _ who: String, _ campaign: CampaignFile, _ options: PlanOptions, at now: Timestamp
) throws -> Explanation {
    let context = try CampaignContext.read(campaign, now: now)
    if let own = context.ownAudience {
        throw Diagnostic(
            "\(own.service.displayName) chooses the devices of this campaign, so Volley does not know whether one gets it",
            at: context.campaign.audience.position, remedy: "`volley preview \(campaign.path)` shows the calls.",
            [.preview])
    }
    // A single device needs little memory, so the limit does not apply.
    var options = options
    options.memory = nil
    let subject = try TraceSubject(who, context.app.services.map(\.service.target))
    return try Planner(context: context, options, now: now).explanation(of: subject, in: context.catalog)
}
