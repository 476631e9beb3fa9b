public import Base

/// Whom a trace is about, as a person typed it: a device token, whole or as `7276…89f1`, an alias, or a registration id.
public struct TraceSubject: Sendable {
    private enum Token: Sendable {
        case none
        /// Lower-case digits.
        case whole([UInt8])
        /// The first and the last digits, in lower case.
        case parts(first: [UInt8], last: [UInt8])
    }

    private let token: Token
    private let name: [UInt8]
    /// As it may be shown: a whole token shortened.
    public let shown: String

    /// Digits that must be given at either end of a shortened token.
    private static let fewestDigits = 4

    /// - Throws: `Diagnostic`: nothing is named, or a shortened token has too few digits.
    public init(_ text: String) throws(Diagnostic) {
        let text = Self.withoutMarks(trimmedText(text))
        guard !text.isEmpty else { throw Diagnostic("nobody is named", remedy: Self.remedy) }
        name = Array(text.utf8)
        if let whole = DeviceToken(text) {
            token = .whole(Array(whole.hex.utf8))
            // An alias of eight digits is no secret; a token has many more.
            shown = whole.hex.utf8.count >= 32 ? whole.redacted : text
            return
        }
        shown = Self.shortened(text)
        guard let parts = Self.parts(text) else {
            token = .none
            return
        }
        guard min(parts.first.count, parts.last.count) >= Self.fewestDigits else {
            throw Diagnostic("'\(text)' has too few digits to tell tokens apart", remedy: Self.remedy)
        }
        token = .parts(first: parts.first, last: parts.last)
    }

    /// A token without what comes along when it is copied: `<…>`, quotes, a comma behind it.
    private static func withoutMarks(_ text: String) -> String {
        let marks: Set<Character> = ["<", ">", "\"", "'", ",", ";", ":", ".", "(", ")", "[", "]", " "]
        let inside = text.drop(while: marks.contains).reversed().drop(while: marks.contains).reversed()
        let digits = String(inside).filter { $0 != " " }
        return digits.utf8.count >= 32 && DeviceToken(digits) != nil ? digits : text
    }

    /// What holds a token is not shown whole.
    private static func shortened(_ text: String) -> String {
        text.replacing(/[0-9A-Fa-f]{32,}/) { DeviceToken.redact(String($0.output)) }
    }

    private static let remedy = "Name a device token (whole, or as 7276…89f1), an alias, or a registration id."

    /// The digits around `…` or `...`; nil when this is no shortened token.
    private static func parts(_ text: String) -> (first: [UInt8], last: [UInt8])? {
        for gap in ["…", "..."] {
            guard let range = text.firstRange(of: gap) else { continue }
            let (first, last) = (text[..<range.lowerBound].lowercased(), text[range.upperBound...].lowercased())
            guard (first + last).utf8.allSatisfy(isHexDigit) else { continue }
            return (Array(first.utf8), Array(last.utf8))
        }
        return nil
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    /// Whether a normalised token is meant.
    func names(token digits: [UInt8]) -> Bool {
        switch token {
        case .none: false
        case .whole(let whole): digits == whole
        case .parts(let first, let last):
            digits.count >= first.count + last.count && digits.starts(with: first) && digits.suffix(last.count).elementsEqual(last)
        }
    }

    /// Whether an alias or a registration id is meant.
    func names(_ cell: UnsafeBufferPointer<UInt8>) -> Bool { cell.elementsEqual(name) }
}
