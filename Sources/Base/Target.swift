/// Where a push goes: the name by which the service knows an app on a device, or a user, such as a device token or a registration id. Only
/// the service knows what it looks like (`TargetForm`).
public struct Target: Hashable, Sendable, CustomStringConvertible {
    /// As in requests.
    public let text: String

    /// Takes a text that is known to be a target in its stored form.
    public init(normalized text: String) { self.text = text }

    /// The first and last four characters, the most that any log, error or page may show.
    public var redacted: String { Self.redact(text) }

    /// A text in which the target is shortened wherever it occurs, in capitals or small letters.
    public func redacted(in text: String) -> String {
        let (target, bytes) = (Array(self.text.utf8), Array(text.utf8))
        guard bytes.count >= target.count else { return text }
        var shown: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let isTarget = index + target.count <= bytes.count && zip(bytes[index...], target).allSatisfy { $0 == $1 || $0 | 0x20 == $1 }
            shown += isTarget ? Array(redacted.utf8) : [bytes[index]]
            index += isTarget ? target.count : 1
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// The redacted form: printing a target by accident must not reveal it.
    public var description: String { redacted }

    /// Shortens anything that may be a target to its first and last four characters.
    public static func redact(_ text: String) -> String {
        text.count <= 8 ? "…" : "\(text.prefix(4))…\(text.suffix(4))"
    }
}
