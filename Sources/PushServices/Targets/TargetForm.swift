public import Base

/// What the targets of a service look like: an app on a device, or a user.
public struct TargetForm: Sendable {
    /// How they are written.
    public enum Notation: Hashable, Sendable {
        /// Bytes as hex digits of either case, so an even number of them. Kept in lower case.
        case hex(digits: ClosedRange<Int>)
        /// ASCII characters; `length` is their number, and `except` the numbers within it that no
        /// target has. Case is significant, and nothing is changed.
        case text(ASCIISet, length: ClosedRange<Int>, except: ClosedRange<Int>? = nil)
    }

    /// How they are written.
    public let notation: Notation
    /// From this many bytes on, a text in this notation can only be a target, so it is never shown
    /// whole, even where something else is expected; nil if names and numbers look the same.
    public let tellingLength: Int?
    /// The length in bytes that nearly all have, where other names rarely have it in this notation;
    /// nil without such a length.
    public let usualLength: Int?
    /// Whether targets are people: the service reaches all devices of each, so a device also has a
    /// target of another service.
    public let areUsers: Bool
    /// The column that holds them in an export for several services, and its key in volley.yaml:
    /// `token`.
    public let column: String
    /// What a target is called in sentences: "device token".
    public let noun: String
    /// The same with its article: "a device token".
    public let aNoun: String
    /// Several of them: "device tokens".
    public let nouns: String
    /// What a target looks like where it is shortened: its first four characters, "…", and its last
    /// four.
    public let example: String
    /// How they are written, after a comma: "in hex".
    public let writing: String
    /// What a target must look like, for people that write one into a file: a sentence without its
    /// full stop.
    public let rule: String
    /// What to do, for people that typed a wrong one: a whole sentence.
    public let remedy: String
    /// Shapes that other services and programs use and that are not targets here, with a clause for
    /// each: "it …".
    public let foreignShapes: [TargetShape: String]

    /// A form of targets.
    public init(
        _ notation: Notation, tellingLength: Int?, usualLength: Int? = nil, areUsers: Bool = false,
        column: String = "token",
        noun: String = "device token", example: String = "7276…89f1",
        writing: String, rule: String, remedy: String, foreignShapes: [TargetShape: String] = [:]
    ) {
        self.notation = notation
        self.tellingLength = tellingLength
        self.usualLength = usualLength
        self.areUsers = areUsers
        self.column = column
        self.noun = noun
        aNoun = TextFormat.withArticle(noun)
        nouns = "\(noun)s"
        self.example = example
        self.writing = writing
        self.rule = rule
        self.remedy = remedy
        self.foreignShapes = foreignShapes
    }

    /// The beginning of the example, where a person will write a whole target: "7276…".
    public var exampleStart: String { "\(example.prefix { $0 != "…" })…" }

    /// How many bytes a target may have.
    public var lengths: ClosedRange<Int> {
        switch notation {
        case .hex(let digits): digits
        case .text(_, let length, _): length
        }
    }

    /// Numbers of bytes among `lengths` that no target has: shorter ones and longer ones are of two
    /// kinds. nil for none.
    public var exceptedLengths: ClosedRange<Int>? {
        if case .text(_, _, let except) = notation { except } else { nil }
    }

    /// As a regular expression, for editors.
    public var pattern: String {
        switch notation {
        case .hex(let digits): "([0-9A-Fa-f]{2}){\((digits.lowerBound + 1) / 2),\(digits.upperBound / 2)}"
        case .text(_, let length, nil): #"\S{\#(length.lowerBound),\#(length.upperBound)}"#
        case .text(_, let length, let gap?):
            #"\S{\#(length.lowerBound),\#(gap.lowerBound - 1)}|\S{\#(gap.upperBound + 1),\#(length.upperBound)}"#
        }
    }

    /// The characters of a stored target.
    public var characters: ASCIISet {
        switch notation {
        case .hex: .lowercaseHex
        case .text(let characters, _, _): characters
        }
    }
}

// MARK: - Reading

extension TargetForm {
    /// Reads a target; nil when the text cannot be one.
    public func target(_ text: some StringProtocol) -> Target? {
        var bytes = Array(text.utf8)
        return normalize(&bytes) ? Target(normalized: String(decoding: bytes, as: UTF8.self)) : nil
    }

    /// Converts a target in place to the form in which it is stored and compared, also one that is
    /// decorated (`undecorated`); false if the text cannot be one.
    public func normalize(_ bytes: inout [UInt8]) -> Bool {
        if normalizePlain(&bytes) { return true }
        guard let target = bytes.withUnsafeBufferPointer(undecorated) else { return false }
        bytes = target
        return true
    }

    /// A target in its stored form without what programs and people write around it and within it:
    /// `<9f3c1a2b 0d…>` (iOS before 13), quotes and the apostrophe of spreadsheets, blanks,
    /// no-break spaces and other invisible characters, `0x`, and blanks between hex digits. nil
    /// without a target, and for a text too short to be certainly a target. A row that is read like
    /// this decides for its device, and a line of a list excludes it: the device must not be
    /// reached through another row.
    public func undecorated(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        // Texts that are no target at all, such as UUIDs, are told apart without copying them.
        guard let tellingLength, text.count > tellingLength,
            text.allSatisfy({ isCharacter($0) || Self.mayDecorate($0) })
        else {
            return nil
        }
        func isMark(_ scalar: Unicode.Scalar) -> Bool {
            "<>'\"".unicodeScalars.contains(scalar) || Blank.isInvisible(scalar)
        }
        var scalars = String(decoding: text, as: UTF8.self).unicodeScalars.drop(while: isMark)
        while scalars.last.map(isMark) ?? false { scalars.removeLast() }
        var bytes = Array(String(scalars).utf8)
        if case .hex = notation {
            if bytes.starts(with: "0x".utf8) || bytes.starts(with: "0X".utf8) { bytes.removeFirst(2) }
            let groups = String(decoding: bytes, as: UTF8.self).unicodeScalars.split { $0.properties.isWhitespace }
            bytes = groups.flatMap { Array(String($0).utf8) }
            // Blanks of no known form may separate two targets.
            guard
                groups.count < 2 || bytes.count == usualLength || groups.allSatisfy({ $0.count == Self.digitsOfGroup })
            else {
                return nil
            }
        }
        return bytes.count >= tellingLength && normalizePlain(&bytes) ? bytes : nil
    }

    /// Digits between the blanks of `NSData.description`.
    private static let digitsOfGroup = 8

    /// Whether a byte may be in a decorated target: in a blank, a quote or bracket, or `0x`.
    private static func mayDecorate(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte >= 0x80 || "<>'\"xX".utf8.contains(byte)
    }

    /// The same of a target that is written as its service gives it out.
    private func normalizePlain(_ bytes: inout [UInt8]) -> Bool {
        guard lengths.contains(bytes.count), exceptedLengths?.contains(bytes.count) != true else { return false }
        guard case .hex = notation else { return bytes.allSatisfy(characters.contains) }
        for index in bytes.indices { bytes[index] = Self.folded(bytes[index]) }
        return bytes.count % 2 == 0 && bytes.allSatisfy(characters.contains)
    }

    /// A hex digit in lower case; other bytes unchanged.
    private static func folded(_ byte: UInt8) -> UInt8 { (byte &- UInt8(ascii: "A")) <= 5 ? byte | 0x20 : byte }

    /// Whether a text is written like a target, in a notation that little else uses. Also for texts
    /// where something else is expected. If targets are of two lengths, the shorter ones look like
    /// names.
    public func recognizes(_ text: some StringProtocol) -> Bool {
        tellingLength != nil && text.utf8.count > exceptedLengths?.upperBound ?? 0 && target(text) != nil
    }

    /// Whether a text can only be a target.
    public func isCertain(_ text: some StringProtocol) -> Bool {
        tellingLength.map { text.utf8.count >= $0 } ?? false && target(text) != nil
    }

    /// Whether bytes are a target as people write it.
    public func isTarget(_ bytes: some Collection<UInt8>) -> Bool {
        var bytes = Array(bytes)
        return normalize(&bytes)
    }

    /// A part of a target in its stored form; nil if no target can contain it.
    public func part(_ text: some StringProtocol) -> [UInt8]? {
        var bytes = Array(text.utf8)
        if case .hex = notation { bytes = bytes.map(Self.folded) }
        return bytes.allSatisfy(characters.contains) ? bytes : nil
    }

    /// The form of targets in files that Volley wrote.
    public var kept: KeptTargets {
        KeptTargets(lengths: lengths, exceptedLengths: exceptedLengths, characters: characters)
    }
}

/// The form of targets in files that Volley wrote. Such a file may have been damaged or edited, so
/// each target is checked before it goes into a request.
public struct KeptTargets: Sendable {
    private let lengths: ClosedRange<Int>, exceptedLengths: ClosedRange<Int>?, characters: ASCIISet
    private let isLowercaseHex: Bool

    init(lengths: ClosedRange<Int>, exceptedLengths: ClosedRange<Int>?, characters: ASCIISet) {
        self.lengths = lengths
        self.exceptedLengths = exceptedLengths
        self.characters = characters
        isLowercaseHex = characters == .lowercaseHex
    }

    /// Whether a text may be a target.
    public func contains(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard lengths.contains(text.count) else { return false }
        guard isLowercaseHex else {
            return exceptedLengths?.contains(text.count) != true && text.allSatisfy(characters.contains)
        }
        // Every push that is read passes here. Without a branch the compiler compares many digits
        // at a time; a look into the set for each costs as much as all the rest of reading a push.
        var others: UInt8 = 0
        for byte in text {
            others |= (byte &- UInt8(ascii: "0") > 9 ? 1 : 0) & (byte &- UInt8(ascii: "a") > 5 ? 1 : 0)
        }
        return others == 0
    }
}

// MARK: - Mistakes

extension TargetForm {
    /// Why a text cannot be a target, for the person that typed it; nil if it can.
    public func flaw(of text: String) -> String? {
        guard target(text) == nil else { return nil }
        let count = text.utf8.count
        if text.isEmpty { return "the \(noun) is blank" }
        guard text.utf8.allSatisfy(isCharacter) else {
            return "'\(Target.redact(text))' cannot be \(aNoun), as \(clause(of: .other, length: count))"
        }
        if isTooShort(count) { return "\(aNoun) of \(count) \(unit) is too short" }
        if count > lengths.upperBound { return "\(aNoun) of \(count) \(unit) is too long" }
        return "'\(Target.redact(text))' cannot be \(aNoun), as \(clause(of: .oddDigits, length: count))"
    }

    /// Whether this many characters are fewer than a target has, or fewer than one of the longer
    /// kind.
    func isTooShort(_ count: Int) -> Bool { count < lengths.lowerBound || exceptedLengths?.contains(count) == true }

    /// What its characters are called, in the plural.
    private var unit: String { if case .hex = notation { "digits" } else { "characters" } }

    /// Whether a target that a person wrote may contain a byte.
    public func isCharacter(_ byte: UInt8) -> Bool {
        if case .hex = notation { return characters.contains(Self.folded(byte)) }
        return characters.contains(byte)
    }

    /// "it …", and what to do if that is known.
    /// - Parameter length: of the text, in bytes.
    public func clause(of shape: TargetShape, length: Int) -> String {
        if let clause = foreignShapes[shape] { return clause }
        switch shape {
        case .oddDigits: return "its \(length) digits are no even number: it is cut off, or one is too many"
        case .tooShort: return "its \(length) \(unit) are too few"
        case .tooLong: return "its \(length) \(unit) are too many"
        case .other:
            if case .hex = notation { return "it holds more than hex digits (0-9, a-f)" }
            return "it holds characters that no \(noun) has"
        default: return shape.clause
        }
    }
}

/// What targets are called in sentences.
extension TargetForm {
    /// One of them, where the sentence speaks of a device anyway: "token".
    public var shortNoun: String {
        let device = "device "
        return noun.hasPrefix(device) ? String(noun.dropFirst(device.count)) : noun
    }

    /// The same with its article: "a token".
    public var aShortNoun: String { TextFormat.withArticle(shortNoun) }

    /// Several of them, where the sentence speaks of devices anyway: "tokens".
    public var shortNouns: String { shortNoun + "s" }

    /// What the exports call a registration id, which is also the name of some services' targets.
    public static let registrationID = "registration id"

    /// What names a device in a list: "token or registration id".
    public var listedNoun: String { noun == Self.registrationID ? noun : "\(shortNoun) or \(Self.registrationID)" }

    /// The same of several: "tokens or registration ids".
    public var listedNouns: String { noun == Self.registrationID ? nouns : "\(shortNouns) or \(Self.registrationID)s" }

    /// The same in full: "device tokens or registration ids".
    public var listedNounsInFull: String { noun == Self.registrationID ? nouns : "\(nouns) or \(Self.registrationID)s" }

    /// What names a device in an export: "token, alias or registration id".
    public var namesInExports: String {
        noun == Self.registrationID ? "\(noun) or alias" : "\(shortNoun), alias or \(Self.registrationID)"
    }

    /// What something is that names no device: "neither a device token nor a registration id".
    public var nothingListed: String {
        noun == Self.registrationID
            ? "no \(noun)" : "neither \(aNoun) nor \(TextFormat.withArticle(Self.registrationID))"
    }
}

extension [any PushService] {
    /// What their targets are called next to a device: `token` where they have device tokens and
    /// registration tokens, and `target` where their words have nothing in common.
    public var shortTargetNoun: String {
        let nouns = map(\.target.shortNoun)
        return Self.common(nouns) ?? Self.common(nouns.map { $0.split(separator: " ").last.map(String.init) ?? $0 })
            ?? "target"
    }

    /// Several of them, in full, as alternatives: "device tokens or registration tokens".
    public var targetNouns: String {
        map(\.target.nouns).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }.joined(separator: " or ")
    }

    private static func common(_ words: [String]) -> String? { Set(words).count == 1 ? words.first : nil }
}

/// Characters of ASCII, as bits.
public struct ASCIISet: Hashable, Sendable {
    @usableFromInline let low: UInt64, high: UInt64

    /// The characters of a text; those beyond ASCII are left out.
    public init(_ characters: String) {
        var (low, high): (UInt64, UInt64) = (0, 0)
        for byte in characters.utf8 where byte < 128 {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
        }
        self.low = low
        self.high = high
    }

    /// Digits, and letters from a to f.
    public static let lowercaseHex = ASCIISet("0123456789abcdef")
    /// Letters and digits.
    public static let lettersAndDigits = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// Whether a byte is one of them.
    @inlinable public func contains(_ byte: UInt8) -> Bool {
        byte < 64 ? low >> UInt64(byte) & 1 != 0 : byte < 128 && high >> UInt64(byte & 63) & 1 != 0
    }
}
