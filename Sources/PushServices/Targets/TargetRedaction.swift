import Base

/// How texts are shown that may contain targets of any service where something else is expected: a cell, a name, a line of a file.
public enum TargetRedaction {
    /// The short form of a text that can only be a target, or one with a slip; nil for others.
    public static func certain(_ text: String) -> String? { forms.contains { $0.resembles(text) } ? Target.redact(text) : nil }

    /// The form of the targets that a text can only be one of; nil if it can be anything else.
    public static func form(ofCertain text: String) -> TargetForm? { forms.first { $0.isCertain(text) } }

    /// The short form, normalised, of a text that may be a target, or else a number or a name, and of a target with a slip; nil for others.
    public static func possible(_ text: String) -> String? {
        forms.lazy.filter { $0.recognizes(text) }.compactMap { $0.target(text)?.redacted }.first ?? certain(text)
    }

    /// A line in which each target is shortened. A long line without a target is shortened as a whole.
    public static func line(_ text: String) -> String {
        let (bytes, targets) = (Array(text.utf8), Hex.runs(in: text))
        if targets.isEmpty { return text.count < 20 ? text : Target.redact(text) }
        var (shown, start) = ("", 0)
        // What is between hex digits may be a target of another service.
        for target in targets {
            shown += SecretText.withoutTokens(String(decoding: bytes[start..<target.lowerBound], as: UTF8.self))
            shown += Target.redact(String(decoding: bytes[target], as: UTF8.self))
            start = target.upperBound
        }
        return shown + SecretText.withoutTokens(String(decoding: bytes[start...], as: UTF8.self))
    }

    private static let forms = PushServices.all.map(\.target)
}

extension TargetForm {
    /// From this many characters on, a text is not shown whole; nil if names and numbers look the same. Where every target tells, one that
    /// lost a few characters on its way is shorter than any, and shows as much.
    var fewestHidden: Int? {
        tellingLength.map { $0 > lengths.lowerBound ? $0 : $0 - 4 }
    }

    /// Whether a text is a target, or one with a slip: cut off, or in capitals.
    func resembles(_ text: String) -> Bool {
        fewestHidden.map { text.utf8.count >= $0 } ?? false && text.utf8.allSatisfy(isNearCharacter) && !isForeign(text.utf8)
    }

    /// Whether a byte is in a target, or in one that a person or a program changed.
    private func isNearCharacter(_ byte: UInt8) -> Bool {
        if case .hex = notation { return isCharacter(byte) }
        return isCharacter(byte) || ASCIISet.lettersAndDigits.contains(byte)
    }

    /// Whether enough bytes cannot be a target's, in either case, to show that the text is a name rather than a target with a slip.
    private func isForeign(_ text: some Sequence<UInt8>) -> Bool {
        let mostSlips = 2
        return text.count { byte in
            let isLetter = ASCIISet.lettersAndDigits.contains(byte) && byte > UInt8(ascii: "9")
            return !isCharacter(byte) && !(isLetter && isCharacter(byte ^ 0x20))
        } > mostSlips
    }
}
