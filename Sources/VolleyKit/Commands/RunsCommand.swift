import Base
import Campaigns
import Reports
import Runs

/// `volley runs`: all runs of a folder.
public enum RunsCommand {
    /// Lists runs, oldest first.
    public static func run(options: CommonOptions, console: Console) throws -> ExitStatus {
        let folder = try Project.runsFolder(options)
        let (runs, broken) = FilePaths.exists(folder) ? try RunStore.all(in: folder) : ([], [])
        let list = try RunList(runs: runs, broken: broken)
        if options.isJSON {
            try console.out(list.json)
        } else if runs.isEmpty, broken.isEmpty {
            console.say("There are no runs in \(folder).")
        } else {
            try console.out(list.text(width: console.width, colour: console.colour))
        }
        return .done
    }
}
