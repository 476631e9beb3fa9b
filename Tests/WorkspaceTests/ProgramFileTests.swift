import Base
import Foundation
import Testing

@testable import Workspace

/// Problems that the file of a program shows.
@Suite("Programs that cannot be started")
final class ProgramFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "volley-program-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func flaw(_ content: [UInt8], mode: mode_t = 0o755) throws -> Diagnostic? {
        try Data(content).write(to: URL(fileURLWithPath: path("hook")))
        chmod(path("hook"), mode)
        return ProgramFile(path("hook"), beside: folder.path).flaw
    }

    @Test("of a command line in the place of its program, the arguments are not repeated")
    func commandLine() throws {
        let flaw = try #require(ProgramFile("volley-test -u me:hunter2word hooks", beside: folder.path).flaw)
        #expect(
            flaw.message.contains("volley-test … is a whole command line") && !flaw.description.contains("hunter2word"),
            "\(flaw)")
        #expect(flaw.remedy?.contains("[volley-test, …]") == true && flaw.remedy?.contains("Install") == false)
        #expect(
            ProgramFile("./hook --quiet", beside: folder.path).flaw?.message.contains(
                "./hook … is a whole command line") == true)
        // The name of a file may have a blank.
        try Data("#!/bin/sh\n".utf8).write(to: URL(fileURLWithPath: path("my hook")))
        chmod(path("my hook"), 0o755)
        #expect(ProgramFile(path("my hook"), beside: folder.path).flaw == nil)
    }

    @Test(
        "a first line that cannot work is named, with what to do",
        arguments: [
            ("#!/bin/sh\r\ntrue\r\n", "ends with CR LF", "sed -i"), ("#!/bin/sh -e\r\n", "ends with CR LF", "sed -i"),
            ("#!/opt/none/python9\n", "names the interpreter /opt/none/python9", "Install the interpreter"),
            ("#!/tmp\n", "this is a folder", "correct the first line"), ("#!\n", "names no interpreter", "#!/bin/sh"),
            ("true\n", "no first line such as #!/bin/sh", "[/bin/sh, "),
            ("\u{FEFF}#!/bin/sh\n", "byte order mark", "without a byte order mark"),
            ("#!/usr/bin/env python9\n", "the program python9, which is not in PATH", "Install it"),
            ("#!/usr/bin/env sh -e\n", "for the name of one program", "Write #!/usr/bin/env -S sh -e."),
            ("#!/usr/bin/env -S A=1 python9 -u\n", "the program python9", "Install it"), ("", "is empty", "#!/bin/sh"),
        ])
    func lines(content: String, words: String, remedy: String) throws {
        let flaw = try #require(try flaw(Array(content.utf8)))
        #expect(flaw.message.contains(words) && flaw.remedy?.contains(remedy) == true, "\(flaw)")
        #expect(flaw.file == path("hook"))
    }

    @Test(
        "a first line that works is no flaw",
        arguments: ["#!/bin/sh\n", "#! /bin/sh -e\n", "#!/usr/bin/env sh\n", "#!/usr/bin/env -S sh -e\n", "#!/bin/sh"])
    func fine(content: String) throws { #expect(try flaw(Array(content.utf8)) == nil) }

    @Test("UTF-16, another processor and a missing loader are named; this system's own programs are fine")
    func binaries() throws {
        #expect(try flaw([0xFF, 0xFE, 0x23, 0, 0x21, 0])?.message.contains("UTF-16") == true)
        let own = Array(try Data(contentsOf: URL(fileURLWithPath: "/bin/sh")).prefix(4_096))
        #expect(ProgramFile("/bin/sh", beside: "/").flaw == nil && ProgramFile("sh", beside: "/").flaw == nil)
        var other = own
        (other[18], other[19]) = (0xF3, 0)
        let isEmulated = FileManager.default.fileExists(atPath: "/proc/sys/fs/binfmt_misc/register")
        if !isEmulated { #expect(try flaw(other)?.message.contains("another kind of processor") == true) }
        guard let place = Data(own).range(of: Data("/lib".utf8)) else { return }
        var lost = own
        lost.replaceSubrange(place, with: Array("/xyz".utf8))
        #expect(try flaw(lost)?.message.contains("needs the loader /xyz") == true)
    }

    @Test("the right to start a program includes that to read it, and is given by the user that can give it")
    func rights() {
        func remedy(_ canRead: Bool, _ owner: String?) -> String {
            ProgramFile.rightToStart("/opt/a b", canRead: canRead, owner: owner, user: "volley")
        }
        #expect(
            remedy(true, nil) == "Run `chmod +x '/opt/a b'`." && remedy(false, nil) == "Run `chmod u+rx '/opt/a b'`.")
        #expect(remedy(true, "ann") == "Run `chmod a+x '/opt/a b'` as ann.")
        #expect(remedy(false, "ann") == "Run `chown volley '/opt/a b' && chmod u+rx '/opt/a b'` as root.")
    }

    @Test("what is no program is said: nothing, a folder, a lost link, a file without the right, a name outside PATH")
    func kinds() throws {
        func flaw(_ name: String) throws -> String {
            try #require(ProgramFile(path(name), beside: folder.path).flaw).description
        }
        #expect(mkdir(path("folder"), 0o755) == 0 && symlink("nowhere", path("lost")) == 0)
        #expect(try flaw("folder").contains("this is a folder, not a program"))
        #expect(try flaw("lost").contains("a link that leads nowhere"))
        #expect(try flaw("missing").contains("there is no such program"))
        #expect(try self.flaw(Array("#!/bin/sh\n".utf8), mode: 0o644)?.remedy?.contains("chmod +x") == true)
        let named = try #require(ProgramFile("hook", beside: folder.path).flaw)
        #expect(named.message.contains("no program hook in PATH") && named.remedy?.contains("write ./hook") == true)
    }
}
