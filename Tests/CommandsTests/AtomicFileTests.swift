import Base
import Foundation
import Testing

@testable import Commands

@Suite("Files that appear whole")
struct AtomicFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-whole-\(UUID().uuidString)")

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
