import Base

/// What a person signs in with: 1 to 100 of the letters a to z, digits, `.`, `_`, `-`, `+` and `@`, so that an email address can be used, and
/// no two names look alike (UTS 39 on confusable characters). Capital letters count as small ones.
public struct AccountName: Hashable, Sendable, CustomStringConvertible {
    /// In small letters.
    public let text: String
    /// Bytes, as characters.
    public static let longest = 100

    /// - Throws: `AccountError.badName`.
    public init(_ text: String) throws(AccountError) {
        guard let name = AccountName(reading: text) else { throw .badName }
        self = name
    }

    /// The name that a text is; nil for what no account can be called. White space around it does not count.
    init?(reading text: String) {
        // Looks at no more than it must of a text that may be as long as anybody likes.
        guard text.utf8.count <= Self.longest * 2 else { return nil }
        let trimmed = text.utf8.drop { $0 == 0x20 }
        guard let end = trimmed.lastIndex(where: { $0 != 0x20 }) else { return nil }
        var bytes: [UInt8] = []
        for byte in trimmed[...end] {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): bytes.append(byte | 0x20)
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): bytes.append(byte)
            default:
                guard "._-+@".utf8.contains(byte) else { return nil }
                bytes.append(byte)
            }
        }
        guard bytes.count <= Self.longest else { return nil }
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    /// The name.
    public var description: String { text }
}

/// What others see of a person: 1 to 200 bytes of any language in one line. Characters that control a terminal, break the line or turn the
/// direction of the text after them are refused, so that a name cannot pose as something else.
public struct DisplayName: Hashable, Sendable, CustomStringConvertible {
    /// Without white space around it.
    public let text: String
    /// Bytes of UTF-8.
    public static let longest = 200

    /// - Throws: `AccountError.badDisplayName`.
    public init(_ text: String) throws(AccountError) {
        guard text.utf8.count <= Self.longest, !Blank.isText(text) else { throw .badDisplayName }
        let scalars = text.unicodeScalars
        let start = scalars.firstIndex { !$0.properties.isWhitespace } ?? scalars.endIndex
        let end = scalars.lastIndex { !$0.properties.isWhitespace } ?? start
        let trimmed = String(scalars[start...end])
        // What is shown as an escape would be no name; a soft line end is no line.
        guard TextFormat.inLine(trimmed) == trimmed,
            trimmed.unicodeScalars.allSatisfy({ $0 != "\u{2028}" && $0 != "\u{2029}" })
        else { throw .badDisplayName }
        self.text = trimmed
    }

    /// The name.
    public var description: String { text }
}
