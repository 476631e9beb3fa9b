import Base
import Campaigns
import Delivery
import Runs
import Scheduling

/// `volley send`: plans, shows the preview, asks, sends, reports.
public enum SendCommand {
    /// What to send.
    public enum Source: Sendable {
        /// A campaign file, planned now.
        case campaign(file: String)
        /// A run that was planned before: an id, a path, or `last`.
        case plan(run: String)
        /// A campaign file, to the app's test devices only.
        case test(file: String)
    }

    /// - Parameters:
    ///   - isConfirmed: `--yes`: does not ask. Where the app demands approval, it does not replace one.
    ///   - isNow: `--now`: at once and to everybody, whatever the campaign's schedule says.
    public static func run(
        _ source: Source, isConfirmed: Bool, isNow: Bool = false, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        Interruption.install()
        switch source {
        case .campaign(let file):
            try checkConsent(isConfirmed, console)
            return try sendCampaign(file, isConfirmed, isNow, options, console)
        case .plan(let run):
            try checkConsent(isConfirmed, console)
            return try sendPlan(run, isConfirmed, options, console)
        // Whoever wrote the test devices into volley.yaml has agreed for them: nobody is asked.
        case .test(let file): return try sendTest(file, options, console)
        }
    }

    private static func checkConsent(_ isConfirmed: Bool, _ console: Console) throws {
        guard isConfirmed || console.inputIsTerminal else {
            throw Diagnostic(
                "volley send asks before it sends, and standard input is no terminal",
                remedy: "Add --yes to send without a question. Nothing was sent.")
        }
    }

    private static func sendTest(_ file: String, _ options: CommonOptions, _ console: Console) throws -> ExitStatus {
        let now = Timestamp.now()
        let context = try CampaignContext.read(file: file, options: options, now: now)
        let settings = try RunSettings(context)
        _ = try context.route(settings, options)
        _ = try context.placingCredentials { try Gateway.check(settings, now: now) }
        let planner = TestPlanner(context: context, memory: options.memory, attendance: console.planning, now: now)
        let run = try planner.plan(settings, runsFolder: context.runsFolder(options))
        do {
            let text = run.plan.previewText + "\n"
            if options.isJSON { console.say(text) } else { try console.out(text) }
            let running = console.running()
            let dispatch = try RunToSend(run, options, running.context)
            console.show(dispatch.warnings)
            return console.show(try dispatch.send(.begin, options, running), options)
        } catch {
            try? run.remove()
            throw error
        }
    }

    private static func sendCampaign(
        _ file: String, _ isConfirmed: Bool, _ isNow: Bool, _ options: CommonOptions, _ console: Console
    ) throws -> ExitStatus {
        let now = Timestamp.now()
        let context = try CampaignContext.read(file: file, options: options, now: now)
        let sendingTime = try SendingTime.ofSending(context, isNow: isNow, now: now, runsFolder: context.runsFolder(options))
        let settings = try RunSettings(context)
        let running = console.running()
        let route = try context.route(settings, options)
        let gateway = try context.placingCredentials { try Gateway(settings, running.context, now: now) }
        var planner = try Planner(context: context, memory: options.memory, console.planning, now: now)
        planner.credentialWarnings = gateway.warnings
        planner.sendingTime = sendingTime
        let (run, preview) = try planner.plan(settings, runsFolder: context.runsFolder(options))
        let dispatch: RunToSend
        do {
            let text = preview.text(
                width: console.width, colour: console.colour && !options.isJSON, isVerbose: console.options.isVerbose,
                cards: Preview.cardsBesidePlan)
            // With --json standard output belongs to the report, but whoever is asked must see what is asked.
            if options.isJSON { console.say(text) } else { try console.out(text + "\n") }
            dispatch = try RunToSend(
                run: run, gateway: gateway, route: route, settings: RunSettings(json: run.plan.settings, runFile: run.path),
                messages: context.messages, project: context.project)
        } catch {
            try run.remove()
            throw error
        }
        let gate = SendPermission(run: run, settings: dispatch.settings, options: options, isKept: false)
        do {
            try gate.check(.begin)
            guard try isAgreed(run, settings, isConfirmed, console) else {
                console.warn(try afterNo(run, isKept: !discard(run)))
                return .wrong
            }
            return console.show(try dispatch.send(.begin, options, running), options)
        } catch {
            // Nothing was sent. What waits for an approval is kept for those who give it.
            if !(error is CancellationError), (try? isWaiting(run, gate)) ?? false {
                Notices.tell(.approvalNeeded, of: run, context.project, console.noticeObserver)
            } else {
                discard(run)
            }
            throw error
        }
    }

    private static func isWaiting(_ run: RunStore, _ gate: SendPermission) throws -> Bool {
        try run.status().state == .planned && gate.lacksApproval(CurrentProject.all(of: run, gate.options))
    }

    /// Removes a plan that nobody asked for and nobody sent, unless others have to do with it by now: it was cancelled, approved, or begun.
    /// - Returns: whether it is gone.
    @discardableResult
    private static func discard(_ run: RunStore) -> Bool {
        do {
            guard try run.status().state == .planned, try run.approval() == nil else { return false }
            try run.remove()
            return true
        } catch { return false }
    }

    /// What became of a plan that somebody did not want to send.
    private static func afterNo(_ run: RunStore, isKept: Bool) throws -> String {
        guard isKept else { return "Nothing was sent, and the plan is gone." }
        let id = run.plan.id
        if try run.hasBegun() || run.sendingSince != nil {
            return "This command sent nothing, but another one has begun to send \(id): `volley report \(id)` shows how far it is."
        }
        return try run.status().state == .planned
            ? "Nothing was sent; the plan is kept." : "Nothing was sent; the plan was cancelled meanwhile."
    }

    private static func sendPlan(_ argument: String, _ isConfirmed: Bool, _ options: CommonOptions, _ console: Console) throws -> ExitStatus
    {
        let run = try RunStore(path: RunStore.resolve(argument, in: Project.runsFolder(options)))
        try SendPermission(run: run, settings: RunSettings(json: run.plan.settings, runFile: run.path), options: options).check(.begin)
        let running = console.running()
        let dispatch = try RunToSend(run, options, running.context)
        console.show(dispatch.warnings)
        let file = run.plan.campaignFile
        if run.plan.retryOf == nil, FilePaths.exists(file), !FilePaths.holds(file, run.plan.campaignSource) {
            console.warn(
                "\(file) was changed after this plan was made. The plan is sent as it is; for what the file says now, plan it again: "
                    + "volley plan \(FilePaths.inShell(file))")
        }
        guard try isAgreed(run, dispatch.settings, isConfirmed, console) else {
            console.warn(try afterNo(run, isKept: true))
            return .wrong
        }
        return console.show(try dispatch.send(.begin, options, running), options)
    }

    private static func isAgreed(_ run: RunStore, _ settings: RunSettings, _ isConfirmed: Bool, _ console: Console) throws -> Bool {
        if run.plan.audience == 0 { console.warn("No device is in the audience: there is nothing to send.") }
        if isConfirmed { return true }
        return try console.confirms(SendQuestion(run, settings, now: .now()).text)
    }
}
