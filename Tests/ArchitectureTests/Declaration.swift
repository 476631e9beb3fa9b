import Foundation

/// A function or an initialiser, with its required arguments.
struct Declaration {
    /// As in `func send` or `init`.
    let name: String
    /// The line on which it begins, from 1 on.
    let line: Int
    /// Names of parameters without a default.
    let required: [String]
    /// Its body begins after these characters of the code.
    private let end: Int
    private let code: [Character]

    /// Those of code without comments and literals.
    static func all(in text: String) -> [Declaration] {
        let code = Array(text)
        return text.matches(of: #/(?:\b(func\s+[\w`]+)|[^.\w](init))\??\s*(?:<[^(]*>)?\(/#).compactMap { match in
            let start = text.distance(from: text.startIndex, to: match.range.upperBound)
            guard let name = match.output.1 ?? match.output.2, let (parameters, end) = parameters(in: code, from: start)
            else { return nil }
            return Declaration(
                name: String(name), line: 1 + text[..<name.startIndex].count { $0 == "\n" },
                required: parameters.filter { !$0.contains(" = ") }.compactMap { Self.name(of: $0) }, end: end,
                code: code)
        }
    }

    /// Whether it only stores its arguments: such an initialiser lists the parts of a value.
    var isMemberwise: Bool {
        guard name.hasPrefix("init") else { return false }
        let body = String(code[end...].prefix(4_000))
        return required.allSatisfy { body.contains("self.\($0) = \($0)\n") }
    }

    /// The parameters of a list that begins at an index, and the index of its end; nil for a call.
    private static func parameters(in code: [Character], from start: Int) -> (parameters: [String], end: Int)? {
        var (depth, index, parameters) = (1, start, [""])
        while index < code.count {
            let character = code[index]
            if "([{<".contains(character) { depth += 1 }
            if ")]}".contains(character) || character == ">" && code[index - 1] != "-" { depth -= 1 }
            if depth == 0 { break }
            if character == ",", depth == 1 {
                parameters.append("")
            } else {
                parameters[parameters.count - 1].append(character)
            }
            index += 1
        }
        parameters = parameters.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
        return parameters.allSatisfy { name(of: $0) != nil } ? (parameters, index) : nil
    }

    /// `size` of `of size: Int`.
    private static func name(of parameter: String) -> String? {
        parameter.firstMatch(of: #/^(?:@\w+(?:\([^)]*\))?\s+)*(?:[\w`]+\s+)?([\w`]+)\s*:/#).map { String($0.1) }
    }
}
