import Base

/// How texts are shown that may contain targets of any service where something else is expected: a cell, a name, a line of a file.
public enum TargetRedaction {
    /// The short form of a text that can only be a target; nil for others.
    public static func certain(_ text: String) -> String? { isCertain(text) ? Target.redact(text) : nil }

    /// Whether a text can only be a target.
    public static func isCertain(_ text: String) -> Bool {
        forms.contains { $0.isCertain(text) }
    }

    /// The short form, normalised, of a text that may be a target, or else a number or a name; nil if it cannot be a target.
    public static func possible(_ text: String) -> String? {
        forms.lazy.filter { $0.tellingLength != nil }.compactMap { $0.target(text)?.redacted }.first
    }

    /// A text in which everything that is written like a target, and as long as one, is shortened.
    public static func withoutTargets(_ text: String) -> String {
        forms.reduce(text) { text, form in form.tellingLength.map { form.shortened(text, from: $0) } ?? text }
    }

    /// A line in which each target is shortened. A long line without a target is shortened as a whole.
    public static func line(_ text: String) -> String {
        let (bytes, targets) = (Array(text.utf8), Hex.runs(in: text))
        if targets.isEmpty { return text.count < 20 ? text : Target.redact(text) }
        var (shown, start) = ("", 0)
        for target in targets {
            shown += String(decoding: bytes[start..<target.lowerBound], as: UTF8.self)
            shown += Target.redact(String(decoding: bytes[target], as: UTF8.self))
            start = target.upperBound
        }
        return shown + String(decoding: bytes[start...], as: UTF8.self)
    }

    private static let forms = PushServices.all.map(\.target)
}

extension TargetForm {
    /// A text in which each run of a target's characters is shortened if it has this length or more.
    fileprivate func shortened(_ text: String, from length: Int) -> String {
        var (shown, run): ([UInt8], [UInt8]) = ([], [])
        func flush() {
            shown += run.count < length ? run : Array(Target.redact(String(decoding: run, as: UTF8.self)).utf8)
            run = []
        }
        for byte in text.utf8 {
            if isCharacter(byte) {
                run.append(byte)
            } else {
                flush()
                shown.append(byte)
            }
        }
        flush()
        return String(decoding: shown, as: UTF8.self)
    }
}
