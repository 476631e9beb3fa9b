package import Base
import Campaigns
import Delivery
import Reports
package import Runs

/// A run that may be sent now, and what somebody who decides about it should know. Nothing is sent before `send`.
package struct SendProposal {
    package let run: any RecordedRun
    package let settings: RunSettings
    /// What volley.yaml, keys and certificates showed.
    package let warnings: [Diagnostic]
    /// The campaign's file, when it was changed after the run was planned.
    package let changedFile: String?
    private let dispatch: RunToSend
    private let step: SendGate.Step
    private let options: CommonOptions

    fileprivate init(_ dispatch: RunToSend, _ step: SendGate.Step, _ options: CommonOptions) {
        self.dispatch = dispatch
        self.step = step
        self.options = options
        run = dispatch.run
        settings = dispatch.settings
        warnings = dispatch.warnings
        let file = run.plan.campaignFile
        let isChanged = run.plan.retryOf == nil && FilePaths.exists(file) && !FilePaths.holds(file, run.plan.campaignSource)
        changedFile = isChanged ? file : nil
    }

    /// Sends until the run has ended.
    /// - Throws: why it may not be sent. Nothing was sent.
    package func send(_ attendance: RunAttendance) throws -> RunResult { try dispatch.send(step, options, attendance) }
}

/// What has become of a plan that was not sent.
package enum Discarded: Equatable, Sendable {
    case gone
    /// Others have to do with it by now.
    case kept(Kept)

    package enum Kept: Equatable, Sendable { case planned, cancelled, begun }
}

/// Looks whether a plan may be sent now.
/// - Parameter isKept: whether the plan stays when it may not: otherwise no word names it.
/// - Throws: `SendPermission.Refused` or what else is in the way. Nothing was sent.
package func propose(
    _ run: any RecordedRun, isKept: Bool = true, _ options: CommonOptions, _ context: SendingContext
) throws -> SendProposal {
    if let refused = try SendPermission(run, options, isKept: isKept).refusal(of: .begin) { throw refused }
    return SendProposal(try RunToSend(run, options, context), .begin, options)
}

/// Looks whether a test may be sent, of which nobody is asked.
package func proposeTest(_ run: any RecordedRun, _ options: CommonOptions, _ context: SendingContext) throws -> SendProposal {
    SendProposal(try RunToSend(run, options, context), .begin, options)
}

/// Looks whether a run that has begun may go on.
/// - Throws: why not. Nothing was sent.
package func proposeToGoOn(_ run: any RecordedRun, _ options: CommonOptions, _ context: SendingContext) throws -> SendProposal {
    try SendPermission(run, options).check(.goOn)
    return SendProposal(try RunToSend(run, options, context), .goOn, options)
}

/// Whether a plan waits for somebody to approve it.
package func needsApproval(_ run: any RecordedRun, _ options: CommonOptions) throws -> Bool {
    let gate = try SendPermission(run, options)
    return try run.status().state == .planned && gate.lacksApproval(CurrentProject.all(of: run, options))
}

/// Removes a plan that nobody asked for and nobody sent, unless others have to do with it by now: it was cancelled, approved, or begun.
@discardableResult
package func discard(_ run: any RecordedRun) throws -> Discarded {
    do {
        if try run.status().state == .planned, try run.approval() == nil {
            try run.remove()
            return .gone
        }
    } catch {}
    return .kept(try kept(run))
}

/// What has become of a plan that stays.
package func kept(_ run: any RecordedRun) throws -> Discarded.Kept {
    if try run.hasBegun() || run.sendingSince != nil { return .begun }
    return try run.status().state == .planned ? .planned : .cancelled
}
