/// A place in a file that a person wrote. Lines and columns count from 1, columns in Unicode scalars.
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

/// One mistake, explained to the person who made it: where it is, what is wrong, what to do next. Invisible characters in its words are
/// named, `<U+200B>`, and device tokens are shortened: a cell of any column may hold one.
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
    /// What to do next where there is no terminal; empty if `remedy` names no command, so that all can follow it.
    public var remedies: [Remedy] = []
    /// The message where there is no terminal; nil if `message` names no command.
    public var plainMessage: String? { didSet { plainMessage = plainMessage.map(Self.shown) } }
    /// The name of a warning; nil for errors.
    public var name: WarningName?

    /// A mistake at a line and column.
    public init(
        _ message: String, at position: SourcePosition, remedy: String? = nil, _ remedies: [Remedy] = [], severity: Severity = .error
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
        _ message: String, file: String? = nil, remedy: String? = nil, _ remedies: [Remedy] = [], severity: Severity = .error
    ) {
        self.severity = severity
        self.position = nil
        self.file = file.map(Self.shownFile)
        self.message = Self.shown(message)
        self.remedy = remedy.map(Self.shown)
        self.remedies = remedies
    }

    private static func shown(_ words: String) -> String { SecretText.withoutTokens(TextFormat.namingInvisible(words)) }

    /// A path as it may be shown. People paste a token where a file is named; what has an ending is a file, whose name may hold a checksum.
    public static func shownFile(_ path: String) -> String {
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        return name.contains(".") ? path : path.dropLast(name.count) + SecretText.withoutTokens(String(name))
    }

    /// A warning at a line and column.
    public static func warning(
        _ name: WarningName, message: String, at position: SourcePosition, remedy: String? = nil, _ remedies: [Remedy] = []
    ) -> Diagnostic {
        var warning = Diagnostic(message, at: position, remedy: remedy, remedies, severity: .warning)
        warning.name = name
        return warning
    }

    /// A warning about a whole file, or about no file.
    public static func warning(_ name: WarningName, message: String, file: String? = nil, remedy: String? = nil) -> Diagnostic {
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

/// All mistakes found in one reading, thrown together so that a person can correct a file in one go.
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
