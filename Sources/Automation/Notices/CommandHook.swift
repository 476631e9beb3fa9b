import Base
import CLinux
import Campaigns
import Glibc
import Runs
import Synchronization
import Workspace

/// A program that receives notices. It gets each notice as JSON on standard input, and the main
/// parts of it in environment variables. What the program prints goes to standard error, line by
/// line.
struct CommandHook: Sendable {
    /// The program and its arguments.
    var arguments: [String]
    /// The folder of volley.yaml.
    var folder = "."
    /// Shows a line of its output, about a notice.
    var say: @Sendable (String, Notice) -> Void
    /// After this long the program is killed, with everything that it started.
    var timeLimitSeconds = 60.0

    /// How long the program's children may still write after the program has ended or was killed.
    private static let lingeringSeconds = 0.5
    /// The interval for checking whether the program has ended, where the system does not report
    /// it.
    private static let secondsPerLook = 0.02
    /// The bytes of a line that are kept; longer lines are cut.
    private static let longestLine = 1_000

    /// Runs the program to its end.
    /// - Parameter cancellation: when it is requested, the program is killed at once, with
    ///   everything that it started: it must not outlive this process.
    /// - Returns: what went wrong; nil if the program ended with exit code 0.
    func run(_ notice: Notice, until cancellation: Cancellation) -> String? {
        let child: Child
        switch RunningHooks.noting({ spawn(notice) }, process: { try? $0.get().process }) {
        case .success(let started): child = started
        case .failure(let failure): return failure.message
        case nil: return "Volley ended"
        }
        defer { RunningHooks.remove(child.process) }
        return withPipeSignalBlocked {
            follow(child, document: Array((notice.json.text + "\n").utf8), cancellation) { say($0, notice) }
        }
    }

    private struct Child { var process: pid_t, input: Int32, output: Int32 }

    private func spawn(_ notice: Notice) -> Result<Child, Mistake> {
        guard let input = Self.makePipe(), let output = Self.makePipe() else {
            return .failure(Mistake("it cannot be started: \(SystemError.words(errno)). \(SystemError.remedy(errno))"))
        }
        defer {
            close(input.read)
            close(output.write)
        }
        do throws(FileError) {
            let process = try ChildProgram.start(
                arguments, environment: environment(notice), input: input.read, output: output.write,
                errors: output.write)
            return .success(Child(process: process, input: input.write, output: output.read))
        } catch {
            close(input.write)
            close(output.read)
            let flaw = flaw ?? Diagnostic("\(error)", remedy: error.remedy)
            return .failure(Mistake("it cannot be started: \(flaw.message). \(flaw.remedy ?? "")"))
        }
    }

    /// The problem with the program's file: the system's error is about another file, and a shell's
    /// exit code says less.
    private var flaw: Diagnostic? { ProgramFile(arguments[0], beside: folder).flaw }

    /// A pipe that no other program inherits; nil if no more files can be opened.
    private static func makePipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard volley_make_pipe(&ends) == 0 else { return nil }
        return (ends[0], ends[1])
    }

    private func environment(_ notice: Notice) -> [String] {
        var values = ChildProgram.environment
        let own: [(String, String?)] = [
            ("EVENT", notice.event.rawValue), ("ID", notice.id), ("CAMPAIGN", notice.campaign), ("APP", notice.app),
            ("RUN", notice.run),
            ("STATE", notice.state?.rawValue), ("OCCURRENCE", notice.occurrence), ("TEXT", notice.text),
        ]
        // Remove all of them, also those that this notice does not set. If a hook started this
        // process, the variables that it inherited describe another run.
        values.removeAll { entry in own.contains { entry.hasPrefix("VOLLEY_\($0.0)=") } }
        return values
            + own.compactMap { name, value in value.map { "VOLLEY_\(name)=\($0.replacing("\0", with: " "))" } }
    }

    private func follow(_ child: Child, document: [UInt8], _ cancellation: Cancellation, say: (String) -> Void)
        -> String?
    {
        _ = fcntl(child.input, F_SETFL, O_NONBLOCK)
        _ = fcntl(child.output, F_SETFL, O_NONBLOCK)
        let clock = ContinuousClock()
        var end = clock.now + .seconds(timeLimitSeconds)
        var rest = document[...]
        var input = child.input
        var lines = LineSplitter(limit: Self.longestLine)
        var status: Int32?
        var isOutputOpen = true
        var reason: String?
        let ended = volley_open_process(child.process)
        defer { if ended >= 0 { close(ended) } }
        while isOutputOpen || status == nil {
            var polled = [
                pollfd(fd: isOutputOpen ? child.output : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
                // It stays readable once the process has ended.
                pollfd(fd: status == nil ? ended : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: status == nil ? cancellation.descriptor : -1, events: Int16(POLLIN), revents: 0),
            ]
            let left = clock.now.duration(to: end) / .seconds(1)
            _ = poll(
                &polled, nfds_t(polled.count),
                pollTimeout(status == nil && ended < 0 ? min(left, Self.secondsPerLook) : left))
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
            let isUnwanted = status == nil && cancellation.isRequested
            guard isUnwanted || clock.now >= end else { continue }
            if status != nil { break }
            reason =
                isUnwanted
                ? "Volley ended and killed it"
                : "it took longer than \(TextFormat.duration(seconds: timeLimitSeconds)) and was killed"
            kill(-child.process, SIGKILL)
            end = clock.now + .seconds(Self.lingeringSeconds)
            // The process was killed, so this does not take long.
            waitpid(child.process, &code, 0)
            status = code
        }
        if input >= 0 { close(input) }
        close(child.output)
        lines.rest.map(say)
        if let reason { return reason }
        guard let failure = Self.failure(status ?? 0) else { return nil }
        // env and shells end with an exit code when they cannot start what the first line names.
        guard let flaw else { return failure }
        return "\(failure): \(flaw.message). \(flaw.remedy ?? "")"
    }

    /// Writes as much as the pipe has room for; false if all is written, or the pipe is closed at
    /// the other end.
    private static func write(_ rest: inout ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            rest = rest.dropFirst(count)
        }
        return false
    }

    /// Reads all bytes that are available; false at the end of the output.
    private static func read(_ descriptor: Int32, into lines: inout LineSplitter, _ say: (String) -> Void) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            if count == 0 { return false }
            for line in lines.cut(chunk[..<count]) { say(line) }
        }
    }

    /// Describes how the program failed; nil if it ended with exit code 0. Source: wait(2).
    private static func failure(_ status: Int32) -> String? {
        let signal = status & 0x7F
        if signal != 0 { return "it was ended by signal \(signal)" }
        let code = status >> 8 & 0xFF
        return code == 0 ? nil : "it ended with exit code \(code)"
    }
}

/// The programs that run now. They are in their own process groups and would continue to run, so a
/// process that a signal handler ends at once kills them first.
public enum RunningHooks {
    private final class Number: Sendable { let value = Atomic<Int32>(0) }

    /// Their process groups, or 0. More than volley.yaml is likely to name; further programs are
    /// not noted.
    private static let places = (0..<64).map { _ in Number() }
    /// The number of programs that may already run but are not noted yet.
    private static let starting = Number()
    /// 1 once this process is about to end: the thread whose program was killed would start that of
    /// the next notice.
    private static let isClosed = Number()

    /// Starts a program and notes it; nil if this process is about to end. Until then no signal is
    /// handled in this thread: the handler may wait for the note.
    static func noting<Value>(_ start: () -> Value, process: (Value) -> pid_t?) -> Value? {
        var all = sigset_t(), before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        starting.value.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer {
            starting.value.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            pthread_sigmask(SIG_SETMASK, &before, nil)
        }
        guard isClosed.value.load(ordering: .sequentiallyConsistent) == 0 else { return nil }
        let value = start()
        if let group = process(value) {
            _ = places.first {
                $0.value.compareExchange(expected: 0, desired: group, ordering: .sequentiallyConsistent).exchanged
            }
        }
        return value
    }

    static func remove(_ group: pid_t) {
        for place in places { _ = place.value.compareExchange(expected: group, desired: 0, ordering: .relaxed) }
    }

    /// Makes what a signal handler cannot.
    public static func prepare() { _ = (places.count, starting, isClosed) }

    /// Kills all of them, with everything that they started, for a process that ends right
    /// afterwards: no further program starts. Waits for those that are being started, two seconds
    /// at most. Safe in a signal handler after `prepare`.
    public static func killForGood() {
        isClosed.value.store(1, ordering: .sequentiallyConsistent)
        for _ in 0..<400 where starting.value.load(ordering: .sequentiallyConsistent) > 0 { poll(nil, 0, 5) }
        for place in places {
            let group = place.value.load(ordering: .relaxed)
            if group > 0 { _ = Glibc.kill(-group, SIGKILL) }
        }
    }
}

/// Cuts bytes into lines.
private struct LineSplitter {
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

    /// The text after the last line break; nil without one.
    var rest: String? { line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }
}
