/// What a text that is no device token seems to be instead, by its shape.
public enum TokenShape: String, CaseIterable, Hashable, Sendable {
    case brackets, shortened, uuid, blanks, separated, oddDigits, prefix, exponent, word, email, surrounded, fcm, base64, tooShort, tooLong,
        other

    /// The shape of a text, of which nothing else is known than that it is no token; nil when it is one, and for a blank text.
    public init?(_ text: String) {
        guard !text.isEmpty, DeviceToken(text) == nil else { return nil }
        let digits = text.utf8.allSatisfy(Self.isHexDigit)
        let count = text.utf8.count
        if digits {
            self = count < DeviceToken.digitRange.lowerBound ? .tooShort : count > DeviceToken.digitRange.upperBound ? .tooLong : .oddDigits
        } else {
            self = Self.shapes.first { $0.matches(text) }?.shape ?? .other
        }
    }

    private static let shapes: [(shape: TokenShape, matches: @Sendable (String) -> Bool)] = [
        (.brackets, { $0.first == "<" && $0.last == ">" || $0.first == "{" && $0.last == "}" }),
        (.shortened, { text in ["…", "..."].contains { text.contains($0) } && text.utf8.count <= 40 }),
        (
            .uuid,
            { $0.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count) == [8, 4, 4, 4, 12] && isHex($0, but: "-") }
        ),
        (.blanks, { $0.contains(where: \.isWhitespace) && isHex($0, but: " \t\u{A0}") }),
        (.surrounded, { !tokens(in: $0).isEmpty }),
        (.separated, { $0.utf8.count > 40 && isHex($0, but: "-:._") }),
        (.prefix, { $0.lowercased().hasPrefix("0x") && isHex(String($0.dropFirst(2)), but: "") }),
        (.exponent, { isExponent($0) }),
        (
            .word,
            { ["null", "nil", "none", "n/a", "na", "nan", "undefined", "\\n", "-", "#n/a", "#name?", "#value!"].contains($0.lowercased()) }
        ),
        (.email, { text in text.split(separator: "@").count == 2 && !text.contains(" ") }),
        (.fcm, { $0.contains(":APA91") || $0.utf8.count >= 100 && $0.utf8.allSatisfy { isBase64($0) || $0 == UInt8(ascii: ":") } }),
        (.base64, { (40...88).contains($0.utf8.count) && $0.utf8.allSatisfy { isBase64($0) || $0 == UInt8(ascii: "=") } }),
    ]

    private static func isHexDigit(_ byte: UInt8) -> Bool { byte &- 0x30 <= 9 || (byte | 0x20) &- 0x61 <= 5 }

    private static func isHex(_ text: String, but others: String) -> Bool {
        let digits = text.filter { !others.contains($0) }
        return digits.utf8.count >= 16 && digits.utf8.allSatisfy(isHexDigit)
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        isHexDigit(byte) || (byte | 0x20) &- 0x61 < 26 || "+/-_".utf8.contains(byte)
    }

    /// `7.28E+15`
    private static func isExponent(_ text: String) -> Bool {
        let parts = text.uppercased().split(separator: "E", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[1].first == "+" && parts[0].allSatisfy { $0.isNumber || ".,".contains($0) }
    }

    /// Where tokens stand in a text: 32 hex digits or more, with no letter or digit beside them.
    private static func tokens(in text: String) -> [Range<Int>] {
        let bytes = Array(text.utf8)
        func isName(_ byte: UInt8) -> Bool { isHexDigit(byte) || (byte | 0x20) &- 0x61 < 26 }
        var (found, start): ([Range<Int>], Int) = ([], 0)
        for end in 0...bytes.count where end == bytes.count || !isName(bytes[end]) {
            let part = bytes[start..<end]
            if part.count >= 32, part.count % 2 == 0, part.allSatisfy(isHexDigit) { found.append(start..<end) }
            start = end + 1
        }
        return found
    }

    /// A text in which each token is shortened; as a whole where it is long and holds none.
    public static func shortened(_ text: String) -> String {
        let (bytes, tokens) = (Array(text.utf8), tokens(in: text))
        if tokens.isEmpty { return text.count < 20 ? text : DeviceToken.redact(text) }
        var (shown, start) = ("", 0)
        for token in tokens {
            shown += String(decoding: bytes[start..<token.lowerBound], as: UTF8.self)
            shown += DeviceToken.redact(String(decoding: bytes[token], as: UTF8.self))
            start = token.upperBound
        }
        return shown + String(decoding: bytes[start...], as: UTF8.self)
    }

    /// Whether nothing else than a device token was meant by a text of this shape, so that it can be no name of another kind either.
    public func wasToken(_ text: String) -> Bool {
        switch self {
        case .brackets, .shortened, .blanks, .separated, .prefix, .exponent: true
        case .oddDigits: text.utf8.count > 32
        case .surrounded: text.utf8.contains { !(Self.isHexDigit($0) || ($0 | 0x20) &- 0x61 < 26 || "-_.:/@+".utf8.contains($0)) }
        default: false
        }
    }

    /// "it …", and what to do where that is known.
    public func clause(digits: Int) -> String {
        switch self {
        case .brackets: "it stands in brackets"
        case .shortened: "it is shortened, as tokens are where they are shown"
        case .uuid: "it is a UUID, as of an installation or an advertising id"
        case .blanks: "it has blanks between its digits"
        case .separated: "it has hyphens or other signs between its digits"
        case .surrounded: "it has something else beside the token's digits"
        case .oddDigits: "its \(digits) digits are no even number: it is cut off, or one is too many"
        case .prefix: "it begins with 0x"
        case .exponent: "a spreadsheet has made a number of it; format the column as text"
        case .word: "it stands for nothing"
        case .email: "it is an e-mail address"
        case .fcm: "it is a token of FCM, which APNs does not know"
        case .base64: "it is written in base64, and APNs' tokens in hex digits"
        case .tooShort: "its \(digits) digits are too few"
        case .tooLong: "its \(digits) digits are too many"
        case .other: "it holds more than hex digits (0-9, a-f)"
        }
    }
}
