import Base

/// What the documentation says about a JSON value, limits included, so that a strict check can refuse everything else. Names are as they
/// are written: Getui knows no other spelling of them.
indirect enum GetuiShape: Sendable {
    /// A text of so many characters, counted as Java counts them: in units of UTF-16.
    case text(ClosedRange<Int>)
    /// A text of these characters.
    case name(ClosedRange<Int>, also: StaticString)
    case flag
    case number(ClosedRange<Int64>)
    /// A whole number, or a text of its digits: the documentation says number, and Getui's own SDK writes text.
    case digits(ClosedRange<Int64>)
    /// A number that replaces a badge, or is added to it: `1`, `+1`, `-1`.
    case badge
    case choice([String])
    case list(GetuiShape, ClosedRange<Int>)
    /// An object of these names, each with a value of the same shape.
    case table([String], GetuiShape)
    /// An object with these names and no others.
    case object([String: GetuiShape], required: [String] = [])

    /// The first place where a value differs from its shape; nil if it does not.
    func flaw(in value: JSONValue) -> JSONFlaw? {
        switch (self, value) {
        case (.text(let lengths), .string(let text)):
            lengths.contains(text.utf16.count)
                ? nil : JSONFlaw("\(text.utf16.count) characters, \(lengths.lowerBound) to \(lengths.upperBound) are allowed")
        case (.name(let lengths, let others), .string(let text)):
            lengths.contains(text.utf8.count) && text.utf8.allSatisfy { isLetterOrDigit($0) || others.bytes.contains($0) }
                ? nil : JSONFlaw("a character or a length that is not allowed")
        case (.flag, .bool): nil
        case (.number(let range), .integer(let number)): Self.flaw(number, range)
        case (.digits(let range), .integer(let number)): Self.flaw(number, range)
        case (.digits(let range), .string(let text)):
            text.utf8.allSatisfy(isDigit) ? Int64(text).map { Self.flaw($0, range) } ?? JSONFlaw("not a number") : JSONFlaw("not a number")
        case (.badge, .string(let text)):
            text.wholeMatch(of: /[+-]?[0-9]{1,9}/) == nil ? JSONFlaw("not a badge") : nil
        case (.choice(let names), .string(let text)): names.contains(text) ? nil : JSONFlaw("none of \(names.joined(separator: ", "))")
        case (.list(let shape, let counts), .array(let values)): Self.flaw(in: values, shape, counts)
        case (.table(let names, let shape), .object(let members)):
            Self.flaw(in: members, Dictionary(uniqueKeysWithValues: names.map { ($0, shape) }), required: [])
        case (.object(let shapes, let required), .object(let members)): Self.flaw(in: members, shapes, required: required)
        default: JSONFlaw("it should be \(words)")
        }
    }

    private var words: String {
        switch self {
        case .text, .name, .badge, .choice: "a text"
        case .flag: "true or false"
        case .number, .digits: "a whole number"
        case .list: "a list"
        case .table, .object: "an object"
        }
    }

    private static func flaw(_ number: Int64, _ range: ClosedRange<Int64>) -> JSONFlaw? {
        range.contains(number) ? nil : JSONFlaw("\(number) is not within \(range.lowerBound) and \(range.upperBound)")
    }

    private static func flaw(in values: [JSONValue], _ shape: GetuiShape, _ counts: ClosedRange<Int>) -> JSONFlaw? {
        guard counts.contains(values.count) else {
            return JSONFlaw("\(values.count) values, \(counts.lowerBound) to \(counts.upperBound) are allowed")
        }
        return values.enumerated().lazy.compactMap { index, value in shape.flaw(in: value)?.below("\(index)") }.first
    }

    private static func flaw(in members: [JSONMember], _ shapes: [String: GetuiShape], required: [String]) -> JSONFlaw? {
        for (index, member) in members.enumerated() {
            if members[..<index].contains(where: { $0.name == member.name }) { return .repeated(member.name) }
            guard let shape = shapes[member.name] else { return JSONFlaw("unknown", at: [member.name]) }
            if let flaw = shape.flaw(in: member.value) { return flaw.below(member.name) }
        }
        return required.first { name in !members.contains { $0.name == name } }.map { JSONFlaw("missing", at: [$0]) }
    }
}
