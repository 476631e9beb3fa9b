import Base
import Foundation
import Testing

/// Python's own reading of the same database, independent of ours.
enum Python {
    static let isThere: Bool = {
        (try? lines("import zoneinfo; print(zoneinfo.ZoneInfo('Europe/Berlin').key)")) == ["Europe/Berlin"]
    }()

    /// The lines that a script prints.
    static func lines(_ script: String) throws -> [String] {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script]
        process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONTZPATH": ZoneDatabase.system.folder])
        { $1 }
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "the script failed")
        return output.split(separator: "\n").map(String.init)
    }
}

func zone(_ name: String) throws -> ZoneRules { try ZoneDatabase.system.zone(named: name) }

func local(_ text: String) throws -> LocalTime { try #require(LocalTime(text)) }

func moment(_ text: String) throws -> Timestamp { try #require(Timestamp(text)) }
