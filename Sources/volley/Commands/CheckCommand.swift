import Base
import Planning

/// `volley check`: reads and validates campaigns; nothing is expanded.
public enum CheckCommand {
    /// Checks each file, shows all mistakes in all files, and names the files that are fine.
    public static func run(files: [String], options: CommonOptions, console: Console) throws -> ExitStatus {
        // Ctrl-C also ends waiting for a database.
        Interruption.install()
        var results: [JSONValue] = []
        var isClean = true
        // Campaigns of one folder share the mistakes of their volley.yaml.
        var shown: Set<String> = []
        for file in files {
            let result = check(CampaignFile(file, in: options.project), at: .now(), asking: Interruption.process)
            if Interruption.process.isRequested { throw CancellationError() }
            let (errors, lint) = (result.errors, result.lint)
            let warnings = lint?.shown ?? []
            isClean = isClean && errors.isEmpty
            results.append(
                .object(pairs: [
                    ("file", .string(Diagnostic.shownFile(file))), ("valid", .bool(errors.isEmpty)),
                    ("errors", .array(errors.map(\.json))), ("warnings", .array(warnings.map(\.json))),
                    ("silenced", lint?.silencedJSON ?? .array([])),
                ]))
            guard !options.isJSON else { continue }
            if let lint { console.show(.lint(lint)) }
            console.show(errors.filter { shown.insert($0.description).inserted })
            if let approval = result.approval(of: file) { try console.out(approval) }
        }
        if options.isJSON { try console.out(.object(pairs: [("files", .array(results))])) }
        return isClean ? .done : .wrong
    }
}
