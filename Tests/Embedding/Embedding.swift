import Base
import Glibc
import Runs
import Synchronization
import Planning
import Sending
import Workspace

/// A program that embeds the library VolleyKit, built as an outsider: it plans a campaign, sends it
/// to the built-in simulator, stops halfway, resumes, and reads the figures. It has no terminal,
/// handles no signal, and prints one line with what it saw. Arguments: volley.yaml, the campaign,
/// the folder of runs.
@main
struct Embedding {
    static func main() throws {
        let arguments = CommandLine.arguments
        let project = ProjectChoice(file: arguments[1], runs: arguments[3])
        let log = EventLog()
        let planned = try plan(
            CampaignFile(arguments[2], in: project), for: .keeping,
            PlanOptions(observer: Observer { log.note($0) }, cancellation: try Cancellation()), at: .now())
        // What all runs of this program share.
        let context = SendingContext()
        let first = try Cancellation()
        let begun = try propose(planned.run, in: project, context).send(
            options(context, first, log) { settled in if settled >= planned.run.plan.audience / 4 { first.request() } })
        let resumed = try proposeToGoOn(planned.run, in: project, context).send(
            options(context, try Cancellation(), log) { _ in })
        let outcomes = try planned.run.figures().outcomes
        let document = JSONValue.object(pairs: [
            ("planned", .integer(Int64(planned.run.plan.audience))), ("first", .string(name(begun.end))),
            ("second", .string(name(resumed.end))),
            ("accepted", .integer(Int64(outcomes[.accepted] ?? 0))), ("settled", .integer(Int64(log.settled))),
            ("agrees", .bool(resumed.ledger?.agrees ?? false)), ("events", .array(log.events.map { .string($0) })),
        ])
        print(document.text)
    }

    private static func options(
        _ context: SendingContext, _ cancellation: Cancellation, _ log: EventLog,
        _ onSettled: @escaping @Sendable (Int) -> Void
    ) -> RunOptions {
        RunOptions(
            context: context,
            observer: Observer { event in
                log.note(event)
                if case .settled = event { onSettled(log.settled) }
            }, cancellation: cancellation)
    }

    private static func name(_ end: RunEnd) -> String {
        switch end {
        case .finished: "finished"
        case .stopped(let cause): "stopped: \(cause)"
        case .interrupted: "interrupted"
        case .cancelled: "cancelled"
        }
    }
}

/// The events, each kind once, in the order of their first occurrence.
final class EventLog: Sendable {
    private let state = Mutex<(events: [String], settled: Int)>(([], 0))

    var events: [String] { state.withLock { $0.events } }
    var settled: Int { state.withLock { $0.settled } }

    func note(_ event: PlanningEvent) { add("planning.\(Self.kind(event))") }

    func note(_ event: RunEvent) {
        if case .settled(let settlements) = event { state.withLock { $0.settled += settlements.count } }
        add("run.\(Self.kind(event))")
    }

    private func add(_ kind: String) { state.withLock { if !$0.events.contains(kind) { $0.events.append(kind) } } }

    private static func kind(_ event: Any) -> String {
        let text = String(describing: event)
        return String(text.prefix { $0.isLetter })
    }
}
