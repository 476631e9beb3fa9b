public import Automation
import Base
import Campaigns
import Runs
import Workspace

/// `volley backup`: copies everything that matters of a project, while processes send and the
/// console is at work.
public enum BackupCommand {
    /// Makes a backup.
    /// - Returns: `done`, or `doneWithFailures` if a file could not be copied.
    public static func run(_ request: Backup.Request, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let project = try readProject(options, console)
        let catalog = try Project.presentCatalog(options.project)
        let backup = Backup(
            request, of: project, catalog: catalog, Interruption.process,
            Observer { console.progress($0.line(doing: "backing up")) })
        let made: Backup.Made
        do { made = try backup.make(at: .now()) } catch is CancellationError {
            throw interrupted(console, "No backup was made.")
        }
        console.clearProgress()
        for problem in made.problems { console.warn(problem.description) }
        let done = "The backup is \(made.path)."
        let status = console.answer(options.isJSON ? made.json.indentedText : made.text, done: done)
        return made.problems.isEmpty ? status : .doneWithFailures
    }

    private static func readProject(_ options: CommonOptions, _ console: Console) throws -> Project? {
        guard let path = options.project.file ?? Project.find(startingAt: ".") else { return nil }
        let (project, warnings) = try Project.read(file: path)
        console.show(warnings)
        return project
    }

    /// Says what an interruption means here.
    static func interrupted(_ console: Console, _ outcome: String) -> CancellationError {
        console.warn(outcome)
        return CancellationError()
    }
}

extension Backup.Progress {
    /// `backing up  45.2 %  4.1 of 9.0 GB  runs/20261201-090000-spring-sale-7f3a.sqlite`
    func line(doing: String) -> String {
        let share = total == 0 ? 1 : Double(done) / Double(total)
        let step = step == .copying ? doing : "checking the copies"
        return "\(step)  \(TextFormat.percent(share))  \(TextFormat.bytes(done)) of \(TextFormat.bytes(total))  \(name)"
    }
}

extension Backup.Made {
    private var bytes: Int { manifest.files.reduce(0) { $0 + $1.bytes } }

    /// Its contents, what is missing, and why.
    var text: String {
        let runs = manifest.files.count { $0.path.hasPrefix("runs/") }, project = manifest.files.count - runs
        var lines = [
            "\(path): \(TextFormat.counted(project, one: "file")) of the project, \(TextFormat.count(runs)) of the folder of runs, \(TextFormat.bytes(bytes))."
        ]
        if !manifest.sending.isEmpty {
            lines.append("Being sent meanwhile, so that the copy knows only a part of what was sent:")
            lines += manifest.sending.map { "  \($0)" }
        }
        for part in manifest.leftOut {
            lines.append(part.reason.sentence)
            lines += part.names.map { "  \(TextFormat.inLine($0))" }
        }
        let accounts =
            manifest.files.contains { $0.path == "runs/console/accounts.sqlite" } ? ", and the console's accounts" : ""
        lines.append(
            "Not in it: device exports, and secrets in environment variables. It holds device tokens\(accounts).")
        return lines.joined(separator: "\n")
    }

    /// The manifest, with the place of the backup.
    var json: JSONValue {
        guard case .object(let members) = manifest.json else { return .null }
        return .object(
            [JSONMember("backup", .string(path))] + members + [JSONMember("problems", .array(problems.map(\.json)))])
    }
}

extension BackupManifest.Omission.Reason {
    /// Why things are left out, as a heading above their names.
    fileprivate var sentence: String {
        switch self {
        case .keys: "Left out, as they are secrets (--with-keys takes those below the folder of volley.yaml along):"
        case .outside: "Left out, as they lie outside of the folder of volley.yaml:"
        case .links:
            "Left out, as they are links to folders, or lead nowhere; where they hold campaigns, name the folders that they lead to after the one for backups:"
        case .foreign: "Left out, as they are unfinished plans, or no files of Volley:"
        case .store:
            "Left out: the PostgreSQL store. Back it up with pg_dump; its address is in the environment variable"
        case .unreadable: "Left out, as they could not be copied:"
        }
    }
}

/// `volley restore`: restores a backup, and says what remains unknown.
public enum RestoreCommand {
    /// Puts a backup back.
    public static func run(_ request: Restore.Request, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let done: Restore.Done
        do {
            let restore = try Restore(
                request, Interruption.process, Observer { console.progress($0.line(doing: "restoring")) })
            done = try restore.run(at: .now())
        } catch is CancellationError {
            throw BackupCommand.interrupted(console, "Nothing was put back.")
        }
        console.clearProgress()
        let text = done.text(nothingSentSince: request.nothingSentSince)
        return console.answer(
            options.isJSON ? done.json.indentedText : text, done: "The backup was put back into \(done.runs).")
    }
}

extension Restore.Done {
    /// What was restored, and the consequences.
    func text(nothingSentSince: Bool) -> String {
        var lines = [project.map { "The project is in \($0), its runs are in \(runs)." } ?? "The runs are in \(runs)."]
        lines.append("The backup is of \(manifest.startedAt), and every file in it is as it was then.")
        if namesOtherRuns {
            lines.append("volley.yaml names another folder of runs: change `runs` there to \(FilePaths.inYAML(runs)).")
        }
        if let elsewhere {
            lines.append(
                "Campaigns that lay elsewhere are in \(TextFormat.inLine(elsewhere)), under their old paths: move them back."
            )
        }
        if !state.held.isEmpty {
            lines.append(
                "These runs had not ended, and what was sent of them since then is not known. They are not sent; `volley report RUN` says what to do:"
            )
            lines += state.held.map { "  \($0)" }
        }
        if !nothingSentSince {
            lines.append(
                "Runs that were planned after the backup are not in it, and nobody can say from it what they sent: look before you send"
            )
            lines.append("a campaign again. No time of a schedule up to now is sent by itself.")
        }
        if state.lapsedOrders > 0 {
            lines.append(
                "\(TextFormat.counted(state.lapsedOrders, one: "order")) of the console that waited will not be done.")
        }
        let missing = manifest.leftOut.filter { [.keys, .outside, .unreadable].contains($0.reason) }.flatMap(\.names)
        if !missing.isEmpty {
            lines.append("Put these back yourself, as they are not in the backup:")
            lines += missing.map { "  \(TextFormat.inLine($0))" }
        }
        lines.append("`volley doctor` says whether everything is there to send. People sign in to the console again.")
        return lines.joined(separator: "\n")
    }

    /// The same as a document.
    var json: JSONValue {
        .object(pairs: [
            ("backup_at", .string(manifest.startedAt.description)), ("project", project.map { .string($0) } ?? .null),
            ("runs", .string(runs)), ("names_other_runs", .bool(namesOtherRuns)),
            ("files", .integer(Int64(manifest.files.count))),
            ("held", .array(state.held.map { .string($0) })), ("lapsed_orders", .integer(Int64(state.lapsedOrders))),
        ])
    }
}

/// `volley support-bundle`: gathers what support needs, without secrets and people's data.
public enum SupportCommand {
    /// Gathers a bundle.
    public static func run(_ request: SupportBundle.Request, options: CommonOptions, console: Console) throws
        -> ExitStatus
    {
        Interruption.install()
        let file = options.project.file ?? Project.find(startingAt: ".")
        var project: Project?
        // A bundle is needed when something is wrong: a volley.yaml with mistakes must not prevent
        // it.
        if let file { do { project = try Project.read(file: file).0 } catch { console.warn("\(error)") } }
        let catalog =
            try project?.catalog(options.project) ?? Project.catalog(.init(runs: options.project.runs ?? "runs"))
        let bundle = SupportBundle(request, of: project, projectFile: file, catalog: catalog, Interruption.process)
        let made: (path: String, files: [String])
        do { made = try bundle.make(at: .now()) } catch is CancellationError {
            throw BackupCommand.interrupted(console, "No bundle was made.")
        }
        let document = JSONValue.object(pairs: [
            ("bundle", .string(made.path)), ("files", .array(made.files.map { .string($0) })),
        ])
        let text = """
            \(made.path): \(made.files.joined(separator: ", ")).
            It holds names of apps and campaigns, but no device tokens, aliases, registration ids or keys\(request.includesTexts ? ". You asked for the campaigns: read them before you pass them on." : ", and no texts.")
            """
        return console.answer(options.isJSON ? document.indentedText : text, done: "The bundle is \(made.path).")
    }
}
