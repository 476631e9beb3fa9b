public import Automation
import Base
import Runs

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
