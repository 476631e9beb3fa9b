import Base
import Campaigns
import Glibc
import PushServices
import Runs

/// What a campaign asks for, in words for those who read a preview or a report and never wrote a campaign.
struct PreviewWords: Sendable {
    /// An export, and when it was written.
    struct Export: Sendable {
        var file: String
        /// nil when nobody can tell.
        var writtenAt: Timestamp?
    }

    /// For people; nil when the campaign has none.
    let description: String?
    /// Whom it names.
    let audience: String
    /// Each condition of `where`, in the order of the campaign.
    let conditions: [String]
    /// Whether the expiry is one moment, whenever it goes out.
    let expiresAtMoment: Bool
    let expiry: String, priority: String, frequency: String
    let exports: [Export]

    package init(_ context: CampaignContext, _ settings: RunSettings, exports files: [String]) {
        description = context.campaign.description
        audience = AudienceWords(audience: context.campaign.audience).sentence
        conditions = context.campaign.audience.conditions.map(AudienceWords.words)
        expiresAtMoment = if case .at? = settings.expiry { true } else { false }
        expiry = Self.words(settings.expiry, settings.service)
        priority = Self.words(settings.priority)
        frequency =
            settings.frequencyCaps.isEmpty
            ? "no limit"
            : settings.frequencyCaps.map { "\($0.description) for each device" }.joined(separator: ", ")
        exports = files.map { Export(file: $0, writtenAt: Self.writtenAt($0)) }
    }

    /// What `preview --json` holds in addition.
    var pairs: [(String, JSONValue)] {
        let words = [("audience", audience), ("expires", expiry), ("priority", priority), ("frequency", frequency)]
        let exports = exports.map { export in
            JSONValue.object(pairs: [
                ("file", .string(export.file)), ("written_at", export.writtenAt.map { .string($0.description) } ?? .null),
            ])
        }
        return (description.map { [("description", .string($0))] } ?? []) + [
            ("in_words", .object(pairs: words.map { ($0, .string($1)) })), ("exports", .array(exports)),
        ]
    }

    private static func words(_ expiry: Expiry?, _ service: any PushService) -> String {
        switch expiry {
        case nil: "when \(service.displayName) drops it: after \(service.rules.longestStorageDays) days at the latest"
        case .immediately: "at once: devices that are off just then do not get it"
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
