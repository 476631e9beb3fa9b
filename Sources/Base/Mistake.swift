/// What is wrong with a piece of text, before the place of the text is known. With its place it becomes a `Diagnostic`.
public struct Mistake: Error, Hashable, Sendable {
    /// What is wrong, without a final full stop.
    public var message: String
    /// What to do, whole sentences; nil if the message already says it.
    public var remedy: String?
    /// The place in the text, in UTF-8 bytes from its start.
    public var utf8Offset: Int

    /// A mistake.
    public init(_ message: String, remedy: String? = nil, at utf8Offset: Int = 0) {
        self.message = message
        self.remedy = remedy
        self.utf8Offset = utf8Offset
    }
}

extension Diagnostic {
    /// A mistake with its place.
    public init(_ mistake: Mistake, at position: SourcePosition) {
        self.init(mistake.message, at: position, remedy: mistake.remedy)
    }

    /// A mistake in a file, or in no file.
    public init(_ mistake: Mistake, file: String? = nil) { self.init(mistake.message, file: file, remedy: mistake.remedy) }
}
