import Glibc

/// A place in a file that a person wrote. Lines and columns count from 1, columns in Unicode
/// scalars.
public struct SourcePosition: Hashable, Sendable, CustomStringConvertible {
    /// The file as it was named to Volley.
    public var file: String
    /// 1 for the first line.
    public var line: Int
    /// 1 for the first character of a line.
    public var column: Int

    /// A place in `file`.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// A row of a file as people read it in a browser, where folders of the server mean nothing: of
    /// a path from the root only the name is left, as in `devices.csv:124`.
    public static func plainWords(file: String, line: Int) -> String {
        "\(file.hasPrefix("/") ? String(file.split(separator: "/").last ?? "") : file):\(line)"
    }

    /// The place of a byte of a text, which was read from `file`. Lines end in LF, CRLF or CR.
    public init(file: String, utf8Offset: Int, in bytes: [UInt8]) {
        let before = bytes.prefix(utf8Offset)
        var (line, start) = (1, 0)
        for place in before.indices where before[place] == 0x0A || before[place] == 0x0D {
            if before[place] == 0x0D, place + 1 < bytes.count, bytes[place + 1] == 0x0A { continue }
            (line, start) = (line + 1, place + 1)
        }
        let column = 1 + before[start...].reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
        self.init(file: file, line: line, column: column)
    }

    /// `file:line:column`
    public var description: String { "\(file):\(line):\(column)" }
}

/// One mistake, explained to the person that made it: where it is, what is wrong, what to do next.
/// Invisible characters in its text are named, as in `<U+200B>`, and device tokens are shortened: a
/// cell of any column may hold one.
///
/// ```swift
/// throw Diagnostic(
///     "there is no app 'shop'", at: SourcePosition(file: "campaign.yaml", line: 2, column: 6),
///     remedy: "volley.yaml has: store.")
/// ```
public struct Diagnostic: Error, Hashable, Sendable, CustomStringConvertible {
    /// Whether the mistake stops the command.
    public enum Severity: String, Hashable, Sendable { case error, warning }

    /// Whether the mistake stops the command.
    public var severity: Severity
    /// Where it is; nil if it belongs to no file.
    public var position: SourcePosition?
    /// The file without a place, for mistakes that have no line (a missing file, a directory).
    public var file: String?
    /// What is wrong, without a final full stop.
    public var message: String { didSet { message = Self.shown(message) } }
    /// What to do next, a whole sentence; nil if the message already says it.
    public var remedy: String? { didSet { remedy = remedy.map(Self.shown) } }
    /// What to do next where there is no terminal; empty if `remedy` names no command, so that all
    /// can follow it.
    public var remedies: [Remedy] = []
    /// The message where there is no terminal; nil if `message` names no command.
    public var plainMessage: String? { didSet { plainMessage = plainMessage.map(Self.shown) } }
    /// The name of a warning; nil for errors.
    public var name: WarningName?

    /// A mistake at a line and column.
    public init(
        _ message: String, at position: SourcePosition, remedy: String? = nil, _ remedies: [Remedy] = [],
        severity: Severity = .error
    ) {
        self.severity = severity
        self.position = position
        self.file = position.file
        self.message = Self.shown(message)
        self.remedy = remedy.map(Self.shown)
        self.remedies = remedies
    }

    /// A mistake in a whole file, or in none.
    public init(
        _ message: String, file: String? = nil, remedy: String? = nil, _ remedies: [Remedy] = [],
        severity: Severity = .error
    ) {
        self.severity = severity
        self.position = nil
        self.file = file.map(Self.shownFile)
        self.message = Self.shown(message)
        self.remedy = remedy.map(Self.shown)
        self.remedies = remedies
    }

    private static func shown(_ words: String) -> String { SecretText.withoutTokens(TextFormat.namingInvisible(words)) }

    /// A path as it may be shown. People paste a token where a file is named; what has an ending is
    /// a file, and its name may hold a checksum.
    public static func shownFile(_ path: String) -> String {
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        return name.contains(".") ? path : path.dropLast(name.count) + SecretText.withoutTokens(String(name))
    }

    /// A warning at a line and column.
    public static func warning(
        _ name: WarningName, message: String, at position: SourcePosition, remedy: String? = nil,
        _ remedies: [Remedy] = []
    ) -> Diagnostic {
        var warning = Diagnostic(message, at: position, remedy: remedy, remedies, severity: .warning)
        warning.name = name
        return warning
    }

    /// A warning about a whole file, or about no file.
    public static func warning(_ name: WarningName, message: String, file: String? = nil, remedy: String? = nil)
        -> Diagnostic
    {
        var warning = Diagnostic(message, file: file, remedy: remedy, severity: .warning)
        warning.name = name
        return warning
    }

    /// `file:line:column: what is wrong. What to do [name-of-the-warning]`, as a terminal shows it.
    public var description: String { text(hasSeverity: true) }

    /// The same without `warning:`, for a log, where the line has its level already.
    public var inLog: String { text(hasSeverity: false) }

    private func text(hasSeverity: Bool) -> String {
        var text = ""
        if let position {
            text += "\(TextFormat.inLine(position.file)):\(position.line):\(position.column): "
        } else if let file {
            text += "\(TextFormat.inLine(file)): "
        }
        if hasSeverity, severity == .warning { text += "warning: " }
        text += message
        if let remedy { text += ". \(remedy)" }
        if let name { text += " [\(name.rawValue)]" }
        return TextFormat.printable(text)
    }
}

/// All mistakes found in one reading, thrown together so that a person can correct a file in one
/// go.
///
/// ```swift
/// do {
///     let zone = try ZoneDatabase.system.zone(named: "Asia/Shanghia")
/// } catch {
///     print(Diagnostics(explaining: error))
/// }
/// ```
public struct Diagnostics: Error, Sendable, CustomStringConvertible {
    /// In the order of their places.
    public var all: [Diagnostic]

    /// Takes mistakes in any order, and sorts them by file, line and column.
    public init(_ all: [Diagnostic]) {
        self.all = all.enumerated().sorted { left, right in
            let (a, b) = (left.element.position, right.element.position)
            let keyA = (a?.file ?? left.element.file ?? "", a?.line ?? 0, a?.column ?? 0, left.offset)
            let keyB = (b?.file ?? right.element.file ?? "", b?.line ?? 0, b?.column ?? 0, right.offset)
            return keyA < keyB
        }.map(\.element)
    }

    /// A single mistake.
    public init(_ one: Diagnostic) { all = [one] }

    /// One line per mistake.
    public var description: String { all.map(\.description).joined(separator: "\n") }
}

extension Diagnostic {
    /// A C library could not make something, usually for lack of memory.
    /// - Parameters:
    ///   - thing: what could not be made: `a TLS connection`.
    ///   - cause: the library's own words; nil if it gives none.
    public static func cannotMake(_ thing: String, cause: String? = nil) -> Diagnostic {
        Diagnostic(
            "\(thing) cannot be made: \(cause ?? "there is not enough memory")",
            remedy:
                "Close other programs, or allow more memory: `ulimit -v`, MemoryMax= of a systemd unit, or the limits of the container."
        )
    }
}

extension Diagnostic {
    /// A mistake as JSON documents show it.
    public var json: JSONValue {
        let pairs: [(String, JSONValue)] = [
            ("file", file.map { .string($0) } ?? .null),
            ("line", position.map { .integer(Int64($0.line)) } ?? .null),
            ("column", position.map { .integer(Int64($0.column)) } ?? .null),
            ("message", .string(message)),
            ("remedy", remedy.map { .string($0) } ?? .null),
        ]
        return .object(pairs: pairs + (name.map { [("name", .string($0.rawValue))] } ?? []))
    }
}

/// What is wrong with a piece of text, before the place of the text is known. With its place it
/// becomes a `Diagnostic`.
///
/// ```swift
/// func hour(_ text: String) throws(Mistake) -> Int {
///     guard let hour = Int(text), 0..<24 ~= hour else {
///         throw Mistake("'\(text)' is no hour", remedy: "Write 0 to 23.")
///     }
///     return hour
/// }
/// ```
public struct Mistake: Error, Hashable, Sendable {
    /// What is wrong, without a final full stop.
    public var message: String
    /// What to do, whole sentences; nil if the message already says it.
    public var remedy: String?
    /// The place in the text, in UTF-8 bytes from its start.
    public var utf8Offset: Int

    /// A mistake.
    public init(_ message: String, remedy: String? = nil, at utf8Offset: Int = 0) {
        self.message = message
        self.remedy = remedy
        self.utf8Offset = utf8Offset
    }
}

extension Diagnostic {
    /// A mistake with its place.
    public init(_ mistake: Mistake, at position: SourcePosition) {
        self.init(mistake.message, at: position, remedy: mistake.remedy)
    }

    /// A mistake in a file, or in no file.
    public init(_ mistake: Mistake, file: String? = nil) {
        self.init(mistake.message, file: file, remedy: mistake.remedy)
    }
}

extension Diagnostic {
    /// Why a program cannot listen at an address: what happened, at which address, and what to do.
    /// - Parameters:
    ///   - address: as a person would write it: `127.0.0.1:8181`.
    ///   - port: of the address.
    ///   - option: the option that names it.
    ///   - code: errno of socket(2), bind(2) or listen(2).
    public static func cannotListen(at address: String, port: Int, option: String, errno code: Int32) -> Diagnostic {
        let address = TextFormat.inLine(address)
        let (fact, remedy): (String, String) =
            switch code {
            case EADDRINUSE:
                (
                    "the address is already in use",
                    "Name another port with \(option), or end the program that uses it; `ss -ltnp` shows which one that is."
                )
            case EACCES, EPERM:
                (
                    "this account may not use the port",
                    "Name a port above 1023 with \(option), or give Volley the capability CAP_NET_BIND_SERVICE."
                )
            case EADDRNOTAVAIL, EAFNOSUPPORT:
                (
                    "this machine does not have the address",
                    "Name one of the addresses that `ip address` shows with \(option), or 127.0.0.1:\(port)."
                )
            case EMFILE, ENFILE:
                (
                    "no more files and sockets can be opened",
                    "Raise the limit of open files (`ulimit -n`, or LimitNOFILE of the service)."
                )
            default:
                (SystemError.words(code), "Name another address with \(option).")
            }
        return Diagnostic("Volley cannot listen at \(address): \(fact)", remedy: remedy)
    }
}

/// An error that has a text for people. A module has at most one error type of its own; modules
/// without one throw `Diagnostic`.
public protocol ExplainedError: Error, CustomStringConvertible {
    /// What people read, in the order of its places. Never empty.
    var diagnostics: [Diagnostic] { get }
}

extension ExplainedError {
    /// What people read, a mistake a line.
    public var description: String { diagnostics.map(\.description).joined(separator: "\n") }
}

extension Diagnostic: ExplainedError {
    /// Itself.
    public var diagnostics: [Diagnostic] { [self] }

    /// What people read of any error: of several mistakes all, as one message.
    /// - Parameter file: what the error is about, if it does not say so itself.
    public init(explaining error: any Error, file: String? = nil) {
        let found = Diagnostics(explaining: error, file: file)
        self = found.all.count == 1 ? found.all[0] : Diagnostic(found.description)
    }
}

extension Diagnostics: ExplainedError {
    /// All of them.
    public var diagnostics: [Diagnostic] { all }

    /// What people read of any error.
    /// - Parameter file: what the error is about, if it does not say so itself.
    public init(explaining error: any Error, file: String? = nil) {
        if let mistake = error as? Mistake {
            self.init(Diagnostic(mistake, file: file))
        } else {
            self.init((error as? any ExplainedError)?.diagnostics ?? [Diagnostic("\(error)", file: file)])
        }
    }
}

extension Mistake: ExplainedError {
    /// The mistake without a place.
    public var diagnostics: [Diagnostic] { [Diagnostic(self)] }
}
