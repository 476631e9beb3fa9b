import Foundation
import Testing

/// The examples in doc comments of the library VolleyKit, between "```swift" and "```": all are
/// compiled against the modules as they were built, as a program of others would be.
@Suite("Examples in doc comments")
struct ExampleTests {
    /// The modules of VolleyKit, each after those that it builds on, with the values that examples
    /// use as if they were there.
    private static let modules: KeyValuePairs = [
        "Base": "now: Timestamp, cancellation: Cancellation",
        "Campaigns": "project: Project, app: App",
        "Runs": "run: RunFile, ledger: any RunLedger, runs: RunsFolder, frozen: RunPlan, settlements: [Settlement]",
        "Reports": "report: Report",
        "Workspace": "choice: ProjectChoice",
        "Planning": "campaign: CampaignFile, planning: PlanOptions",
        "Sending": "context: SendingContext, sending: RunOptions",
        "Automation": "files: ScheduleFiles",
    ]

    @Test("each example compiles against what is public")
    func examples() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "volley-examples-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var (imports, given, written) = ("", "", [String]())
        for (module, values) in Self.modules {
            imports += "import \(module)\n"
            given += (given.isEmpty ? "" : ", ") + values
            var text = imports
            for file in try SourceFile.all() where file.module == module {
                for (line, example) in Self.examples(in: file.text) {
                    text += "func example\(module)\(written.count)(\(given)) throws {\n"
                    text +=
                        "#sourceLocation(file: \"Sources/\(file.path)\", line: \(line))\n\(example)\n#sourceLocation()\n}\n"
                    written.append(example)
                }
            }
            try text.write(to: folder.appendingPathComponent("\(module).swift"), atomically: true, encoding: .utf8)
        }
        #expect(written.count > 100)
        let files = Self.modules.map { folder.appendingPathComponent("\($0.key).swift").path }
        let mistakes = try SwiftCompiler.mistakes(
            ["-typecheck", "-suppress-warnings"] + SwiftCompiler.builtModules + files)
        #expect(mistakes == nil, "\(mistakes ?? "")")
    }

    /// The examples of a file, each with the number of its first line.
    private static func examples(in text: String) -> [(line: Int, example: String)] {
        var found: [(Int, String)] = [], example: [String]?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.drop { $0 == " " }
            switch (words, example) {
            case ("/// ```swift", _): example = []
            case ("/// ```", let lines?):
                found.append((index + 1 - lines.count, lines.joined(separator: "\n")))
                example = nil
            default: example?.append(String(words.dropFirst(4)))
            }
        }
        return found
    }
}

/// Swift's compiler, for texts that are not built with the tests.
enum SwiftCompiler {
    /// What it finds wrong; nil for nothing.
    static func mistakes(_ arguments: [String]) throws -> String? {
        let compiler = Process(), errors = Pipe()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = ["swiftc"] + arguments
        compiler.standardError = errors
        try compiler.run()
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        compiler.waitUntilExit()
        return compiler.terminationStatus == 0 ? nil : said
    }

    /// Where the modules are that were built with the tests, and the C libraries below them.
    static var builtModules: [String] {
        let build = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let packages = build.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("checkouts")
        let sources = SourceFile.root.appendingPathComponent("Sources")
        let libraries =
            (try? FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)) ?? []
        let maps = (libraries + [packages.appendingPathComponent("GRDB.swift/Sources/GRDBSQLite")])
            .map { $0.appendingPathComponent("module.modulemap").path }.filter(FileManager.default.fileExists)
        return ["-swift-version", "6", "-I", build.appendingPathComponent("Modules").path, "-module-cache-path"]
            // A cache of its own: that of the build may know its folder by another name.
            + [build.appendingPathComponent("ModuleCacheOfTests").path]
            // Where Debian has the headers of libpq.
            + (["-I/usr/include/postgresql"] + maps.map { "-fmodule-map-file=\($0)" }).flatMap { ["-Xcc", $0] }
    }
}
