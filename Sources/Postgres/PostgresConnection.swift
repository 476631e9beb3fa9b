public import Base
import CPostgreSQL
import Glibc
import Synchronization

/// A connection to a PostgreSQL server, for one thread at a time. Its calls block, but never longer
/// than they were allowed to, and they end when a cancellation is requested: libpq only ever sends
/// and reads what fits, and waiting is done here.
public final class PostgresConnection {
    let handle: OpaquePointer
    private let cancellation: Cancellation
    /// The file with the authorities that the server must be verified by; nil if it need not be, or
    /// libpq finds them itself.
    private let authorities: String?
    /// Becomes readable when the socket is ready for what it is waited for: a cancellation can wait
    /// for reading only.
    private let readiness: Int32
    /// Called about once a second while the server is waited for, with the seconds for which it has
    /// been silent. What it throws ends the wait.
    public var whileWaiting: ((_ silentSeconds: Double) throws -> Void)?
    /// The names of statements that the server keeps.
    var kept: [String: String] = [:]
    /// Set by libpq while it reads: a commit was acknowledged that no standby has confirmed.
    private let isUnconfirmed = UnsafeMutablePointer<Bool>.allocate(capacity: 1)

    private init(handle: OpaquePointer, readiness: Int32, authorities: String?, _ cancellation: Cancellation) {
        (self.handle, self.readiness, self.authorities, self.cancellation) = (
            handle, readiness, authorities, cancellation
        )
        isUnconfirmed.initialize(to: false)
    }

    deinit {
        PQfinish(handle)
        close(readiness)
        isUnconfirmed.deallocate()
    }

    /// Connects.
    ///
    /// A thread of its own connects: libpq looks up names with the system's resolver, which nothing
    /// can end. A thread that hangs there is left behind, and closes what it opened.
    /// - Parameters:
    ///   - cancellation: ends every call of this connection.
    ///   - whileWaiting: see the property.
    /// - Throws: `PostgresError`; `CancellationError`; a `Diagnostic` if no more files can be
    ///   opened, or no thread started; what `whileWaiting` throws.
    public static func open(
        _ address: PostgresAddress, _ cancellation: Cancellation,
        whileWaiting: ((_ silentSeconds: Double) throws -> Void)? = nil
    ) throws -> PostgresConnection {
        let attempt = Attempt(ended: try Wakeup())
        try detachThread {
            attempt.outcome.withLock { $0 = Result { try connected(address, cancellation) } }
            attempt.ended.wake()
        }
        let start = ContinuousClock.now
        while !cancellation.wait(milliseconds: 1000, orUntil: attempt.ended) {
            if cancellation.isRequested { throw CancellationError() }
            let seconds = (.now - start) / .seconds(1)
            try whileWaiting?(seconds)
            // The thread ends every other wait by itself.
            guard seconds < address.connectSeconds + 1 else {
                throw PostgresError(
                    .unreachable, "the name of the server was not found in time",
                    remedy: "Check its name, and this machine's name servers."
                )
            }
        }
        guard let connection = try attempt.outcome.withLock({ $0.take() })?.get() else {
            preconditionFailure("an attempt ended without an outcome")
        }
        connection.whileWaiting = whileWaiting
        return connection
    }

    /// What becomes of connecting. The lock is held by the thread that connects, until it has
    /// ended.
    private final class Attempt: Sendable {
        let ended: Wakeup
        let outcome = Mutex<Result<PostgresConnection, any Error>?>(nil)

        init(ended: Wakeup) { self.ended = ended }
    }

    private static func connected(_ address: PostgresAddress, _ cancellation: Cancellation) throws -> PostgresConnection
    {
        let readiness = volley_open_readiness()
        guard readiness >= 0 else { throw Diagnostic.noMoreFiles(errno) }
        guard let handle = start(address) else {
            close(readiness)
            throw PostgresError(.unreachable, "there is no memory for a connection")
        }
        let connection = PostgresConnection(
            handle: handle, readiness: readiness,
            authorities: address.parameters["sslmode"] == "verify-full" ? address.parameters["sslrootcert"] : nil,
            cancellation)
        try connection.connect(Deadline(seconds: address.connectSeconds))
        return connection
    }

    private static func start(_ address: PostgresAddress) -> OpaquePointer? {
        var keywords = address.parameters.keys.map { UnsafePointer(strdup($0)) } + [nil]
        var values = address.parameters.values.map { UnsafePointer(strdup($0)) } + [nil]
        defer { for text in keywords + values { free(UnsafeMutablePointer(mutating: text)) } }
        return PQconnectStartParams(&keywords, &values, 0)
    }

    private func connect(_ deadline: Deadline) throws {
        // Notices of the server would be printed.
        PQsetNoticeReceiver(
            handle,
            { isUnconfirmed, notice in
                if volley_pg_is_unconfirmed_commit(notice) != 0 {
                    isUnconfirmed?.assumingMemoryBound(to: Bool.self).pointee = true
                }
            }, isUnconfirmed)
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            guard state != PGRES_POLLING_FAILED, PQstatus(handle) != CONNECTION_BAD else { throw connectFailure }
            do {
                try wait(
                    forWriting: state == PGRES_POLLING_WRITING, forReading: state == PGRES_POLLING_READING, deadline)
            } catch let error as PostgresError where error.cause == .late {
                throw PostgresError(
                    .unreachable, "the server does not answer",
                    remedy: "Check host and port, and firewalls between here and there.")
            }
            state = PQconnectPoll(handle)
        }
        guard PQsetnonblocking(handle, 1) == 0 else { throw failure }
    }

    /// The server's version: 150018 for 15.18.
    public var serverVersion: Int { Int(PQserverVersion(handle)) }

    /// Whether the connection is encrypted.
    public var isEncrypted: Bool { PQsslInUse(handle) != 0 }

    /// The role of this connection on the server.
    public var role: String { PQuser(handle).map { String(cString: $0) } ?? "" }

    // MARK: - Waiting

    /// A moment by which an answer must be there.
    struct Deadline {
        private let end: ContinuousClock.Instant

        init(seconds: Double) { end = .now + .seconds(min(seconds, 1e9)) }

        var secondsLeft: Double { (end - .now) / .seconds(1) }
    }

    /// Waits until the socket is ready.
    /// - Parameter idle: called about once a second, so that the caller can tell that the wait is
    ///   intended.
    /// - Throws: `PostgresError` (`late`) when the time is over; `CancellationError`.
    func wait(forWriting: Bool = false, forReading: Bool = true, _ deadline: Deadline, idle: () -> Void = {}) throws {
        let socket = PQsocket(handle)
        guard socket >= 0 else { throw failure }
        // libpq may have opened another socket, for another address; one that was closed is no
        // longer watched.
        guard volley_watch(readiness, socket, forReading ? 1 : 0, forWriting ? 1 : 0) == 0 else {
            throw PostgresError(.lost, "the connection cannot be watched: \(SystemError.words(errno))")
        }
        if cancellation.isRequested { throw CancellationError() }
        var silentSeconds = 0.0
        repeat {
            let start = ContinuousClock.now
            if cancellation.waitForRequest(atMost: max(0, min(1, deadline.secondsLeft)), orReadable: readiness) {
                return
            }
            if cancellation.isRequested { throw CancellationError() }
            // What is longer was a sleep of this process, or of its machine.
            silentSeconds += min(2, (.now - start) / .seconds(1))
            try whileWaiting?(silentSeconds)
            idle()
        } while deadline.secondsLeft > 0
        throw PostgresError(.late, "the server did not answer in time")
    }

    // MARK: - Errors

    /// - Throws: `PostgresError` if the server acknowledged a commit that no standby confirmed,
    ///   because the wait was cancelled: whether the commit lasts is then as unknown as after a
    ///   lost answer.
    func checkConfirmed() throws {
        guard isUnconfirmed.pointee else { return }
        isUnconfirmed.pointee = false
        throw PostgresError(
            .lost, "a commit was not confirmed by a standby, as the wait for it was cancelled on the server",
            remedy: "Try again once a standby follows the server, and cancel no waits for standbys.")
    }

    private var connectFailure: PostgresError {
        if PQconnectionNeedsPassword(handle) != 0 {
            return PostgresError(
                .unreachable, "the server wants a password, and there is none (libpq: \(complaint))",
                remedy: "Put it into the address, or into ~/.pgpass (mode 0600).")
        }
        if PQconnectionUsedPassword(handle) != 0 {
            return PostgresError(
                .unreachable, "the server did not accept the connection (libpq: \(complaint))",
                remedy: "Check user, password and database.")
        }
        let trusted =
            authorities.map {
                " Its certificate must be issued by an authority in \($0) (sslrootcert) for this host name."
            } ?? ""
        return PostgresError(
            .unreachable, "no connection could be made (libpq: \(complaint))",
            remedy: "Check host, port, user and database, and that the server accepts connections.\(trusted)")
    }

    /// What is wrong with the connection itself.
    var failure: PostgresError {
        PostgresError(
            .lost, "the connection to the server broke (libpq: \(complaint))",
            remedy: "Try again once the server is well.")
    }

    /// libpq's words on one line, without the password, and without what may be one that was pasted
    /// in another place.
    private var complaint: String {
        let words = String(cString: PQerrorMessage(handle)).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        var text = words.hasSuffix(".") ? String(words.dropLast()) : words
        if let password = PQpass(handle).map({ String(cString: $0) }), password.utf8.count >= 4 {
            text = text.replacing(password, with: "…")
        }
        for part in [PQhost(handle), PQuser(handle), PQdb(handle)].compactMap({ $0.map { String(cString: $0) } })
        where !part.isEmpty {
            text = text.replacing(part, with: Self.shown(part))
        }
        return text.isEmpty ? "no reason is given" : text
    }

    /// A host, a user or a database as it may be shown: a long word that no dot or hyphen divides
    /// is rather a secret than a name.
    static func shown(_ part: String) -> String {
        // The folder of a socket.
        if part.hasPrefix("/") { return part }
        let isWord = part.utf8.count >= 16 && part.utf8.allSatisfy { $0 &- 0x30 <= 9 || ($0 | 0x20) &- 0x61 < 26 }
        return isWord ? SecretText.short(part) : SecretText.hidden(in: part)
    }
}

/// The library that talks to PostgreSQL.
public enum PostgresLibrary {
    /// The version that this process runs with: `15.14`.
    public static var version: String {
        let number = PQlibVersion()
        return "\(number / 10_000).\(number % 10_000)"
    }
}
