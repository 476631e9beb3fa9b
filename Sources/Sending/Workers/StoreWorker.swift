public import Base
import Campaigns
import Content
import Delivery
import Cluster
public import Runs
import Synchronization
public import Workspace

/// What happens while a machine helps to send runs of others.
public enum StoreWorkerEvent: Sendable {
    /// It waits for runs of these apps.
    case waiting(apps: [String])
    /// It takes part in a run.
    case joined(RunPlan)
    /// It takes part no longer: the run has ended for all, or, where it has not, for this machine.
    case left(RunPlan, RunEnd, isOver: Bool)
    /// It cannot take part in a run: another machine has to send it.
    case refused(run: String, Diagnostic)
    /// The store cannot be queried, or can be again.
    case storeAway(Diagnostic), storeBack
    /// A sign of life, about once a second.
    case tick
}

/// Helps to send whatever is sent through the store: `volley work`.
public final class StoreWorker: Sendable {
    private static let lookMilliseconds = 1000
    /// How long a run is left alone that could not be joined, or that this machine cannot send; in
    /// looks.
    private static let pauseLooks = 30

    private let project: Project
    private let choice: ProjectChoice
    private let options: RunOptions
    private let observer: Observer<StoreWorkerEvent>

    /// Prepares the help.
    /// - Parameters:
    ///   - choice: names the volley.yaml of this machine, whose apps and keys count.
    ///   - options: for each run that is helped with.
    /// - Throws: `Diagnostic`: volley.yaml cannot be read, or names no store.
    public init(in choice: ProjectChoice, _ options: RunOptions, _ observer: Observer<StoreWorkerEvent>) throws {
        guard let path = choice.file ?? Project.find(startingAt: ".") else {
            throw Diagnostic(
                "there is no volley.yaml here or above", remedy: "Name one with --config FILE.", [.ask(.nameProject)])
        }
        project = try Project.read(file: path).0
        guard project.store != nil else {
            throw Diagnostic(
                "there is no store in this file, through which other machines could share their runs",
                file: project.file,
                remedy: "Write at its top level: \(StoreSettings.example).")
        }
        (self.choice, self.options, self.observer) = (choice, options, observer)
    }

    /// Helps until the cancellation of the options is requested.
    /// - Parameter run: the only run to help with; nil for all. With a run, it ends when that run
    ///   has ended.
    /// - Throws: `Diagnostic`: the store cannot be reached, or has no such run.
    public func work(on run: String? = nil) throws {
        guard let variable = project.store?.variable else { return }
        let store = try StoreAddress(variable: variable).open(asked: options.cancellation) { [observer] in
            observer($0.map(StoreWorkerEvent.storeAway) ?? .storeBack)
        }
        // Tokens are dated before this machine takes part in anything.
        options.context.clock.correct(bySeconds: try store.clockOffsetSeconds())
        if let run {
            try help(with: run, store)
            return
        }
        observer(.waiting(apps: project.apps.map(\.name.value)))
        var threads: [String: WorkerThread<Bool>] = [:], pauses: [String: Int] = [:]
        while !options.cancellation.isRequested {
            // While the store cannot be queried there is nothing to begin: `storeAway` says so.
            let runs = (try? store.runsToSend(ofApps: project.apps.map(\.name.value))) ?? []
            for id in runs where threads[id] == nil && pauses[id, default: 0] == 0 {
                do { threads[id] = try WorkerThread("work") { [self] in helped(with: id, store) } } catch {
                    observer(.refused(run: id, error))
                    pauses[id] = Self.pauseLooks
                }
            }
            for (id, thread) in threads where thread.isFinished {
                // A run that has ended for all may be resumed at once.
                (threads[id], pauses[id]) = (nil, thread.join() ? 0 : Self.pauseLooks)
            }
            pauses = pauses.compactMapValues { $0 > 1 ? $0 - 1 : nil }
            observer(.tick)
            options.cancellation.wait(milliseconds: Self.lookMilliseconds)
        }
        for thread in threads.values { _ = thread.join() }
    }

    private func helped(with id: String, _ store: Store) -> Bool {
        do { return try help(with: id, store) } catch {
            if !store.isGivenUp { observer(.refused(run: id, Diagnostic(explaining: error))) }
            return false
        }
    }

    /// Takes part in a run until it has ended.
    /// - Returns: whether it has ended for all.
    @discardableResult
    private func help(with id: String, _ store: Store) throws -> Bool {
        let catalog = try Project.catalog(choice)
        // It was cancelled here while the store was away.
        if passOnOrders(ofRuns: [id], store, in: catalog)[id] == .cancel { return true }
        let ledger = try store.open(id, in: catalog)
        let stage = try WorkerSetup(ledger, catalog, project, options)
        defer { stage.close() }
        observer(.joined(ledger.plan))
        while true {
            var end = try stage.sender.send(through: ledger, file: nil)
            // A machine that was suspended for too long and was declared dead takes part again, as
            // another worker.
            if case .stopped(.ledger(.takenOver)) = end, !options.cancellation.isRequested { continue }
            let state = try? ledger.status().state, isOver = state?.hasEnded ?? false
            // A machine that was asked to end while the run was cancelled says the latter.
            if state == .cancelled { end = .cancelled }
            observer(.left(ledger.plan, end, isOver: isOver))
            return isOver
        }
    }
}

/// What a machine needs to help with a run: texts from its plan, credentials and the way to its
/// services from this machine's volley.yaml.
private final class WorkerSetup {
    let sender: RunSender
    private let gateways: [Int: Gateway]

    /// - Throws: `Diagnostic`: this machine does not have the app, or its settings or keys differ
    ///   from those of the plan.
    init(_ ledger: SharedLedger, _ catalog: RunsFolder, _ project: Project, _ options: RunOptions) throws {
        let settings = try ledger.plan.settings.get(), present = CurrentProject(ledger.plan, project)
        guard settings.renderingRules == MessageCatalog.renderingRules else {
            throw Diagnostic(
                "\(ledger.plan.id) was planned by another version of Volley, which may write different texts for the same campaign",
                remedy: "Use the same version on all machines.")
        }
        try present.checkApproval(ledger.approval())
        try present.checkUnchanged(settings)
        let (services, gateways) = try RunToSend.open(present, settings, options.context, closesUnusable: false)
        self.gateways = gateways
        var options = options
        options.endsSharedRuns = false
        var sender = RunSender(
            run: ledger, catalog: catalog, services: services, settings: settings,
            messages: try MessageCatalog(frozenIn: ledger.plan),
            options: options)
        sender.threads = options.context.threads
        self.sender = sender
    }

    func close() { for gateway in gateways.values { _ = gateway.close() } }
}
