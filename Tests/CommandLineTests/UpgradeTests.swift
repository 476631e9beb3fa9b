import Base
import Foundation
import TestCommands
import Testing

@Suite("run files of older formats, with the real binary")
struct UpgradeTests {
    private static let devices = 200_001

    /// A large run of format 3.
    private func makeRun(_ folder: ProjectFolder) throws -> String {
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../Fixtures/Formats/run-3.sql"
        )
        .path
        let name = "20261201-090000-spring-sale-0003"
        try Shell.run("mkdir -p '\(folder.url.path)/runs'")
        let script = """
            import sqlite3
            c = sqlite3.connect('runs/\(name).sqlite')
            c.executescript(open('\(fixture)').read())
            more = [(n, '%064x' % n, 'reg%d' % n, 'user%d' % n, 'en', '', '["A"]') for n in range(6, \(Self.devices))]
            c.executemany('INSERT INTO recipient VALUES (?, ?, ?, ?, ?, ?, ?)', more)
            c.execute('INSERT INTO outcome SELECT id, 0, 200, "", 1, 30, 1796115600000, NULL FROM recipient WHERE id >= 6')
            c.execute('UPDATE run SET audience = \(Self.devices)')
            c.execute('UPDATE claim SET last_id = \(Self.devices - 1)')
            c.commit()
            """
        let made = try RunningVolley(
            executable: "/usr/bin/python3", ["-c", script], in: folder.url, environment: [:], input: nil
        ).finish()
        try #require(made.status == 0, "\(made.errors)")
        return name
    }

    @Test(
        "a conversion that is killed at any moment leaves a run that the next command converts and reports",
        .enabled(if: hasPython))
    func killed() throws {
        let folder = try ProjectFolder()
        let run = try makeRun(folder)
        let path = folder.url.appendingPathComponent("runs/\(run).sqlite").path
        var cut = 0
        for round in 0..<4 {
            let running = try VolleyBinary.start(["report", run], in: folder.url)
            // The journal is there as soon as pages of the file are about to be overwritten.
            while running.isRunning, size(path + "-journal") == 0 { usleep(1_000) }
            usleep(UInt32(round) * 30_000)
            kill(running.processID, SIGKILL)
            _ = running.finish()
            // On a busy machine a later one may be over before it is killed.
            if size(path + "-journal") > 0 { cut += 1 }
        }
        #expect(cut > 0)
        let report = try folder.volley("report", run, "--format", "json")
        #expect(report.status == 0, "\(report.errors)")
        let outcomes = try report.json()["outcomes"]
        #expect(
            outcomes?.int("accepted") == Self.devices - 4 && outcomes?.int("invalid_token") == 1
                && outcomes?.int("failed") == 1)
        // A lock that a killed process leaves behind belongs to no process.
        #expect(folder.files(in: "runs").filter { !$0.hasSuffix(".lock") } == [run + ".sqlite"])
    }

    @Test("at a terminal it says how far the conversion is, and nothing of the line stays", .enabled(if: hasPython))
    func progress() throws {
        let folder = try ProjectFolder()
        let run = try makeRun(folder)
        let terminal = try VolleyAtTerminal(["report", run], in: folder.url)
        #expect(terminal.waits(for: "converting  "), "\(terminal.shown)")
        #expect(terminal.finish() == 0, "\(terminal.shown)")
        let lines = terminal.shown.split(separator: "\n").map { $0.split(separator: "\u{1B}[2K").last ?? "" }
        #expect(!lines.contains { $0.contains("converting") }, "\(terminal.shown)")
    }

    private func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
