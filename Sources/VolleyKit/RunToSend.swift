import APNsSimulator
import Base
import Campaigns
import Content
import Delivery
import Reports
import Runs

/// A run with everything that sending it needs, from its file and from the credentials that this names.
struct RunToSend {
    let run: RunStore
    let gateway: Gateway
    let route: ProxyRoute
    let settings: RunSettings
    let messages: MessageCatalog
    /// volley.yaml as it is now.
    let project: Project

    init(run: RunStore, gateway: Gateway, route: ProxyRoute, settings: RunSettings, messages: MessageCatalog, project: Project) {
        (self.run, self.gateway, self.route, self.settings, self.messages) = (run, gateway, route, settings, messages)
        self.project = project
    }

    /// Opens what the run names, and says what is worth a warning.
    /// - Throws: `Diagnostic`: credentials or proxy cannot be used, the run file does not hold what a plan froze.
    init(_ run: RunStore, _ options: CommonOptions, _ console: Console) throws {
        self.run = run
        settings = try RunSettings(json: run.plan.settings, runFile: run.path)
        guard settings.renderingRules == MessageCatalog.renderingRules else {
            throw Diagnostic(
                "this run was planned by another version of Volley, which may make other texts of the same campaign", file: run.path,
                remedy: "Send it with that version, or plan the campaign again.")
        }
        // The campaign is taken as it was planned; an expiry that has passed since is found by the sender, device by device.
        messages = try MessageCatalog(frozenIn: run.plan)
        let present = try CurrentProject(of: run, options)
        project = present.project
        route = try ProxyRoute(present, settings)
        gateway = try Gateway(present.withPresentFiles(settings), now: .now())
        console.show(present.warnings + gateway.warnings)
    }

    /// Sends until the run has ended, and shows its report.
    /// - Throws: why it may not be sent. Nothing was sent.
    func send(_ step: SendGate.Step, _ options: CommonOptions, _ console: Console) throws -> ExitStatus {
        let notices = notices(console)
        let before = acceptedBefore(step)
        let end = try deliver(step, through: SendPermission(run: run, settings: settings, options: options), console, notices)
        let isShown = show(ledger: gateway.close(), acceptedBefore: before, options, console)
        defer { notices.finish(withinSeconds: Notices.longestFlushSeconds) }
        switch end {
        case .finished:
            // It was sent: what cannot be read of it now is no mistake of the command.
            guard let report = try? Report(run) else { return .doneWithFailures }
            guard !run.plan.isTest || !report.pointsAtSettings else {
                console.warn(
                    "APNs refused the tokens of most test devices. Their tokens are old, or environment or topic in volley.yaml are wrong: "
                        + "`volley doctor \(run.plan.app)` checks them, before the campaign goes to its audience.")
                return .doneWithFailures
            }
            return isShown && report.isClean ? .done : .doneWithFailures
        case .stopped(let reason):
            console.warn("The run stopped: \(reason)")
            return .stopped
        case .interrupted:
            console.warn("Interrupted; what was not sent is unsent in the report. `volley resume \(run.plan.id)` goes on.")
            return .interrupted
        case .cancelled:
            console.warn("Cancelled; what was not sent is unsent in the report.")
            return .stopped
        }
    }

    /// Recipients that a simulator of an earlier process accepted; nil when nothing is to be held against this one's ledger: it counts devices, and a test
    /// device may get several texts.
    private func acceptedBefore(_ step: SendGate.Step) -> Int? {
        guard case .simulator = settings.environment, !run.plan.isTest else { return nil }
        guard step == .goOn else { return 0 }
        // Why it cannot be read is said where it matters.
        return (try? run.figures()).map { $0.outcomes[.accepted] ?? 0 }
    }

    /// Whom the project tells of runs; a test is nobody's business but the tester's.
    private func notices(_ console: Console) -> Notices { Notices(run.plan.isTest ? nil : project, patience: .short, console: console) }

    /// Sends until the run has ended, and tells of its beginning and its end. The one place where sending begins.
    /// - Parameters:
    ///   - occurrence: the time of the schedule that the run belongs to.
    ///   - isAlive: called often while it goes on.
    /// - Throws: why the gate does not let it pass. Nothing was sent.
    func deliver(
        _ step: SendGate.Step, through gate: SendPermission, _ console: Console, _ notices: Notices, occurrence: String? = nil,
        isAlive: @escaping @Sendable () -> Void = {}
    ) throws -> RunEnd {
        var stage = RunSender(
            run: run, endpoint: gateway.endpoint, credentials: gateway.credentials, route: route, settings: settings, messages: messages,
            console: console)
        stage.isAlive = isAlive
        stage.threads = gate.options.threads
        run.expectReaders(stage.renderers)
        let sender = try stage.sender()
        console.progress("looking whether it may be sent: is the plan unchanged, does another command hold it")
        let pass = try gate.pass(step)
        (stage.claimCounter, stage.files) = (pass.claimCounter, pass.files)
        stage.refusal = { try gate.refusal(of: .goOn)?.diagnostic as? Diagnostic }
        notices.post(Notice(.started, of: run, occurrence: occurrence))
        let end = stage.send(with: sender)
        pass.end(console)
        notices.post(Notice(ofEndedRun: run, occurrence: occurrence))
        return end
    }

    /// Leaves one file behind, and puts the devices that turned out to be gone on their list.
    func settle(_ console: Console) throws {
        console.progress("leaving the run file in order, and devices without the app out of later campaigns")
        defer { console.clearProgress() }
        try run.closeIntoOneFile()
        // What a test says of a device is no word about the audience.
        if !run.plan.isTest { SuppressionList.absorb(run, console) }
    }

    /// Shows the report of a run that has ended, and how it compares to the simulator's ledger. What goes wrong here does not change
    /// what was sent, so it is said and no more.
    /// - Returns: whether everything could be shown, and agrees.
    private func show(ledger: LedgerSummary?, acceptedBefore: Int?, _ options: CommonOptions, _ console: Console) -> Bool {
        do {
            try settle(console)
            try LedgerGap.check(run, console)
            let report = try Report(run, chain: RunChain(of: run))
            try console.out(options.isJSON ? report.json.indentedText : report.text(width: console.width, colour: console.colour))
            guard let ledger, let acceptedBefore else { return true }
            let check = LedgerCheck(ledger, figures: try run.figures(), acceptedBefore: acceptedBefore)
            check.agrees ? console.say(check.text) : console.warn(check.text)
            return check.agrees
        } catch {
            console.warn("The run is over, but its report cannot be shown. \(error)")
            return false
        }
    }
}

extension MessageCatalog {
    /// What a run's campaign says, as it was planned.
    init(frozenIn plan: RunPlan) throws(Diagnostics) {
        let (campaign, _) = try Campaign.read(source: plan.campaignSource, file: plan.campaignFile, now: plan.plannedAt)
        try self.init(campaign)
    }

    /// What a campaign says.
    init(_ campaign: Campaign) throws(Diagnostics) {
        try self.init(campaign.content, variants: campaign.variants, campaign: campaign.name.value, dealing: campaign.variantDealing)
    }

    /// Who falls into which variant; nil when all get the same.
    var variantsOfDevices: VariantNames? {
        guard !variantNames.isEmpty else { return nil }
        let chooser = MessageChooser(self)
        return VariantNames(variantNames) { chooser.variant(of: $0.token, alias: $0.alias) }
    }
}
