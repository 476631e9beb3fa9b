import Audience
import Base
import Campaigns
import Workspace

/// How many devices of an audience got, or as unknown ones may have got, another push of the app in
/// the last hours, and from which runs.
struct RecentlyReached: Sendable {
    /// Newest first. A device counts for the newest run that reached it.
    private let sendings: [(sending: RecentSendings.Sending, devices: Int)]
    /// Runs that are not over, and how many devices of the audience got none of these pushes yet
    /// and are still to get one.
    private let goingOn: [RecentSendings.Sending]
    private let toCome: Int
    private let audience: Int
    /// Runs that may have reached more of them.
    private let unread: Set<String>
    private let now: Timestamp
    /// More runs are counted, and not named.
    private static let mostNamed = 3

    init(_ recent: RecentSendings?, _ result: AudienceResult, now: Timestamp) {
        sendings = (recent?.all ?? []).enumerated().compactMap { number, sending in
            result.reachedBySending[number].map { (sending, $0) }
        }
        (goingOn, toCome) = (
            (recent?.all ?? []).filter(\.hasMoreToCome), recent.flatMap { result.reachedBySending[$0.all.count] } ?? 0
        )
        (audience, unread, self.now) = (result.audience, recent?.unread ?? [], now)
    }

    /// `it was or may have been accepted for 5 of these 5 devices`; nil if none did, or that is not
    /// known.
    func words(ofRun run: String) -> String? {
        sendings.first { $0.sending.run == run }.map {
            "it was or may have been accepted for \(TextFormat.count($0.devices)) of \(these)"
        }
    }

    /// A warning that names the runs.
    /// - Parameter isKnown: whether another warning names a run.
    func warnings(_ context: CampaignContext, unless isKnown: (RecentSendings.Sending) -> Bool) -> [Diagnostic] {
        // `EarlierRuns` covers the campaign's own runs.
        let unknown = RecentSendings.words(unread: unread, besidesThoseOf: context.campaign.name.value)
        let minimum = unknown.map {
            Diagnostic.warning(
                .sentRecently, message: $0, at: context.campaign.audience.position,
                remedy: "Put back what is missing; `volley runs` shows what is there, and what is wrong with it.",
                [.seeProblems])
        }
        let others = sendings.filter { !isKnown($0.sending) }
        let waiting = toCome > 0 ? goingOn.filter { !isKnown($0) } : []
        guard let first = others.first?.sending ?? waiting.first else { return [minimum].compactMap(\.self) }
        let named = others.prefix(Self.mostNamed).enumerated().map { number, other in
            let devices =
                number == 0 ? "\(TextFormat.count(other.devices)) of \(these)" : TextFormat.count(other.devices)
            return
                "\(devices) got or may have got '\(other.sending.campaign)' \(PreviousSending.ago(other.sending.lastAt, now: now)) (run \(other.sending.run))"
        }
        let rest = others.dropFirst(Self.mostNamed)
        let more =
            rest.isEmpty
            ? ""
            : ", and \(TextFormat.count(rest.reduce(0) { $0 + $1.devices })) got or may have got another push in the last \(RecentSendings.hours) h"
        let those = named.isEmpty ? "\(TextFormat.count(toCome)) of \(these)" : ", and \(TextFormat.count(toCome)) more"
        let later = waiting.first.map {
            "\(those) \(TextFormat.plural(toCome, one: "is", many: "are")) still to get '\($0.campaign)' (run \($0.run))"
        }
        return [
            .warning(
                .sentRecently, message: named.joined(separator: ", ") + more + (later ?? ""),
                at: context.campaign.audience.position,
                remedy:
                    "To leave such devices out, write frequency: at most 1 per \(RecentSendings.hours) hours under 'delivery'; "
                    + "`volley report \(first.run)` shows what they got.",
                [.readReport(run: first.run)])
        ] + [minimum].compactMap(\.self)
    }

    /// Their member `reached_lately_unread`: the runs because of which these numbers are a minimum;
    /// nil without any.
    var unreadJSON: JSONValue? { unread.isEmpty ? nil : .array(unread.sorted().map { .string($0) }) }

    private var these: String { audience == 1 ? "this 1 device" : "these \(TextFormat.devices(audience))" }

    /// The member `reached_lately` of `preview --json` and plans; nil without any.
    var json: JSONValue? {
        sendings.isEmpty
            ? nil
            : .array(
                sendings.map {
                    .object(pairs: [
                        ("run", .string($0.sending.run)), ("campaign", .string($0.sending.campaign)),
                        ("devices", .integer(Int64($0.devices))),
                        ("last_at", .string($0.sending.lastAt.description)),
                    ])
                })
    }
}
