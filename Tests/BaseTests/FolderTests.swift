import Base
import Foundation
import Testing

@Suite("What folders hold")
struct FolderTests {
    @Test("names come sorted, without the folder itself and the one above; those that are not wanted do not count")
    func names() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-folder-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try Folder.names(in: folder.path).isEmpty)
        for name in ["b", "a", ".hidden", "ä"] { try Data().write(to: folder.appendingPathComponent(name)) }
        #expect(try Folder.names(in: folder.path) == [".hidden", "a", "b", "ä"])
        #expect(try Folder.names(in: folder.path, atMost: 3) { !$0.hasPrefix(".") } == ["a", "b", "ä"])
        #expect(try Folder.names(in: folder.path, atMost: 2).count == 2)
    }

    @Test("folders are told from all else: files, pipes, and links, wherever they lead")
    func folders() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-folder-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["b", "a/deep", ".hidden"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        try FilePaths.create("\(folder)/file", bytes: [])
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "a")
        #expect(mkfifo("\(folder)/pipe", 0o600) == 0)
        var others: Set<String> = []
        #expect(try Folder.folders(in: folder) { others.insert($0) } == [".hidden", "a", "b"])
        #expect(others == ["file", "link", "pipe"])
        #expect(throws: FileError.system(ENOENT)) { try Folder.folders(in: "/no/such/folder") { _ in } }
    }

    @Test("a folder that is not there, and a file, are told by errno")
    func failures() {
        #expect(throws: FileError.system(ENOENT)) { try Folder.names(in: "/no/such/folder") }
        #expect(throws: FileError.system(ENOTDIR)) { try Folder.names(in: "/etc/passwd") }
    }

    @Test("the home folder is known even where HOME does not say it")
    func home() { #expect(FilePaths.home?.hasPrefix("/") == true) }

    @Test("a path with ~ is refused where the folder that it means is not known, and never is one below the current folder")
    func homeUnknown() {
        func message(_ path: String, _ variable: String?, _ account: String?) -> String? {
            FilePaths.homeMistake(path, variable: variable, account: account)?.message
        }
        for path in ["~/runs", "~"] {
            #expect(message(path, "/home/a", nil) == nil && message(path, nil, "/home/a") == nil)
            #expect(message(path, "h", "/home/a") == "it is not known what '~' means: HOME is h, which does not begin with /")
            for account in [nil, "", "home"] {
                #expect(message(path, nil, account)?.hasPrefix("it is not known what '~' means: HOME is not set, and ") == true)
            }
        }
        for path in ["~deploy/runs", "~deploy"] {
            #expect(message(path, "/home/a", "/home/a") == "'~' with a name is not read as the home folder of a user")
        }
        for path in ["runs", "./~deploy/runs", "a/~", "/~"] { #expect(message(path, nil, nil) == nil) }
    }
}
