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
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-folder-\(UUID().uuidString)")
            .path
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

    @Test(
        "a path with ~ is refused where the folder that it means is not known, and never is one below the current folder"
    )
    func homeUnknown() {
        func message(_ path: String, _ variable: String?, _ account: String?) -> String? {
            FilePaths.pathMistake(path, variable: variable, account: account)?.message
        }
        for path in ["~/runs", "~"] {
            #expect(message(path, "/home/a", nil) == nil && message(path, nil, "/home/a") == nil)
            #expect(
                message(path, "h", "/home/a")
                    == "it is not known what '~' means: HOME is h, which does not begin with /")
            for account in [nil, "", "home"] {
                #expect(
                    message(path, nil, account)?.hasPrefix("it is not known what '~' means: HOME is not set, and ")
                        == true)
            }
        }
        for path in ["~deploy/runs", "~deploy"] {
            #expect(message(path, "/home/a", "/home/a") == "'~' with a name is not read as the home folder of a user")
        }
        for path in ["runs", "./~deploy/runs", "a/~", "/~"] { #expect(message(path, nil, nil) == nil) }
    }

    @Test("variables of a shell, which nothing replaces, are refused in paths; other dollar signs are part of a name")
    func variables() {
        for path in ["$HOME/runs", "/srv/${USER}/runs", "devices-$DATE.csv", "a/$_"] {
            #expect(
                FilePaths.pathMistake(path)?.message == "variables such as $HOME are not replaced in paths", "\(path)")
        }
        for path in ["5$", "a$b.csv", "$1/x", "$", "./report$USD.csv"] {
            #expect(FilePaths.pathMistake(path) == nil, "\(path)")
        }
    }

    @Test("a path beside a file has no dots in its middle")
    func beside() {
        for path in ["./hook.sh", "././hook.sh", ".//hook.sh", "hook.sh"] {
            #expect(FilePaths.resolve(path, besideFile: "/srv/volley.yaml") == "/srv/hook.sh", "\(path)")
        }
        #expect(
            FilePaths.resolve("./hook.sh", besideFile: "volley.yaml") == "./hook.sh",
            "without its dot it would be looked for in PATH")
        #expect(FilePaths.resolve("../a", besideFile: "/srv/volley.yaml") == "/srv/../a")
    }

    @Test("the current folder never becomes a blank path, and a blank folder never the root")
    func blankPaths() throws {
        for path in [".", "./", "./.", "././"] { #expect(FilePaths.plain(path) == ".", "\(path)") }
        #expect(FilePaths.plain("./a//b/.") == "a/b" && FilePaths.plain("/") == "/" && FilePaths.plain("/./a") == "/a")
        #expect(
            FilePaths.join("", name: "a") == "a" && FilePaths.join("/", name: "a") == "/a"
                && FilePaths.join("b", name: "a") == "b/a")
        #expect(FilePaths.nearest(to: "") == nil && FilePaths.nearest(to: "/") == nil)
        for blank in ["", " ", "\t\n", "\u{200B}"] { #expect(throws: Diagnostic.self) { try FilePaths.given(blank) } }
        #expect(try FilePaths.given(" a") == " a")
    }

    @Test(
        "a link that leads nowhere is told from nothing, also in the middle of a path, with the place that it leads to in the end"
    )
    func deadLinks() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-links-\(UUID().uuidString)")
            .path
        try FilePaths.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, target) in [("a", "nowhere"), ("b", "a"), ("circle", "circle"), ("live", ".")] {
            #expect(symlink(target, "\(folder)/\(name)") == 0)
        }
        for (path, link) in [("a", "a"), ("b", "b"), ("a/", "a"), ("live/b/c/d", "live/b")] {
            let mistake = FileKind.deadLink("\(folder)/\(path)")
            #expect(mistake?.file == "\(folder)/\(link)", "\(path)")
            #expect(
                mistake?.message.hasSuffix("/nowhere, where nothing is") == true,
                "\(path): \(String(describing: mistake))")
        }
        #expect(FileKind.deadLink("\(folder)/circle/x")?.message == "this is a link that leads in a circle")
        for path in ["nothing", "live", "live/nothing", "nothing/at/all", ""] {
            #expect(FileKind.deadLink("\(folder)/\(path)") == nil, "\(path)")
        }
        #expect(
            diagnosis { () throws(Diagnostic) in try FilePaths.makeFolder("\(folder)/a/below") }?.file == "\(folder)/a")
    }

    @Test("a file whose name is not UTF-8 gets that as the reason why it cannot be opened")
    func misencoded() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-names-\(UUID().uuidString)")
            .path
        try FilePaths.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = (folder + "/m").utf8.map { CChar(bitPattern: $0) } + [CChar(bitPattern: 0xE4), 0]
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        let read = try Folder.names(in: folder).map { "\(folder)/\($0)" }
        #expect(read.compactMap(FilePaths.misencoded).map(\.file) == read && read.count == 1)
        #expect(
            diagnosis { () throws(Diagnostic) in try FilePaths.read(read[0]) }?.message.contains("is not UTF-8") == true
        )
        #expect(FilePaths.misencoded("\(folder)/nothing") == nil)
        try FilePaths.create("\(folder)/\u{FFFD}", bytes: [])
        #expect(FilePaths.misencoded("\(folder)/\u{FFFD}") == nil, "there is a file of just that name")
    }

    private func diagnosis<Value>(_ body: () throws(Diagnostic) -> Value) -> Diagnostic? {
        do throws(Diagnostic) { _ = try body() } catch { return error }
        return nil
    }
}
