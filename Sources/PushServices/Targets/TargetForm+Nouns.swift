/// What targets are called in sentences.
extension TargetForm {
    /// One of them, where the sentence speaks of a device anyway: "token".
    public var shortNoun: String {
        let device = "device "
        return noun.hasPrefix(device) ? String(noun.dropFirst(device.count)) : noun
    }

    /// Several of them, where the sentence speaks of devices anyway: "tokens".
    public var shortNouns: String { shortNoun + "s" }
}
