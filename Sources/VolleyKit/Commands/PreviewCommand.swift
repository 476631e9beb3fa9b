import Base
import Campaigns
import Content

/// `volley preview`: who would get a campaign, and what. Nothing is written or sent.
public enum PreviewCommand {
    /// - Parameters:
    ///   - samples: rendered payloads to show of each text; nil for three, or for one of each when there are several.
    public static func run(file: String, samples: Int?, options: CommonOptions, console: Console) throws -> ExitStatus {
        Interruption.install()
        let now = Timestamp.now()
        let context = try CampaignContext.read(file: file, options: options, now: now)
        let preview = try Planner(context: context, memory: options.memory, console: console, now: now).preview(
            samples: samples ?? (context.messages.hasChoice ? 1 : 3), runsFolder: context.runsFolder(options))
        if options.isJSON {
            try console.out(preview.json)
        } else {
            try console.out(preview.text(width: console.width, colour: console.colour, isVerbose: console.options.isVerbose))
        }
        return .done
    }
}
