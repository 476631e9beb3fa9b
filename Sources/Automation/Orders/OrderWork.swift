import Base
import Campaigns
import Delivery
import Planning
import Reports
import Runs
import Sending
import Workspace

/// The work for one order. It blocks its thread, and leaves all decisions about orders to the queue. Right, time and
/// digest are checked again just before anything is done; then comes the gate (`SendPermission`), as for every other
/// way to send.
struct OrderWork: Sendable {
    /// How work on an order ended, or how far it is.
    enum Answer: Sendable {
        /// Its run is on record as running.
        case begun
        case ended(OrderState)
        /// It was not done again, or was interrupted before it had a result.
        case remains(OrderRemains)
    }

    let work: ScheduledRunWork

    var catalog: RunsFolder { work.catalog }
    var choice: ProjectChoice { work.choice }
    var rights: OrderRights { work.rights }
    private var observer: ScheduleObserver { work.options.observer }

    /// Why an order of any kind must not be carried out; nil if it may.
    private func hindrance(_ order: Order) -> OrderState? {
        if order.hasLapsed(at: .now()) { return .lapsed }
        return rights(order).map { .refused($0) }
    }

    /// Runs `body` unless something forbids it. An error means that nothing was done.
    func checked(_ placed: PlacedOrder, _ body: () throws -> OrderState) -> Answer {
        if let hindrance = hindrance(placed.order) { return .ended(hindrance) }
        do { return .ended(try body()) } catch is CancellationError {
            // The process must end. This order is not carried out again.
            return .remains(remains(of: placed))
        } catch {
            // The author of the order reads this in a browser.
            return .ended(.refused(.described(Diagnostics(explaining: error).inConsole)))
        }
    }

    // MARK: - Small orders

    /// Carries out an order that only changes a run's state or its approval.
    func change(_ placed: PlacedOrder) -> Answer {
        checked(placed) {
            guard let id = placed.order.kind.run else { return .refused(.noSuchTime) }
            let run = try catalog.open(id, readOnly: false)
            defer { run.close() }
            switch placed.order.kind {
            case .approve(_, let digest): return try approve(run, digest: digest, by: placed.order.by)
            case .reject(_, let digest, let reason): return try reject(run, digest: digest, by: placed.order.by, reason: reason)
            case .pause:
                if try run.status().state != .paused || run.orderToPassOn() == .pause {
                    warn(ofReach: try pause(run, at: .now(), in: choice), about: run)
                }
            case .cancel:
                if try run.status().state != .cancelled || run.orderToPassOn() == .cancel {
                    let (reach, warnings) = try cancel(run, in: choice)
                    warn(warnings, about: run)
                    warn(ofReach: reach, about: run)
                }
            case .send, .resume, .retry, .test, .plan, .skip, .approveTime, .withdrawApproval:
                preconditionFailure("\(placed.order.kind.name) is no small order")
            }
            return .done(OrderResult(run: id))
        }
    }

    /// Also if a process that is gone has already done it: then it is not recorded a second time.
    private func approve(_ run: RunFile, digest: String, by person: String) throws -> OrderState {
        let name = try approver(person)
        guard isShown(run, digest) else { return .refused(.planDiffers) }
        if try run.approval()?.name != name {
            _ = try checkApprovable(run, in: choice)
            warn(try Sending.approve(run, by: name, at: .now()).warning.map { [$0] } ?? [], about: run)
        }
        return .done(OrderResult(run: run.plan.id))
    }

    private func reject(_ run: RunFile, digest: String, by person: String, reason: String) throws -> OrderState {
        let name = try approver(person)
        guard isShown(run, digest) else { return .refused(.planDiffers) }
        if try run.status().state != .cancelled { warn(try Sending.reject(run, by: name, reason: reason), about: run) }
        return .done(OrderResult(run: run.plan.id))
    }

    /// Whether a run's plan is the one that was shown. Approving and sending check that the file matches its digest.
    func isShown(_ run: RunFile, _ digest: String) -> Bool { !digest.isEmpty && run.planDigest == digest }

    private func warn(_ warnings: [String], about run: RunFile) {
        for warning in warnings { observer(.order(.warning(run.plan, warning))) }
    }

    private func warn(ofReach reach: OrderReach, about run: RunFile) {
        guard case .hereOnly(let why) = reach else { return }
        warn(["The store could not be told, so other machines may still send it. \(why)"], about: run)
    }

    // MARK: - Planning

    /// Freezes a campaign's audience into a plan.
    func plan(_ placed: PlacedOrder, _ notices: Notices) -> Answer {
        checked(placed) {
            guard case .plan(let file, let digest) = placed.order.kind else { preconditionFailure("only a plan is planned here") }
            return try planning(file, digest, for: placed) { campaign, id in
                let run = try Planning.plan(campaign, for: .keeping, id: id, work.planning(.order(placed.order)), at: .now()).run
                guard isFromShown(run, digest) else { return try withdraw(run) }
                // A plan without recipients needs no approver.
                if run.plan.audience > 0, try needsApproval(run, in: choice) { notices.post(Notice(.approvalNeeded, of: run)) }
                run.close()
                return .done(OrderResult(run: id))
            }
        }
    }

    /// Checks the file, and records the id of the run before it exists.
    func planning(
        _ file: String, _ digest: String, for placed: PlacedOrder, _ body: (CampaignFile, String) throws -> OrderState
    ) throws -> OrderState {
        guard ShownFile.bytes(of: file, digest: digest) != nil else { return .refused(.fileDiffers) }
        var campaign = CampaignFile(file, in: choice)
        campaign.isConfined = true
        let isTest = if case .test = placed.order.kind { true } else { false }
        let context = try CampaignContext.read(campaign, now: .now(), isTest: isTest)
        try context.checkPlace(of: catalog)
        let id = RunID.make(campaign: context.campaign.name.value, now: .now(), seed: .random())
        guard try note(id, for: placed) else { return .left(.nothing) }
        return try body(campaign, id)
    }

    /// - Returns: false when the order is no longer this process's; then nothing may be made.
    func note(_ id: String, for placed: PlacedOrder) throws -> Bool {
        guard case .taken(let epoch) = placed.state else { return false }
        return try catalog.orders.open().closing { try $0.note(made: id, by: placed.order.nonce, epoch: epoch) }
    }

    /// Whether a run was planned from the text that was shown: the file may have been changed between the check and the reading.
    func isFromShown(_ run: RunFile, _ digest: String) -> Bool {
        let text = Array(run.plan.campaignSource.utf8)
        // The text is kept without a byte order mark.
        return ShownFile.digest(of: text) == digest || ShownFile.digest(of: [0xEF, 0xBB, 0xBF] + text) == digest
    }

    func withdraw(_ run: RunFile) throws -> OrderState {
        try run.remove()
        return .refused(.fileDiffers)
    }

    // MARK: - What is left

    /// The state of an order whose process is gone, according to the files.
    func remains(of placed: PlacedOrder) -> OrderRemains {
        switch placed.order.kind {
        case .send(let run, _), .resume(let run): return state(of: run)
        case .test, .plan, .retry:
            // An order in hand may have got its run in between.
            do {
                guard let run = try placed.made ?? catalog.orders.open().closing({ try $0.order(placed.order.nonce)?.made }) else {
                    return .nothing
                }
                return state(of: run)
            } catch { return .unknown(run: nil, Diagnostics(explaining: error).inConsole) }
        case .approve(let run, _), .reject(let run, _, _), .pause(let run), .cancel(let run): return .unknown(run: run, "")
        case .skip, .approveTime, .withdrawApproval: return .unknown(run: nil, "")
        }
    }

    private func state(of id: String) -> OrderRemains {
        guard catalog.holds(id) else {
            try? catalog.removeUnfinishedPlan(of: id)
            return .nothing
        }
        do {
            let run = try catalog.open(id)
            defer { run.close() }
            if run.isBeingSent { return .elsewhere(run: id) }
            if let gap = LedgerGap(of: run) { return .unknown(run: id, gap.diagnostic.inConsole) }
            let status = try run.status()
            switch status.state {
            case .planned: return try run.hasBegun() ? .unfinished(run: id) : .notBegun(run: id)
            case .running, .paused: return .unfinished(run: id)
            case .stopped where status.finishedAt == nil || status.cause == .interrupted: return .unfinished(run: id)
            case .stopped, .finished, .cancelled: return .ended(run: id, status.state)
            }
        } catch { return .unknown(run: id, Diagnostics(explaining: error).inConsole) }
    }
}

extension OrderStore {
    /// Closes it after use.
    fileprivate func closing<Value>(_ body: (OrderStore) throws -> Value) rethrows -> Value {
        defer { close() }
        return try body(self)
    }
}

/// Orders that have something sent.
extension OrderWork {
    /// Sends, resumes, retries or tests, to the end of the run.
    /// - Parameters:
    ///   - notices: get the beginning and the end of a run, which also concern others; a test concerns only its author.
    ///   - begun: called when the run is on record as running.
    func send(_ placed: PlacedOrder, _ notices: Notices, begun: @escaping @Sendable () -> Void) -> Answer {
        let order = placed.order
        func deliver(_ proposal: SendProposal) throws -> OrderState {
            var options = work.sending(.order(order), proposal.run.plan, notices)
            let shown = options.observer
            options.observer = Observer { event in
                if case .started = event { begun() }
                shown(event)
            }
            options.observer(.warnings(proposal.warnings))
            let id = proposal.run.plan.id
            let (end, failure) = try proposal.deliver(options)
            if let failure { work.options.observer(.fileNotClosed(proposal.run.plan, failure)) }
            return .done(OrderResult(run: id, end: end))
        }
        return checked(placed) {
            switch order.kind {
            case .send(let id, let digest):
                let run = try catalog.open(id, readOnly: false)
                defer { run.close() }
                guard isShown(run, digest) else { return .refused(.planDiffers) }
                return try deliver(propose(run, in: choice, work.options.context))
            case .resume(let id):
                let run = try catalog.open(id, readOnly: false)
                defer { run.close() }
                if run.sendingSince != nil {
                    // It is paused, and the process that paused it continues.
                    try wake(run, in: choice)
                    return .done(OrderResult(run: id))
                }
                return try deliver(proposeToGoOn(run, in: choice, work.options.context))
            case .retry(let id): return try retry(id, placed, deliver)
            case .test(let file, let digest):
                return try planning(file, digest, for: placed) { campaign, id in
                    let run = try planTest(campaign, id: id, work.planning(.order(order)), at: .now())
                    guard isFromShown(run, digest) else { return try withdraw(run) }
                    defer { run.close() }
                    return try removing(run) { try deliver(proposeTest(run, in: choice, work.options.context)) }
                }
            case .approve, .reject, .plan, .pause, .cancel, .skip, .approveTime, .withdrawApproval:
                preconditionFailure("\(order.kind.name) sends nothing")
            }
        }
    }

    /// Sends a new run to the devices that failed or are unknown. A retry that may not be sent is removed; one that
    /// needs an approval is kept, as with `volley retry`.
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
            let proposal = try retry.propose(in: choice, work.options.context)
            work.options.observer(.run(.warnings(retry.warnings), retry.run.plan))
            return try deliver(proposal)
        }
    }

    /// Removes a run that was made to be sent at once but was not sent.
    private func removing(_ run: RunFile, _ body: () throws -> OrderState) throws -> OrderState {
        do { return try body() } catch let refused as SendRefused where refused.why == .needsApproval { throw refused } catch {
            _ = try? discard(run)
            throw error
        }
    }
}
