public import Base
import Campaigns
import Cluster
import Content
import Delivery
import PushServices
public import Reports
public import Runs
import Simulators
import Workspace

/// A run with everything that sending it needs: from its file, and from the credentials that the
/// file names.
struct RunToSend {
    let run: RunFile
    /// The servers of its services, by their numbers. A service whose credentials cannot be used
    /// has none.
    let gateways: [Int: Gateway]
    /// How each service is reached.
    let services: [ServiceAccess]
    let settings: RunSettings
    let messages: MessageCatalog
    /// The present volley.yaml.
    let project: Project

    /// Warnings about volley.yaml, keys and certificates.
    let warnings: [Diagnostic]

    /// Opens the credentials, the proxy and the texts that the run names.
    /// - Throws: `Diagnostic`: credentials or proxy cannot be used, or the run file lacks what a
    ///   plan freezes.
    package init(_ run: RunFile, in choice: ProjectChoice, _ context: SendingContext) throws {
        self.run = run
        settings = try run.plan.settings.get()
        guard settings.renderingRules == MessageCatalog.renderingRules else {
            throw Diagnostic(
                "this run was planned by another version of Volley, which may write different texts for the same campaign",
                file: run.place,
                remedy: "Send it with that version, or plan the campaign again.")
        }
        // The campaign counts as it was planned. If its expiry has passed since, the sender notices
        // that device by device.
        messages = try MessageCatalog(frozenIn: run.plan)
        let present = try CurrentProject(of: run, in: choice)
        project = present.project
        let goesThroughStore = Self.goesThroughStore(run.plan, project, settings)
        if goesThroughStore, !run.isWithoutStore { try Self.askStore(of: project, for: run, context) }
        // Where several machines send, another one may be able to read what this one cannot.
        let (services, gateways) = try Self.open(present, settings, context, closesUnusable: !goesThroughStore)
        (self.services, self.gateways) = (services, gateways)
        warnings =
            present.warnings
            + services.indices.flatMap { number -> [Diagnostic] in
                guard case .closed(let why) = services[number].way else { return gateways[number]?.warnings ?? [] }
                return [.credentialsUnusable(why, of: services[number].service)]
            }
    }

    /// Opens the way to each service.
    /// - Parameter closesUnusable: whether the way to a service whose credentials cannot be used is
    ///   closed, if there is another service whose can. Otherwise such credentials are an error.
    /// - Throws: `Diagnostic`: credentials or proxy cannot be used.
    static func open(
        _ present: CurrentProject, _ settings: RunSettings, _ context: SendingContext, closesUnusable: Bool
    ) throws -> ([ServiceAccess], [Int: Gateway]) {
        let withFiles = present.withPresentFiles(settings)
        let obstacles = closesUnusable ? try AppCredentials.obstacles(withFiles, now: .now()) : [:]
        var (services, gateways): ([ServiceAccess], [Int: Gateway]) = ([], [:])
        do {
            for number in settings.services.indices {
                let own = settings.ofService(number), route = try ProxyRoute(present, own)
                if let obstacle = obstacles[number] {
                    services.append(ServiceAccess(settings: own, way: .closed(obstacle), route: route))
                    continue
                }
                // A service that gives out no token stops its own segment, not the others.
                let gateway = try Gateway(
                    withFiles.ofService(number), context, proxy: route.tokenProxyURL,
                    firstToken: settings.services.count == 1 ? .isWaitedOut : .isLeftToSenders, now: .now())
                gateways[number] = gateway
                services.append(
                    ServiceAccess(settings: own, way: .open(gateway.endpoint, gateway.credentials), route: route))
            }
        } catch {
            for gateway in gateways.values { _ = gateway.close() }
            throw error
        }
        return (services, gateways)
    }

    /// Sends until the run has ended.
    /// - Throws: why it may not be sent. Nothing was sent.
    func send(_ step: SendGate.Step, through gate: SendPermission, _ options: RunOptions) throws -> RunResult {
        let before = acceptedBefore(step)
        let end = try deliver(step, through: gate, options)
        let ledgers = closeGateways()
        do {
            try close(options.observer, after: end)
            if let doubt = try LedgerGap.doubt(about: run) { options.observer(.gap(doubt)) }
            let report = try Report(run, chain: RunChain(of: run))
            let check = try before.flatMap { before in
                // Where a service chooses the devices, its simulator counts the names of a call,
                // and the report the calls.
                let isComparable = !ledgers.isEmpty && !run.plan.services[0].choosesDevices
                let figures = isComparable ? try run.figures() : nil
                return figures.map { LedgerCheck(ledgers, figures: $0, acceptedBefore: before) }
            }
            return RunResult(plan: run.plan, end: end, report: report, ledger: check, failure: nil)
        } catch {
            return RunResult(plan: run.plan, end: end, report: try? Report(run), ledger: nil, failure: error)
        }
    }

    /// The ledgers of the built-in simulators, by the numbers of their services.
    private func closeGateways() -> [Int: LedgerSummary] {
        Dictionary(
            uniqueKeysWithValues: gateways.compactMap { number, gateway in gateway.close().map { (number, $0) } })
    }

    /// What the simulators of earlier processes accepted, as figures of the run. Nil if the ledger
    /// cannot be compared: no service is a simulator, or it is a test. The ledger counts devices,
    /// and a test device may get several texts.
    private func acceptedBefore(_ step: SendGate.Step) -> RunFigures? {
        guard settings.services.contains(where: { $0.environment.isSimulator }), !run.plan.isTest else { return nil }
        guard step == .goOn else { return RunFigures() }
        // If the figures cannot be read, the code that needs them reports it.
        return try? run.figures()
    }

    /// Sends until the run has ended. Sending begins only here.
    /// - Throws: why the gate refuses it. Nothing was sent.
    func deliver(
        _ step: SendGate.Step, through gate: SendPermission, _ options: RunOptions
    ) throws -> RunEnd {
        var stage = RunSender(
            run: run, catalog: run.catalog, services: services, settings: settings, messages: messages, options: options
        )
        stage.threads = options.context.threads
        run.expectReaders(stage.readers)
        try stage.prepare()
        options.observer(.checking)
        let time = step == .begin ? try SharedTime(of: run, settings, in: project, until: options.cancellation) : nil
        let former = try FormerEpoch(of: run)
        let others = try judgeOthers(step, until: options.cancellation)
        defer { others?.lock?.release() }
        let pass = try pass(step, through: gate, having: time)
        stage.refusal = { try gate.refusal(of: .goOn).map { Diagnostic(explaining: $0) } }
        options.observer(.started(run))
        let end =
            goesThroughStore
            ? sendShared(stage, options, for: time?.firing, besides: others, after: former) : stage.send()
        pass.end(options.observer)
        options.observer(.ended(run))
        return end
    }

    /// Passes the gate, and claims the time of a schedule on all machines. Where several machines
    /// send the run, its time is begun together with it: until then another machine may take over.
    private func pass(_ step: SendGate.Step, through gate: SendPermission, having time: SharedTime?) throws
        -> SendPermit
    {
        guard let time else { return try gate.pass(step) }
        if goesThroughStore {
            try time.check()
            return try gate.pass(step)
        }
        try time.begin()
        do { return try gate.pass(step) } catch {
            time.giveBack()
            throw error
        }
    }

    /// Closes the run into one file, and puts the devices with invalid tokens on the suppression
    /// list.
    func close(_ observer: RunObserver, after end: RunEnd) throws {
        observer(.closing)
        defer { observer(.closed) }
        try run.closeIntoOneFile()
        // A test suppresses no device: its answers do not count for the audience.
        guard !run.plan.isTest else { return }
        SuppressionList.suppressGone(of: run, observer)
        // A person that requests the end does not wait for the store; what is not exchanged now is
        // exchanged before the next plan.
        if end != .interrupted, let warning = project.exchangeLists(of: run.plan.app, settings, in: run.catalog) {
            observer(.warnings([warning]))
        }
    }
}

/// The result of sending a run.
///
/// ```swift
/// let result = try propose(run, in: choice, context).send(sending)
/// if result.end == .finished { print(result.report?.text(width: 100, colour: false) ?? "") }
/// ```
public struct RunResult: Sendable {
    /// The run's plan.
    public let plan: RunPlan
    /// How the run ended.
    public let end: RunEnd
    /// The run's report; nil if its file cannot be read.
    public let report: Report?
    /// The comparison of the report with the built-in simulator's ledger; nil if the run was not
    /// sent to it.
    public let ledger: LedgerCheck?
    /// Why the finished sending cannot be shown in full; nil if it can.
    public let failure: (any Error)?

    /// Whether the service refused the devices of a test so often that old tokens or the settings
    /// are to blame.
    public var blamesSettings: Bool { plan.isTest && (report?.pointsAtSettings ?? false) }

    /// Whether the report is clean and complete, and agrees with the simulator's ledger if there is
    /// one.
    public var isClean: Bool { failure == nil && (report?.isClean ?? false) && (ledger?.agrees ?? true) }
}

extension SuppressionList {
    /// Adds the devices with invalid tokens in a run that has ended to the suppression list of its
    /// app. An error is reported to the observer; it does not change how the run ended.
    static func suppressGone(of run: RunFile, _ observer: RunObserver) {
        do {
            let settings = try run.plan.settings.get()
            let areSeveral = settings.services.count > 1
            for (number, settings) in settings.services.enumerated() {
                let service = settings.service
                let list = run.catalog.suppression(app: run.plan.app, service: service, environment: settings.listName)
                let change = try list.suppressGone(of: run, service: number)
                if change.added + change.renewed > 0 { observer(.suppressed(change.added, list: list.place)) }
                if change.notSuppressed > 0, try run.status().state == .finished {
                    observer(
                        .notSuppressed(
                            change.notSuppressed, target: service.target.shortNoun, topicKey: service.account.topic.key,
                            service: areSeveral ? service.displayName : nil))
                }
            }
        } catch { observer(.suppressionFailed(error)) }
    }
}
