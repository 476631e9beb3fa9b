public import Workspace
public import Base
public import Campaigns
import Delivery
import Reports
public import Runs

/// A run that may be sent now, with what a person should know before deciding. Nothing is sent before `send`.
public struct SendProposal {
    /// The run that would be sent.
    public let run: any RecordedRun
    /// Its frozen settings.
    public let settings: RunSettings
    /// What volley.yaml, keys and certificates showed.
    public let warnings: [Diagnostic]
    /// The campaign's file, when it was changed after the run was planned.
    public var changedFile: String? {
        let file = run.plan.campaignFile
        let isChanged = run.plan.retryOf == nil && FilePaths.exists(file) && !FilePaths.holds(file, text: run.plan.campaignSource)
        return isChanged ? file : nil
    }
    /// volley.yaml as it is now.
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
    /// - Throws: why it may not be sent. Nothing was sent.
    public func send(_ attendance: RunAttendance) throws -> RunResult { try dispatch.send(step, through: gate, attendance) }

    /// Sends until the run has ended, for those who do not want a report of it.
    /// - Returns: how it ended; why its file could not be closed.
    /// - Throws: why it may not be sent. Nothing was sent.
    package func deliver(_ attendance: RunAttendance) throws -> (end: RunEnd, failure: (any Error)?) {
        let end = try dispatch.deliver(step, through: gate, attendance)
        _ = dispatch.gateway.close()
        do { try dispatch.close(attendance.observer) } catch { return (end, error) }
        return (end, nil)
    }
}

/// What has become of a plan that was not sent.
public enum Discarded: Equatable, Sendable {
    case gone
    /// Others have to do with it by now.
    case kept(Kept)

    /// Why a plan stays: it had been planned before, was cancelled, or has begun meanwhile.
    public enum Kept: Equatable, Sendable { case planned, cancelled, begun }
}

/// Looks whether a plan may be sent now.
/// - Parameter isKept: whether the plan stays when it may not: otherwise no word names it.
/// - Throws: `SendRefused` or what else is in the way. Nothing was sent.
public func propose(
    _ run: any RecordedRun, isKept: Bool = true, in choice: ProjectChoice, _ context: SendingContext
) throws -> SendProposal {
    if let refused = try SendPermission(run, in: choice, isKept: isKept).refusal(of: .begin) { throw refused }
    return SendProposal(try RunToSend(run, in: choice, context), .begin, in: choice)
}

/// Checks whether a test may be sent; tests are sent without a question.
public func proposeTest(_ run: any RecordedRun, in choice: ProjectChoice, _ context: SendingContext) throws -> SendProposal {
    SendProposal(try RunToSend(run, in: choice, context), .begin, in: choice)
}

/// Looks whether a run that has begun may go on.
/// - Throws: why not. Nothing was sent.
public func proposeToGoOn(_ run: any RecordedRun, in choice: ProjectChoice, _ context: SendingContext) throws -> SendProposal {
    try SendPermission(run, in: choice).check(.goOn)
    return SendProposal(try RunToSend(run, in: choice, context), .goOn, in: choice)
}

/// Looks whether `volley schedule` may send a run at its time, or go on with it.
/// - Throws: why not. Nothing was sent.
package func proposeScheduled(_ run: any RecordedRun, in choice: ProjectChoice, _ context: SendingContext) throws -> SendProposal {
    let step: SendGate.Step = try run.status().state == .planned ? .begin : .goOn
    // What was changed is not even read.
    try SendPermission(run, in: choice, isScheduler: true).check(step)
    return SendProposal(try RunToSend(run, in: choice, context), step, in: choice, isScheduler: true)
}

/// Whether a plan waits for approval.
public func needsApproval(_ run: any RecordedRun, in choice: ProjectChoice) throws -> Bool {
    let gate = try SendPermission(run, in: choice)
    return try run.status().state == .planned && gate.lacksApproval(CurrentProject.all(of: run, in: choice))
}

/// Removes a plan that was made only to be sent at once and was not sent, unless another command has cancelled, approved or begun it.
@discardableResult
public func discard(_ run: any RecordedRun) throws -> Discarded {
    do {
        if try run.status().state == .planned, try run.approval() == nil {
            try run.remove()
            return .gone
        }
    } catch {}
    return .kept(try kept(run))
}

/// What has become of a plan that stays.
public func kept(_ run: any RecordedRun) throws -> Discarded.Kept {
    if try run.hasBegun() || run.sendingSince != nil { return .begun }
    return try run.status().state == .planned ? .planned : .cancelled
}
