import Base
import Glibc
import Testing

@testable import Campaigns

/// A separate folder below /tmp, removed afterwards.
final class TemporaryFolder {
    let path: String
    private var made: [String] = []

    init() throws {
        var template = Array("/tmp/volley-campaigns-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Diagnostic("no temporary folder") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { for name in ([path] + made).reversed() { remove(name) } }

    func folder(_ name: String) -> String {
        mkdir("\(path)/\(name)", 0o755)
        made.append("\(path)/\(name)")
        return "\(path)/\(name)"
    }

    func file(_ name: String, _ bytes: [UInt8]) -> String {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        _ = write(descriptor, bytes, bytes.count)
        close(descriptor)
        made.append("\(path)/\(name)")
        return "\(path)/\(name)"
    }
}

@Suite("Files")
struct FileTests {
    private func foundIn(_ file: String) -> String {
        found { () throws(Diagnostics) in try Campaign.read(file: file, now: now) }
    }

    @Test("a file that is missing is named")
    func missing() throws {
        let folder = try TemporaryFolder()
        #expect(
            foundIn("\(folder.path)/a.yaml")
                == "\(folder.path)/a.yaml: there is no such file. Check the name, and the folder that you are in.")
        #expect(foundIn("") == ": there is no such file")
        #expect(
            found { () throws(Diagnostics) in try Project.read(file: "\(folder.path)/volley.yaml") }.contains(
                "there is no such file"))
    }

    @Test("what stopping a run needs is read whatever is wrong elsewhere in volley.yaml, and nothing of it is guessed")
    func readToStop() throws {
        let folder = try TemporaryFolder()
        func read(_ text: String) throws(Diagnostics) -> Project {
            let project = "\(folder.path)/volley.yaml"
            _ = folder.file("volley.yaml", Array(text.utf8))
            return try Project.readToStop(file: project)
        }
        let places = "runs: sent\nstore: {postgres: {url_env: VOLLEY_DATABASE}}\n"
        for rest in [
            "apps: {shop: {topic: com.example.shop, environment: simulator}}\n", "apps: {shop: {bogus: 1}}\n",
            "bogus: 1\n",
        ] {
            let project = try read(places + rest)
            #expect(project.runs == "sent" && project.store?.variable.value == "VOLLEY_DATABASE", "\(rest)")
        }
        let bare = try read("apps: 1\n")
        #expect(bare.runs == "runs" && bare.store == nil)
        for text in [
            "runs: [a]\n", "runz: sent\napps: 1\n", "store: {postgres: {url: x}}\n",
            "stores: {postgres: {url_env: A}}\n",
            "runs: a\nruns: b\n",
            "runs: sent\napps: [\n", "runs:\n",
        ] {
            #expect(
                found { () throws(Diagnostics) in (try read(text), []) }.contains("name the folder with --runs FOLDER"),
                "\(text)")
        }
    }

    @Test("a folder is no file")
    func folder() throws {
        let folder = try TemporaryFolder()
        #expect(foundIn(folder.path) == "\(folder.path): this is a folder, not a file. Name a file in it.")
    }

    @Test("a file that may not be read says what to check")
    func unreadable() {
        #expect(
            cannotRead("a.yaml", code: EACCES).description
                == "a.yaml: the file cannot be read: permission denied. Check the permissions of the file and of its folder, and which user runs volley."
        )
        #expect(
            cannotRead("a.yaml", code: EIO).description
                == "a.yaml: the file cannot be read: its disk or device reports an error. Check the disk and its file system."
        )
    }

    @Test("a file on disk is read like any other")
    func onDisk() throws {
        let folder = try TemporaryFolder()
        let yaml = completed("")
        let (campaign, _) = try Campaign.read(file: folder.file("a.yaml", Array(yaml.utf8)), now: now)
        #expect(campaign.file == "\(folder.path)/a.yaml")
        #expect(campaign.source == yaml)
    }

    @Test("a file of 2 MB is refused at once")
    func tooLarge() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("a.yaml", [UInt8](repeating: UInt8(ascii: "#"), count: 2_000_000))
        #expect(
            foundIn(file) == """
                \(file): the file is larger than 1 MB, too large for a campaign or volley.yaml. \
                Name device exports under 'devices'; do not give one in place of a campaign.
                """)
    }

    @Test("a device, which may never end, is no file")
    func endless() {
        #expect(foundIn("/dev/zero").hasPrefix("/dev/zero: this is a device, not a file."))
    }

    @Test("volley.yaml is found beside the campaign")
    func besides() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("volley.yaml", [])
        #expect(Project.find(startingAt: folder.path) == file)
        #expect(Project.find(startingAt: folder.path + "/") == file)
    }

    @Test("volley.yaml is found above, the nearest first")
    func above() throws {
        let folder = try TemporaryFolder()
        _ = folder.folder("a")
        _ = folder.folder("a/b")
        let inner = folder.folder("a/b/c")
        let outer = folder.file("volley.yaml", [])
        #expect(Project.find(startingAt: inner) == outer)
        let nearer = folder.file("a/volley.yaml", [])
        #expect(Project.find(startingAt: inner) == nearer)
    }

    @Test("volley.yml is found too, where there is no volley.yaml")
    func otherEnding() throws {
        let folder = try TemporaryFolder()
        let inner = folder.folder("a")
        let outer = folder.file("volley.yml", [])
        #expect(Project.find(startingAt: inner) == outer)
        let nearer = folder.file("a/volley.yml", [])
        #expect(Project.find(startingAt: inner) == nearer)
        let usual = folder.file("a/volley.yaml", [])
        #expect(Project.find(startingAt: inner) == usual)
    }

    @Test(
        "a file that was probably meant as volley.yaml is neither passed over for one further up, nor ignored next to another",
        arguments: [
            "Volley.yaml", "VOLLEY.YML", "volley.yaml ", " volley.yaml", "volley.yaml.txt", "volley.yml.TXT",
            "volley.yml",
        ])
    func lookAlikes(name: String) throws {
        let folder = try TemporaryFolder(), inner = folder.folder("a")
        let text = Array("apps: {shop: {topic: com.example.shop, environment: simulator}}\n".utf8)
        let outer = folder.file("volley.yaml", text), other = folder.file("a/\(name)", text)
        #expect(throws: Never.self) { try Project.read(file: outer) }
        #expect(Project.find(startingAt: inner) == other)
        if name != "volley.yml" {
            #expect(
                found { () throws(Diagnostics) in try Project.read(file: other) }.contains(
                    "a file is not read under the name '\(name)'"))
        }
        let usual = folder.file("a/volley.yaml", text)
        #expect(Project.find(startingAt: inner) == usual)
        #expect(
            found { () throws(Diagnostics) in try Project.read(file: usual) }.contains(
                "'\(name)' is in the same folder"))
        #expect(throws: Never.self) { try Project.readToStop(file: usual) }
        for harmless in ["volley.yaml.bak", "volley.yaml~", "my-volley.yaml"] {
            _ = folder.file(harmless, text)
            #expect(throws: Never.self) { try Project.read(file: outer) }
        }
    }

    @Test(
        "a folder that is called volley.yaml, or a link of that name that leads nowhere, is not passed over, and cannot be read"
    )
    func noFileOfThatName() throws {
        let folder = try TemporaryFolder()
        let inner = folder.folder("a"), other = folder.folder("b")
        let named = folder.folder("a/volley.yaml"), link = other + "/volley.yaml"
        _ = folder.file("volley.yaml", [])
        #expect(symlink("gone.yaml", link) == 0)
        defer { unlink(link) }
        for (start, found) in [(inner, named), (other, link)] {
            #expect(Project.find(startingAt: start) == found)
            #expect(throws: Diagnostics.self) { try Project.read(file: found) }
        }
        let mistake = #expect(throws: Diagnostics.self) { try Project.read(file: link) }?.all.first
        #expect(
            mistake?.message.hasSuffix("gone.yaml, where nothing is") == true && mistake?.file == link,
            "\(String(describing: mistake))")
        #expect(mistake?.plainMessage == "this is a link that leads nowhere")
    }

    @Test("without volley.yaml anywhere above, or without the folder, nothing is found")
    func nowhere() throws {
        let folder = try TemporaryFolder()
        #expect(Project.find(startingAt: folder.path) == nil)
        #expect(Project.find(startingAt: folder.path + "/missing") == nil)
        #expect(Project.find(startingAt: "a\0b") == nil)
    }
}
