import Base
import Foundation
import Testing

@testable import Runs

/// SQLite tells other processes by locks on a file that it has the file open. The process loses all
/// of them when it closes any descriptor of that file, whatever it was opened for (fcntl(2)):
/// another process could then change how the file is stored while this one writes it.
@Suite("locks on the databases beside the runs")
final class DatabaseLockTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "volley-locks-\(UUID().uuidString)"
    ).path
    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// How many locks of fcntl(2) this process has on a file, from proc(5).
    private func locks(_ path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").reduce(0) { count, descriptor in
            // Other threads close theirs at the same time.
            guard
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)"),
                target == path,
                let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
            else { return count }
            return count + text.split(separator: "\n").count { $0.hasPrefix("lock:") && $0.contains("POSIX") }
        }
    }

    @Test("stay while a second one of the same process comes and goes")
    func second() throws {
        let schedule = try ScheduleStore(folder: folder)
        try schedule.save([], [ScheduledCampaign(name: "a", file: "/a.yaml", times: "x", decidedThrough: .now())])
        let before = try locks(schedule.path)
        #expect(before > 0)
        try ScheduleStore(folder: folder).close()
        #expect(try locks(schedule.path) == before)
        _ = try ScheduleStore.read(folder: folder, since: .now())
        #expect(try locks(schedule.path) == before)
        schedule.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["schedule.sqlite"])
    }

    @Test("stay while several threads read a run")
    func parts() throws {
        let writer = try RunWriter(folder: folder, id: "run")
        for number in 0..<10 { try writer.put(recipient(number), at: number) }
        let run = try writer.finish(plan("run", audience: 10))
        try run.append(.claimed(0..<10, at: noon))
        let before = try locks(run.path)
        #expect(before > 0)
        for parts in [[0..<4, 4..<10], [0..<1, 1..<2, 2..<10]] {
            try run.read(in: parts) { view in
                #expect(view.parts == parts)
                let figures = try run.countFigures(view, withGroups: true)
                #expect(figures.outcomes[.unknown] == 10)
            }
            #expect(try locks(run.path) == before)
        }
        // Another process may not change the file's journal mode.
        if hasSQLiteTool { #expect(query(run.path, "PRAGMA journal_mode = DELETE").contains("locked")) }
        try run.closeIntoOneFile()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["run.sqlite"])
    }

    @Test("a new database is for its owner, and takes the place of nothing")
    func making() throws {
        let path = folder + "/new.db"
        try DatabaseFile.makeDatabase(path, doing: "cannot write it", .sending)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        try Data("kept".utf8).write(to: URL(fileURLWithPath: path))
        try DatabaseFile.makeDatabase(path, doing: "cannot write it", .sending)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "kept")
        let link = folder + "/link.db"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder + "/nowhere")
        #expect(throws: Diagnostic.self) { try DatabaseFile.makeDatabase(link, doing: "cannot write it", .sending) }
        #expect(!FileManager.default.fileExists(atPath: folder + "/nowhere"))
        #expect(throws: Diagnostic.self) {
            try DatabaseFile.makeDatabase(self.folder, doing: "cannot write it", .sending)
        }
    }

    @Test(
        "once the end was requested, waits are cut after five seconds, each of them after a second, and only then it counts as cut"
    )
    func cutWaits() throws {
        let cancellation = try Cancellation(), start = ContinuousClock.now
        var watch = DatabaseWait.Watch(cancellation) { _ in }
        func mayWait(after milliseconds: Int, seconds: Int) -> Bool {
            watch.mayWait(after: milliseconds, at: start + .seconds(seconds))
        }
        #expect(mayWait(after: 50_000, seconds: 0))
        cancellation.request()
        #expect(mayWait(after: 50_000, seconds: 0))
        #expect(mayWait(after: 50_000, seconds: 4))
        // A new wait has its second, however long ago the request was.
        #expect(mayWait(after: 0, seconds: 60))
        #expect(mayWait(after: 980, seconds: 61))
        #expect(!watch.hasCut)
        #expect(!mayWait(after: 1_000, seconds: 61))
        #expect(watch.hasCut)
    }

    @Test("a record has its name once it is whole, and a process that ends before leaves none")
    func makingWhole() throws {
        let path = folder + "/new.db"
        #expect(throws: CancellationError.self) {
            try FilePaths.makeWhole(path) { unfinished in
                #expect(!FilePaths.exists(path) && DatabaseFile.size(unfinished) == 0 && FilePaths.exists(unfinished))
                throw CancellationError()
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        try FilePaths.makeWhole(path) { writeBytes([1], $0) }
        #expect(throws: FileError.system(EEXIST)) { try FilePaths.makeWhole(path) { writeBytes([2, 2], $0) } }
        #expect(readBytes(path) == [1])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["new.db"])
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }
}
