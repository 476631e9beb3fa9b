/// What is wrong with a notation, before anyone knows where it stands.
public struct ScheduleMistake: Error, Hashable, Sendable {
    /// What is wrong, without a full stop.
    public var message: String
    /// What to do, a whole sentence.
    public var remedy: String
    /// Where in the text, in UTF-8 bytes.
    public var utf8Offset: Int

    init(_ message: String, remedy: String, at utf8Offset: Int = 0) {
        self.message = message
        self.remedy = remedy
        self.utf8Offset = utf8Offset
    }
}
