import Foundation

/// Something that code may contain only in some rooms. Exceptions are counted in `Openings.txt`, room by room, and should become fewer.
struct Wall {
    let name: String
    /// The pattern to look for in code: comments and the contents of literals do not count.
    let pattern: String
    /// Rooms, and folders and files in them, in which it is allowed.
    let rooms: [String]
    /// Whether the contents of literals count, too.
    var readsLiterals = false

    /// All walls of the house.
    static var all: [Wall] {
        [
            // A child process begins with the standard streams that it was given.
            Wall(
                name: "asks-and-prints", pattern: #"\b(?:print|readLine|isatty|confirms)\(|\bSTD(?:IN|OUT|ERR)_FILENO\b|\bconsole\."#,
                rooms: ["volley", "Benchmarks", "Automation/Notices/CommandHook.swift"]),
            // A thread that writes to a closed connection blocks a signal for itself; a child process begins with those that it was given.
            Wall(
                name: "exits-and-signals", pattern: #"(?<![.\w])(?:exit|_exit|abort|signal|sigaction)\("#,
                rooms: ["volley", "Benchmarks", "Base/PipeSignalBlock.swift"]),
            Wall(
                name: "shared-state",
                pattern:
                    #"\bstatic var [^{=]*=|\bstatic let \w+(?:: [^=]*)? = (?:Atomic|Mutex)\b|\bnonisolated\(unsafe\)|\.ofThisProcess\b"#,
                rooms: ["volley", "Benchmarks"]),
            Wall(
                name: "knows-apns", pattern: #"(?i)apns|\baps\b|/3/device|BadDeviceToken|AuthKey"#,
                // FCM passes pushes to iPhones on to APNs, so its payload has a part for it.
                rooms: ["PushServices/APNs", "PushServices/FCM", "PushServices/PushServices.swift", "Simulators", "Benchmarks"],
                readsLiterals: true),
            // Targets of one service stand in exports for another, where they are named.
            Wall(
                name: "knows-fcm", pattern: #"(?i)fcm|firebase|googleapis"#,
                rooms: [
                    "PushServices/FCM", "PushServices/Targets", "PushServices/APNs/APNs+Targets.swift", "PushServices/PushServices.swift",
                    "Simulators", "Benchmarks",
                ], readsLiterals: true),
            Wall(name: "knows-sqlite", pattern: #"\bimport (?:GRDB|GRDBSQLite|SQLite3)\b"#, rooms: ["Runs/SQLite", "Benchmarks"]),
            Wall(
                name: "decides-by-text",
                pattern:
                    #"\breason [!=]= (?!\.|nil\b|\d)|\b(?:message|sentence|remedy) [!=]= "|\b(?:reason|message|sentence|remedy)\??\.(?:hasPrefix|hasSuffix|contains|range)\b|\bsettings\["#,
                // The meaning of a service's reasons is decided in its folder, and its simulator uses them as the service does. libyaml
                // distinguishes its errors only by their texts.
                rooms: ["PushServices", "Simulators", "Base/StatusReason.swift", "Campaigns/YAML/YAMLSyntaxTranslator.swift"]),
            // Locks of other processes and space on a disk announce nothing; only one place tries them again, a limited number of times.
            Wall(name: "polls", pattern: #"\bu?sleep\(|\bnanosleep\("#, rooms: ["Base/Retries.swift", "Benchmarks"]),
            // Only one place decides how runs are stored.
            Wall(
                name: "addresses-runs-by-path", pattern: #"\b(?:SQLiteRun|RunFolder)\b"#,
                rooms: ["Runs/SQLite", "Benchmarks", "Workspace/ProjectChoice.swift"]),
        ]
    }

    /// The number of exceptions, by room.
    func openings(in files: [SourceFile]) throws -> [String: Int] {
        let expression = try NSRegularExpression(pattern: pattern)
        return files.filter { file in !rooms.contains { file.path == $0 || file.path.hasPrefix($0 + "/") } }.reduce(into: [:]) {
            openings, file in
            let text = readsLiterals ? file.text : file.code
            let count = expression.numberOfMatches(in: text, range: NSRange(location: 0, length: text.utf16.count))
            if count > 0 { openings[file.room, default: 0] += count }
        }
    }
}

/// A file below `Sources`.
struct SourceFile {
    /// Below `Sources`.
    let path: String
    let text: String
    let code: String

    var room: String { String(path.prefix { $0 != "/" }) }

    /// All of them.
    static func all() throws -> [SourceFile] {
        let sources = root.appendingPathComponent("Sources")
        let names = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
        return try names.filter { $0.hasSuffix(".swift") }.sorted().map {
            let text = try String(contentsOf: sources.appendingPathComponent($0), encoding: .utf8)
            return SourceFile(path: $0, text: text, code: SwiftText(text).code)
        }
    }

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
