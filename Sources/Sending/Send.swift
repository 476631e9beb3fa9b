public import Base
public import Campaigns
import Delivery
import Reports
public import Runs
public import Workspace

/// A run that may be sent now, with what a person needs to know to decide. Nothing is sent before
/// `send`.
public struct SendProposal {
    /// The run that would be sent.
    public let run: RunFile
    /// Its frozen settings.
    public let settings: RunSettings
    /// Warnings about volley.yaml, keys and certificates.
    public let warnings: [Diagnostic]
    /// The present volley.yaml.
    public var project: Project { dispatch.project }
    private let dispatch: RunToSend
    private let step: SendGate.Step
    private let gate: SendPermission

    fileprivate init(
        _ dispatch: RunToSend, _ step: SendGate.Step, in choice: ProjectChoice, isScheduler: Bool = false
    ) {
        self.dispatch = dispatch
        self.step = step
        gate = SendPermission(run: dispatch.run, settings: dispatch.settings, choice: choice, isScheduler: isScheduler)
        run = dispatch.run
        settings = dispatch.settings
        warnings = dispatch.warnings
    }

    /// Sends until the run has ended.
    /// - Throws: `SendRefused`, or what else prevents it. Nothing was sent.
    public func send(_ options: RunOptions) throws -> RunResult { try dispatch.send(step, through: gate, options) }

    /// What is left of a run that continues; nil for one that several machines send, as the store
    /// has more of it than the file.
    public func resumption() throws -> Resumption? {
        dispatch.goesThroughStore ? nil : try Resumption(of: run, settings)
    }

    /// Sends until the run has ended, without making a report. It asks no questions, so the
    /// observer is told what a run that continues leaves in doubt.
    /// - Returns: how the run ended; why its file could not be closed, nil if it was.
    /// - Throws: `SendRefused`, or what else prevents it. Nothing was sent.
    package func deliver(_ options: RunOptions) throws -> (end: RunEnd, failure: (any Error)?) {
        if step == .goOn, let resumption = try resumption() { options.observer(.resumes(resumption)) }
        let end = try dispatch.deliver(step, through: gate, options)
        for gateway in dispatch.gateways.values { _ = gateway.close() }
        do { try dispatch.close(options.observer, after: end) } catch { return (end, error) }
        return (end, nil)
    }
}

/// The result of discarding a plan that was not sent.
public enum Discarded: Equatable, Sendable {
    case gone
    /// The plan was not removed.
    case kept(Kept)

    /// Why a plan stays: it is still a plan (approved, for example), was cancelled, or has begun
    /// since then.
    public enum Kept: Equatable, Sendable { case planned, cancelled, begun }
}

/// Checks whether a plan may be sent now.
/// - Parameter isKept: whether the plan stays if it is refused; if not, no message suggests a
///   command for it.
/// - Throws: `SendRefused`, or what else prevents it. Nothing was sent.
///
/// ```swift
/// let proposal = try propose(run, in: choice, context)
/// for warning in proposal.warnings { print(warning) }
/// let result = try proposal.send(sending)
/// ```
public func propose(
    _ run: RunFile, isKept: Bool = true, in choice: ProjectChoice, _ context: SendingContext
) throws -> SendProposal {
    if let refused = try SendPermission(run, in: choice, isKept: isKept).refusal(of: .begin) { throw refused }
    return SendProposal(try RunToSend(run, in: choice, context).judged(.begin), .begin, in: choice)
}

/// Prepares a test to be sent. Tests are sent without a question.
/// - Throws: what prevents it. Nothing was sent.
public func proposeTest(_ run: RunFile, in choice: ProjectChoice, _ context: SendingContext) throws -> SendProposal {
    SendProposal(try RunToSend(run, in: choice, context), .begin, in: choice)
}

/// Checks whether a run that has begun may continue.
/// - Throws: `SendRefused`, or what else prevents it. Nothing was sent.
///
/// ```swift
/// let result = try proposeToGoOn(run, in: choice, context).send(sending)
/// ```
public func proposeToGoOn(_ run: RunFile, in choice: ProjectChoice, _ context: SendingContext) throws -> SendProposal {
    try SendPermission(run, in: choice).check(.goOn)
    return SendProposal(try RunToSend(run, in: choice, context).judged(.goOn), .goOn, in: choice)
}

/// Checks whether `volley schedule` may send a run at its time, or continue it.
/// - Throws: `SendRefused`, or what else prevents it. Nothing was sent.
package func proposeScheduled(_ run: RunFile, in choice: ProjectChoice, _ context: SendingContext) throws
    -> SendProposal
{
    let step: SendGate.Step = try run.status().state == .planned ? .begin : .goOn
    // Check first: what a refused run names is not opened.
    try SendPermission(run, in: choice, isScheduler: true).check(step)
    return SendProposal(try RunToSend(run, in: choice, context).judged(step), step, in: choice, isScheduler: true)
}

/// Whether a plan waits for approval.
///
/// ```swift
/// if try needsApproval(run, in: choice) { print("A second person approves it first.") }
/// ```
public func needsApproval(_ run: RunFile, in choice: ProjectChoice) throws -> Bool {
    let gate = try SendPermission(run, in: choice)
    return try run.status().state == .planned && gate.lacksApproval(CurrentProject.all(of: run, in: choice))
}

/// Removes a plan that was made only to be sent at once and was not sent, unless another command
/// has cancelled, approved or begun it.
///
/// ```swift
/// if case .kept(let reason) = try discard(run) { print(reason) }
/// ```
@discardableResult
public func discard(_ run: RunFile) throws -> Discarded {
    do {
        if try run.status().state == .planned, try run.approval() == nil {
            try run.remove()
            return .gone
        }
    } catch {}
    return .kept(try kept(run))
}

/// Removes a retry of which nothing was sent, also an approved one: while it stays, no other retry
/// gets its devices. One that the record already names stays, because the record would miss its
/// file: `volley cancel` gives it up.
@discardableResult
public func removeUnsent(retry: RunFile) throws -> Discarded {
    let kept = try kept(retry)
    guard kept == .planned, try retry.catalog.history.entry(of: retry.plan.id) == nil else { return .kept(kept) }
    try retry.remove()
    return .gone
}

/// Finds out why a plan stays.
public func kept(_ run: RunFile) throws -> Discarded.Kept {
    if try run.hasBegun() || run.sendingSince != nil { return .begun }
    return try run.status().state == .planned ? .planned : .cancelled
}

/// What is left of a run that is about to continue, and what may reach a device twice.
public struct Resumption: Sendable {
    /// The part of a service.
    public struct Part: Sendable {
        /// The service, and what the campaign says of pushes without an answer.
        public var settings: RunSettings
        /// Recipients that nothing was sent to.
        public var unsent: Int
        /// Recipients whose pushes went out, or were about to, and have no answer: they are sent
        /// again, or left, as `settings` says.
        public var unknown: Int
        /// Recipients that get the push again because the service recognizes a push that it already
        /// has.
        public var recognized: Int
    }

    /// The run.
    public let plan: RunPlan
    /// By the numbers of the services.
    public let parts: [Part]

    /// - Parameter run: no process may be sending it.
    /// - Throws: `Diagnostic`: it cannot be read, or is damaged.
    public init(of run: any RunLedger, _ settings: RunSettings) throws {
        plan = run.plan
        // Counted only once: it reads every outcome.
        let figures = try run.figures(withGroups: false)
        parts = try settings.services.indices.map { number in
            let own = settings.ofService(number), figures = figures.figures(ofService: number),
                outcomes = figures.outcomes
            let lost = try LostDevices(of: run, at: own.service, number: number)
            return Part(
                settings: own, unsent: outcomes[.unsent, default: 0] + lost.unsent,
                unknown: outcomes[.unknown, default: 0] - figures.count(.refusedAgain) - lost.unsent - lost.recognized,
                recognized: lost.recognized)
        }
    }

    /// Recipients that nothing was sent to, through all services.
    public var unsent: Int { parts.reduce(0) { $0 + $1.unsent } }
}

/// What all runs of one process share: the paces of their apps, and the tokens that were signed
/// with their keys. Make one per process.
///
/// ```swift
/// let context = SendingContext(threads: 2)
/// ```
public struct SendingContext: Sendable {
    let paces = PaceRegistry()
    let signedTokens = SignedTokenHistory()
    /// This machine's clock, or the store's once one was asked: machines that send a run together
    /// go by the same, however their own are set.
    let clock = CommonClock()
    /// The most threads that deliver a run; nil for one per core.
    let threads: Int?
    /// Ends what happens before a run begins, such as the fetch of a token.
    let cancellation: Cancellation?

    /// Creates the context of a process that has sent nothing yet.
    public init(threads: Int? = nil, cancellation: Cancellation? = nil) {
        (self.threads, self.cancellation) = (threads, cancellation)
    }
}
