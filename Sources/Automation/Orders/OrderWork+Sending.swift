import Base
import Delivery
import Planning
import Reports
import Runs
import Sending

/// Orders that have something sent.
extension OrderWork {
    /// Sends, resumes, retries or tests, to the end of the run.
    /// - Parameters:
    ///   - notices: get what a run's beginning and end are for others as well; a test is nobody else's business.
    ///   - begun: called when the run is on record as running.
    func send(_ placed: PlacedOrder, _ notices: Notices, begun: @escaping @Sendable () -> Void) -> Answer {
        let order = placed.order
        func deliver(_ proposal: SendProposal) throws -> OrderState {
            var attendance = work.sending(.order(order), proposal.run.plan, notices)
            let shown = attendance.observer
            attendance.observer = Observer { event in
                if case .started = event { begun() }
                shown(event)
            }
            attendance.observer(.warnings(proposal.warnings))
            let id = proposal.run.plan.id
            let (end, failure) = try proposal.deliver(attendance)
            if let failure { work.attendance.observer(.fileNotClosed(proposal.run.plan, failure)) }
            return .done(OrderResult(run: id, end: OrderResult.End(end)))
        }
        return checked(placed) {
            switch order.kind {
            case .send(let id, let digest):
                let run = try catalog.open(id, readOnly: false)
                defer { run.close() }
                guard isShown(run, digest) else { return .refused(.planDiffers) }
                return try deliver(propose(run, in: choice, work.attendance.context))
            case .resume(let id):
                let run = try catalog.open(id, readOnly: false)
                defer { run.close() }
                if run.sendingSince != nil {
                    // It is paused, and the process that paused it goes on.
                    try wake(run, in: choice)
                    return .done(OrderResult(run: id))
                }
                return try deliver(proposeToGoOn(run, in: choice, work.attendance.context))
            case .retry(let id): return try retry(id, placed, deliver)
            case .test(let file, let digest):
                return try planning(file, digest, for: placed) { campaign, id in
                    let run = try planTest(campaign, id: id, work.planning(.order(order)), at: .now())
                    guard isFromShown(run, digest) else { return try withdraw(run) }
                    defer { run.close() }
                    return try removing(run) { try deliver(proposeTest(run, in: choice, work.attendance.context)) }
                }
            case .approve, .reject, .plan, .pause, .cancel, .skip, .approveTime, .withdrawApproval:
                preconditionFailure("\(order.kind.name) sends nothing")
            }
        }
    }

    /// Sends a new run to the devices that failed or are unknown. A retry that may not be sent is removed; one that needs an approval is kept, as
    /// with `volley retry`.
    private func retry(
        _ id: String, _ placed: PlacedOrder, _ deliver: (SendProposal) throws -> OrderState
    ) throws -> OrderState {
        let parent = try catalog.open(id)
        defer { parent.close() }
        let made = RunID.make(campaign: parent.plan.campaign, now: .now(), seed: .random())
        guard try note(made, for: placed) else { return .left(.nothing) }
        guard let retry = try planRetry(of: parent, outcomes: [.failed, .unknown], id: made, in: choice, at: .now()) else {
            return .refused(.nothingToRetry)
        }
        defer { retry.run.close() }
        return try removing(retry.run) {
            let proposal = try retry.propose(in: choice, work.attendance.context)
            work.attendance.observer(.run(.warnings(retry.warnings), retry.run.plan))
            return try deliver(proposal)
        }
    }

    /// Removes a run that was made to be sent at once and was not.
    private func removing(_ run: RunFile, _ body: () throws -> OrderState) throws -> OrderState {
        do { return try body() } catch let refused as SendRefused where refused.why == .needsApproval { throw refused } catch {
            _ = try? discard(run)
            throw error
        }
    }
}

extension OrderResult.End {
    /// How a run ended.
    init(_ end: RunEnd) {
        self =
            switch end {
            case .finished: .finished
            case .stopped(let cause): .stopped(cause)
            case .cancelled: .cancelled
            case .interrupted: .interrupted
            }
    }
}
