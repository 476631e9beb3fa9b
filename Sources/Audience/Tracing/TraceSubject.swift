public import Base
public import PushServices

/// The subject of a trace, as typed: a device token, in full or as `7276…89f1`, an alias, or a
/// registration id.
public struct TraceSubject: Sendable {
    private enum Token: Sendable {
        case none
        /// In the forms of all services that have such targets.
        case whole([[UInt8]])
        /// The first and the last characters, the same way.
        case parts([(first: [UInt8], last: [UInt8])])
    }

    private let token: Token
    private let name: [UInt8]
    /// As it was typed: a cell that is not a token is compared unchanged.
    private let typed: [UInt8]
    /// As it may be shown: a full token is shortened.
    public let shown: String

    /// Digits that must be given at either end of a shortened token.
    private static let fewestDigits = 4

    /// - Parameter forms: what the targets of each service look like, at least one.
    /// - Throws: `Diagnostic`: nothing was typed, or a shortened token has too few digits.
    public init(_ text: String, _ forms: [TargetForm] = [PushServices.standard.target]) throws(Diagnostic) {
        typed = Array(trimmedText(text).utf8)
        let text = forms.reduce(trimmedText(text)) { Self.withoutMarks($0, $1) }
        guard !text.isEmpty else { throw Diagnostic("no device is named", remedy: Self.remedy(forms[0])) }
        name = Array(text.utf8)
        let whole = forms.compactMap { $0.target(text) }
        if let first = whole.first {
            token = .whole(whole.map { Array($0.text.utf8) })
            // An alias of eight digits is not a secret; a token has many more digits.
            shown = forms.contains { $0.isCertain(text) } ? first.redacted : text
            return
        }
        shown = SecretText.withoutTokens(text)
        let parts = forms.compactMap { Self.parts(text, $0) }
        guard let first = parts.first else {
            token = .none
            return
        }
        guard min(first.first.count, first.last.count) >= Self.fewestDigits else {
            throw Diagnostic(
                "'\(shown)' has too few digits to identify \(forms[0].aShortNoun)", remedy: Self.remedy(forms[0]))
        }
        token = .parts(parts)
    }

    /// A token without characters that are copied with it: `<…>`, quotes, a comma after it.
    private static func withoutMarks(_ text: String, _ targets: TargetForm) -> String {
        let marks: Set<Character> = ["<", ">", "\"", "'", ",", ";", ":", ".", "(", ")", "[", "]", " "]
        let inside = text.drop(while: marks.contains).reversed().drop(while: marks.contains).reversed()
        let digits = String(inside).filter { $0 != " " }
        return targets.isCertain(digits) ? digits : text
    }

    private static func remedy(_ targets: TargetForm) -> String {
        let others = targets.noun == TargetForm.registrationID ? " or an alias" : ", an alias, or a registration id"
        return "Name \(targets.aNoun) (in full, or as \(targets.example))\(others)."
    }

    /// The digits around `…` or `...`; nil when this is not a shortened token.
    private static func parts(_ text: String, _ targets: TargetForm) -> (first: [UInt8], last: [UInt8])? {
        for gap in ["…", "..."] {
            guard let range = text.firstRange(of: gap) else { continue }
            guard let first = targets.part(text[..<range.lowerBound]),
                let last = targets.part(text[range.upperBound...])
            else { continue }
            return (first, last)
        }
        return nil
    }

    /// Whether a normalised token is meant.
    package func names(token digits: [UInt8]) -> Bool {
        switch token {
        case .none: false
        case .whole(let whole): whole.contains(digits)
        case .parts(let parts):
            parts.contains { first, last in
                digits.count >= first.count + last.count && digits.starts(with: first)
                    && digits.suffix(last.count).elementsEqual(last)
            }
        }
    }

    /// Whether a cell is meant that should be a token and is not.
    func names(badToken cell: UnsafeBufferPointer<UInt8>) -> Bool {
        cell.elementsEqual(typed) || cell.elementsEqual(name)
    }

    /// Whether an alias or a registration id is meant.
    package func names(_ cell: UnsafeBufferPointer<UInt8>) -> Bool { cell.elementsEqual(name) }
}
