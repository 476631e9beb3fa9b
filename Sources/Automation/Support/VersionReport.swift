import Accounts
public import Base
import Campaigns
import Cryptography
import Delivery
import Glibc
import Cluster
import Runs

/// What a process runs with and may use, for support: versions, formats of files, limits. It holds
/// no secret and no name.
///
/// ```swift
/// print(VersionReport().json.indentedText)
/// ```
public struct VersionReport: Hashable, Sendable {
    /// One fact.
    public struct Fact: Hashable, Sendable {
        /// Its name in the document: `open_files`.
        public var name: String
        /// Its value: a text or a number.
        public var value: JSONValue
    }

    /// A group of facts.
    public struct Part: Hashable, Sendable {
        /// Its name in the document: `libraries`.
        public var name: String
        /// What it is in words.
        public var title: String
        /// Its facts.
        public var facts: [Fact]
    }

    /// The parts, in the order in which they are shown.
    public let parts: [Part]

    /// The facts of this process.
    public init() {
        parts = [
            Part(name: "libraries", title: "Libraries", facts: Self.libraries),
            Part(name: "system", title: "System", facts: Self.system),
            Part(name: "formats", title: "Formats of files, the newest that are read", facts: Self.formats),
            Part(name: "limits", title: "Limits of this process", facts: Self.limits),
        ]
    }

    /// `{"version": "1.0.0", "libraries": {"swift": "6.3", …}, …}`
    public var json: JSONValue {
        .object(
            pairs: [("version", .string(volleyVersion))]
                + parts.map { part in (part.name, .object(pairs: part.facts.map { ($0.name, $0.value) })) })
    }

    private static var libraries: [Fact] {
        [
            ("swift", swift), ("libcurl", DeliveryLibraries.curl), ("openssl", CryptographyLibrary.version),
            ("nghttp2", DeliveryLibraries.nghttp2), ("libyaml", YAMLLibrary.version), ("libpq", StoreLibrary.version),
            ("sqlite", RunFormats.sqlite),
        ].map { Fact(name: $0.0, value: .string($0.1)) }
    }

    /// The version of the compiler, which is also that of the language's library.
    private static var swift: String {
        #if compiler(>=6.4)
            "6.4 or newer"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "older than 6.3"
        #endif
    }

    private static var system: [Fact] {
        var system = utsname()
        guard uname(&system) == 0 else { return [] }
        func text<Field>(_ field: Field) -> JSONValue {
            withUnsafeBytes(of: field) { .string(String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)) }
        }
        return [
            Fact(name: "kernel", value: text(system.release)), Fact(name: "machine", value: text(system.machine)),
            Fact(name: "distribution", value: .string(distribution)), Fact(name: "time_zone", value: .string(timeZone)),
        ]
    }

    /// The name in /etc/os-release: `Debian GNU/Linux 12 (bookworm)`.
    private static var distribution: String {
        let text = (try? FilePaths.read("/etc/os-release")).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }?.dropFirst(12) ?? ""
        return String(line).replacing("\"", with: "")
    }

    private static var timeZone: String {
        let variable = EnvironmentVariables["TZ"].map { "TZ=\(TextFormat.foreign($0))" }
        guard let zone = try? ZoneDatabase.system.machineZone else {
            return "\(variable ?? "/etc/localtime"), which cannot be read"
        }
        return variable ?? zone.name
    }

    private static var formats: [Fact] {
        let others = [
            ("accounts.sqlite", AccountFormat.newest), ("store", StoreSchema.version),
            ("backup", Int(BackupManifest.format)),
        ]
        return (RunFormats.newest.map { ($0.file, $0.format) } + others).map {
            Fact(name: $0.0, value: .integer(Int64($0.1)))
        }
    }

    private static var limits: [Fact] {
        let limits = [
            ("open_files", RLIMIT_NOFILE), ("threads", __RLIMIT_NPROC), ("memory_bytes", RLIMIT_AS),
            ("file_bytes", RLIMIT_FSIZE),
            ("processor_seconds", RLIMIT_CPU),
        ]
        let cores = Fact(name: "cores", value: .integer(Int64(availableCores())))
        return [cores]
            + limits.map { name, resource in
                var limit = rlimit()
                // The constants of sys/resource.h are an enumeration that Swift imports as a
                // separate type.
                let isKnown = getrlimit(__rlimit_resource_t(UInt32(resource.rawValue)), &limit) == 0
                return Fact(
                    name: name,
                    value: isKnown && limit.rlim_cur < rlim_t(Int64.max) ? .integer(Int64(limit.rlim_cur)) : .null)
            }
    }
}
