/// What targets are called in sentences.
extension TargetForm {
    /// Several of them: "device tokens".
    public var nouns: String { noun + "s" }

    /// One of them, where the sentence speaks of a device anyway: "token".
    public var shortNoun: String {
        let device = "device "
        return noun.hasPrefix(device) ? String(noun.dropFirst(device.count)) : noun
    }

    /// Several of them, where the sentence speaks of devices anyway: "tokens".
    public var shortNouns: String { shortNoun + "s" }
}
