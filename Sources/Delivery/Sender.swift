public import Base

/// Pushes on their way to the sender, a batch at a time: one arena of bytes, no allocation per push.
public struct PushBatch: Sendable {
    /// One push: the recipient's id, and where its token (hex) and payload lie in `bytes`.
    public struct Push: Hashable, Sendable {
        /// The dense id within the run.
        public var recipient: Int
        /// Token in `bytes[start..<payloadStart]`, payload in `bytes[payloadStart..<end]`.
        public var start: Int, payloadStart: Int, end: Int
    }

    /// In sending order.
    public private(set) var pushes: [Push] = []
    /// Tokens and payloads one after the other.
    public private(set) var bytes: [UInt8] = []

    /// An empty batch.
    public init() {}

    /// Adds a push.
    public mutating func append(recipient: Int, token: String, payload: [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: token.utf8)
        let payloadStart = bytes.count
        bytes.append(contentsOf: payload)
        pushes.append(Push(recipient: recipient, start: start, payloadStart: payloadStart, end: bytes.count))
    }
}

/// How a sender's run ended.
public enum SendEnd: Hashable, Sendable {
    /// The source is exhausted and every push settled.
    case finished
    /// It would have been wrong to go on: what happened and what to check, a whole sentence or two. What was not on the wire is unsent.
    case stopped(reason: String)
    /// Someone asked it to stop.
    case interrupted
}

/// A word from another thread to a sender that runs.
public final class SendControl: Sendable {
    /// Nothing asked yet.
    public init() { fatalError("skeleton") }
    /// Submit nothing more, wait a bounded time for answers, settle the rest as unsent or unknown, and end. Safe to call from any thread.
    public func interrupt() { fatalError("skeleton") }
    /// Whether `interrupt` was called.
    public var isInterrupted: Bool { fatalError("skeleton") }
}

/// Pushes batches to APNs through libcurl. Every push taken from the source is settled exactly once, whatever happens.
public struct Sender {
    /// - Throws: a `Diagnostic` when the settings cannot work (an authority file that is missing or broken).
    public init(_ settings: SenderSettings) throws(Diagnostic) { fatalError("skeleton") }

    /// Runs on the calling thread until the source is closed and empty and everything in it is settled, or the run must stop.
    /// - Parameters:
    ///   - source: batches in sending order. On a stop the sender closes it and settles what it holds as unsent.
    ///   - results: settlements in groups, at least five times a second while there are any. Closed by the sender at its end.
    public func run(source: BoundedQueue<PushBatch>, results: BoundedQueue<[Settlement]>, control: SendControl) -> SendEnd { fatalError("skeleton") }
}
