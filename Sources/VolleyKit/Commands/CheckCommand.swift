import Audience
import Base
import Campaigns

/// `volley check`: reads and validates campaigns; nothing is expanded.
public enum CheckCommand {
    /// Checks each file, shows all mistakes of all of them, and says which are fine.
    public static func run(files: [String], options: CommonOptions, console: Console) throws -> ExitStatus {
        var results: [JSONValue] = []
        var isClean = true
        for file in files {
            let (errors, lint) = check(file, options)
            let warnings = lint?.shown ?? []
            isClean = isClean && errors.isEmpty
            results.append(
                .object(pairs: [
                    ("file", .string(file)), ("valid", .bool(errors.isEmpty)),
                    ("errors", .array(errors.map(\.json))), ("warnings", .array(warnings.map(\.json))),
                    ("silenced", lint?.silencedJSON ?? .array([])),
                ]))
            guard !options.isJSON else { continue }
            if let lint { console.show(.lint(lint)) }
            console.show(errors)
            if errors.isEmpty { try console.out("\(file): fine") }
        }
        if options.isJSON { try console.out(.object(pairs: [("files", .array(results))])) }
        return isClean ? .done : .wrong
    }

    /// Everything that can be known without reading the rows of an export: both files, lists, columns, key and certificate.
    private static func check(_ file: String, _ options: CommonOptions) -> (errors: [Diagnostic], lint: Lint?) {
        do {
            let now = Timestamp.now()
            let context = try CampaignContext.read(file: file, options: options, now: now)
            let query = try context.audienceQuery(now: now)
            let columnWarnings = try query.checkColumns()
            let settings = try RunSettings(context)
            let age = ExportAge.warnings(of: query.files, environment: settings.environment, now: now)
            let keyWarnings = try context.placingCredentials { try Gateway.check(settings, now: now) }
            _ = try context.route(settings, options)
            return (
                [],
                Lint(
                    context.warnings + columnWarnings + age + keyWarnings, allowed: context.campaign.allowed,
                    lookedAt: [.files, .headers, .credentials])
            )
        } catch let mistakes as Diagnostics {
            return (
                mistakes.all.filter { $0.severity == .error },
                Lint(mistakes.all.filter { $0.severity == .warning }, allowed: [], lookedAt: [])
            )
        } catch let mistake as Diagnostic {
            return ([mistake], nil)
        } catch {
            return ([Diagnostic("\(error)", file: file)], nil)
        }
    }
}
