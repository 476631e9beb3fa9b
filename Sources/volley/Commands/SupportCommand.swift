public import Automation
import Base
import Campaigns
import Workspace

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
