import Foundation

/// Something that code may contain only in some modules. Exceptions are counted in
/// `Exceptions.txt`, module by module, and should become fewer.
struct Boundary {
    let name: String
    /// The pattern to look for in code: comments and the contents of literals do not count.
    let pattern: String
    /// Modules, and folders and files in them, in which it is allowed.
    let modules: [String]
    /// The parts of a file that count in addition to its code.
    enum Reading {
        case codeAlone, literals, literalsAndComments
    }
    var reads = Reading.codeAlone

    /// All boundaries.
    static var all: [Boundary] {
        [
            // A child process begins with the standard streams that it was given.
            Boundary(
                name: "asks-and-prints",
                pattern: #"\b(?:print|readLine|isatty|confirms)\(|\bSTD(?:IN|OUT|ERR)_FILENO\b|\bconsole\."#,
                modules: [
                    "volley", "Benchmarks", "Logs", "Automation/ChildProgram.swift",
                    "volley-console/PlanningJobs/PlanningChild.swift",
                ]),
            // A thread that writes to a closed connection blocks a signal for itself; a child
            // process begins with those that it was given.
            Boundary(
                name: "exits-and-signals", pattern: #"(?<![.\w])(?:exit|_exit|abort|signal|sigaction)\("#,
                modules: ["volley", "Benchmarks", "Base/PipeSignalBlock.swift"]),
            // Locks on files belong to the process, and so does the list of files that must not be
            // closed because of them.
            Boundary(
                name: "shared-state",
                pattern:
                    #"\bstatic var [^{=]*=|\bstatic let \w+(?:: [^=]*)? = (?:Atomic|Mutex)\b|\bnonisolated\(unsafe\)|\.ofThisProcess\b"#,
                modules: [
                    "volley", "Benchmarks", "Base/ProtectedFiles.swift", "Base/EnvironmentVariables.swift",
                    "Runs/SQLite/DatabaseWait.swift",
                ]),
            // A thread that reads the environment while another changes it reads freed memory.
            Boundary(
                name: "reads-the-environment", pattern: #"\b(?:getenv|setenv|putenv|unsetenv)\("#,
                modules: ["Base/EnvironmentVariables.swift", "Benchmarks"]),
            Boundary(
                name: "knows-apns", pattern: #"(?i)apns|\baps\b|/3/device|BadDeviceToken|AuthKey"#,
                // Other services pass pushes to iPhones on to APNs, so their payloads have a part
                // for it.
                modules: services.map { "PushServices/\($0)" } + [
                    "PushServices/PushServices.swift", "Simulators", "Benchmarks",
                ],
                reads: .literalsAndComments),
            // Exports for one service may have targets of another, which are then named.
            Boundary(
                name: "knows-fcm", pattern: #"(?i)fcm|firebase|googleapis"#,
                modules: services.map { "PushServices/\($0)/\($0)+Targets.swift" } + [
                    "PushServices/FCM", "PushServices/Targets", "PushServices/PushServices.swift", "Simulators",
                    "Benchmarks",
                ], reads: .literalsAndComments),
            Boundary(
                name: "knows-sqlite", pattern: #"\bimport (?:GRDB|GRDBSQLite|SQLite3)\b"#,
                modules: ["Accounts/SQLite", "Runs/SQLite", "Benchmarks"]),
            // GRDB's reads end the process, or repeat the row, where a value is not of the expected
            // type; so does a range of two cells of the store. The copy of a plan takes rows as
            // they are, without reading a value.
            Boundary(
                name: "trusts-stored-values",
                pattern:
                    #"\.fetch(?:One|All|Set|Cursor)\(|\bsqliteStatement:|\bDatabaseCursor\b|\bFetchableRecord\b|\.int\(\d+\)\s*\.\.[.<]"#,
                modules: ["Accounts/SQLite/AccountRow.swift", "Runs/SQLite/Sharing/RunFile+Bare.swift", "Benchmarks"]),
            // A query of devices, and the store that several machines share: nothing else has SQL
            // for a server.
            Boundary(
                name: "asks-databases", pattern: #"\bimport (?:CPostgreSQL|Postgres)\b"#,
                modules: ["Postgres", "Audience/Database", "Cluster"]),
            Boundary(
                name: "decides-by-text",
                pattern:
                    #"\breason [!=]= (?!\.|nil\b|\d)|\b(?:message|sentence|remedy) [!=]= "|\b(?:reason|message|sentence|remedy)\??\.(?:hasPrefix|hasSuffix|contains|range)\b|\bsettings\["#,
                // The meaning of a service's reasons is decided in its folder, and its simulator
                // uses them as the service does. libyaml distinguishes its errors only by their
                // texts.
                modules: [
                    "PushServices", "Simulators", "Base/StatusReason.swift",
                    "Campaigns/YAML/YAMLSyntaxTranslator.swift",
                ]),
            // Locks of other processes and free space on a disk send no events; only one place
            // tries them again, a limited number of times.
            Boundary(
                name: "polls", pattern: #"\bu?sleep\(|\bnanosleep\("#, modules: ["Base/Retries.swift", "Benchmarks"]),
            // A library's text says neither what happened here nor what to do: each is wrapped in
            // one place, which puts it into parentheses.
            Boundary(
                name: "quotes-libraries",
                pattern:
                    #"(?<!nghttp2_http2_)\b(?:strerror|strerror_r|perror|gai_strerror|curl_easy_strerror|curl_multi_strerror|nghttp2_strerror|PQerrorMessage|X509_verify_cert_error_string|sqlite3_errstr)\(|\.localizedDescription\b"#,
                modules: [
                    "Base/FileError.swift", "Delivery/Curl/CurlHandles.swift", "Delivery/HTTP2/AddressLookup.swift",
                    "HTTP2/Client/HTTP2ClientSession.swift", "Postgres/PostgresConnection.swift",
                    "Cryptography/CertificateRefusal.swift",
                    "Benchmarks",
                ]),
            // The web server is in a separate program, and only that program compiles one. The
            // sender's port for metrics is a socket.
            Boundary(
                name: "serves-the-web", pattern: #"\bimport (?:Hummingbird\w*|NIO\w*|HTTPTypes)\b"#,
                modules: ["volley-console"]),
            // Only `Project.catalog` opens runs by path: SQLite's locks last only if the process
            // also has the folder on record (`ProtectedFiles`). What several machines send begins
            // as a run file and ends as one.
            Boundary(
                name: "addresses-runs-by-path", pattern: #"\b(?:RunFile|RunsFolder)\("#,
                modules: ["Runs/SQLite", "Cluster", "Benchmarks", "Workspace/ProjectChoice.swift"]),
        ] + services.filter { !["APNs", "FCM"].contains($0) }.map(around)
    }

    /// The services: the folders of `PushServices` with a file of their name.
    static let services: [String] = {
        let folder = SourceFile.root.appendingPathComponent("Sources/PushServices").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { FileManager.default.fileExists(atPath: "\(folder)/\($0)/\($0).swift") }.sorted()
    }()

    /// Facts of a service are in its folder. Comments may name it as an example of what a rule is
    /// for.
    private static func around(_ service: String) -> Boundary {
        Boundary(
            name: "knows-\(service.lowercased())", pattern: "(?i)\(service)",
            modules: ["PushServices/\(service)", "PushServices/PushServices.swift", "Simulators", "Benchmarks"],
            reads: .literals)
    }

    /// The number of exceptions, by module.
    func exceptions(in files: [SourceFile]) throws -> [String: Int] {
        let expression = try NSRegularExpression(pattern: pattern)
        return files.filter { file in !modules.contains { file.path == $0 || file.path.hasPrefix($0 + "/") } }.reduce(
            into: [:]) {
                exceptions, file in
                let text =
                    switch reads {
                    case .codeAlone: file.code
                    case .literals: file.literals
                    case .literalsAndComments: file.text
                    }
                let count = expression.numberOfMatches(in: text, range: NSRange(location: 0, length: text.utf16.count))
                if count > 0 { exceptions[file.module, default: 0] += count }
            }
    }
}

/// A file below `Sources`.
struct SourceFile {
    /// Below `Sources`.
    let path: String
    let text: String
    /// Without comments, and without the contents of literals.
    let code: String
    /// Without comments.
    let literals: String

    init(path: String, text: String) {
        (self.path, self.text) = (path, text)
        (code, literals) = (SwiftText(text).code, SwiftText(text, keepsLiterals: true).code)
    }

    var module: String { String(path.prefix { $0 != "/" }) }

    /// All of them.
    static func all() throws -> [SourceFile] { try read.get() }

    private static let read = Result {
        let sources = root.appendingPathComponent("Sources")
        let names = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
        return try names.filter { $0.hasSuffix(".swift") }.sorted().map {
            let text = try String(contentsOf: sources.appendingPathComponent($0), encoding: .utf8)
            return SourceFile(path: $0, text: text)
        }
    }

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
