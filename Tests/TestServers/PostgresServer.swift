import Glibc
import Synchronization

/// A PostgreSQL server with its own cluster in a temporary folder, on a Unix socket and, with TLS,
/// on 127.0.0.1 (certificate only for `localhost`). Removed with this value. The superuser is
/// `postgres`; `volley` may connect by a socket without a password and by TLS with `correct horse`.
///
/// Unchecked: only the test that made a server starts, stops and freezes it; all tests may use the
/// address and SQL of the shared one.
public final class PostgresServer: @unchecked Sendable {
    /// Where the cluster is.
    public let folder: String
    /// On 127.0.0.1, and in the name of the socket.
    public let port: Int
    private var process: ServerProcess?
    private let programs: String

    /// A password that no output of Volley may show.
    public static let password = "correct horse"

    /// Where PostgreSQL's programs are: installed, or unpacked by `make test`; nil if they are
    /// missing.
    public static let programs: String? = {
        if let installed = programs(below: "") { return installed }
        guard programs(below: unpacked) != nil else { return nil }
        return programs(below: root)
    }()

    private static func programs(below root: String) -> String? {
        (13...30).reversed().map { "\(root)/usr/lib/postgresql/\($0)/bin" }.first { access("\($0)/initdb", X_OK) == 0 }
    }

    /// What `make test` unpacked.
    private static let unpacked =
        #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/.build/servers"

    /// The root of the unpacked programs, readable for the owner of clusters: a checkout may be in
    /// a folder that only root may enter. Then it is a copy, removed with the process.
    private static let root: String = {
        guard geteuid() == 0, let folder = try? makeFolder() else { return unpacked }
        let parts = ["usr/lib/postgresql", "usr/share/postgresql", "usr/lib/x86_64-linux-gnu"].filter {
            access("\(unpacked)/\($0)", F_OK) == 0
        }
        let copies = parts.map {
            "mkdir -p \(quoted("\(folder)/\($0)")) && cp -a \(quoted("\(unpacked)/\($0)/.")) \(quoted("\(folder)/\($0)"))"
        }
        guard let pipe = popen(copies.joined(separator: " && "), "r"), pclose(pipe) == 0 else { return unpacked }
        atexit { PostgresServer.removeTree(PostgresServer.root) }
        return folder
    }()

    /// One for all tests of a process that neither stop nor freeze it; it ends with the process.
    public static let shared: Result<PostgresServer, any Error> = Result { try PostgresServer().endingWithProcess() }

    private static let ending = Mutex<[PostgresServer]>([])
    private static let atEnd: Void = { _ = atexit { PostgresServer.ending.withLock { $0 }.forEach { $0.remove() } } }()

    /// Has it end with the process, for one in a static variable: those are never released.
    public func endingWithProcess() -> PostgresServer {
        _ = Self.atEnd
        Self.ending.withLock { $0.append(self) }
        return self
    }

    /// Makes a cluster, and starts its server.
    /// - Parameter settings: further lines of postgresql.conf.
    public init(settings: String = "") throws {
        guard let programs = Self.programs else { throw ServerUnavailable(what: "PostgreSQL is missing") }
        self.programs = programs
        folder = try Self.makeFolder()
        port = try Sockets.freePort()
        do {
            try Self.run(
                "\(programs)/initdb",
                ["-D", "\(folder)/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"])
            try Self.makeCertificates(folder)
            try configure(settings)
            try start()
            try sql("CREATE ROLE volley LOGIN PASSWORD '\(Self.password)'")
        } catch {
            remove()
            throw error
        }
    }

    /// Makes a standby of a server that runs, and waits until commits wait for it.
    private init(follows primary: PostgresServer) throws {
        programs = primary.programs
        folder = try Self.makeFolder()
        port = try Sockets.freePort()
        do {
            try Self.run(
                "\(programs)/pg_basebackup",
                [
                    "-D", "\(folder)/data", "-h", primary.folder, "-p", "\(primary.port)", "-U", "postgres", "-X",
                    "stream", "-c", "fast",
                    "-R",
                ])
            try Self.makeCertificates(folder)
            try append(place, to: "data/postgresql.conf")
            try start()
            try primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
            try primary.sql("SELECT pg_reload_conf()")
            for _ in 0..<200 {
                if try primary.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1" {
                    return
                }
                usleep(50_000)
            }
            throw ServerUnavailable(what: "the standby does not follow")
        } catch {
            remove()
            throw error
        }
    }

    deinit { remove() }

    /// A standby of this server, for which its commits wait from now on
    /// (`synchronous_standby_names`).
    public func standby() throws -> PostgresServer { try PostgresServer(follows: self) }

    /// Makes a standby a primary.
    public func promote() throws { try sql("SELECT pg_promote(true, 60)") }

    private func remove() {
        stop()
        Self.removeTree(folder)
    }

    /// Starts the server again after `stop`.
    public func start() throws {
        process = try ServerProcess(
            Self.unprivileged[0],
            Array(Self.unprivileged.dropFirst()) + ["\(programs)/postgres", "-D", "\(folder)/data"], port: port,
            log: "\(folder)/log")
        for _ in 0..<200 {
            if (try? sql("SELECT 1")) != nil { return }
            usleep(50_000)
        }
        throw ServerUnavailable(what: "PostgreSQL does not accept connections")
    }

    /// Ends the server in the middle of its work (immediate shutdown); a server that is killed
    /// would leave shared memory.
    /// - Parameter isOrderly: whether it may first write its data (fast shutdown).
    public func stop(isOrderly: Bool = false) {
        process?.end(by: isOrderly ? SIGINT : SIGQUIT, within: 10)
        process = nil
    }

    /// How a backup is made.
    public enum Backup: String, CaseIterable, Sendable {
        /// `pg_basebackup` of the server while it runs: tables that are not logged are empty in it.
        case online
        /// A copy of its folder while it is shut down, and a dump of one schema: they also have
        /// unlogged tables.
        case cold, dump
    }

    /// Makes a backup, in place of an earlier one of its kind.
    /// - Parameter schema: the schema of a dump.
    public func backUp(_ backup: Backup, schema: String) throws {
        let place = "\(folder)/\(backup.rawValue)", socket = ["-h", folder, "-p", "\(port)", "-U", "postgres"]
        switch backup {
        case .online: try Self.run("\(programs)/pg_basebackup", ["-D", place, "-X", "stream", "-c", "fast"] + socket)
        case .cold:
            stop(isOrderly: true)
            try Self.run("cp", ["-a", "\(folder)/data", place])
            try start()
        case .dump: try Self.run("\(programs)/pg_dump", ["-n", schema, "-f", place] + socket + ["postgres"])
        }
    }

    /// Restores a backup in place of the present data.
    public func bringBack(_ backup: Backup, schema: String) throws {
        let place = "\(folder)/\(backup.rawValue)"
        if backup == .dump {
            try sql("DROP SCHEMA \(schema) CASCADE")
            try Self.run(
                "\(programs)/psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", place, address(user: "postgres")])
            return
        }
        stop()
        try Self.run("rm", ["-r", "\(folder)/data"])
        try Self.run("cp", ["-a", place, "\(folder)/data"])
        try start()
    }

    /// Stops all processes of the server, so that it exists and does not answer; or lets them
    /// continue.
    public func freeze(_ isFrozen: Bool) { process?.signalAll(isFrozen ? SIGSTOP : SIGCONT) }

    /// The address by the socket, without a password.
    /// - Parameter standby: another server, which is used if it is the primary of the two.
    public func address(user: String = "volley", database: String = "postgres", or standby: PostgresServer? = nil)
        -> String
    {
        guard let standby else { return "host=\(folder) port=\(port) dbname=\(database) user=\(user)" }
        return "host=\(folder),\(standby.folder) port=\(port),\(standby.port) dbname=\(database) user=\(user) "
            + "target_session_attrs=read-write"
    }

    /// The address by TLS.
    /// - Parameters:
    ///   - host: the certificate is for `localhost` alone.
    ///   - authority: the file of an authority; nil for the server's.
    ///   - port: of a relay; nil for the server's.
    public func tlsAddress(
        host: String = "localhost", authority: String? = nil, port: Int? = nil, database: String = "postgres"
    ) -> String {
        let escaped = Self.password.split(separator: " ").joined(separator: "%20")
        return
            "postgresql://volley:\(escaped)@\(host):\(port ?? self.port)/\(database)?hostaddr=127.0.0.1&sslmode=verify-full"
            + "&sslrootcert=\(authority ?? folder + "/authority.pem")"
    }

    /// An authority that issued nothing.
    public var otherAuthority: String { "\(folder)/other.pem" }

    /// Runs SQL as the superuser.
    /// - Returns: what psql prints: rows with | between cells.
    @discardableResult
    public func sql(_ text: String, database: String = "postgres") throws -> String {
        try Self.run(
            "\(programs)/psql",
            [
                "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text,
                address(user: "postgres", database: database),
            ])
    }

    // MARK: - Making a cluster

    /// PostgreSQL refuses to run as root.
    private static let unprivileged =
        (geteuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [])
        + ["/usr/bin/env"] + (programs(below: "") == nil ? ["LD_LIBRARY_PATH=\(root)/usr/lib/x86_64-linux-gnu"] : [])

    private static func makeFolder() throws -> String {
        // The path of a socket may have a hundred characters.
        let place = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(place)/volley-pg-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ServerUnavailable(what: "no temporary folder can be made") }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if geteuid() == 0 { chown(folder, 65534, 65534) }
        chmod(folder, 0o755)
        return folder
    }

    /// Where a server listens; a standby gets the lines of its primary, and then these.
    private var place: String {
        """
        listen_addresses = '127.0.0.1'
        port = \(port)
        unix_socket_directories = '\(folder)'
        ssl = on
        ssl_cert_file = '\(folder)/server.pem'
        ssl_key_file = '\(folder)/server.key'

        """
    }

    private func configure(_ settings: String) throws {
        try append(
            place + """
                fsync = off
                logging_collector = off
                max_connections = 40
                shared_buffers = 32MB
                \(settings)

                """, to: "data/postgresql.conf")
        let rules = "local all all trust\nlocal replication all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n"
        guard let file = fopen("\(folder)/data/pg_hba.conf", "w") else {
            throw ServerUnavailable(what: "pg_hba.conf cannot be written")
        }
        fputs(rules, file)
        fclose(file)
    }

    private func append(_ text: String, to name: String) throws {
        guard let file = fopen("\(folder)/\(name)", "a") else {
            throw ServerUnavailable(what: "\(name) cannot be written")
        }
        fputs(text, file)
        fclose(file)
    }

    private static func makeCertificates(_ folder: String) throws {
        for name in ["authority", "other"] {
            try run(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj",
                    "/CN=Test \(name)", "-keyout", "\(folder)/\(name).key", "-out", "\(folder)/\(name).pem",
                ])
        }
        try run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=localhost",
                "-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE", "-CA",
                "\(folder)/authority.pem", "-CAkey", "\(folder)/authority.key", "-keyout", "\(folder)/server.key",
                "-out",
                "\(folder)/server.pem",
            ])
        chmod("\(folder)/server.key", 0o600)
        chmod("\(folder)/authority.pem", 0o644)
    }

    /// Runs a program to its end as the owner of the cluster.
    @discardableResult
    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        let words = (unprivileged + [program] + arguments).map(quoted).joined(separator: " ")
        // Its folder may be one that the cluster's owner may not enter.
        guard let pipe = popen("cd / && exec \(words) 2>&1", "r") else {
            throw ServerUnavailable(what: "\(program) cannot be started")
        }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = fread(&buffer, 1, buffer.count, pipe)
            if count == 0 { break }
            output += buffer[..<count]
        }
        let text = String(decoding: output, as: UTF8.self)
        guard pclose(pipe) == 0 else { throw ServerUnavailable(what: "\(program): \(text)") }
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().joined(separator: "\n")
    }

    private static func quoted(_ word: String) -> String {
        "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private static func removeTree(_ folder: String) {
        guard folder.hasPrefix("/tmp/volley-pg-"), let pipe = popen("rm -rf \(quoted(folder))", "r") else { return }
        pclose(pipe)
    }
}
