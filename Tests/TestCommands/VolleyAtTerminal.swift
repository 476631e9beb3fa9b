public import Foundation
import Glibc

/// The real binary at a terminal, as a person uses it: its outputs and its input are a
/// pseudo-terminal.
public final class VolleyAtTerminal {
    private let process = Process()
    private let master: Int32
    private var bytes: [UInt8] = []

    /// TIOCSPTLCK and TIOCGPTN. Source: ioctl_tty(2).
    private static let unlock: UInt = 0x4004_5431, getNumber: UInt = 0x8004_5430

    /// Starts `volley`.
    /// - Parameter columns: how wide the terminal is.
    public init(_ arguments: [String], in folder: URL, environment: [String: String] = [:], columns: UInt16 = 100)
        throws
    {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // Replacements for posix_openpt, unlockpt and ptsname, which Swift's Glibc lacks.
        var (lock, number) = (Int32(0), Int32(0))
        guard master >= 0, ioctl(master, Self.unlock, &lock) == 0, ioctl(master, Self.getNumber, &number) == 0 else {
            throw CommandFailure(what: "no terminal: \(String(cString: strerror(errno)))")
        }
        let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { throw CommandFailure(what: "no terminal: \(String(cString: strerror(errno)))") }
        var size = winsize(ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
        let handle = FileHandle(fileDescriptor: terminal, closeOnDealloc: true)
        process.executableURL = URL(fileURLWithPath: VolleyBinary.path)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "SWIFT_BACKTRACE" }
            .merging(["NO_COLOR": "1"]) { $1 }.merging(environment) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (handle, handle, handle)
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        close(master)
    }

    /// Everything that was shown so far, with line ends as in files.
    public var shown: String { String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n") }

    /// Its process id.
    public var processID: Int32 { process.processIdentifier }

    /// Waits until a text is shown.
    /// - Returns: whether it was shown before the end of the process and within this many seconds.
    public func waits(for text: String, timeout: Double = 60) -> Bool {
        let deadline = Date().addingTimeInterval(timeout)
        while !shown.contains(text), Date() < deadline {
            if !read(), !process.isRunning { return shown.contains(text) }
        }
        return shown.contains(text)
    }

    /// Types a text.
    public func type(_ text: String) {
        let typed = Array(text.utf8)
        _ = write(master, typed, typed.count)
    }

    /// Waits for the end of the process.
    /// - Returns: the exit code; a process that takes longer than the timeout, in seconds, is
    ///   ended, with the status of SIGKILL.
    public func finish(timeout: Double = 120) -> Int32 {
        let deadline = Date().addingTimeInterval(timeout)
        while process.isRunning, Date() < deadline { _ = read() }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        while read() {}
        return process.terminationReason == .uncaughtSignal
            ? 128 + process.terminationStatus : process.terminationStatus
    }

    /// Takes what is shown within a tenth of a second.
    /// - Returns: whether anything was shown.
    private func read() -> Bool {
        var input = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, 100) > 0, input.revents & Int16(POLLIN) != 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = Glibc.read(master, &buffer, buffer.count)
        guard count > 0 else { return false }
        bytes += buffer.prefix(count)
        return true
    }
}
