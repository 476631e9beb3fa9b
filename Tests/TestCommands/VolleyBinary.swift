public import Base
public import Foundation
import Glibc

/// A command of a test that did not do what the test needs.
public struct CommandFailure: Error {
    /// What went wrong.
    public var what: String

    /// Says what went wrong.
    public init(what: String) { self.what = what }
}

/// The real binary, as built with the tests, run in a separate folder.
public enum VolleyBinary {
    /// What a process left behind.
    public struct Result {
        /// The exit code; 128 and the signal's number when a signal ended it.
        public var status: Int32
        /// Standard output.
        public var output: String
        /// Standard error.
        public var errors: String

        /// Standard output as JSON.
        public func json() throws -> JSONValue { try JSONValue(parsing: output) }
    }

    /// The one that VOLLEY_BINARY names, such as the optimised one; else the one next to the test
    /// bundle.
    public static let path =
        ProcessInfo.processInfo.environment["VOLLEY_BINARY"]
        ?? URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        .appendingPathComponent("volley").path

    /// How long a simulator runs at most, in seconds, if its test does not end it: longer than any
    /// test, as one that ends before it leaves a run that waits for its service.
    public static let simulatorSeconds = "1800"

    /// Runs `volley` to its end.
    /// - Parameter timeout: in seconds; a process that takes longer is ended, with the status of
    ///   SIGKILL.
    public static func run(
        _ arguments: [String], in folder: URL, environment: [String: String] = [:], input: String? = nil,
        timeout: Double = 120
    ) throws -> Result {
        try start(arguments, in: folder, environment: environment, input: input).finish(timeout: timeout)
    }

    /// Starts `volley` and returns at once.
    /// - Parameter launcher: a program and its first arguments that becomes `volley` in the same
    ///   process, as `nsenter` does.
    public static func start(
        _ arguments: [String], in folder: URL, environment: [String: String] = [:], input: String? = nil,
        launcher: [String] = []
    ) throws -> RunningVolley {
        guard !launcher.isEmpty else {
            return try RunningVolley(executable: path, arguments, in: folder, environment: environment, input: input)
        }
        return try RunningVolley(
            executable: "/usr/bin/env", launcher + [path] + arguments, in: folder, environment: environment,
            input: input)
    }
}

/// A running process. Its output goes to files, so that no pipe fills up.
public final class RunningVolley {
    private let process = Process()
    private let output: URL
    private let errors: URL

    /// Starts a program.
    /// - Parameters:
    ///   - folder: its working folder.
    ///   - environment: set in addition to the test's own variables.
    ///   - input: its standard input; nil for none.
    public init(
        executable: String, _ arguments: [String], in folder: URL, environment: [String: String], input: String?
    ) throws {
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("volley-out-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        (output, errors) = (scratch.appendingPathComponent("out"), scratch.appendingPathComponent("err"))
        for file in [output, errors] { try Data().write(to: file) }
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        var variables = ProcessInfo.processInfo.environment
        for name in ["VOLLEY_BINARY", "SWIFT_BACKTRACE"] { variables[name] = nil }
        process.environment = variables.merging(environment) { $1 }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        if let input {
            let file = scratch.appendingPathComponent("in")
            try Data(input.utf8).write(to: file)
            process.standardInput = try FileHandle(forReadingFrom: file)
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        try process.run()
    }

    deinit { try? FileManager.default.removeItem(at: output.deletingLastPathComponent()) }

    /// Standard output so far.
    public var outputSoFar: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }
    /// Standard error so far.
    public var errorsSoFar: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }
    /// Whether it has not ended.
    public var isRunning: Bool { process.isRunning }
    /// Its process id.
    public var processID: Int32 { process.processIdentifier }

    /// Sends it SIGINT, as Ctrl-C does.
    public func interrupt() { Glibc.kill(process.processIdentifier, SIGINT) }

    /// Ends it by SIGKILL, and waits for that.
    public func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        _ = finish(timeout: 10)
    }

    /// Waits for the end of the process.
    /// - Parameter timeout: in seconds; a process that takes longer is ended, with the status of
    ///   SIGKILL.
    public func finish(timeout: Double = 120) -> VolleyBinary.Result {
        let deadline = Date().addingTimeInterval(timeout)
        while process.isRunning, Date() < deadline { usleep(5_000) }
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        let status =
            process.terminationReason == .uncaughtSignal ? 128 + process.terminationStatus : process.terminationStatus
        return VolleyBinary.Result(status: status, output: outputSoFar, errors: errorsSoFar)
    }
}
