import Base
import Planning
import PostgresRuns
import Reports
import Runs
import Sending
import Workspace

/// Orders: what the book says is to be done, is done on the thread that it belongs to.
extension ScheduleDaemon {
    /// Reads the orders, and begins what can be begun.
    func takeOrders() throws {
        let steps = orders.look(at: .now())
        tell(steps)
        for placed in steps.toExamine { looks.put(.remains(placed)) }
        for placed in steps.toDo {
            observer(.order(.taken(placed.order)))
            try begin(placed)
        }
    }

    private func begin(_ placed: PlacedOrder) throws {
        switch placed.order.kind {
        case .approve, .reject, .pause, .cancel: looks.put(.order(placed))
        case .skip, .approveTime, .withdrawApproval: try change(placed.order)
        case .plan: plans.put(.ordered(placed))
        case .send, .resume, .retry, .test: send(placed)
        }
    }

    private func send(_ placed: PlacedOrder) {
        let nonce = placed.order.nonce
        do throws(Diagnostic) {
            sendingOrders[nonce] = try WorkerThread("order") { [orderWork, events, notices, heartbeats] in
                let answer = heartbeats.during(.order(placed.order)) {
                    orderWork.send(placed, notices) { events.add(.order(nonce, .begun)) }
                }
                events.add(.order(nonce, answer))
            }
        } catch { events.add(.order(nonce, .ended(.refused(.described(error.description))))) }
    }

    /// Leaves out a time, approves it ahead, or takes that approval back. It changes the scheduler's own record, so it is done here.
    private func change(_ order: Order) throws {
        let now = OrderMoment.now()
        guard let key = order.kind.time else { preconditionFailure("\(order.kind.name) is about no time") }
        if let refusal = orderWork.rights(order) ?? sourceRefusal(order, at: now.time) {
            return tell(orders.ended(order.nonce, as: .refused(refusal), at: now))
        }
        let change =
            switch order.kind {
            case .approveTime(_, _, let digest, let most):
                scheduler.approve(
                    AdvanceApproval(key: key, digest: digest, mostDevices: most, name: order.by, approvedAt: now.time), at: now.time)
            case .withdrawApproval: scheduler.withdrawApproval(of: key, at: now.time)
            default: scheduler.leaveOut(key, by: order.by, at: now.time)
            }
        // What another process has sent by hand meanwhile cannot be left out.
        let refusal = try change.refusal ?? (perform(change.actions).contains(key) ? .timeHasCome(run: nil) : nil)
        tell(orders.ended(order.nonce, as: refusal.map { .refused($0) } ?? .done(OrderResult(run: nil)), at: now))
        guard case .skip = order.kind, refusal == nil, let campaign = scheduler.campaigns[key.campaign] else { return }
        let next = scheduler.nextTime(of: key.campaign, after: now.time)
        observer(.next(campaign: key.campaign, app: campaign.app, next, campaign.schedule.zone))
    }

    /// Why a time cannot be approved as the page showed its campaign, or cannot be left out now; nil for other orders.
    private func sourceRefusal(_ order: Order, at now: Timestamp) -> OrderRefusal? {
        if case .skip = order.kind, let service, !service.mayFind {
            return .described(
                service.isInTouch
                    ? "the store that machines share has just come up, so another machine may have it: try again in half a minute"
                    : "the store that machines share cannot be reached, so another machine might send it")
        }
        guard case .approveTime(let campaign, _, let digest, _) = order.kind else { return nil }
        guard let file = scheduler.campaigns[campaign]?.file else { return .noSuchTime }
        do {
            let source = try CampaignSource(CampaignFile(file, in: files.choice), now: now)
            guard source.hasOwnDevices else { return .devicesUnknown }
            return source.campaign == campaign && source.digest == digest ? nil : .fileDiffers
        } catch { return .described(Diagnostics(explaining: error).inConsole) }
    }

    /// A thread has done something about an order.
    func handle(_ nonce: String, _ answer: OrderWork.Answer) {
        switch answer {
        case .begun: return orders.begun(nonce)
        case .ended(let state): tell(orders.ended(nonce, as: state, at: .now()))
        case .remains(let remains): tell(orders.found(nonce, remains, at: .now()))
        }
        sendingOrders.removeValue(forKey: nonce)?.join()
        returnMemory()
    }

    /// Records what could not be recorded before, and what has lapsed.
    func finishOrders() {
        tell(orders.look(isTaking: false, at: .now()))
        orders.close()
    }

    private func tell(_ steps: OrderBook.Steps) {
        for (placed, state) in steps.ended { observer(.order(.ended(placed.order, state))) }
        for mistake in steps.damaged { observer(.damaged(mistake)) }
        if let failure = steps.failure { observer(.order(.unusable(failure))) }
    }
}
