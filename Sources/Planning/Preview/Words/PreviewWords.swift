import Audience
import Base
import Campaigns
import Glibc
import PushServices
import Runs

/// A campaign's settings, in words for readers of a preview or a report who never wrote a campaign.
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
    /// nil where the service knows none.
    let priority: String?
    let frequency: String
    let exports: [Export]
    /// The database that was asked instead of reading exports; nil where they were read.
    let database: String?

    /// What stands in place of an export's path.
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
            [("audience", audience), ("expires", expiry)] + (priority.map { [("priority", $0)] } ?? []) + [("frequency", frequency)]
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
        case nil:
            "when \(service.displayName) drops it"
                + (service.rules.storageSeconds.map { ": after \(TextFormat.span(seconds: $0)) at the latest" } ?? ", which it does not say")
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
