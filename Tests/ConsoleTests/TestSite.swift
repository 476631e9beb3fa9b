import Accounts
import Base
import Campaigns
import Foundation
import Glibc
import Hummingbird
import Logging
import NIOCore
import PushServices
import Runs
import ServiceLifecycle
import TestCommands
import Workspace

@testable import volley_console

/// A folder with volley.yaml, campaigns and runs.
final class TestFolder: Sendable {
    let path: String

    static let start = Timestamp(epochSeconds: 1_796_115_600)
    static let project = """
        apps:
          shop: {topic: com.example.shop, environment: simulator, approval: required}
          news: {topic: com.example.news, environment: simulator}

        """

    init(project: String = project) throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("volley-console-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try write("volley.yaml", project)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String) throws {
        try FilePaths.replace("\(path)/\(name)", bytes: Array(text.utf8))
    }

    var runs: String { "\(path)/runs" }

    static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "ab", count: 16) + String(repeating: "0", count: 32 - digits.count) + digits
    }

    /// A run of five devices: planned, or in another state with the outcomes of three.
    /// - Parameters:
    ///   - claimed: how many may have been sent to, at least three; 0 for none, and without any
    ///     outcome.
    ///   - preview: what its plan keeps of the preview.
    ///   - source: the text of the campaign's file in this folder that it was planned from; nil for
    ///     a file elsewhere.
    @discardableResult
    func run(
        _ id: String, campaign: String = "spring-sale", app: String = "shop", _ state: RunState = .finished,
        cause: StopCause? = nil,
        claimed: Int = 3, schedule: FrozenSchedule? = nil, source: String? = nil, preview: JSONValue = .null,
        plannedAt: Timestamp = start,
        isTest: Bool = false
    ) throws -> RunFile {
        var settings = RunSettings(
            environment: .simulator, topic: "com.example.shop", pushType: .alert, renderingRules: 5)
        settings.schedule = schedule
        let writer = try RunWriter(folder: runs, id: id)
        for number in 0..<5 {
            try writer.put(
                Recipient(
                    token: Target(normalized: Self.token(number)), registrationID: "r", alias: "a", language: "en"),
                at: number)
        }
        let run = try writer.finish(
            RunPlan(
                id: id, campaign: campaign, app: app,
                campaignFile: source == nil ? "\(campaign).yaml" : "\(path)/\(campaign).yaml",
                campaignSource: source ?? "", projectFile: "volley.yaml",
                seed: RunSeed(high: 1, low: 2), fields: [], plannedAt: plannedAt, planHash: "", rows: 5, audience: 5,
                skipped: [:],
                settings: .success(settings), preview: preview, isTest: isTest,
                waves: schedule == nil ? [] : [RunWave(ids: 0..<5, zone: "Etc/UTC", due: Self.start)]))
        guard state != .planned else {
            run.close()
            return run
        }
        // A plan that was cancelled.
        guard claimed > 0 else {
            try run.append(.state(state, cause: cause, at: Self.start))
            try run.closeIntoOneFile()
            return run
        }
        try run.append(.state(.running, at: Self.start))
        try run.append(.claimed(0..<claimed, at: Self.start))
        try run.append(
            .settled([
                (0..<3).map {
                    Settlement(
                        recipient: $0, outcome: $0 == 2 ? .invalidToken : .accepted, status: 200, settledAt: Self.start)
                }
            ]))
        if state != .running { try run.append(.state(state, cause: cause, at: Self.start.adding(seconds: 60))) }
        // A run that is being sent stays open: it holds the lock.
        if !state.hasEnded { return run }
        try run.closeIntoOneFile()
        return run
    }

    func site(_ signIn: any SignIn = FixedSignIn.usual) throws -> Site {
        try Site(
            folder: path, choice: ProjectChoice(), accounts: AccountStore(beside: runs), program: Self.program,
            signIn: { _ in signIn },
            at: .now())
    }

    /// People with an account may enter.
    func siteWithAccounts() throws -> Site {
        try Site(
            folder: path, choice: ProjectChoice(), accounts: AccountStore(beside: runs), program: Self.program,
            at: .now())
    }

    /// The console's own binary, next to volley.
    static let program = VolleyBinary.path + "-console"
}

/// What a server answered.
struct Reply {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: String

    /// The value of a header; nil when it is missing.
    subscript(_ name: String) -> String? { headers.first { $0.name == name.lowercased() }?.value }

    /// All values of a header.
    func all(_ name: String) -> [String] { headers.filter { $0.name == name.lowercased() }.map(\.value) }

    /// nil for what is no answer.
    init?(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        guard let code = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        status = code
        headers = lines.dropFirst().compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return parts.count == 2 ? (parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces)) : nil
        }
        body = String(text[end.upperBound...])
    }
}

/// The console on a free port.
final class TestServer: Sendable {
    let port: Int
    let connections: Connections

    private init(port: Int, _ connections: Connections) { (self.port, self.connections) = (port, connections) }

    /// Starts it, calls `body` on a thread that may block, and ends it.
    static func with(
        _ site: Site, settings: ConsoleSettings? = nil, limits: ConnectionRegistry.Limits = .init(),
        timeouts: Connections.ClientTimeouts = .init(), routes: [Route] = RouteTable.all, signIns: WorkPool? = nil,
        _ body: @escaping @Sendable (TestServer) throws -> Void
    ) async throws {
        let connections = Connections(limits: limits, timeouts: timeouts, hosts: HostRules(settings))
        var log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        log.logLevel = .critical
        var server = ConsoleServer(site: site, settings: settings, connections: connections, log: log)
        if let signIns { server.signIns = signIns }
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let application = server.application(at: .port(host: "127.0.0.1", 0), routes: routes) { channel in
            continuation.yield(channel.localAddress?.port ?? 0)
        }
        // As `volley serve` ends it: a server that is cancelled traps if clients are connecting.
        let group = ServiceGroup(
            configuration: .init(services: [application], gracefulShutdownSignals: [], logger: log))
        Task { try? await group.run() }
        var ready = ports.makeAsyncIterator()
        guard let port = await ready.next() else { throw Diagnostic("the server did not start") }
        let running = TestServer(port: port, connections)
        let result: Result<Void, any Error> = await withTaskExecutorPreference(BlockingExecutor()) {
            Result { try body(running) }
        }
        await group.triggerGracefulShutdown()
        try result.get()
    }

    /// Sends a request and reads the answer to its end.
    /// - Parameter session: the secret of a session's cookie.
    func request(
        _ method: String = "GET", _ path: String, session: String? = nil, headers: [(String, String)] = [],
        form: [(String, String)]? = nil
    ) throws -> Reply {
        var lines = ["\(method) \(path) HTTP/1.1"]
        if !headers.contains(where: { $0.0 == "Host" }) { lines.append("Host: 127.0.0.1:\(port)") }
        if let session { lines.append("Cookie: volley=\(session)") }
        lines += headers.map { "\($0.0): \($0.1)" } + ["Connection: close"]
        let body =
            form.map { fields in
                fields.map { "\(FormFields.encode($0.0))=\(FormFields.encode($0.1))" }.joined(separator: "&")
            } ?? ""
        if form != nil {
            lines += ["Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)"]
        }
        return try raw(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// Sends bytes and reads the answer until the server closes.
    func raw(_ text: String) throws -> Reply {
        let connection = try TestConnection(port)
        connection.send(text)
        let bytes = connection.readToEnd()
        guard let reply = Reply(bytes) else { throw Diagnostic("no answer but \(bytes.count) bytes") }
        return reply
    }

    /// Sends a form as a page of the console would.
    func form(_ path: String, session: String, _ fields: [(String, String)] = [], headers: [(String, String)]? = nil)
        throws -> Reply
    {
        try request(
            "POST", path, session: session,
            headers: headers ?? [("Origin", "http://127.0.0.1:\(port)"), ("Sec-Fetch-Site", "same-origin")],
            form: fields + [("token", CSRFProtection.token(of: session))])
    }
}

/// A connection of a client.
final class TestConnection {
    private let descriptor: Int32

    /// - Parameter receiveBytes: of the socket's buffer; nil for as many as usual.
    init(_ port: Int, receiveBytes: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var bytes = receiveBytes {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafeBytes(of: &address) { bytes in
            connect(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard code == 0 else { throw Diagnostic("cannot connect: \(String(cString: strerror(errno)))") }
        // No test hangs for ever; where many run on a busy machine an answer may take a minute.
        var timeouts = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeouts, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// - Returns: false if the server closed the connection.
    @discardableResult
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Whether the server closed the connection within a time; what it sent before is dropped.
    func isClosed(within seconds: Double) -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let left = max(0, (end - .now) / .milliseconds(1))
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&polled, 1, Int32(left.rounded(.up))) > 0 else { return false }
            if recv(descriptor, &chunk, chunk.count, 0) <= 0 { return true }
        }
    }

    /// Everything that arrives until the server closes, or for five minutes.
    func readToEnd() -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }
}

/// Runs a test's own part on a thread that may block, and not on those that the server needs. Its
/// issues still belong to the test.
private final class BlockingExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
