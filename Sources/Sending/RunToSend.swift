import Base
import Campaigns
import Workspace
import Content
import Delivery
import PushServices
import Reports
import Runs
import Simulators

/// A run with everything that sending it needs: from its file, and from the credentials that the file names.
struct RunToSend {
    let run: any RecordedRun
    let gateway: Gateway
    let route: ProxyRoute
    let settings: RunSettings
    let messages: MessageCatalog
    /// The present volley.yaml.
    let project: Project

    /// Warnings about volley.yaml, keys and certificates.
    let warnings: [Diagnostic]

    package init(
        run: any RecordedRun, gateway: Gateway, route: ProxyRoute, settings: RunSettings, messages: MessageCatalog, project: Project
    ) {
        self.run = run
        self.gateway = gateway
        self.route = route
        self.settings = settings
        self.messages = messages
        self.project = project
        warnings = []
    }

    /// Opens the credentials, the proxy and the texts that the run names.
    /// - Throws: `Diagnostic`: credentials or proxy cannot be used, or the run file lacks what a plan freezes.
    package init(_ run: any RecordedRun, in choice: ProjectChoice, _ context: SendingContext) throws {
        self.run = run
        settings = try run.plan.settings.get()
        guard settings.renderingRules == MessageCatalog.renderingRules else {
            throw Diagnostic(
                "this run was planned by another version of Volley, which may write different texts for the same campaign", file: run.place,
                remedy: "Send it with that version, or plan the campaign again.")
        }
        // The campaign counts as it was planned. If its expiry has passed since, the sender notices that device by device.
        messages = try MessageCatalog(frozenIn: run.plan)
        let present = try CurrentProject(of: run, in: choice)
        project = present.project
        route = try ProxyRoute(present, settings)
        gateway = try Gateway(present.withPresentFiles(settings), context, proxy: route.proxyURL, now: .now())
        warnings = present.warnings + gateway.warnings
    }

    /// Sends until the run has ended.
    /// - Throws: why it may not be sent. Nothing was sent.
    func send(_ step: SendGate.Step, through gate: SendPermission, _ attendance: RunAttendance) throws -> RunResult {
        let before = acceptedBefore(step)
        let end = try deliver(step, through: gate, attendance)
        let ledger = gateway.close()
        do {
            try close(attendance.observer)
            if let doubt = try LedgerGap.doubt(about: run) { attendance.observer(.gap(doubt)) }
            let report = try Report(run, chain: RunChain(of: run))
            let check = try ledger.flatMap { ledger in
                try before.map { LedgerCheck(ledger, figures: try run.figures(), acceptedBefore: $0) }
            }
            return RunResult(plan: run.plan, end: end, report: report, ledger: check, failure: nil)
        } catch {
            return RunResult(plan: run.plan, end: end, report: try? Report(run), ledger: nil, failure: error)
        }
    }

    /// How many recipients the simulators of earlier processes accepted. Nil if the ledger cannot be compared: the run did not go to the
    /// simulator, or it is a test. The ledger counts devices, and a test device may get several texts.
    private func acceptedBefore(_ step: SendGate.Step) -> Int? {
        guard case .simulator = settings.firstService.environment, !run.plan.isTest else { return nil }
        guard step == .goOn else { return 0 }
        // If the figures cannot be read, the code that needs them reports it.
        return (try? run.figures()).map { $0.outcomes[.accepted] ?? 0 }
    }

    /// Sends until the run has ended. Sending begins only here.
    /// - Throws: why the gate refuses it. Nothing was sent.
    func deliver(
        _ step: SendGate.Step, through gate: SendPermission, _ attendance: RunAttendance
    ) throws -> RunEnd {
        var stage = RunSender(
            run: run, catalog: run.catalog, endpoint: gateway.endpoint, credentials: gateway.credentials, route: route, settings: settings,
            messages: messages,
            attendance: attendance)
        stage.threads = attendance.context.threads
        run.expectReaders(stage.renderers)
        let sender = try stage.sender()
        attendance.observer(.checking)
        let pass = try gate.pass(step)
        stage.refusal = { try gate.refusal(of: .goOn).map { Diagnostic(explaining: $0) } }
        attendance.observer(.started(run))
        let end = stage.send(with: sender)
        pass.end(attendance.observer)
        attendance.observer(.ended(run))
        return end
    }

    /// Closes the run into one file, and puts the devices with invalid tokens on the suppression list.
    func close(_ observer: RunObserver) throws {
        observer(.closing)
        defer { observer(.closed) }
        try run.closeIntoOneFile()
        // A test suppresses no device: its answers do not count for the audience.
        if !run.plan.isTest { SuppressionList.suppressGone(of: run, observer) }
    }
}
