import Foundation
import Testing

/// Messages about mistakes also reach the console, where readers have no commands.
@Suite("Remedies")
struct RemedyTests {
    /// Modules whose mistakes only a terminal shows.
    private static let ofTerminal: Set<String> = ["volley", "Simulators", "Benchmarks", "Accounts"]

    /// Files with remedies that only commands need.
    private static let ofCommands: Set<String> = [
        // `report --refresh` and `preview --ask`.
        "Sending/Statistics/AskStatistics.swift", "Sending/CurrentProject.swift", "Planning/Planner+Calls.swift",
        // `channels` and `doctor`.
        "Sending/Channels.swift",
        // `prune`.
        "Runs/SQLite/RunPruning.swift",
        // `store`, which only operators set up.
        "Cluster/Schema/StoreSchema.swift",
        // `store fetch` and `store remove`.
        "Cluster/Publishing/Store+Fetching.swift", "Cluster/Publishing/Store+Removing.swift",
        "Runs/SQLite/Sharing/RebuiltRun.swift",
        // What keeps a process from starting.
        "Runs/SQLite/SendingLock.swift", "volley-console/Server/ListenAddress.swift", "volley-console/Site.swift",
        "Planning/Reading/CampaignContext.swift",
        // `backup` and `restore`.
        "Automation/Backup/Backup.swift", "Automation/Backup/BackupManifest.swift", "Automation/Backup/Restore.swift",
        // `--now`, which is no button.
        "Planning/Preview/PreviewSchedule.swift",
    ]

    /// The calls that make a diagnostic, with their arguments, and the use of the diagnostic in the
    /// next line.
    static func calls(in text: String) -> [Substring] {
        text.matches(of: #/\bDiagnostic\(|\.warning\(/#).map { match in
            var depth = 0
            let end = text[match.range.lowerBound...].firstIndex { character in
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                return character == ")" && depth == 0
            }
            let lines = text[(end ?? text.endIndex)...].split(separator: "\n", maxSplits: 2)
            let isAmended = lines.count > 1 && lines[1].contains(".remedies = [")
            return text[match.range.lowerBound..<(isAmended ? lines[1].endIndex : end ?? text.endIndex)]
        }
    }

    static func namesCommand(_ call: Substring) -> Bool { call.contains(#/`volley |[ "]--[a-z]/#) }

    /// Whether it has values in addition to its words.
    static func hasValues(_ call: Substring) -> Bool { call.contains(#/[,?(]\s*\[[^\]"]*\.\w|[rR]emedies|ways/#) }

    /// Texts of errno(3) and libcurl-errors(3), which say neither where something happened nor what
    /// to do.
    private static let texts =
        (1...133).map { String(cString: strerror($0)) } + [
            "Couldn't connect to server", "Couldn't resolve host name", "Could not resolve host",
            "SSL peer certificate",
            "SSL certificate problem", "unable to get local issuer certificate", "self-signed certificate",
            "Timeout was reached",
            "The operation couldn’t be completed", "unable to open database file",
            "attempt to write a readonly database",
        ]

    @Test(
        "no text of a library or of the system stands alone in what people read: in golden files and docs it is in parentheses or quoted"
    )
    func libraries() throws {
        var read = 0
        for folder in ["Tests/Snapshots", "docs"] {
            let root = SourceFile.root.appendingPathComponent(folder)
            for case let file as URL in FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
                ?? .init()
            where ["txt", "md", "html", "json"].contains(file.pathExtension) {
                read += 1
                let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                for line in lines where !Self.isWrapped(line) { Issue.record("\(file.lastPathComponent): \(line)") }
            }
        }
        #expect(read > 60)
        #expect(
            Self.isWrapped("a.csv: it cannot be read (error 71, Protocol error). Try again.")
                && !Self.isWrapped("a.csv: Permission denied")
        )
    }

    private static func isWrapped(_ line: Substring) -> Bool {
        texts.allSatisfy { text in
            guard let found = line.firstRange(of: text) else { return true }
            let before = line[..<found.lowerBound]
            return before.contains("(") || before.contains("\"") || before.contains("`")
        }
    }

    @Test("a mistake whose words name a command also says what to do as values")
    func values() throws {
        var found = 0
        for file in try SourceFile.all()
        where !Self.ofTerminal.contains(file.module) && !Self.ofCommands.contains(file.path) {
            guard file.text.contains("volley ") || file.text.contains("--") else { continue }
            for call in Self.calls(in: file.text) where Self.namesCommand(call) {
                found += 1
                #expect(Self.hasValues(call), "\(file.path): \(call)")
            }
        }
        #expect(found > 30)
    }

    @Test("calls end with their parenthesis, and commands are seen in them")
    func calls() {
        let text =
            #"throw Diagnostic("a (b)", remedy: "`volley resume \(id)` goes on.", [.resume(run: id)]); f("`volley x`")"#
        #expect(
            Self.calls(in: text) == [
                #"Diagnostic("a (b)", remedy: "`volley resume \(id)` goes on.", [.resume(run: id)]"#
            ])
        let amended = "Diagnostic(\"`volley x`\")\nmistake.remedies = [.seeRuns]\nelse"
        #expect(Self.calls(in: amended).allSatisfy { Self.hasValues($0) && !$0.contains("else") })
        #expect(Self.calls(in: text).allSatisfy { Self.namesCommand($0) && Self.hasValues($0) })
        #expect(
            !Self.hasValues(#"Diagnostic("a", remedy: "`volley resume`")"#) && !Self.namesCommand(#"Diagnostic("a")"#))
    }
}
