import Base
import Foundation
import Testing

@testable import Commands

@Suite("Files that appear whole")
struct AtomicFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "volley-whole-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
    private var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

    @Test("a file has its name when it is whole, and not before; one that is given up leaves nothing")
    func whole() throws {
        do {
            let file = try AtomicFile(path("a"))
            try file.write(Array("half".utf8))
            #expect(!names.contains("a"))
        }
        #expect(names.isEmpty)
        for text in ["old", "new"] {
            let file = try AtomicFile(path("a"))
            try file.write(Array(text.utf8))
            try file.finish()
            #expect(names == ["a"])
            #expect(try String(contentsOfFile: path("a"), encoding: .utf8) == text)
        }
    }

    @Test(
        "init leaves nothing when a file cannot be written, so that it can be repeated",
        arguments: ["welcome.yaml", "exports/devices.csv"])
    func halfProject(name: String) throws {
        // The name is taken by a link that leads nowhere; a full disk fails at the same place.
        let blocked = path("p/\(name)"), present = name.contains("/") ? ["p", "p/exports"] : ["p"]
        for folder in present { #expect(mkdir(path(folder), 0o755) == 0) }
        #expect(symlink("/no/such/file", blocked) == 0)
        #expect(throws: Diagnostic.self) {
            try InitCommand.run(folder: path("p"), options: CommonOptions(), console: Console())
        }
        let left = FileManager.default.enumerator(atPath: path("p"))?.compactMap { $0 as? String }.sorted()
        #expect(left == (name.contains("/") ? ["exports", name] : [name]))
    }

    @Test("folders that were made for a file are removed again when one of them cannot be made")
    func halfFolders() throws {
        #expect(throws: Diagnostic.self) { try FilePaths.makeFolder(path("a/b/\(String(repeating: "x", count: 300))")) }
        #expect(names.isEmpty)
        FilePaths.removeFolders(try FilePaths.makeFolder(path("a/b/c")))
        #expect(names.isEmpty)
    }

    @Test("what cannot get its name is gone, and says why")
    func failure() throws {
        #expect(throws: FileError.self) { try AtomicFile(path("nowhere/a")) }
        try FileManager.default.createDirectory(atPath: path("taken"), withIntermediateDirectories: false)
        let file = try AtomicFile(path("taken"))
        #expect(throws: FileError.self) { try file.finish() }
        withExtendedLifetime(file) {}
    }

    @Test("names by which standard output is known", arguments: ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
    func standardOutput(name: String) {
        #expect(OutputSink.isStandardOutput(name) && !OutputSink.isStandardOutput(name + "0"))
    }
}
