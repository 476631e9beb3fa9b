import Base

extension ContentMember {
    /// What is wrong with a member of a group in which a service carries nothing but texts; nil for
    /// a text.
    /// - Parameters:
    ///   - group: the group's key.
    ///   - service: its name in sentences.
    func mistakeUnlessText(in group: String, of service: String) -> Diagnostic? {
        let name = name.value
        let (found, remedy): (String, String)
        switch value {
        case .text: return nil
        case .null: (found, remedy) = ("no value", "Remove the key, or write \(name): \"\".")
        case .bool(let value, _): (found, remedy) = ("a truth value", "Put it in quotes: \(name): \"\(value)\".")
        case .integer(let number, _): (found, remedy) = ("a number", "Put it in quotes: \(name): \"\(number)\".")
        case .double(let number, _):
            (found, remedy) = ("a number", "Put it in quotes: \(name): \"\(JSONValue.double(number).text)\".")
        case .array:
            (found, remedy) = (
                "a list", "Write it as one text, for example \(name): \"a,b\", and let the app take it apart."
            )
        case .object:
            (found, remedy) = ("a group of keys", "Write its keys directly under '\(group)', each with a text.")
        }
        return Diagnostic(
            "'\(name)' in '\(group)' is \(found), and \(service) carries only texts there", at: value.position,
            remedy: remedy)
    }
}
