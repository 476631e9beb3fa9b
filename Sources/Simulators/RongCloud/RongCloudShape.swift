import Base

/// What the documentation says about a JSON value, limits included, so that a strict check can refuse everything else. Names are as they
/// are written: RongCloud knows no other spelling of them.
indirect enum RongCloudShape: Sendable {
    /// A text of so many characters, counted as Java counts them: in units of UTF-16.
    case text(ClosedRange<Int>)
    /// A text that people see: not blank.
    case shown(most: Int)
    /// The name that an app gave a user: 1 to 64 letters, digits, `+`, `=`, `-` and `_`.
    case user
    /// An address that begins with `https://`.
    case address
    case flag
    case number(ClosedRange<Int64>)
    case choice([String])
    case list(RongCloudShape, ClosedRange<Int>)
    /// An object of any names, each with a text.
    case texts
    /// An object with these names and no others.
    case object([String: RongCloudShape], required: [String] = [])

    static let mostUserCharacters = 64

    /// The first place where a value differs from its shape; nil if it does not.
    func flaw(in value: JSONValue) -> RongCloudFlaw? {
        switch (self, value) {
        case (.text(let lengths), .string(let text)): Self.flaw(in: text, lengths)
        case (.shown(let most), .string(let text)):
            text.allSatisfy(\.isWhitespace) ? RongCloudFlaw("it must not be empty") : Self.flaw(in: text, 1...most)
        case (.user, .string(let text)): Self.flaw(inUser: text)
        case (.address, .string(let text)): text.hasPrefix("https://") ? nil : RongCloudFlaw("it must begin with https://")
        case (.flag, .bool): nil
        case (.number(let range), .integer(let number)):
            range.contains(number) ? nil : RongCloudFlaw("it must be from \(range.lowerBound) to \(range.upperBound)")
        case (.choice(let names), .string(let text)):
            names.contains(text) ? nil : RongCloudFlaw("it must be one of \(names.joined(separator: ", "))")
        case (.list(let shape, let counts), .array(let values)): Self.flaw(in: values, shape, counts)
        case (.texts, .object(let members)):
            Self.repetition(in: members)
                ?? members.lazy.compactMap { RongCloudShape.text(0 ... .max).flaw(in: $0.value)?.below($0.name) }.first
        case (.object(let shapes, let required), .object(let members)): Self.flaw(in: members, shapes, required)
        default: RongCloudFlaw("it must be \(words)")
        }
    }

    private var words: String {
        switch self {
        case .text, .shown, .user, .address, .choice: "a text"
        case .flag: "true or false"
        case .number: "a whole number"
        case .list: "a list"
        case .texts: "an object whose values are texts"
        case .object: "an object"
        }
    }

    private static func flaw(in text: String, _ lengths: ClosedRange<Int>) -> RongCloudFlaw? {
        let count = text.utf16.count
        if count > lengths.upperBound { return RongCloudFlaw("at most \(lengths.upperBound) characters are allowed", code: 1005) }
        return count < lengths.lowerBound ? RongCloudFlaw("it must not be empty") : nil
    }

    private static func flaw(inUser text: String) -> RongCloudFlaw? {
        guard !text.isEmpty, text.utf8.allSatisfy({ isLetterOrDigit($0) || "+=-_".utf8.contains($0) }) else {
            return RongCloudFlaw("it is no user ID")
        }
        return text.utf8.count > mostUserCharacters ? RongCloudFlaw("a user ID has at most 64 characters", code: 1005) : nil
    }

    private static func flaw(in values: [JSONValue], _ shape: RongCloudShape, _ counts: ClosedRange<Int>) -> RongCloudFlaw? {
        guard counts.contains(values.count) else {
            return RongCloudFlaw("\(values.count) values, \(counts.lowerBound) to \(counts.upperBound) are allowed")
        }
        return values.enumerated().lazy.compactMap { shape.flaw(in: $0.element)?.below("\($0.offset)") }.first
    }

    private static func flaw(in members: [JSONMember], _ shapes: [String: RongCloudShape], _ required: [String]) -> RongCloudFlaw? {
        if let repetition = repetition(in: members) { return repetition }
        for member in members {
            guard let shape = shapes[member.name] else { return RongCloudFlaw("unknown name").below(member.name) }
            if let flaw = shape.flaw(in: member.value) { return flaw.below(member.name) }
        }
        let missing = required.first { name in !members.contains { $0.name == name } }
        return missing.map { RongCloudFlaw("it is required").below($0) }
    }

    private static func repetition(in members: [JSONMember]) -> RongCloudFlaw? {
        var seen: Set<String> = []
        return members.first { !seen.insert($0.name).inserted }.map { RongCloudFlaw("it occurs more than once").below($0.name) }
    }
}

/// What is wrong with a value, where, and the code that RongCloud answers.
struct RongCloudFlaw {
    var code: Int
    var flaw: JSONFlaw

    init(_ text: String, code: Int = 1002) { (self.code, flaw) = (code, JSONFlaw(text)) }

    /// The same flaw, of a value within a member.
    func below(_ name: String) -> RongCloudFlaw {
        var flaw = self
        flaw.flaw = flaw.flaw.below(name)
        return flaw
    }
}
