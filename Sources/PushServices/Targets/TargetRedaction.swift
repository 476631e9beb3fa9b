import Base

/// How texts are shown that may contain targets of any service where something else is expected: a
/// cell, a name, a line of a file.
public enum TargetRedaction {
    /// The short form of a text that can only be a target, or one with a slip; nil for others.
    public static func certain(_ text: String) -> String? {
        forms.contains { $0.resembles(text) } ? Target.redact(text) : nil
    }

    /// The form of the targets that a text can only be one of; nil if it can be anything else.
    public static func form(ofCertain text: String) -> TargetForm? { forms.first { $0.isCertain(text) } }

    /// The short form, normalised, of a text that may be a target, or else a number or a name, and
    /// of a target with a slip; nil for others.
    public static func possible(_ text: String) -> String? {
        forms.lazy.filter { $0.recognizes(text) }.compactMap { $0.target(text)?.redacted }.first ?? certain(text)
    }

    /// A cell of an export, or a name from a campaign, as messages and pages may show it. What
    /// would be cut first could no longer be told from a target.
    public static func cell(_ text: String, maximumBytes: Int) -> String {
        TextFormat.foreign(withoutTargets(text), maximumBytes: maximumBytes)
    }

    /// A text in which each target that can be told from a name is shortened, also in base64 or
    /// with blanks or hyphens between its digits.
    public static func withoutTargets(_ text: String) -> String {
        certain(text) ?? withoutBase64(withoutGroups(SecretText.withoutTokens(text)))
    }

    /// From this many characters on, letters without an order are a token in base64.
    private static let fewestOfBase64 = 40

    private static func withoutBase64(_ text: String) -> String {
        guard text.utf8.count >= fewestOfBase64 else { return text }
        return text.replacing(/[A-Za-z0-9+\/_-]{38,}={0,2}/) { run in
            let run = String(run.output)
            guard run.utf8.count >= fewestOfBase64 else { return run }
            return run.hasSuffix("=") ? Target.redact(run) : SecretText.hidden(in: run)
        }
    }

    /// `9f3c1a2b 0d4e…`: hex digits that one kind of separator groups. A UUID is not a token.
    private static func withoutGroups(_ text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        guard scalars.count > SecretText.fewestHexDigits else { return text }
        var (shown, copied, start) = (String.UnicodeScalarView(), 0, 0)
        while start < scalars.count {
            let groups = groups(from: start, in: scalars)
            guard let last = groups.last else {
                start += 1
                continue
            }
            let lengths = groups.map(\.count)
            guard groups.count > 1, isGrouped(lengths) else {
                start = groups.count > 1 ? last.lowerBound : last.upperBound
                continue
            }
            shown += scalars[copied..<start]
            shown += Target.redact(String(String.UnicodeScalarView(groups.flatMap { scalars[$0] }))).unicodeScalars
            (copied, start) = (last.upperBound, last.upperBound)
        }
        return copied == 0 ? text : String(shown + scalars[copied...])
    }

    /// Whether these are the groups of a token: as many digits as nearly all have, or groups of one
    /// length, as programs write them. Ids and numbers in a row have others, and a UUID is not a
    /// token.
    private static func isGrouped(_ lengths: [Int]) -> Bool {
        let digits = lengths.reduce(0, +)
        guard digits >= SecretText.fewestHexDigits, lengths != [8, 4, 4, 4, 12] else { return false }
        // Words next to it may consist of such digits.
        let inner = Set(lengths.dropFirst().dropLast())
        return forms.contains { $0.usualLength == digits }
            || inner.count == 1 && [1, 2, 4, 8, 16].contains(inner.first)
    }

    /// The hex digits from a place on, up to the first scalar that is neither a digit nor the
    /// separator after the first group.
    private static func groups(from start: Int, in scalars: [Unicode.Scalar]) -> [Range<Int>] {
        var (groups, group, separator): ([Range<Int>], Int, Unicode.Scalar?) = ([], start, nil)
        for index in start...scalars.count {
            let scalar = index < scalars.count ? scalars[index] : "\u{FFFD}"
            if scalar.isASCII, Hex.isDigit(UInt8(scalar.value)) { continue }
            if group < index { groups.append(group..<index) }
            guard let kind = kind(ofSeparator: scalar), !groups.isEmpty, separator == nil || separator == kind else {
                break
            }
            (separator, group) = (kind, index + 1)
        }
        return groups
    }

    /// All blanks are of one kind.
    private static func kind(ofSeparator scalar: Unicode.Scalar) -> Unicode.Scalar? {
        "-:._".unicodeScalars.contains(scalar) ? scalar : Blank.isInvisible(scalar) ? " " : nil
    }

    /// A line in which each target is shortened. A long line without a target is shortened as a
    /// whole.
    public static func line(_ text: String) -> String {
        let (bytes, targets) = (Array(text.utf8), Hex.runs(in: text))
        if targets.isEmpty { return text.count < 20 ? text : Target.redact(text) }
        var (shown, start) = ("", 0)
        // What is between hex digits may be a target of another service.
        for target in targets {
            shown += withoutTargets(String(decoding: bytes[start..<target.lowerBound], as: UTF8.self))
            shown += Target.redact(String(decoding: bytes[target], as: UTF8.self))
            start = target.upperBound
        }
        return shown + withoutTargets(String(decoding: bytes[start...], as: UTF8.self))
    }

    private static let forms = PushServices.all.map(\.target)
}

extension TargetForm {
    /// From this many characters on, a text is not shown whole; nil if names and numbers look the
    /// same. Where every target tells, one that lost a few characters on its way is shorter than
    /// any, and shows as much.
    var fewestHidden: Int? {
        tellingLength.map { $0 > lengths.lowerBound ? $0 : $0 - 4 }
    }

    /// Whether a text is a target, or one with a slip: cut off, or in capitals.
    func resembles(_ text: String) -> Bool {
        fewestHidden.map { text.utf8.count >= $0 } ?? false && text.utf8.allSatisfy(isNearCharacter)
            && !isForeign(text.utf8)
    }

    /// Whether a byte is in a target, or in one that a person or a program changed.
    private func isNearCharacter(_ byte: UInt8) -> Bool {
        if case .hex = notation { return isCharacter(byte) }
        return isCharacter(byte) || ASCIISet.lettersAndDigits.contains(byte)
    }

    /// Whether enough bytes cannot be a target's, in either case, to show that the text is a name
    /// rather than a target with a slip.
    private func isForeign(_ text: some Sequence<UInt8>) -> Bool {
        let mostTypos = 2
        return text.count { byte in
            let isLetter = ASCIISet.lettersAndDigits.contains(byte) && byte > UInt8(ascii: "9")
            return !isCharacter(byte) && !(isLetter && isCharacter(byte ^ 0x20))
        } > mostTypos
    }
}
