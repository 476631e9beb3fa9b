import Automation
import Base
import Campaigns
import Logs
import Reports
import Runs
import Sending
import Workspace

/// `volley store`: sets up the database that several machines share, and checks it.
public enum StoreCommand {
    /// Makes the tables, or upgrades them.
    public static func migrate(options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let migration = try setup(options, console).migrate()
        let text = words(migration)
        return console.answer(options.isJSON ? document(migration).indentedText : text, done: "The store: \(text).")
    }

    /// Checks the store, and changes nothing.
    /// - Returns: `done` if nothing failed, else `wrong`.
    public static func check(options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let steps = try setup(options, console).check()
        try console.out(options.isJSON ? document(steps).indentedText : text(steps, console))
        return steps.failures == 0 ? .done : .wrong
    }

    /// The steps as `volley doctor` and `volley store check` show them.
    static func text(_ steps: [CheckStep], _ console: Console) -> String {
        StepsText.text("store: the database that machines share", steps, console)
    }

    /// The steps as one JSON document.
    static func document(_ steps: [CheckStep]) -> JSONValue {
        .object(pairs: [("ok", .bool(steps.failures == 0)), ("steps", .array(steps.map(\.json)))])
    }

    private static func setup(_ options: CommonOptions, _ console: Console) throws -> StoreSetup {
        StoreSetup(try settings(options, console), Interruption.process)
    }

    /// The store that volley.yaml names.
    static func settings(_ options: CommonOptions, _ console: Console) throws -> StoreSettings {
        guard let path = options.project.file ?? Project.find(startingAt: ".") else {
            throw Diagnostic(
                "there is no volley.yaml here or above", remedy: "Name one with --config, or run `volley init`.")
        }
        let (project, warnings) = try Project.read(file: path)
        console.show(warnings)
        guard let store = project.store else {
            throw Diagnostic(
                "there is no store in this file", file: project.file,
                remedy: "Write at its top level: \(StoreSettings.example).")
        }
        return store
    }

    private static func words(_ migration: StoreSetup.Migration) -> String {
        switch migration {
        case .made(let version): "made the tables (version \(version))"
        case .upgraded(let old, let version): "upgraded the tables from version \(old) to version \(version)"
        case .unchanged(let version): "nothing to do: version \(version)"
        }
    }

    private static func document(_ migration: StoreSetup.Migration) -> JSONValue {
        let (before, now) =
            switch migration {
            case .made(let version): (0, version)
            case .upgraded(let old, let version): (old, version)
            case .unchanged(let version): (version, version)
            }
        return .object(pairs: [("before", .integer(Int64(before))), ("version", .integer(Int64(now)))])
    }
}

/// The runs in the store.
extension StoreCommand {
    /// Lists them.
    public static func list(options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let runs = try StoreRuns(settings(options, console), Interruption.process)
        let list = try runs.list(passingOnFrom: Project.catalog(options.project))
        try console.out(options.isJSON ? list.json.indentedText : list.text)
        return .done
    }

    /// Makes the file of a run from its data in the store.
    /// - Parameters:
    ///   - argument: a run's id, a path to its file, or `last`.
    ///   - folder: the folder of runs that it is put into; nil for the project's.
    public static func fetch(_ argument: String, into folder: String?, options: CommonOptions, console: Console) throws
        -> ExitStatus
    {
        Interruption.install()
        let runs = try StoreRuns(settings(options, console), Interruption.process)
        let choice = ProjectChoice(file: options.project.file, runs: folder ?? options.project.runs)
        let catalog = try Project.catalog(choice), run = try runs.id(named: argument, in: catalog)
        let fetched = try runs.fetch(run, into: catalog, observer(console))
        console.clearProgress()
        let text =
            "\(fetched.isNew ? "made" : "brought up to date:") \(fetched.place) (\(fetched.status.state.rawValue), "
            + "\(TextFormat.count(fetched.claimed)) of \(TextFormat.counted(fetched.audience, one: "device")) claimed)"
        return console.answer(
            options.isJSON ? document(run, fetched).indentedText : text, done: "The run was fetched: \(text).")
    }

    /// Removes a run from the store.
    /// - Parameters:
    ///   - argument: a run's id, a path to its file, or `last`.
    ///   - isForced: whether it is removed also if its file does not hold all that the store has.
    public static func remove(_ argument: String, isForced: Bool, options: CommonOptions, console: Console) throws
        -> ExitStatus
    {
        Interruption.install()
        let runs = try StoreRuns(settings(options, console), Interruption.process)
        let catalog = try Project.catalog(options.project), run = try runs.id(named: argument, in: catalog)
        try runs.remove(run, evenIfUnfetched: isForced, fetchedInto: catalog, observer(console))
        console.clearProgress()
        let answer = JSONValue.object(pairs: [("run", .string(run)), ("removed", .bool(true))])
        return console.answer(
            options.isJSON ? answer.indentedText : "removed \(run) from the store", done: "The run was removed.")
    }

    private static func observer(_ console: Console) -> Observer<StoreRuns.Event> {
        Observer { event in
            switch event {
            case .waiting(let machines):
                console.progress(
                    "waiting to see whether \(machines.joined(separator: "; ")) still sends it (half a minute)")
            case .recipients(let count): console.progress("fetching \(TextFormat.counted(count, one: "device"))")
            case .outcomes(let count): console.progress("fetching \(TextFormat.counted(count, one: "outcome"))")
            }
        }
    }

    private static func document(_ run: String, _ fetched: StoreRuns.Fetched) -> JSONValue {
        .object(pairs: [
            ("run", .string(run)), ("file", .string(fetched.place)), ("is_new", .bool(fetched.isNew)),
            ("state", .string(fetched.status.state.rawValue)), ("audience", .integer(Int64(fetched.audience))),
            ("claimed", .integer(Int64(fetched.claimed))),
        ])
    }
}

/// `volley work`: helps to send what other machines send through the store.
public enum WorkCommand {
    /// Helps until it is told to end, or until one run has ended.
    /// - Parameter run: the id of the only run to help with; nil for all.
    public static func run(on run: String?, options: CommonOptions, console: Console) throws -> ExitStatus {
        try HangupSignal.expect(console)
        Interruption.install()
        let stageOptions = RunOptions(
            context: SendingContext(threads: options.threads, cancellation: Interruption.process),
            observer: Observer { event in
                if case .warnings(let warnings) = event { console.show(warnings) }
            }, cancellation: Interruption.process)
        let manager = ServiceManager()
        if let flaw = manager.flaw { console.warn(flaw) }
        let work = try StoreWorker(
            in: options.project, stageOptions,
            Observer { event in
                show(event, console)
                tell(manager, of: event)
                if case .tick = event { HangupSignal.answer(console) }
            })
        if let project = try Project.find(with: options.project) {
            var inspection = ProjectInspection(project, project.catalog(options.project))
            console.show(inspection.obstacles())
        }
        try work.work(on: run)
        manager.stopping()
        return .done
    }

    private static func tell(_ manager: ServiceManager, of event: StoreWorkerEvent) {
        switch event {
        case .waiting: manager.ready()
        case .joined(let plan): manager.status("helping with \(plan.id)")
        case .left: manager.status("waiting for runs")
        case .tick: manager.alive()
        case .refused, .storeAway, .storeBack: break
        }
    }

    private static func show(_ event: StoreWorkerEvent, _ console: Console) {
        switch event {
        case .waiting(let apps): console.say("Waiting for runs of \(apps.joined(separator: ", ")). Ctrl-C ends.")
        case .joined(let plan):
            console.say(
                "Helping with \(plan.id): \(plan.campaign), \(TextFormat.count(plan.audience)) devices.",
                about: LogSubject(plan))
        case .left(let plan, let end, let isOver):
            // The machine that planned the run has its figures.
            console.say("No longer helping with \(plan.id): \(words(end, isOver: isOver))", about: LogSubject(plan))
        case .refused(let run, let mistake):
            console.warn("\(run) is left to other machines: \(mistake)", about: LogSubject(run: run))
        case .storeAway(let mistake): console.warn("\(mistake)")
        case .storeBack: console.say("The store answers again.")
        case .tick: break
        }
    }

    private static func words(_ end: RunEnd, isOver: Bool) -> String {
        switch end {
        case .finished: "it has finished."
        case .cancelled: "it was cancelled."
        case .interrupted:
            isOver ? "it was stopped." : "this machine was asked to end. Other machines that send it continue."
        case .stopped(.interrupted) where isOver: "it was interrupted where it was planned."
        case .stopped(let cause) where isOver: "it was stopped. \(cause.sentence)"
        case .stopped(let cause):
            "this machine cannot send it. Other machines that can send it continue. \(cause.sentence)"
        }
    }
}
