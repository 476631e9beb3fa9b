/// Where a push goes, by the name under which the service knows an app on a device, or a user: a device token, a registration id. What it looks like,
/// only the service knows (`TargetForm`).
public struct Target: Hashable, Sendable, CustomStringConvertible {
    /// As requests name it.
    public let text: String

    /// Takes what is known to be a target in the form in which it is kept.
    public init(normalized text: String) { self.text = text }

    /// The first and last four characters, the most that any log, error or page may show.
    public var redacted: String { Self.redact(text) }

    /// A text in which the target, in capitals or small letters, is shortened wherever it stands.
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
