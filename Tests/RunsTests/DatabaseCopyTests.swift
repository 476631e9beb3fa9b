import Base
import GRDB
import Glibc
import Testing

@testable import Runs

@Suite("copies of databases that are in use")
struct DatabaseCopyTests {
    @Test("while a run is written to, each copy is one moment of it, and one file", .enabled(if: hasSQLiteTool))
    func consistent() async throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 20_000)
        try run.append(.claimed(0..<1, at: noon))
        try run.append(.settled([[settled(0)]]))
        let path = run.path, copies = try TemporaryFolder(), copyFolder = copies.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 1..<400 {
                    try run.write { db in
                        for id in [0, 19_999] {
                            try db.execute(sql: "UPDATE recipient SET alias = 'x\(number)' WHERE id = \(id)")
                        }
                    }
                }
            }
            group.addTask {
                for number in 0..<8 {
                    try DatabaseCopy.make(of: path, at: "\(copyFolder)/\(number).sqlite") { _, _ in }
                }
            }
            try await group.waitForAll()
        }
        #expect(copies.names.count == 8)
        for name in copies.names {
            #expect(query(copies.path + "/" + name, "PRAGMA integrity_check") == "ok")
            #expect(query(copies.path + "/" + name, "PRAGMA journal_mode") == "delete")
            let aliases = query(
                copies.path + "/" + name, "SELECT count(DISTINCT alias) FROM recipient WHERE id IN (0, 19999)")
            #expect(
                aliases
                    == (query(copies.path + "/" + name, "SELECT alias FROM recipient WHERE id = 0") == "user0"
                        ? "2" : "1"))
        }
        #expect(shell("stat -c %a '\(copies.path)/0.sqlite'") == "600\n")
    }

    @Test("it says how far it is, ends when it is told to, and leaves the original as it is")
    func steps() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 100_000)
        try run.closeIntoOneFile()
        let before = readBytes(run.path)
        var steps: [(Int, Int)] = []
        try DatabaseCopy.make(of: run.path, at: folder.path + "/copy") { steps.append(($0, $1)) }
        #expect(steps.count > 1 && steps.map(\.0) == steps.map(\.0).sorted())
        #expect(steps.last.map { $0.0 == $0.1 && $0.1 == before.count } == true)
        #expect(throws: CancellationError.self) {
            try DatabaseCopy.make(of: run.path, at: folder.path + "/other") { _, _ in throw CancellationError() }
        }
        #expect(readBytes(run.path) == before)
    }

    @Test("a file that is not a database, and one that is not there, are refused with their names")
    func refused() throws {
        let folder = try TemporaryFolder()
        writeBytes(Array(String(repeating: "no database ", count: 100).utf8), folder.path + "/x.sqlite")
        writeBytes([], folder.path + "/emptied.sqlite")
        for name in ["x.sqlite", "missing.sqlite", "emptied.sqlite"] {
            let found = diagnostic {
                try DatabaseCopy.make(of: folder.path + "/" + name, at: folder.path + "/copy") { _, _ in }
            }
            #expect(found?.file == folder.path + "/" + name)
        }
        #expect(mkdir(folder.path + "/folder.sqlite", 0o700) == 0)
        let found = diagnostic {
            try DatabaseCopy.make(of: folder.path + "/folder.sqlite", at: folder.path + "/copy") { _, _ in }
        }
        #expect(found?.message == "this is a folder, not a database of Volley")
    }
}
