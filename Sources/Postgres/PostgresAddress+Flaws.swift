import Base
import CPostgreSQL
import Glibc

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
