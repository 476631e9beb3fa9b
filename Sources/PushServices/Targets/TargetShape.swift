import Base

/// What a text that is not a target seems to be, by its shape.
public enum TargetShape: String, CaseIterable, Hashable, Sendable {
    case brackets, shortened, uuid, blanks, separated, oddDigits, prefix, exponent, word, email, surrounded, fcm,
        base64, hexDigits,
        tooShort,
        tooLong, other

    /// "it …", the same for every service.
    var clause: String {
        switch self {
        case .brackets: "it is in brackets"
        case .shortened: "it is shortened, as tokens are when they are shown"
        case .uuid: "it is a UUID, such as an installation or advertising id"
        case .blanks: "it has blanks between its digits"
        case .separated: "it has hyphens or other signs between its digits"
        case .surrounded: "it has something else besides the token's digits"
        case .prefix: "it begins with 0x"
        case .exponent: "a spreadsheet has turned it into a number; format the column as text"
        case .word: "it means no value"
        case .email: "it is an e-mail address"
        // Their clauses say what the form expects instead.
        case .fcm, .base64, .hexDigits: ""
        case .oddDigits, .tooShort, .tooLong, .other: ""
        }
    }

    /// Whether this shape is checked only if the service gives it a clause. The others are checked
    /// for every service.
    fileprivate var isForeign: Bool { self == .fcm || self == .base64 || self == .hexDigits }

    /// Whether it is a shape of hex digits.
    fileprivate var isOfHex: Bool { [.uuid, .blanks, .surrounded, .separated, .prefix, .exponent].contains(self) }

    /// Whether a text of this shape was certainly meant as a target, so that it cannot be any other
    /// kind of name.
    public func wasTarget(_ text: String) -> Bool {
        switch self {
        case .brackets, .shortened, .blanks, .separated, .prefix, .exponent, .hexDigits: true
        case .oddDigits: text.utf8.count > 32
        case .surrounded: text.utf8.contains { !(Hex.isNameCharacter($0) || "-_.:/@+".utf8.contains($0)) }
        default: false
        }
    }
}

extension TargetForm {
    /// What a text that is not a target seems to be, by the text alone; nil if it is a target, and
    /// for a blank text.
    public func shape(of text: String) -> TargetShape? {
        guard !text.isEmpty, target(text) == nil else { return nil }
        let count = text.utf8.count
        if text.utf8.allSatisfy(isCharacter) {
            if let shape = Hex.shapes.first(where: { isForeign($0.shape) && $0.matches(text) })?.shape { return shape }
            return isTooShort(count) ? .tooShort : count > lengths.upperBound ? .tooLong : .oddDigits
        }
        return Hex.shapes.first { isLookedFor($0.shape) && $0.matches(text) }?.shape ?? .other
    }

    /// Whether a shape is another service's although it is written like a target of this one.
    private func isForeign(_ shape: TargetShape) -> Bool {
        guard foreignShapes[shape] != nil else { return false }
        if case .hex = notation { return shape == .hexDigits }
        return true
    }

    private func isLookedFor(_ shape: TargetShape) -> Bool {
        if foreignShapes[shape] != nil { return true }
        if shape.isForeign { return false }
        if case .hex = notation { return true }
        return !shape.isOfHex
    }
}

/// Hex digits, and how people and programs write them.
enum Hex {
    typealias Shape = (shape: TargetShape, matches: @Sendable (String) -> Bool)

    /// In the order in which they are checked.
    static let shapes: [Shape] = [
        (.brackets, { $0.first == "<" && $0.last == ">" || $0.first == "{" && $0.last == "}" }),
        (.shortened, { text in ["…", "..."].contains { text.contains($0) } && text.utf8.count <= 40 }),
        (
            .uuid,
            {
                $0.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count) == [8, 4, 4, 4, 12]
                    && isHex($0, but: "-")
            }
        ),
        (.blanks, { $0.contains(where: \.isWhitespace) && isHex($0, but: " \t\u{A0}") }),
        (.surrounded, { !runs(in: $0).isEmpty }),
        (.separated, { $0.utf8.count > 40 && isHex($0, but: "-:._") }),
        (.prefix, { $0.lowercased().hasPrefix("0x") && isHex(String($0.dropFirst(2)), but: "") }),
        (.exponent, { isExponent($0) }),
        (
            .word,
            {
                ["null", "nil", "none", "n/a", "na", "nan", "undefined", "\\n", "-", "#n/a", "#name?", "#value!"]
                    .contains($0.lowercased())
            }
        ),
        (.email, { text in text.split(separator: "@").count == 2 && !text.contains(" ") }),
        (
            .fcm,
            {
                $0.contains(":APA91")
                    || $0.utf8.count >= 100 && $0.utf8.allSatisfy { isBase64($0) || $0 == UInt8(ascii: ":") }
            }
        ),
        (.hexDigits, { $0.utf8.count >= 64 && $0.utf8.allSatisfy(isDigit) }),
        (
            .base64,
            { (40...88).contains($0.utf8.count) && $0.utf8.allSatisfy { isBase64($0) || $0 == UInt8(ascii: "=") } }
        ),
    ]

    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 <= 9 || (byte | 0x20) &- 0x61 <= 5 }

    /// A letter or a digit.
    static func isNameCharacter(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- 0x61 < 26 }

    private static func isHex(_ text: String, but others: String) -> Bool {
        let digits = text.filter { !others.contains($0) }
        return digits.utf8.count >= 16 && digits.utf8.allSatisfy(isDigit)
    }

    private static func isBase64(_ byte: UInt8) -> Bool { isNameCharacter(byte) || "+/-_".utf8.contains(byte) }

    /// `7.28E+15`
    private static func isExponent(_ text: String) -> Bool {
        let parts = text.uppercased().split(separator: "E", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[1].first == "+" && parts[0].allSatisfy { $0.isNumber || ".,".contains($0) }
    }

    /// The hex strings in a text: 32 digits or more, an even number, with no letter or digit next
    /// to them.
    static func runs(in text: String) -> [Range<Int>] {
        let bytes = Array(text.utf8)
        var (found, start): ([Range<Int>], Int) = ([], 0)
        for end in 0...bytes.count where end == bytes.count || !isNameCharacter(bytes[end]) {
            let part = bytes[start..<end]
            if part.count >= 32, part.count % 2 == 0, part.allSatisfy(isDigit) { found.append(start..<end) }
            start = end + 1
        }
        return found
    }
}
