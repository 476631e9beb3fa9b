import Base
import CLinux
import Campaigns
import Glibc
import Runs
import Synchronization

/// A program that is told: it gets the notice as JSON on standard input, and the most important of it in environment variables. What it prints goes
/// to standard error, line by line.
struct CommandHook: Sendable {
    /// The program and its arguments.
    var arguments: [String]
    /// Shows a line of its output.
    var say: @Sendable (String) -> Void
    /// After that it is ended, with all that it started.
    var timeLimitSeconds = 60.0

    /// From the moment the program has ended, or closed its output, its children may still write for so long.
    private static let lingeringSeconds = 0.5
    /// Where the system does not say when a program ends, it is looked so often.
    private static let secondsPerLook = 0.02
    /// Lines longer than that are cut.
    private static let longestLine = 1_000
    /// One at a time holds descriptors that a child of another would inherit.
    private static let spawning = Mutex(())

    /// Runs it to its end.
    /// - Returns: what went wrong; nil when it ended with 0.
    func run(_ notice: Notice) -> String? {
        let child: Child
        switch spawn(notice) {
        case .success(let started): child = started
        case .failure(let failure): return failure.text
        }
        return withPipeSignalBlocked { follow(child, Array((notice.json.text + "\n").utf8)) }
    }

    private struct Child { var process: pid_t, input: Int32, output: Int32 }
    private struct SpawnFailure: Error { var text: String }

    private func spawn(_ notice: Notice) -> Result<Child, SpawnFailure> {
        Self.spawning.withLock { _ in
            guard let input = Self.makePipe(), let output = Self.makePipe() else {
                return .failure(SpawnFailure(text: "it cannot be started: \(String(cString: strerror(errno)))"))
            }
            Self.keepDescriptors()
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_adddup2(&actions, input.read, STDIN_FILENO)
            posix_spawn_file_actions_adddup2(&actions, output.write, STDOUT_FILENO)
            posix_spawn_file_actions_adddup2(&actions, output.write, STDERR_FILENO)
            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            // A group of its own: a Ctrl-C for volley is none for it, and all that it started can be ended together.
            posix_spawnattr_setpgroup(&attributes, 0)
            var signals = sigset_t()
            sigemptyset(&signals)
            posix_spawnattr_setsigmask(&attributes, &signals)
            sigaddset(&signals, SIGPIPE)
            sigaddset(&signals, SIGXFSZ)
            for number in IgnoredSignals.all { sigaddset(&signals, number) }
            posix_spawnattr_setsigdefault(&attributes, &signals)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
            var process = pid_t()
            let code = withPointers(arguments) { words in
                withPointers(environment(notice)) { posix_spawnp(&process, arguments[0], &actions, &attributes, words, $0) }
            }
            close(input.read)
            close(output.write)
            guard code == 0 else {
                close(input.write)
                close(output.read)
                return .failure(SpawnFailure(text: "it cannot be started: \(String(cString: strerror(code)))"))
            }
            return .success(Child(process: process, input: input.write, output: output.read))
        }
    }

    /// A pipe that no other program inherits.
    private static func makePipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Nothing that this process has open is the program's business: a lock that it inherited, say, would be held as long as it runs.
    private static func keepDescriptors() {
        for name in (try? Folder.names(in: "/proc/self/fd")) ?? [] {
            guard let descriptor = Int32(name), descriptor > 2 else { continue }
            let flags = fcntl(descriptor, F_GETFD)
            if flags >= 0, flags & FD_CLOEXEC == 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
        }
    }

    private func environment(_ notice: Notice) -> [String] {
        var values: [String] = []
        var next = environ
        while let entry = next.pointee {
            values.append(String(cString: entry))
            next += 1
        }
        let own: [(String, String?)] = [
            ("EVENT", notice.event.rawValue), ("ID", notice.id), ("CAMPAIGN", notice.campaign), ("APP", notice.app), ("RUN", notice.run),
            ("STATE", notice.state?.rawValue), ("OCCURRENCE", notice.occurrence), ("TEXT", notice.text),
        ]
        // All of them, also those that this notice does not set: a hook may have started this process, and its own are no news of this run.
        values.removeAll { entry in own.contains { entry.hasPrefix("VOLLEY_\($0.0)=") } }
        return values + own.compactMap { name, value in value.map { "VOLLEY_\(name)=\($0.replacing("\0", with: " "))" } }
    }

    private func follow(_ child: Child, _ document: [UInt8]) -> String? {
        _ = fcntl(child.input, F_SETFL, O_NONBLOCK)
        _ = fcntl(child.output, F_SETFL, O_NONBLOCK)
        let clock = ContinuousClock()
        var end = clock.now + .seconds(timeLimitSeconds)
        var rest = document[...]
        var input = child.input
        var lines = LineCutter(limit: Self.longestLine)
        var status: Int32?
        var isTooLate = false, isOutputOpen = true
        let ended = volley_open_process(child.process)
        defer { if ended >= 0 { close(ended) } }
        while isOutputOpen || status == nil {
            var polled = [
                pollfd(fd: isOutputOpen ? child.output : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
                // Readable for good.
                pollfd(fd: status == nil ? ended : -1, events: Int16(POLLIN), revents: 0),
            ]
            let left = clock.now.duration(to: end) / .seconds(1)
            _ = poll(&polled, 3, pollTimeout(status == nil && ended < 0 ? min(left, Self.secondsPerLook) : left))
            if polled[1].revents != 0, !Self.write(&rest, to: input) {
                close(input)
                input = -1
            }
            if polled[0].revents != 0 { isOutputOpen = Self.read(child.output, into: &lines, say) }
            var code: Int32 = 0
            if status == nil, waitpid(child.process, &code, WNOHANG) == child.process {
                status = code
                end = min(end, clock.now + .seconds(Self.lingeringSeconds))
            }
            guard clock.now >= end else { continue }
            if status != nil { break }
            isTooLate = true
            kill(-child.process, SIGKILL)
            end = clock.now + .seconds(Self.lingeringSeconds)
            // It was ended, so this does not take long.
            waitpid(child.process, &code, 0)
            status = code
        }
        if input >= 0 { close(input) }
        close(child.output)
        lines.rest.map(say)
        if isTooLate { return "it took longer than \(TextFormat.duration(seconds: timeLimitSeconds)) and was ended" }
        return Self.failure(status ?? 0)
    }

    /// Writes what there is room for; false when all is written or nobody reads it.
    private static func write(_ rest: inout ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            rest = rest.dropFirst(count)
        }
        return false
    }

    /// Reads what is there; false at the end.
    private static func read(_ descriptor: Int32, into lines: inout LineCutter, _ say: (String) -> Void) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            if count == 0 { return false }
            for line in lines.cut(chunk[..<count]) { say(line) }
        }
    }

    /// Source: wait(2).
    private static func failure(_ status: Int32) -> String? {
        let signal = status & 0x7F
        if signal != 0 { return "it was ended by signal \(signal)" }
        let code = status >> 8 & 0xFF
        return code == 0 ? nil : "it ended with exit code \(code)"
    }
}

/// Calls with an array of C strings that ends with NULL.
private func withPointers<Value>(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Value) -> Value {
    let pointers = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers)
}

/// Bytes into lines.
private struct LineCutter {
    let limit: Int
    private var line: [UInt8] = []

    package init(limit: Int) { self.limit = limit }

    mutating func cut(_ bytes: ArraySlice<UInt8>) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(String(decoding: line, as: UTF8.self))
                line.removeAll(keepingCapacity: true)
            } else if line.count < limit {
                line.append(byte)
            }
        }
        return lines
    }

    /// What stands behind the last line break.
    var rest: String? { line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }
}
