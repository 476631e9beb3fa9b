import Foundation
import Testing

@testable import Base

/// Where outputs go that people name.
@Suite("Places of outputs")
final class OutputPlaceTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "volley-place-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    private func link(_ name: String, to target: String) { #expect(symlink(target, path(name)) == 0) }

    private func refusal(_ name: String) -> String {
        do throws(Diagnostic) {
            return "no refusal: \(try OutputPlace(path(name)))"
        } catch { return error.description }
    }

    @Test("a device that is not there is said at once, and not taken for a pipe whose reader is still to come")
    func noDevice() {
        let node = path("device")
        // The numbers 60 to 63 have no driver: admin-guide/devices.txt of Linux. Only root may make
        // the name.
        _ = mknod(node, S_IFCHR | 0o600, 60 << 8)
        for name in [node, "/dev/tty"] {
            let descriptor = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC)
            let code = errno
            close(descriptor)
            guard descriptor < 0, code == ENXIO else { continue }
            for timeout in [OutputTimeouts.command, .service, .none] {
                let start = ContinuousClock.now
                #expect(throws: FileError.system(ENODEV)) { try OutputFile(try OutputPlace(name), timeout) }
                #expect(start.duration(to: .now) < .seconds(10))
            }
        }
        #expect(SystemError.remedy(ENODEV).hasPrefix("Name a file;"))
    }

    @Test("a file is given to the user that needs it by a command that works, also if the user has no name")
    func ownership() {
        let unnamed: uid_t = 3_999_999_999
        func remedy(_ need: FileAccess.Need, owner: uid_t, user: uid_t) -> String {
            FileAccess.remedy("/a b", need, owner: owner, user: user, group: 77)
        }
        #expect(remedy(.writing, owner: 0, user: unnamed) == "Run `chown \(unnamed):77 '/a b'` as root.")
        #expect(remedy(.reading, owner: 0, user: unnamed) == "Run `chown \(unnamed) '/a b'` as root.")
        #expect(
            remedy(.writing, owner: unnamed, user: 0)
                == "Run `chown root: '/a b'` as root, or run volley as user \(unnamed).")
    }

    @Test(
        "a file and a free name are replaced; a link leads to its file and stays, also where the file is still to be made"
    )
    func files() throws {
        try Data("old".utf8).write(to: URL(fileURLWithPath: path("file")))
        link("link", to: "file")
        link("second", to: path("link"))
        link("early", to: "later")
        for name in ["file", "link", "second", "early", "new"] {
            try FilePaths.replace(path(name), bytes: Array(name.utf8))
            #expect(try text(name) == name)
        }
        #expect(try text("file") == "second" && text("later") == "early")
        for name in ["link", "second", "early"] {
            #expect(
                try FileManager.default.attributesOfItem(atPath: path(name))[.type] as? FileAttributeType
                    == .typeSymbolicLink, "\(name)")
        }
    }

    @Test(
        "a folder, a socket, a circle of links and a link without a folder are refused, with what is there and what to do"
    )
    func refused() throws {
        #expect(mkdir(path("folder"), 0o755) == 0)
        link("circle", to: "circle")
        link("lost", to: "nowhere/file")
        link("indirect", to: "folder")
        #expect(mknod(path("socket"), S_IFSOCK | 0o600, 0) == 0)
        #expect(refusal("folder").hasSuffix("this is a folder, not a file. Name a file, a named pipe or a terminal."))
        #expect(refusal("indirect").contains("this leads to a folder"))
        #expect(refusal("socket").contains("this is a socket"))
        link("kernel", to: "/proc/self/comm")
        link("new", to: "/proc/self/new")
        for name in ["kernel", "new"] {
            #expect(refusal(name).contains("below /proc, where the kernel lets no file be made or replaced"))
        }
        #expect(throws: Diagnostic.self) { try OutputPlace("/sys/kernel/uevent_helper.txt") }
        #expect(refusal("circle").contains("links lead in a circle"))
        #expect(
            refusal("lost").contains("a link to \(path("nowhere/file")), whose folder does not exist. Make that folder")
        )
    }

    @Test("a link that another user planted is refused, whatever it leads to", .enabled(if: geteuid() == 0))
    func planted() throws {
        try Data("precious".utf8).write(to: URL(fileURLWithPath: path("victim")))
        link("planted", to: "victim")
        #expect(lchown(path("planted"), 65_534, 65_534) == 0)
        #expect(refusal("planted").contains("is a link to \(path("victim")) that belongs to "))
        #expect(throws: Diagnostic.self) { try FilePaths.replace(path("planted"), bytes: [1]) }
        #expect(try text("victim") == "precious")
    }

    @Test("a pipe is written through while something reads it, and never waited for by a service")
    func pipes() throws {
        #expect(mkfifo(path("pipe"), 0o600) == 0)
        link("link", to: "pipe")
        let begin = ContinuousClock.now
        #expect(throws: Diagnostic.self) { try FilePaths.replace(path("link"), bytes: [1]) }
        let reader = open(path("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        try FilePaths.replace(path("link"), bytes: Array("hello".utf8))
        var bytes = [UInt8](repeating: 0, count: 100)
        #expect(read(reader, &bytes, 100) == 5 && bytes.starts(with: "hello".utf8))
        // More than the pipe takes, with a reader that does not read.
        let output = try OutputFile(try OutputPlace(path("pipe")), .none)
        #expect(throws: FileError.system(EAGAIN)) { try output.write([UInt8](repeating: 1, count: 1 << 20)) }
        #expect(ContinuousClock.now - begin < .seconds(5))
        #expect(FileKind(path: path("pipe")) == .namedPipe)
    }

    @Test("devices are written through, and a disk is refused", .enabled(if: geteuid() == 0))
    func devices() throws {
        guard mknod(path("null"), S_IFCHR | 0o666, 0x103) == 0, mknod(path("disk"), S_IFBLK | 0o600, 0x763) == 0 else {
            return
        }
        link("link", to: "null")
        for name in ["null", "link"] { try FilePaths.replace(path(name), bytes: [1]) }
        #expect(FileKind(path: path("null")) == .device)
        #expect(refusal("disk").contains("this is a disk, and writing to it would destroy its content"))
    }

    @Test(
        "a descriptor that this process was given is written through; its own, a closed one and one for reading are refused"
    )
    func descriptors() throws {
        try Data("begin ".utf8).write(to: URL(fileURLWithPath: path("log")))
        let given = open(path("log"), O_WRONLY | O_APPEND), own = open(path("log"), O_WRONLY | O_CLOEXEC),
            input = open(path("log"), O_RDONLY)
        defer { for descriptor in [given, own, input] { close(descriptor) } }
        for name in ["/dev/fd/\(given)", "/proc/self/fd/\(given)"] {
            try FilePaths.replace(name, bytes: Array("end ".utf8))
        }
        link("link", to: "/proc/self/fd/\(given)")
        try FilePaths.replace(path("link"), bytes: Array("link".utf8))
        #expect(try text("log") == "begin end end link")
        for descriptor in [own, input, 999] {
            #expect(throws: Diagnostic.self) { try OutputPlace("/dev/fd/\(descriptor)") }
        }
        #expect(try OutputPlace("/dev/stderr") == .descriptor(2))
    }
}

/// What errors of the system mean to people.
@Suite("Errors of the system")
struct SystemErrorTests {
    @Test("each number has words of its own, or quotes the system's in parentheses; each has a remedy")
    func words() {
        for code in Int32(1)...133 {
            let (words, bare) = (SystemError.words(code), String(cString: strerror(code)))
            #expect(words != bare && !words.hasPrefix(bare), "\(code)")
            #expect(!words.contains(bare) || words.hasSuffix("(error \(code), \(bare))"), "\(code): \(words)")
            #expect(!words.hasSuffix(".") && SystemError.remedy(code).hasSuffix("."), "\(code)")
        }
        let full = FileError.system(ENOSPC).diagnostic("the report cannot be written", file: "a.csv")
        #expect(
            full.description == "a.csv: the report cannot be written: the disk is full. Free space, then try again.")
    }
}
