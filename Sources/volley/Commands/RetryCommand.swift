import Workspace
import Base
import Logs
import Campaigns
import Delivery
import Runs
import Sending

/// `volley retry`: sends a new run to devices of an earlier one whose pushes failed, or whose
/// answers were lost.
public enum RetryCommand {
    /// Waits for a confirmation, unless `isConfirmed`, and sends.
    /// - Parameters:
    ///   - argument: a run's id, a path to its file, or `last`.
    ///   - outcomes: names of outcomes; empty for failed and unknown.
    public static func run(
        _ argument: String, outcomes names: [String], isConfirmed: Bool, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        let outcomes = try outcomes(names)
        try console.checkCanAsk(
            unless: isConfirmed, "volley retry", does: "sends",
            remedy: "Add --yes to send without a question. Nothing was sent.")
        Interruption.install()
        let run = try Project.catalog(options.project).openToRead(argument, options.project)
        guard let retry = try planRetry(of: run, outcomes: outcomes, in: options.project, at: .now()) else {
            let words = Outcome.allCases.filter(outcomes.contains).map(\.name).joined(separator: " or ")
            let retries = try RunChain(of: run).retries(of: run.plan.id)
            let planned = try retries.last { try $0.status().state == .planned }
            if let last = planned, let theirs = (try? last.plan.settings.get())?.retriedOutcomes,
                !outcomes.isDisjoint(with: theirs)
            {
                throw Diagnostic(
                    "its devices that are \(words) are in the retry \(last.plan.id), of which nothing was sent",
                    file: run.place,
                    remedy:
                        "`volley send --plan \(last.plan.id)` sends it; `volley cancel \(last.plan.id)` gives it up, and this command can plan another."
                )
            }
            throw Diagnostic(
                "no device of this run is \(words)\(retries.isEmpty ? "" : " and not yet sent to again by a retry")",
                file: run.place,
                remedy: RunRemainder.remedyForMore(run, retries)
                    ?? "`volley report \(run.plan.id)` shows the outcome of each device; --outcome selects others.")
        }
        if !retry.mayRepeat.isEmpty {
            let words = retry.mayRepeat[.unsent] == nil ? "unknown" : "unknown, or unsent as far as the store knows,"
            console.warn("Devices that are \(words) may already have got the push, and would get it twice.")
        }
        if let leftOut = retry.run.plan.leftOutOfRetry { console.warn("\(leftOut).") }
        let stageOptions = console.running(options)
        do {
            let proposal = try retry.propose(in: options.project, stageOptions.context)
            console.show(proposal.warnings + retry.warnings, about: LogSubject(retry.run.plan))
            guard try isConfirmed || console.confirms(SendQuestion(proposal.run, proposal.settings, now: .now()).text)
            else {
                console.warn(SendCommand.afterNo(retry.run, try removeUnsent(retry: retry.run)))
                return .wrong
            }
            return try console.send(proposal, stageOptions, options)
        } catch {
            // Nothing was sent. A plan that stays would keep its devices from the next retry, so
            // only one that needs approval does: the first run was sent when no approval was
            // required.
            if (error as? SendRefused)?.why != .needsApproval { _ = try? removeUnsent(retry: retry.run) }
            throw error
        }
    }

    private static func outcomes(_ names: [String]) throws -> Set<Outcome> {
        if names.isEmpty { return [.failed, .unknown] }
        return Set(
            try names.map { name in
                guard let outcome = Outcome.allCases.first(where: { $0.name == name }) else {
                    let nearest = nearestName(to: name, among: Outcome.retriable.map(\.name).sorted())
                    throw Diagnostic(
                        "'\(name)' is not an outcome", remedy: nearest.map { "Did you mean '\($0)'?" } ?? allowed)
                }
                guard Outcome.retriable.contains(outcome) else {
                    throw Diagnostic("devices that are \(name) are not sent to again", remedy: allowed)
                }
                return outcome
            })
    }

    private static let allowed = "Allowed are failed, unknown, rejected and unsent."
}
