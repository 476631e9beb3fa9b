import Base
import Campaigns
import PushServices

/// An audience as a sentence: the devices that a campaign names, the conditions that they must meet, and the devices that it leaves out.
struct AudienceWords {
    let audience: CampaignAudience

    /// How many names are listed one by one.
    private static let shownNames = 5

    /// `Devices with the tag discount or daily, where language is en or de. Left out: devices with the tag unsubscribed.`
    var sentence: String {
        let conditions = audience.conditions.map(Self.words)
        // 'none' takes devices only from those that tags select; a plain "and" would blur that.
        let isClear = audience.noneTags.isEmpty || selectors.count < 2
        let meant =
            (isClear ? Self.listed(selectors, with: "and") : selectors.joined(separator: ", and also "))
            + (conditions.isEmpty ? "" : ", where \(Self.listed(conditions, with: "and"))")
        let left = exclusions
        let chosen = audience.by == nil ? "" : " \(keeper) chooses them."
        return Self.capitalised(meant) + "." + chosen + (left.isEmpty ? "" : " Left out: \(left.joined(separator: "; ")).")
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
        if audience.everyone { return [audience.by == nil ? "every device of the export" : "every device that \(keeper) knows"] }
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
        if let names = Self.names(audience.registrationIDs, with: "and") { parts.append("the devices registered as \(names)") }
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
        return listed(shortened(list.names.map(\.value)) + (list.file.map { ["those in \($0.value)"] } ?? []), with: word)
    }

    private static func shortened(_ names: [String]) -> [String] {
        let shown = names.map(Self.shown)
        guard shown.count > shownNames + 1 else { return shown }
        return shown.prefix(shownNames) + ["\(TextFormat.count(shown.count - shownNames)) more"]
    }

    /// A name from a campaign, or a cell of an export, in a sentence; a device token is shortened.
    static func shown(_ text: String) -> String {
        // A few digits, such as a date, are not a device token, though tokens consist of digits.
        TextFormat.foreign(TargetRedaction.certain(text) ?? text, maximumBytes: 60)
    }

    /// `a, b or c`
    private static func listed(_ parts: [String], with word: String) -> String {
        guard parts.count > 1, let last = parts.last else { return parts.first ?? "" }
        return "\(parts.dropLast().joined(separator: ", ")) \(word) \(last)"
    }

    private static func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}
