public import Accounts
import Base
import Campaigns
import Delivery
import Planning
import Reports
public import Runs
import Sending
import Workspace

/// What each kind of order takes: a right of its author, and a thread.
extension Order.Kind {
    /// The thread on which `volley schedule` carries out an order.
    enum Thread {
        /// The one that reads run files, for what takes a moment.
        case looks
        /// The one that plans, one campaign after the other.
        case plans
        /// One of its own, until the run ends.
        case own
        /// The one with the scheduler, whose record of times the order changes.
        case scheduler
    }

    private var demands: (right: Right, thread: Thread) {
        switch self {
        case .approve, .reject: (.approve, .looks)
        case .pause, .cancel: (.controlSending, .looks)
        case .plan: (.askForApproval, .plans)
        case .withdraw: (.askForApproval, .looks)
        case .test: (.sendTests, .own)
        case .send, .resume, .retry, .retryUnsent: (.controlSending, .own)
        case .approveTime, .withdrawApproval: (.approve, .scheduler)
        case .skip: (.controlSending, .scheduler)
        }
    }

    /// The right that a person needs for the order, for the app of its subject.
    public var right: Right { demands.right }

    var thread: Thread { demands.thread }
}

/// The work for one order. It blocks its thread, and leaves all decisions about orders to the
/// queue. Right, time and digest are checked again just before anything is done; then comes the
/// gate (`SendPermission`), as for every other way to send.
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

    /// Carries out an order, on the thread of its kind.
    /// - Parameters:
    ///   - notices: get what also concerns others, as the beginning and the end of a run; a test
    ///     concerns only its author.
    ///   - begun: called when the run that an order sends is on record as running.
    func carryOut(_ placed: PlacedOrder, _ notices: Notices, begun: @escaping @Sendable () -> Void = {}) -> Answer {
        func deliver(_ proposal: SendProposal) throws -> OrderState {
            try self.deliver(proposal, for: placed.order, notices, begun: begun)
        }
        return checked(placed) {
            switch placed.order.kind {
            case .approve(let run, let digest):
                try changing(run) { try approve($0, digest: digest, by: placed.order.by) }
            case .reject(let run, let digest, let reason):
                try changing(run) { try reject($0, digest: digest, by: placed.order.by, reason: reason) }
            case .withdraw(let run): try changing(run, withdrawPlan)
            case .pause(let run): try changing(run, pause)
            case .cancel(let run): try changing(run, cancel)
            case .plan(let file, let digest): try plan(file, digest, for: placed, notices)
            case .test(let file, let digest, let wanted):
                try test(file, digest, TestChoice(wanted), for: placed, deliver)
            case .send(let run, let digest):
                try changing(run) { run in
                    guard isShown(run, digest) else { return .refused(.planDiffers) }
                    return try deliver(propose(run, in: choice, work.options.context))
                }
            case .resume(let run): try changing(run) { try resume($0, deliver) }
            case .retry(let run): try retry(run, [.failed, .unknown], placed, deliver)
            case .retryUnsent(let run): try retry(run, [.unsent], placed, deliver)
            case .skip, .approveTime, .withdrawApproval:
                preconditionFailure("\(placed.order.kind.name) changes only the scheduler")
            }
        }
    }

    private func changing(_ id: String, _ body: (RunFile) throws -> OrderState) throws -> OrderState {
        let run = try catalog.open(id, readOnly: false)
        defer { run.close() }
        return try body(run)
    }

    // MARK: - Small orders

    private func pause(_ run: RunFile) throws -> OrderState {
        if try run.status().state != .paused || run.orderToPassOn() == .pause {
            warn(ofReach: try Sending.pause(run, at: .now(), in: choice), about: run)
        }
        return .done(OrderResult(run: run.plan.id))
    }

    private func cancel(_ run: RunFile) throws -> OrderState {
        if try run.status().state != .cancelled || run.orderToPassOn() == .cancel {
            let (reach, warnings) = try Sending.cancel(run, in: choice)
            warn(warnings, about: run)
            warn(ofReach: reach, about: run)
        }
        return .done(OrderResult(run: run.plan.id))
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

    private func withdrawPlan(_ run: RunFile) throws -> OrderState {
        if try run.status().state != .cancelled { warn(try Sending.withdraw(run), about: run) }
        return .done(OrderResult(run: run.plan.id))
    }

    /// Whether a run's plan is the one that was shown. Approving and sending check that the file
    /// matches its digest.
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
    private func plan(_ file: String, _ digest: String, for placed: PlacedOrder, _ notices: Notices) throws
        -> OrderState
    {
        try planning(file, digest, for: placed) { campaign, id in
            let run = try Planning.plan(
                campaign, for: .keeping, id: id, work.planning(.order(placed.order)), at: .now()
            ).run
            guard isFromShown(run, digest) else { return try withdraw(run) }
            // A plan without recipients needs no approver.
            if run.plan.audience > 0, try needsApproval(run, in: choice) {
                notices.post(Notice(.approvalNeeded, of: run))
            }
            run.close()
            return .done(OrderResult(run: id))
        }
    }

    private func test(
        _ file: String, _ digest: String, _ wanted: TestChoice, for placed: PlacedOrder,
        _ deliver: (SendProposal) throws -> OrderState
    ) throws -> OrderState {
        try planning(file, digest, for: placed) { campaign, id in
            let run = try planTest(campaign, choosing: wanted, id: id, work.planning(.order(placed.order)), at: .now())
            guard isFromShown(run, digest) else { return try withdraw(run) }
            defer { run.close() }
            return try removing(run) { try deliver(proposeTest(run, in: choice, work.options.context)) }
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

    /// Whether a run was planned from the text that was shown: the file may have been changed
    /// between the check and the reading.
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
        let kind = placed.order.kind
        guard kind.isTakenOnce else { return .unknown(run: kind.run, "") }
        if kind.sendsItsRun, let run = kind.run { return state(of: run) }
        // It makes a run. An order in hand may have got its run in between.
        do {
            guard let run = try placed.made ?? catalog.orders.open().closing({ try $0.order(placed.order.nonce)?.made })
            else {
                return .nothing
            }
            return state(of: run)
        } catch { return .unknown(run: nil, Diagnostics(explaining: error).inConsole) }
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
    /// Sends to the end of the run.
    private func deliver(
        _ proposal: SendProposal, for order: Order, _ notices: Notices, begun: @escaping @Sendable () -> Void
    ) throws -> OrderState {
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

    private func resume(_ run: RunFile, _ deliver: (SendProposal) throws -> OrderState) throws -> OrderState {
        if run.sendingSince != nil {
            // It is paused, and the process that paused it continues.
            _ = try wake(run, in: choice)
            return .done(OrderResult(run: run.plan.id))
        }
        return try deliver(proposeToGoOn(run, in: choice, work.options.context))
    }

    /// Sends a new run to the devices with these outcomes. A retry that may not be sent is removed;
    /// one that needs an approval is kept, as with `volley retry`.
    private func retry(
        _ id: String, _ outcomes: Set<Outcome>, _ placed: PlacedOrder, _ deliver: (SendProposal) throws -> OrderState
    ) throws -> OrderState {
        let parent = try catalog.open(id)
        defer { parent.close() }
        let made = RunID.make(campaign: parent.plan.campaign, now: .now(), seed: .random())
        guard try note(made, for: placed) else { return .left(.nothing) }
        guard let retry = try planRetry(of: parent, outcomes: outcomes, id: made, in: choice, at: .now()) else {
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
        do { return try body() } catch let refused as SendRefused where refused.why == .needsApproval {
            throw refused
        } catch {
            _ = run.plan.retryOf == nil ? try? discard(run) : try? removeUnsent(retry: run)
            throw error
        }
    }
}
