public import Automation
import Base
import Campaigns
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
