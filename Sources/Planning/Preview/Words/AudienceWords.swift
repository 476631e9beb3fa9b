import Audience
import Base
import Campaigns
import Glibc
import PushServices
import Runs

/// An audience as a sentence: the devices that a campaign names, the conditions that they must
/// meet, and the devices that it leaves out.
struct AudienceWords {
    let audience: CampaignAudience

    /// How many names are listed one by one.
    private static let shownNames = 5

    /// `Devices with the tag discount or daily, where language is en or de. Left out: devices with
    /// the tag unsubscribed.`
    var sentence: String {
        let conditions = audience.conditions.map(Self.words)
        // 'none' takes devices only from those that tags select; a plain "and" would blur that.
        let isClear = audience.noneTags.isEmpty || selectors.count < 2
        let meant =
            (isClear ? Self.listed(selectors, with: "and") : selectors.joined(separator: ", and also "))
            + (conditions.isEmpty ? "" : ", where \(Self.listed(conditions, with: "and"))")
        let left = exclusions
        let chosen = audience.by == nil || audience.channel != nil ? "" : " \(keeper) chooses them."
        return Self.capitalised(meant) + "." + chosen
            + (left.isEmpty ? "" : " Left out: \(left.joined(separator: "; ")).")
    }

    /// The service that chooses the devices.
    private var keeper: String { audience.ownAudience?.service.displayName ?? "" }

    /// `language is en or de`
    static func words(_ condition: ColumnCondition) -> String { "\(condition.column.value) \(words(condition.test))" }

    private static func words(_ test: ColumnTest) -> String {
        switch test {
        case .oneOf(let values): "is \(listed(shortened(values), with: "or"))"
        case .comparison(.less, let value): "is below \(shown(value))"
        case .comparison(.lessOrEqual, let value): "is at most \(shown(value))"
        case .comparison(.equal, let value): "is \(shown(value))"
        case .comparison(.notEqual, let value): "is not \(shown(value))"
        case .comparison(.greaterOrEqual, let value): "is at least \(shown(value))"
        case .comparison(.greater, let value): "is above \(shown(value))"
        case .within(let seconds): "is within the last \(TextFormat.days(seconds))"
        case .olderThan(let seconds): "is more than \(TextFormat.days(seconds)) ago"
        case .present: "is filled in"
        case .missing: "is blank"
        }
    }

    private var selectors: [String] {
        if let channel = audience.channel {
            return ["the phones that follow the channel \(TextFormat.foreign(channel.value, maximumBytes: 60))"]
        }
        if audience.everyone {
            return [audience.by == nil ? "every device of the export" : "every device that \(keeper) knows"]
        }
        var parts: [String] = []
        let tags = [
            Self.names(audience.anyTags, with: "or").map { "with the tag \($0)" },
            Self.names(audience.allTags, with: "and").map {
                "with \(TextFormat.plural(audience.allTags.names.count, one: "the tag", many: "all of the tags")) \($0)"
            },
            Self.names(audience.noneTags, with: "or").map { "without the tag \($0)" },
        ].compactMap(\.self)
        if !tags.isEmpty { parts.append("devices \(Self.listed(tags, with: "and"))") }
        if let names = Self.names(audience.aliases, with: "and") { parts.append("the devices of \(names)") }
        if let names = Self.names(audience.registrationIDs, with: "and") {
            parts.append("the devices registered as \(names)")
        }
        return parts
    }

    private var exclusions: [String] {
        let files = audience.excludedDevices.map(\.value)
        return [
            Self.names(audience.excludedTags, with: "or").map { "devices with the tag \($0)" },
            Self.names(audience.excludedAliases, with: "and").map { "the devices of \($0)" },
            Self.names(audience.excludedRegistrationIDs, with: "and").map { "the devices registered as \($0)" },
            files.isEmpty ? nil : "devices listed in \(Self.listed(Self.shortened(files), with: "and"))",
        ].compactMap(\.self)
    }

    /// nil when nothing is named.
    private static func names(_ list: NameList, with word: String) -> String? {
        guard !list.isEmpty else { return nil }
        return listed(
            shortened(list.names.map(\.value)) + (list.file.map { ["those in \($0.value)"] } ?? []), with: word)
    }

    private static func shortened(_ names: [String]) -> [String] {
        let shown = names.map(Self.shown)
        guard shown.count > shownNames + 1 else { return shown }
        return shown.prefix(shownNames) + ["\(TextFormat.count(shown.count - shownNames)) more"]
    }

    /// A name from a campaign, or a cell of an export, in a sentence; a device token is shortened.
    static func shown(_ text: String) -> String {
        // A few digits, such as a date, are not a device token, though tokens consist of digits.
        TargetRedaction.cell(text, maximumBytes: 60)
    }

    /// `a, b or c`
    private static func listed(_ parts: [String], with word: String) -> String {
        guard parts.count > 1, let last = parts.last else { return parts.first ?? "" }
        return "\(parts.dropLast().joined(separator: ", ")) \(word) \(last)"
    }

    private static func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}

/// A campaign's settings, in words for readers of a preview or a report that have never written a
/// campaign.
struct PreviewWords: Sendable {
    /// An export, and when it was written.
    struct Export: Sendable {
        var file: String
        /// nil when it is not known.
        var writtenAt: Timestamp?
    }

    /// The campaign's description; nil when it has none.
    let description: String?
    /// The audience as a sentence.
    let audience: String
    /// Each condition of `where`, in the order of the campaign.
    let conditions: [String]
    /// Whether the expiry is a fixed moment, whenever the campaign goes out.
    let expiresAtMoment: Bool
    let expiry: String
    /// nil if the service has none.
    let priority: String?
    let frequency: String
    let exports: [Export]
    /// The database that was queried instead of reading exports; nil if they were read.
    let database: String?

    /// The text in place of an export's path.
    static func query(to database: String) -> String { "the query to \(database)" }

    package init(_ context: CampaignContext, _ settings: RunSettings, exports files: [String]) {
        description = context.campaign.description
        audience = AudienceWords(audience: context.campaign.audience).sentence
        conditions = context.campaign.audience.conditions.map(AudienceWords.words)
        expiresAtMoment = if case .at? = settings.expiry { true } else { false }
        expiry = Self.words(settings.expiry, settings.service)
        priority = settings.service.rules.deliveryKeys.contains(.priority) ? Self.words(settings.priority) : nil
        frequency =
            settings.service.choosesDevices
            ? "no limit, as \(settings.service.displayName) chooses the devices"
            : settings.frequencyCaps.isEmpty
                ? "no limit"
                : settings.frequencyCaps.map { "\($0.description) for each device" }.joined(separator: ", ")
        database = context.databaseQuery?.database.name
        exports = files.map { Export(file: $0, writtenAt: Self.writtenAt($0)) }
    }

    /// Members of `preview --json`.
    var pairs: [(String, JSONValue)] {
        let words =
            [("audience", audience), ("expires", expiry)] + (priority.map { [("priority", $0)] } ?? []) + [
                ("frequency", frequency)
            ]
        let exports = exports.map { export in
            JSONValue.object(pairs: [
                ("file", .string(export.file)),
                ("written_at", export.writtenAt.map { .string($0.description) } ?? .null),
            ])
        }
        return (description.map { [("description", .string($0))] } ?? []) + [
            ("in_words", .object(pairs: words.map { ($0, .string($1)) })), ("exports", .array(exports)),
        ]
    }

    private static func words(_ expiry: Expiry?, _ service: any PushService) -> String {
        switch expiry {
        case nil:
            "when \(service.displayName) drops it"
                + (service.rules.storageSeconds.map { ": after \(TextFormat.span(seconds: $0)) at the latest" }
                    ?? ", which it does not say")
        case .immediately: "at once: devices that are off at that moment do not get it"
        case .after(let seconds): "\(TextFormat.days(seconds)) after it goes out"
        case .at(let moment): "\(moment.description.prefix(16).replacing("T", with: " ")) UTC"
        }
    }

    private static func words(_ priority: PushPriority) -> String {
        switch priority {
        case .high: "high: shown at once"
        case .normal: "normal: when it suits the device’s battery"
        case .low: "low: never wakes the device"
        }
    }

    private static func writtenAt(_ file: String) -> Timestamp? {
        var status = stat()
        guard stat(file, &status) == 0 else { return nil }
        return Timestamp(epochSeconds: Int64(status.st_mtim.tv_sec))
    }
}
