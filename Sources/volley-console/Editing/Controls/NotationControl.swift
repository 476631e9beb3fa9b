import Base
import Campaigns

/// Values with a notation of their own, such as `5000/s`: a field for each of their parts, so that
/// people need not know it.
enum Notation: Sendable {
    /// `5000/s`
    case pace
    /// `21:00-08:00`
    case hours
    /// `4h`; `0` for now or never.
    case expiry
    /// `at most 2 per 7 days`
    case frequency
    /// `20%`
    case percent

    /// One field.
    struct Part {
        enum Look { case number, time, choice([(value: String, words: String)]) }

        var name: String
        var label: String
        var look: Look
    }

    var parts: [Part] {
        func units(_ units: [(String, String)]) -> Part {
            Part(name: "unit", label: "Unit", look: .choice(units.map { ($0.0, $0.1) }))
        }
        switch self {
        case .pace:
            return [
                Part(name: "number", label: "Pushes", look: .number),
                units([("s", "a second"), ("min", "a minute"), ("h", "an hour")]),
            ]
        case .hours:
            return [Part(name: "from", label: "From", look: .time), Part(name: "until", label: "Until", look: .time)]
        case .expiry:
            return [
                Part(name: "number", label: "Up to; 0 for now or never", look: .number),
                units([("h", "hours"), ("min", "minutes"), ("d", "days"), ("w", "weeks")]),
            ]
        case .frequency:
            return [
                Part(name: "number", label: "At most", look: .number),
                Part(name: "length", label: "pushes in", look: .number),
                units([("day", "days"), ("hour", "hours"), ("week", "weeks")]),
            ]
        case .percent: return [Part(name: "number", label: "Percent", look: .number)]
        }
    }

    /// The values of the parts; nil for a text that they cannot show.
    func split(_ text: String) -> [String]? {
        switch self {
        case .pace:
            guard let match = text.wholeMatch(of: /([0-9]+) ?\/ ?(s|min|h)/) else { return nil }
            return [String(match.1), String(match.2)]
        case .hours:
            guard let match = text.wholeMatch(of: /([0-9]{1,2}:[0-9]{2}) ?- ?([0-9]{1,2}:[0-9]{2})/),
                (try? QuietHours(text)) != nil
            else {
                return nil
            }
            return [match.1, match.2].map { $0.count == 4 ? "0\($0)" : $0 == "24:00" ? "00:00" : String($0) }
        case .expiry:
            if text == "0" { return ["0", "h"] }
            guard let match = text.wholeMatch(of: /([0-9]+) ?(min|h|d|w)/) else { return nil }
            return [String(match.1), String(match.2)]
        case .frequency:
            let pattern = /(?:at most )?([0-9]+)(?: pushes| push| times| time)? per (?:([0-9]+) )?(day|hour|week)s?/
            guard let match = text.wholeMatch(of: pattern) else { return nil }
            return [String(match.1), match.2.map { String($0) } ?? "1", String(match.3)]
        case .percent:
            guard let match = text.wholeMatch(of: /([0-9]+(?:\.[0-9]+)?) ?%/) else { return nil }
            return [String(match.1)]
        }
    }

    /// The text for values of the parts; blank for none.
    /// - Throws: a part is missing.
    func join(_ values: [String]) throws(Mistake) -> String {
        let number = values[0]
        try check(values)
        switch self {
        case .pace: return number.isEmpty ? "" : "\(number)/\(values[1])"
        case .hours:
            if values.allSatisfy(\.isEmpty) { return "" }
            guard !values[0].isEmpty, !values[1].isEmpty else {
                throw Mistake(
                    "one of the two times is missing", remedy: "Choose when these hours begin and end, or clear both.")
            }
            return values.map { String($0.prefix(5)) }.joined(separator: "-")
        case .expiry: return number.isEmpty || number == "0" ? number : number + values[1]
        case .frequency:
            if number.isEmpty, values[1].isEmpty { return "" }
            guard !number.isEmpty, !values[1].isEmpty else {
                throw Mistake(
                    "one of the two numbers is missing",
                    remedy: "Write how many pushes, and in which time; or clear both.")
            }
            return "at most \(number) per " + (values[1] == "1" ? values[2] : "\(values[1]) \(values[2])s")
        case .percent: return number.isEmpty ? "" : number.hasSuffix("%") ? number : number + "%"
        }
    }
}

extension Notation {
    /// - Throws: a number is none, in the words of the form.
    private func check(_ values: [String]) throws(Mistake) {
        for (part, value) in zip(parts, values) where !value.isEmpty {
            guard case .number = part.look else { continue }
            if case .percent = self {
                let digits = value.hasSuffix("%") ? String(value.dropLast()).trimming : value
                guard digits.wholeMatch(of: /[0-9]{1,3}(\.[0-9]{1,4})?/) != nil else {
                    throw Mistake("'\(value)' is not a percentage", remedy: "Write a number such as 20 or 0.5.")
                }
            } else {
                guard value.wholeMatch(of: /[0-9]{1,9}/) != nil else {
                    throw Mistake("'\(value)' is not a whole number", remedy: "Write it with digits only, such as 500.")
                }
            }
        }
    }
}

/// The fields of a value with a notation.
enum NotationControl {
    private static func part(_ name: String, _ part: Notation.Part) -> String { "\(name).\(part.name)" }

    /// The names of the fields.
    static func names(_ name: String, _ notation: Notation) -> [String] { notation.parts.map { part(name, $0) } }

    /// What the parts cannot show stays one field of text, so that an untouched value does not
    /// change.
    static func html(_ value: ShownValue, _ notation: Notation, note: HTML = "") -> HTML {
        let typed = names(value.name, notation).map { value.typed[$0] ?? "" }
        let values: [String]
        if typed.contains(where: { !$0.isEmpty }) {
            values = typed
        } else if value.text.isEmpty {
            values = notation.parts.map { _ in "" }
        } else if let split = notation.split(value.text) {
            values = split
        } else {
            return value.line(note: note)
        }
        let inputs: [HTML] = zip(notation.parts, values).map { part, held in
            let name = Self.part(value.name, part)
            switch part.look {
            case .number:
                return GroupInput.labelled(
                    "\(part.label)", name: name, value: held, attributes: " inputmode=\"decimal\"")
            case .time:
                return GroupInput.labelled("\(part.label)", name: name, value: held, attributes: " type=\"time\"")
            case .choice(let options): return GroupInput.choice("\(part.label)", name: name, value: held, options)
            }
        }
        return value.group("<div class=\"parts\">\(inputs)</div>\(note)")
    }

    /// The values of a form's fields, as the source writes them.
    /// - Parameter shown: what the source held.
    /// - Returns: `shown` where both mean the same; nil when the form has no such fields.
    /// - Throws: a part is missing.
    static func text(_ name: String, _ notation: Notation, _ form: [String: String], shown: String) throws(Mistake)
        -> String?
    {
        let values = names(name, notation).map { form[$0]?.trimming }
        guard !values.contains(where: { $0 == nil }) else { return form[name] }
        let text = try notation.join(values.map { $0 ?? "" })
        guard let held = notation.split(shown), let same = try? notation.join(held) else { return text }
        return same == text ? shown : text
    }
}
