import Base
import CPostgreSQL
import Glibc

/// Where a database is, and how it is reached: everything that libpq supports (connection strings,
/// service files, `PG…` variables, .pgpass), with limits, and never without a verified certificate
/// over a network.
public struct PostgresAddress: Sendable {
    /// Keywords of libpq with their values.
    let parameters: [String: String]
    /// How long connecting may take altogether.
    let connectSeconds: Double

    /// Debian's authorities, for addresses that name none.
    static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"
    /// How long connecting may take where the address has no `connect_timeout`.
    public static let usualConnectSeconds = 15.0

    /// Keywords for all addresses that do not say otherwise. A peer that is gone without a word is
    /// noticed within a minute.
    private static let usual = [
        "fallback_application_name": "volley", "keepalives_idle": "30", "keepalives_interval": "10",
        "keepalives_count": "3",
        "tcp_user_timeout": "30000",
    ]

    /// Reads a URL (`postgresql://…`) or `host=… dbname=…`.
    /// - Parameters:
    ///   - variable: the environment variable that holds it, for messages: none shows the text,
    ///     which may hold a password.
    ///   - seconds: how long connecting may take where the address does not say.
    /// - Throws: `PostgresError` when it cannot be read, or would allow a connection to a server
    ///   that is not verified.
    public init(_ text: String, of variable: String, connectingWithin seconds: Double = usualConnectSeconds)
        throws(PostgresError)
    {
        try self.init(text, of: variable, connectingWithin: seconds) { EnvironmentVariables[$0] }
    }

    /// - Parameter environment: the value of a variable that libpq reads; nil where it is not set.
    init(
        _ text: String, of variable: String, connectingWithin seconds: Double = usualConnectSeconds,
        _ environment: (String) -> String?
    ) throws(PostgresError) {
        guard var given = Self.parsed(text) else { throw Self.flaw(of: text, variable) ?? Self.unreadable(variable) }
        if let home = environment("HOME"), !home.isEmpty, !home.hasPrefix("/") {
            throw PostgresError(
                .address,
                "HOME is \(TextFormat.inLine(home)), which does not begin with /, so PostgreSQL's client would look for passwords and authorities in whatever folder volley is started in",
                remedy: "Set HOME to the home folder where you start volley, or leave it unset.")
        }
        try Self.checkParts(given, of: variable, isURL: text.contains("://"))
        try Self.checkValues(given, of: variable)
        if !Self.isLocal(given, environment) {
            if let mode = given["sslmode"], mode != "verify-full" { throw Self.unverified(variable, mode: mode) }
            given["sslmode"] = "verify-full"
            // GSSAPI's encryption would be tried first, and leave the certificate aside.
            given["gssencmode"] = "disable"
            if let file = given["sslrootcert"] { try Self.checkAuthorities(file, of: variable) }
            if Self.lacksAuthorities(given, environment) { given["sslrootcert"] = Self.systemAuthorities }
        }
        connectSeconds = given["connect_timeout"].flatMap(Double.init).map { max(2, $0) } ?? seconds
        parameters = Self.usual.merging(given) { $1 }.merging(["client_encoding": "UTF8"]) { $1 }
    }

    /// nil when libpq cannot read it; its own words would quote parts of it.
    private static func parsed(_ text: String) -> [String: String]? {
        var complaint: UnsafeMutablePointer<CChar>?
        let options = PQconninfoParse(text, &complaint)
        PQfreemem(complaint)
        guard let options else { return nil }
        defer { PQconninfoFree(options) }
        var given: [String: String] = [:]
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val { given[String(cString: keyword)] = String(cString: value) }
            next += 1
        }
        return given
    }

    /// A password with `@` or `/` that was not encoded ends up in other parts of a URL, and
    /// messages of libpq would quote those.
    private static func checkParts(_ given: [String: String], of variable: String, isURL: Bool) throws(PostgresError) {
        let isAbstract = given["host"]?.hasPrefix("@") ?? false
        let parts = [isAbstract ? nil : given["host"], given["hostaddr"], given["dbname"]].compactMap { $0 }
        let isPort =
            !isURL || (given["port"] ?? "").utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ",") }
        guard isPort, !parts.contains(where: { $0.contains("@") }) else { throw unreadable(variable) }
    }

    /// Whether every server that libpq may connect to is on this machine. Without a host it is not
    /// known: a service file may name one; on a Unix socket libpq ignores what is said about
    /// certificates.
    ///
    /// An address (`hostaddr`) counts before a host's name, wherever it comes from: what is given,
    /// otherwise the service file, otherwise PGHOSTADDR. libpq ignores a blank one. What the
    /// service file says is not known here, and only what is given keeps it out.
    private static func isLocal(_ given: [String: String], _ environment: (String) -> String?) -> Bool {
        func list(_ text: String?) -> [String] {
            (text ?? "").isEmpty
                ? [] : (text ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let hosts = list(given["host"]), own = list(given["hostaddr"])
        if own.isEmpty, !(given["service"] ?? "").isEmpty || environment("PGSERVICE") != nil { return false }
        let addresses = own.isEmpty ? list(environment("PGHOSTADDR")) : own
        let count = max(hosts.count, addresses.count)
        return count > 0
            && (0..<count).allSatisfy { number in
                if addresses.indices.contains(number), !addresses[number].isEmpty {
                    return IPAddress(addresses[number])?.isLoopback ?? false
                }
                let host = hosts.indices.contains(number) ? hosts[number] : ""
                return host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost"
                    || IPAddress(host)?.isLoopback ?? false
            }
    }

    /// Whether libpq would find no authorities: verifying is then refused.
    private static func lacksAuthorities(_ given: [String: String], _ environment: (String) -> String?) -> Bool {
        guard given["sslrootcert"] == nil, given["service"] == nil else { return false }
        let named = ["PGSSLROOTCERT", "PGSERVICE"].contains { environment($0) != nil }
        let home = environment("HOME").flatMap { $0.isEmpty ? nil : $0 } ?? FilePaths.accountHome
        return !named && home.map { access("\($0)/.postgresql/root.crt", R_OK) != 0 } ?? true
    }

    private static func unreadable(_ variable: String) -> PostgresError {
        PostgresError(
            .address, "\(variable) does not hold the address of a database",
            remedy:
                "Write postgresql://USER@HOST:5432/DATABASE, or host=HOST dbname=DATABASE user=USER. In a URL, percent-encode "
                + "characters such as @ and / of a password (%40, %2F), or keep the password in ~/.pgpass.")
    }

    private static func unverified(_ variable: String, mode: String) -> PostgresError {
        let known = ["disable", "allow", "prefer", "require", "verify-ca"].contains(mode)
        return PostgresError(
            .address,
            known
                ? "\(variable) has sslmode=\(mode), which does not verify the server"
                : "\(variable) has an unknown sslmode",
            remedy:
                "Write sslmode=verify-full, or leave sslmode out; sslrootcert=FILE names the authority that issued the server's "
                + "certificate. Only servers on this machine may do without.")
    }
}

/// What is wrong with an address that libpq cannot read, or that could never lead to a server.
/// libpq's own words would quote parts of it, which may be a password that was not percent-encoded:
/// a part is shown only where no password can be.
extension PostgresAddress {
    /// What libpq could not read, as far as it can be said without showing a secret; nil if it
    /// cannot.
    static func flaw(of text: String, _ variable: String) -> PostgresError? {
        // The quotes of a shell or of a file of settings that were taken along.
        if let first = text.unicodeScalars.first, let last = text.unicodeScalars.last, text.unicodeScalars.count > 1,
            ["\"\"", "''", "``", "“”", "‘’"].contains(String(String.UnicodeScalarView([first, last])))
        {
            return PostgresError(
                .address, "\(variable) has quotes around the address",
                remedy: "Set it to the address alone, without the quotes.")
        }
        guard let colon = text.firstRange(of: "://") else { return keywordFlaw(of: text, variable) }
        let scheme = text[..<colon.lowerBound]
        guard scheme == "postgresql" || scheme == "postgres" else {
            guard scheme.utf8.count <= 30, scheme.utf8.allSatisfy({ isWordByte($0) || ":+-.".utf8.contains($0) }) else {
                return nil
            }
            return PostgresError(
                .address, "\(variable) begins with \(scheme)://, and Volley reads PostgreSQL",
                remedy: "Write postgresql://USER@HOST:5432/DATABASE.")
        }
        let rest = text[colon.upperBound...]
        if let flaw = percentFlaw(of: rest, variable) { return flaw }
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        // A question mark of a password that was not encoded begins no options.
        guard parts.count > 1, !parts[1].contains("@") else { return nil }
        for option in parts[1].split(separator: "&", omittingEmptySubsequences: false) {
            let sides = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if isSecret(sides[0]) { return nil }
            if let flaw = unknown(option: String(sides[0]), variable) { return flaw }
            guard sides.count == 2 else {
                return PostgresError(
                    .address, "\(variable) has the option \(sides[0]) without a value",
                    remedy: "Write \(sides[0])=VALUE, or leave it out.")
            }
        }
        return nil
    }

    private static func percentFlaw(of text: Substring, _ variable: String) -> PostgresError? {
        let bytes = Array(text.utf8)
        let isWhole = bytes.indices.allSatisfy { at in
            bytes[at] != UInt8(ascii: "%")
                || at + 2 < bytes.count
                    && bytes[at + 1...at + 2].allSatisfy { Unicode.Scalar($0).properties.isASCIIHexDigit }
        }
        guard !isWhole else { return nil }
        return PostgresError(
            .address, "\(variable) has a % that two hexadecimal digits do not follow",
            remedy: "Write a percent sign of a name or password as %25.")
    }

    /// `host=HOST dbname=DATABASE`: each word before an equals sign must be one of libpq's.
    private static func keywordFlaw(of text: String, _ variable: String) -> PostgresError? {
        var isQuoted = false
        for part in text.split(whereSeparator: \.isWhitespace) {
            if !isQuoted, let sign = part.firstIndex(of: "=") {
                if isSecret(part[..<sign]) { return nil }
                if let flaw = unknown(option: String(part[..<sign]), variable) { return flaw }
            }
            if part.count(where: { $0 == "'" }) % 2 == 1 { isQuoted.toggle() }
        }
        return nil
    }

    /// Whether what follows may be a part of a password that was not quoted or encoded.
    private static func isSecret(_ option: Substring) -> Bool { option == "password" || option == "sslpassword" }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "_")
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func unknown(option: String, _ variable: String) -> PostgresError? {
        let known = options
        guard !known.contains(option), (1...40).contains(option.utf8.count),
            option.lowercased().utf8.allSatisfy(isWordByte)
        else {
            return nil
        }
        let nearest = nearestName(to: option, among: known).map { "Did you mean \($0)?" }
        return PostgresError(
            .address, "\(variable) has the option \(option), which PostgreSQL's client does not know",
            remedy: nearest ?? "Remove it. Section \"Parameter Key Words\" of PostgreSQL's manual lists the options.")
    }

    /// The options that this libpq supports.
    private static var options: [String] {
        guard let options = PQconndefaults() else { return [] }
        defer { PQconninfoFree(options) }
        var names: [String] = []
        var next = options
        while let keyword = next.pointee.keyword {
            names.append(String(cString: keyword))
            next += 1
        }
        return names
    }

    // MARK: - Values

    /// Checks what libpq would find out only when it connects.
    static func checkValues(_ given: [String: String], of variable: String) throws(PostgresError) {
        let ports = (given["port"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        for port in ports where !port.isEmpty && !(Int(port).map { (1...65_535).contains($0) } ?? false) {
            throw PostgresError(
                .address, "\(variable) has the port \(port.prefix(20)), which is not a number from 1 to 65535",
                remedy: "PostgreSQL's usual port is 5432.")
        }
        let hosts = (given["host"] ?? given["hostaddr"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        guard ports.count <= 1 || ports.count == hosts.count else {
            throw PostgresError(
                .address,
                "\(variable) has \(hosts.count) \(TextFormat.plural(hosts.count, one: "host")) and \(ports.count) ports",
                remedy: "Give each host its port, or all of them one.")
        }
        let numbers = [
            "connect_timeout", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count",
            "tcp_user_timeout",
        ]
        for name in numbers {
            guard let value = given[name], !value.isEmpty, Int32(value) == nil else { continue }
            throw PostgresError(
                .address,
                "\(variable) has \(name)=\(TextFormat.foreign(value, maximumBytes: 20)), which is not a whole number",
                remedy: "Write a number, or leave \(name) out.")
        }
    }

    /// Checks the file with the authorities that the server is verified by.
    static func checkAuthorities(_ file: String, of variable: String) throws(PostgresError) {
        // `system` of libpq 16: what OpenSSL trusts.
        guard file != "system" else { return }
        let remedy =
            "Write sslrootcert=FILE with the certificate of the authority that issued the server's, in PEM form."
        let bytes: [UInt8]
        do throws(FileError) { bytes = try RegularFile.bytes(of: file, atMost: 1 << 20) } catch {
            throw PostgresError(
                .address, "\(variable) has sslrootcert=\(TextFormat.foreign(file)), which cannot be read: \(error)",
                remedy: remedy)
        }
        guard String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
            throw PostgresError(
                .address,
                "\(variable) has sslrootcert=\(TextFormat.foreign(file)), which holds no certificate in PEM form",
                remedy: remedy)
        }
    }
}
