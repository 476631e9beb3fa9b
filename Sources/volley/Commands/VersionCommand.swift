import Automation
import Base

/// `volley version`: shows Volley's version, and what it runs with.
public enum VersionCommand {
    /// Prints the version, with `--verbose` everything that support needs.
    public static func run(options: CommonOptions, console: Console) throws -> ExitStatus {
        let isWhole = console.options.isVerbose
        if options.isJSON {
            try console.out(isWhole ? VersionReport().json : .object(pairs: [("version", .string(volleyVersion))]))
        } else {
            try console.out(isWhole ? VersionReport().text : volleyVersion)
        }
        return .done
    }
}

extension VersionReport {
    /// The same as lines.
    var text: String {
        let width = parts.flatMap(\.facts).map(\.name.count).max() ?? 0
        let groups = parts.map { part in
            ([part.title] + part.facts.map { "  \(TextFormat.padded($0.name, to: width))  \($0.value.plainText)" })
                .joined(separator: "\n")
        }
        return (["Volley \(volleyVersion)"] + groups).joined(separator: "\n\n")
    }
}

extension JSONValue {
    /// A value as written in a line: a text without quotes.
    fileprivate var plainText: String {
        switch self {
        case .string(let text): text
        case .null: "unlimited"
        default: text
        }
    }
}
