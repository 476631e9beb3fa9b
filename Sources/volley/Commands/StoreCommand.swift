import Base
import Campaigns
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
            throw Diagnostic("there is no volley.yaml here or above", remedy: "Name one with --config, or run `volley init`.")
        }
        let (project, warnings) = try Project.read(file: path)
        console.show(warnings)
        guard let store = project.store else {
            throw Diagnostic(
                "there is no store in this file", file: project.file, remedy: "Write at its top level: \(StoreSettings.example).")
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
