import Base
import Foundation
import Testing

@Suite("RegularFile")
struct RegularFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "volley-regular-\(UUID().uuidString)")

    private func path(_ name: String) throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appendingPathComponent(name).path
    }

    private func write(_ name: String, _ text: String) throws -> String {
        let path = try path(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func failure(_ path: String) -> FileError? {
        do throws(FileError) {
            _ = try RegularFile.bytes(of: path, atMost: 10)
            return nil
        } catch { return error }
    }

    @Test("what is no file is refused without waiting for it, also behind a symbolic link")
    func others() throws {
        let pipe = try path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        #expect(failure(pipe) == .notAFile(.namedPipe))
        let link = try path("link")
        try #require(symlink(pipe, link) == 0)
        #expect(failure(link) == .notAFile(.namedPipe))
        #expect(failure(folder.path) == .notAFile(.folder))
        #expect(failure("/dev/zero") == .notAFile(.device))
        #expect(failure(try path("nothing")) == .system(ENOENT))
        #expect(failure("") == .system(ENOENT))
        // A path is not cut off at its NUL.
        #expect(failure("\(try write("real", "text"))\0.csv") == .system(ENOENT))
        #expect(
            FileKind.namedPipe.refusal("a.yaml", wanted: "a key file").description
                == "a.yaml: this is a named pipe, not a key file. Volley reads only files: save its output as a file, and name that file instead."
        )
    }

    @Test(
        "a database that a link in a folder of runs leads to is opened by no other name, nor are SQLite's files next to it; others are"
    )
    func linkedRecord() throws {
        let runs = try path("runs"), elsewhere = try path("elsewhere")
        for folder in [runs, elsewhere] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        for name in ["data", "data-wal", "data-shm", "other", "plain.csv"] {
            _ = try write("elsewhere/\(name)", "text")
        }
        ProtectedFiles.keep(in: runs)
        #expect(failure(elsewhere + "/data") == nil)
        // Over another link, and added after the folder was looked at.
        try #require(
            symlink("\(elsewhere)/data", try path("middle")) == 0 && symlink("../middle", "\(runs)/x.sqlite") == 0)
        try #require(
            symlink("\(elsewhere)/plain.csv", "\(runs)/list.csv") == 0 && symlink("data", "\(elsewhere)/name.csv") == 0)
        for name in ["data", "data-wal", "data-shm", "name.csv"] {
            #expect(failure("\(elsewhere)/\(name)") == .notAFile(.record), "\(name)")
        }
        for name in ["other", "plain.csv"] { #expect(failure("\(elsewhere)/\(name)") == nil, "\(name)") }
        try #require(link("\(elsewhere)/data", "\(elsewhere)/second") == 0)
        #expect(failure(elsewhere + "/second") == .notAFile(.record))
    }

    @Test("a small file is read whole, and a longer one no further than it must be to see that")
    func bytes() throws {
        let file = try write("file", "0123456789")
        #expect(try RegularFile.bytes(of: file, atMost: 10) == Array("0123456789".utf8))
        #expect(try RegularFile.bytes(of: file, atMost: 9).count == 10)
        #expect(try RegularFile.bytes(of: file, atMost: 3).count == 4)
        #expect(try RegularFile.bytes(of: write("empty", ""), atMost: 3).isEmpty)
    }

    @Test("a stamp tells a file that was written to, and one that took its place, from the one that was opened")
    func stamps() throws {
        let path = try write("file", "one")
        let file = try RegularFile(path: path)
        let (opened, now) = (file.stamp, file.stampNow())
        #expect(now == opened && FileStamp(path: path) == opened)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("two".utf8))
        let after = file.stampNow()
        let grown = try #require(after)
        #expect(grown != opened && grown.isSameFile(as: opened) && grown.size == 6)
        let other = try write("other", "onetwo")
        try #require(rename(other, path) == 0)
        let named = try #require(FileStamp(path: path))
        #expect(!named.isSameFile(as: opened))
        #expect(FileStamp(path: try self.path("nothing")) == nil)
    }
}
