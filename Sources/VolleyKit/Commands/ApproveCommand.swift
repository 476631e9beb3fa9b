import Base
import Campaigns
import Runs

/// `volley approve`: somebody agrees that a plan be sent, exactly as it is.
public enum ApproveCommand {
    /// Characters of a name at most.
    private static let longestName = 100

    /// Shows the preview of the plan, asks, and records who approved it and when.
    /// - Parameters:
    ///   - argument: a run's id, a path to its file, or `last`.
    ///   - name: who approves.
    ///   - isConfirmed: `--yes`: does not ask.
    public static func run(
        _ argument: String, by name: String, isConfirmed: Bool, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        let name = try checked(name)
        guard isConfirmed || console.inputIsTerminal else {
            throw Diagnostic(
                "volley approve asks before it approves, and standard input is no terminal",
                remedy: "Add --yes to approve without a question. Nothing was approved.")
        }
        Interruption.install()
        let run = try RunStore(path: RunStore.resolve(argument, in: Project.runsFolder(options)))
        let settings = try checked(run, options)
        if options.isJSON { console.say(text(run, settings)) } else { try console.out(text(run, settings) + "\n") }
        if let earlier = try run.approval() { console.say("Approved before by \(earlier.name), \(earlier.approvedAt).") }
        guard try isConfirmed || console.confirms(question(run, settings, name)) else {
            console.warn("Nothing was approved.")
            return .wrong
        }
        // A run that has stopped may be pruned at any time, which puts another file in its place; a plan may not, and may be about to begin. Nor may one
        // that a process has paused.
        if try run.status().state != .planned, run.sendingSince == nil { try run.lockForSending(isSending: false) }
        try run.checkNotReplaced()
        let approval = RunApproval(name: name, approvedAt: .now())
        try run.approve(approval)
        // It is approved by now, whatever becomes of the files that SQLite lays beside it.
        do { try run.closeIntoOneFile() } catch { console.warn("\(error)") }
        let answer = JSONValue.object(pairs: [
            ("run", .string(run.plan.id)), ("approved_by", .string(name)), ("approved_at", .string(approval.approvedAt.description)),
        ])
        let done = "\(run.plan.id) is approved by \(name)."
        let text = (try? next(run, settings)).map { "\(done)\n\($0)" } ?? done
        return console.answer(options.isJSON ? answer.indentedText : text, done: done)
    }

    private static func next(_ run: RunStore, _ settings: RunSettings) throws -> String {
        let id = run.plan.id
        guard try run.status().state == .planned else { return "Go on with it: volley resume \(id)" }
        if ScheduledTime(run, settings, isScheduler: false)?.isForSchedule ?? false { return "volley schedule sends it at its time." }
        return "Send it with: volley send --plan \(id)"
    }

    private static func checked(_ name: String) throws -> String {
        let name = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !name.isEmpty, name.count <= longestName, name.unicodeScalars.allSatisfy({ !$0.properties.isDefaultIgnorableCodePoint }),
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw Diagnostic(
                "--by needs the name of whoever approves, at most \(longestName) characters", remedy: "For example: --by 'Anna Roth'.")
        }
        return name
    }

    /// What can be approved: a plan that is as it was previewed, and goes where volley.yaml sends it; or a run that has stopped, when approval was
    /// demanded only after it was begun, or is paused then.
    private static func checked(_ run: RunStore, _ options: CommonOptions) throws -> RunSettings {
        let state = try run.status().state
        let isStopped =
            try [.stopped, .paused, .cancelled].contains(state) && run.hasBegun() && run.approval() == nil
            && (state == .paused || run.sendingSince == nil)
        guard state == .planned || isStopped else {
            throw Diagnostic(
                "the run is \(state.rawValue), and only a plan can be approved", file: run.path,
                remedy: state == .stopped
                    ? "It was approved before: `volley resume \(run.plan.id)` goes on with it."
                    : "`volley report \(run.plan.id)` shows how far it is.")
        }
        guard run.hasDigest else {
            throw Diagnostic("a plan of this older format cannot be approved", file: run.path, remedy: "Plan the campaign again.")
        }
        let settings = try RunSettings(json: run.plan.settings, runFile: run.path)
        try run.checkPlace(home: settings.runsFolder)
        try run.checkUnchanged()
        for present in try CurrentProject.all(of: run, options) { try present.checkUnchanged(settings) }
        return settings
    }

    private static func text(_ run: RunStore, _ settings: RunSettings) -> String {
        [run.plan.previewText, "Planned       \(run.plan.plannedAt) as \(run.plan.id)", "Topic         \(settings.topic)"]
            .joined(separator: "\n")
    }

    private static func question(_ run: RunStore, _ settings: RunSettings, _ name: String) -> String {
        let devices = "\(TextFormat.count(run.plan.audience)) device\(run.plan.audience == 1 ? "" : "s")"
        return "Approve '\(run.plan.campaign)' for \(devices) of \(run.plan.app) (\(settings.environment.name)) as \(name)?"
    }
}
