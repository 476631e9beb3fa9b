public import Base

/// What sending needs of a recipient. Texts are in memory that is only lent during the call.
public struct StoredPush {
    /// The recipient's id.
    public let id: Int
    /// The target in its stored form: hex digits in lower case, or the text that the service gives
    /// out.
    public let token: UnsafeBufferPointer<UInt8>
    /// The cells of the run's fields.
    public let cells: EscapedCells
    /// Blank when the export has none, or it was not requested.
    public let language: UnsafeBufferPointer<UInt8>
    /// Blank when the campaign has none, or it was not requested.
    public let variant: UnsafeBufferPointer<UInt8>
    /// The number of the service that takes it.
    public let service: Int
    /// Whether it may have been pushed to before: it was claimed and has no outcome, or is unknown.
    public var mayHaveArrived = false
    /// The attempts that are recorded for it.
    public var attempts = 0

    /// What sending needs of a recipient.
    public init(
        id: Int, token: UnsafeBufferPointer<UInt8>, cells: EscapedCells, language: UnsafeBufferPointer<UInt8>,
        variant: UnsafeBufferPointer<UInt8>, service: Int = 0
    ) {
        self.id = id
        self.token = token
        self.cells = cells
        self.language = language
        self.variant = variant
        self.service = service
    }
}
