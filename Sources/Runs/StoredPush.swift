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

/// A recipient and its outcome, as in the run file. Valid only during the call: texts stay in
/// SQLite's own memory.
public struct StoredResult {
    /// The dense id.
    public let id: Int
    /// The target in its stored form: hex digits in lower case, or the text that the service gives
    /// out.
    public let token: UnsafeBufferPointer<UInt8>
    /// Blank when the export had none.
    public let registrationID: UnsafeBufferPointer<UInt8>, alias: UnsafeBufferPointer<UInt8>,
        language: UnsafeBufferPointer<UInt8>
    /// Blank when the campaign has no variants.
    public let variant: UnsafeBufferPointer<UInt8>
    /// The number of the service that takes its push.
    public let service: Int
    let isClaimed: Bool
    let slot: OutcomeSlot?
    /// The service's reason, or Volley's; blank for none.
    public let reason: String

    /// Its outcome: as recorded, or `unknown` when it was only claimed, or `unsent`.
    public var outcome: Outcome { slot?.outcome ?? (isClaimed ? .unknown : .unsent) }
    /// The last HTTP status; 0 without an answer.
    public var status: Int { slot?.status ?? 0 }
    /// How often it was handed to the wire, as far as it is recorded.
    public var attempts: Int { slot?.attempts ?? 0 }
    /// Of the answer.
    public var latencyMilliseconds: Int { slot?.latencyMilliseconds ?? 0 }
    /// When the outcome was recorded; nil when none is.
    public var settledAt: Timestamp? { slot?.settledAt }
    /// Whether anything is recorded of it.
    public var isRecorded: Bool { slot != nil }
    /// Whether it may have been on the wire.
    public var mayHaveBeenSent: Bool { attempts > 0 || outcome == .unknown }
    /// Whether it is not known how often it was handed to the wire, if at all: the process that
    /// would have recorded it ended.
    public var hasUnknownAttempts: Bool { attempts == 0 && outcome == .unknown }
}
