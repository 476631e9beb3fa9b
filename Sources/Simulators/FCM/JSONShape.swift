import Base

/// What the documentation says about the form of a JSON value, so that a strict check can refuse
/// everything else.
indirect enum JSONShape: Sendable {
    case text, flag, wholeNumber, fraction
    /// Text in capitals or not: `HIGH`.
    case choice([String])
    /// Seconds with up to nine decimals and `s`: `3.5s`. Source: google.protobuf.Duration in JSON.
    case duration
    case list(JSONShape)
    /// An object of any names, each with a text.
    case texts
    /// An object of any content.
    case anyObject
    /// An object with these names and no others. They are written in snake_case; lowerCamelCase is
    /// the same name.
    case object([String: JSONShape])

    /// The first place where a value differs from its shape; nil if it does not.
    func flaw(in value: JSONValue) -> JSONFlaw? {
        switch (self, value) {
        // Google's own SDK for Python writes 1 and 0 (firebase-admin-python, `encode_boolean`).
        case (.text, .string), (.flag, .bool), (.flag, .integer(0...1)), (.wholeNumber, .integer),
            (.fraction, .integer),
            (.fraction, .double):
            nil
        case (.choice(let names), .string(let text)):
            names.contains(text.uppercased()) ? nil : JSONFlaw("Invalid value: \(text)")
        case (.duration, .string(let text)):
            Self.seconds(text) == nil ? JSONFlaw("Illegal duration format; duration must end with 's'") : nil
        case (.list(let shape), .array(let values)):
            values.enumerated().lazy.compactMap { index, value in shape.flaw(in: value)?.below("\(index)") }.first
        case (.texts, .object(let members)):
            Self.repeatedName(members)
                ?? members.lazy.compactMap { JSONShape.text.flaw(in: $0.value)?.below($0.name) }.first
        case (.anyObject, .object): Self.repetition(in: value)
        case (.object(let shapes), .object(let members)): Self.flaw(in: members, shapes)
        default: JSONFlaw("Invalid value: it should be \(words)")
        }
    }

    private var words: String {
        switch self {
        case .text, .choice, .duration: "a text"
        case .flag: "true or false"
        case .wholeNumber: "a whole number"
        case .fraction: "a number"
        case .list: "a list"
        case .texts: "an object whose values are texts"
        case .anyObject, .object: "an object"
        }
    }

    private static func flaw(in members: [JSONMember], _ shapes: [String: JSONShape]) -> JSONFlaw? {
        for (index, member) in members.enumerated() {
            let name = snakeCase(member.name)
            if members[..<index].contains(where: { snakeCase($0.name) == name }) {
                return JSONFlaw.repeated(member.name)
            }
            guard let shape = shapes[name] else {
                return JSONFlaw("Unknown name \"\(member.name)\": Cannot find field.")
            }
            if let flaw = shape.flaw(in: member.value) { return flaw.below(name) }
        }
        return nil
    }

    /// A name that occurs twice in an object, at any depth.
    private static func repetition(in value: JSONValue) -> JSONFlaw? {
        switch value {
        case .array(let values):
            values.enumerated().lazy.compactMap { repetition(in: $0.element)?.below("\($0.offset)") }.first
        case .object(let members):
            repeatedName(members) ?? members.lazy.compactMap { repetition(in: $0.value)?.below($0.name) }.first
        default: nil
        }
    }

    private static func repeatedName(_ members: [JSONMember]) -> JSONFlaw? {
        guard members.count > 1 else { return nil }
        var seen: Set<String> = []
        return members.first { !seen.insert($0.name).inserted }.map { .repeated($0.name) }
    }

    /// A name in snake_case, as the tables write it.
    static func snakeCase(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }) else { return name }
        return String(name.flatMap { $0.isASCII && $0.isUppercase ? "_\($0.lowercased())" : "\($0)" })
    }

    /// The seconds of a duration; nil for another text.
    static func seconds(_ text: String) -> Double? {
        guard text.utf8.last == UInt8(ascii: "s") else { return nil }
        let number = text.utf8.dropLast()
        let parts = number.drop { $0 == UInt8(ascii: "-") }.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // Google's durations have at most twelve digits before the point and nine behind it.
        guard number.starts(with: "--".utf8) == false, (1...2).contains(parts.count),
            parts.allSatisfy({ $0.allSatisfy(isDigit) }),
            zip(parts, [1...12, 1...9]).allSatisfy({ $1.contains($0.count) })
        else { return nil }
        return Double(Substring(number))
    }
}

/// What is wrong with a JSON value, and where.
struct JSONFlaw: Equatable {
    /// The names that lead to the value, the outermost first.
    var path: [String] = []
    var text: String

    init(_ text: String, at path: [String] = []) { (self.text, self.path) = (text, path) }

    static func repeated(_ name: String) -> JSONFlaw { JSONFlaw("The name \"\(name)\" occurs more than once") }

    /// The same flaw, of a value within a member.
    func below(_ name: String) -> JSONFlaw { JSONFlaw(text, at: [name] + path) }

    /// The path as FCM writes it: `message.android.ttl`.
    var field: String { path.joined(separator: ".") }
}
