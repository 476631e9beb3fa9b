public import HTTP2

/// The deliberate faults of the simulator. Each fault is independent of the others, and off unless
/// set.
///
/// A number called `…Every` or `…After` is a number of pushes, 0 for never. Where it counts the
/// pushes of one connection, those before the last are answered first: with 2 or more, every
/// connection makes some progress before the fault. When several faults would end a connection at
/// the same push, the first in this list does.
///
/// In addition, devices with certain first eight digits always get fixed answers (`TokenRules`,
/// `DeviceRules`), so that any export with such devices shows every kind of outcome in its report.
public struct SimulatorFaults: Sendable {
    // MARK: Answers

    /// Devices that get a fixed answer, by their tokens (in lower case if the service's tokens are
    /// hex): `410 Unregistered`, ….
    public var answers: [String: SimulatedAnswer] = [:]
    /// How long answers are held back.
    public var latencyMilliseconds = 0
    /// Every n-th push that would be accepted is answered 429, 503 or 500 instead.
    public var tooManyRequestsEvery = 0, unavailableEvery = 0, internalErrorEvery = 0
    /// Every n-th push that would be accepted is answered 502, 503 or 504 in turn, in HTML and
    /// without apns-id, as by a proxy or load balancer. Every second one of them is accepted
    /// nevertheless: the gateway had passed it on.
    public var gatewayEvery = 0
    /// The header `retry-after`, in seconds, on 429 and 503; nil for none.
    public var retryAfterSeconds: Int?
    /// How far the server's clock, which is used to judge provider tokens, is ahead of this
    /// machine's (behind if below 0). Refusals of provider tokens then have a `date` from that
    /// clock. nil for no difference and no `date`, as no documentation says that APNs sends one.
    public var clockAheadSeconds: Double?
    /// Every n-th push is accepted but never answered.
    public var silentEvery = 0
    /// Every n-th push is answered as soon as its headers are there, with its payload unread and
    /// unchecked. The stream of an accepted one is then reset with NO_ERROR, which tells the client
    /// to stop sending the payload (RFC 9113 section 8.1), as nginx does with `return 200`.
    public var earlyAnswerEvery = 0
    /// Every n-th answer is preceded by HEADERS with the status 103.
    public var informationEvery = 0
    /// Every n-th answer ends with trailers.
    public var trailersEvery = 0
    /// Every n-th answer has 21,000 bytes of meaningless headers, which need HEADERS and a
    /// CONTINUATION.
    public var largeHeadersEvery = 0

    // MARK: Resets of streams

    /// Every n-th push that would be accepted is reset with REFUSED_STREAM, unprocessed.
    public var refusedStreamEvery = 0
    /// Every n-th push that would be accepted is reset with `resetErrorCode`, unprocessed.
    public var resetEvery = 0
    /// Every n-th push is accepted, and its stream is then reset with `resetErrorCode` instead of
    /// an answer. A client cannot know that it was accepted.
    public var resetAcceptedEvery = 0
    /// The code of `resetEvery` and `resetAcceptedEvery`.
    public var resetErrorCode = HTTP2ErrorCode.internalError

    // MARK: Limits

    /// The streams allowed after the first push was accepted.
    public var streamLimit = 1000
    /// The streams allowed before that. With a client certificate the full limit applies at once.
    public var firstStreamLimit = 1
    /// After this many rejections in a row on a connection, the stream limit falls back to
    /// `firstStreamLimit` until the next accepted push.
    public var streamLimitFallsBackAfterRejections = 0
    /// Each time this many pushes were accepted on a connection, the stream limit falls to 1, and
    /// rises again after `streamLimitDipMilliseconds`.
    public var streamLimitDipEvery = 0
    /// How long the stream limit stays down; 0 means until no stream is open.
    public var streamLimitDipMilliseconds = 0
    /// Flow-control windows that are smaller than HTTP/2's default of 65,535 bytes, or given back
    /// late; nil for the default.
    public var windows: SimulatedWindows?

    // MARK: Connections that end

    /// After this many pushes on a connection it is cut without notice, with the last of them
    /// accepted and unanswered. Whether TCP ends it with FIN or RST depends on what the client sent
    /// by then.
    public var disconnectEvery = 0
    /// After this many pushes on a connection, the last of them accepted and unanswered, half a
    /// HEADERS frame is written, then FIN without close_notify.
    public var cutMidFrameEvery = 0
    /// After this many pushes on a connection, the last of them accepted and unanswered, TCP resets
    /// it (RST).
    public var resetConnectionEvery = 0
    /// After this many pushes on a connection, the last of them accepted and unanswered, it is
    /// closed with FIN and without close_notify.
    public var closeWithoutNotifyEvery = 0
    /// After this many pushes on a connection, the last of them accepted and unanswered, it is
    /// closed in TLS with close_notify, but without GOAWAY.
    public var closeWithoutGoAwayEvery = 0
    /// After this many pushes on a connection, the last of them accepted and unanswered, it falls
    /// silent: it stays open, but nothing more is read or written, and no PING is answered.
    public var silentAfter = 0
    /// After this many pushes on a connection it is closed with GOAWAY; the last of them is the
    /// last stream that was processed.
    public var goAwayEvery = 0
    /// After this many pushes on a connection it is closed with GOAWAY. Its last stream id leaves
    /// out the `lowGoAwayLeavesOut` latest pushes. Those are not processed, and are not in the
    /// ledger. The others are answered. If too few pushes arrive within a tenth of a second, GOAWAY
    /// leaves out those that did.
    public var lowGoAwayEvery = 0
    /// The number of received pushes that are left out; less than `lowGoAwayEvery`.
    public var lowGoAwayLeavesOut = 1
    /// After this many pushes on a connection it is closed in two steps (RFC 9113 section 6.8):
    /// GOAWAY with 2^31-1 tells the client to open no further streams, and
    /// `gracefulGoAwayMilliseconds` later a second one names the last stream that was processed.
    public var gracefulGoAwayEvery = 0
    /// The time between the two. Pushes that arrive between them are processed.
    public var gracefulGoAwayMilliseconds = 50
    /// After this many rejections on a connection (4xx except 410 and 429, which are not the
    /// sender's errors) it is closed with GOAWAY. APNs does the same after a number that Apple does
    /// not publish.
    public var rejectionsBeforeGoAway = 1000
    /// The seconds after which a connection that receives nothing is closed with GOAWAY and the
    /// reason IdleTimeout; 0 for never.
    public var idleTimeoutSeconds = 0

    // MARK: Noise

    /// Each time this many pushes arrived on a connection, it is sent `pingFloodSize` PINGs at
    /// once.
    public var pingFloodEvery = 0, pingFloodSize = 1000
    /// Each time this many pushes arrived on a connection, it is sent `settingsFloodSize` empty
    /// SETTINGS at once.
    public var settingsFloodEvery = 0, settingsFloodSize = 100
    /// Each time this many pushes arrived on a connection, it is sent what clients must ignore (RFC
    /// 9113 sections 5.3.2, 5.5 and 6.5.2): PRIORITY, frames of an unknown type on the connection
    /// and on a stream, and a setting with an unknown identifier.
    public var strangeFramesEvery = 0
    /// Bytes that are not HTTP/2; nil for none.
    public var garbage: SimulatedGarbage?

    /// No faults.
    public init() {}
}

/// Flow-control windows that are small and given back late.
public struct SimulatedWindows: Hashable, Sendable {
    /// SETTINGS_INITIAL_WINDOW_SIZE: bytes of a payload that a client may send before it must wait;
    /// 1 or more.
    public var streamBytes: Int
    /// The connection's window, 1 to 65,535 bytes. In HTTP/2 every connection begins with 65,535;
    /// the bytes beyond this number are not given back once they are used.
    public var connectionBytes: Int
    /// How long after the bytes the WINDOW_UPDATE that gives them back is sent.
    public var delayMilliseconds: Int

    /// A set of small windows.
    public init(streamBytes: Int, connectionBytes: Int = 65535, delayMilliseconds: Int = 1) {
        self.streamBytes = streamBytes
        self.connectionBytes = connectionBytes
        self.delayMilliseconds = delayMilliseconds
    }
}

/// Random bytes, within TLS, where frames should be. They cannot be mistaken for a frame: they
/// begin with a length that is never allowed.
public struct SimulatedGarbage: Hashable, Sendable {
    /// The number of pushes on a connection before the garbage; they are processed. With 0 the
    /// garbage replaces the first SETTINGS, and no push of that connection is processed.
    public var afterPushes: Int
    /// The number of connections that get garbage; later connections get none.
    public var connections: Int
    /// Whether the connection is closed afterwards (FIN without close_notify). If not, it continues
    /// as if nothing had happened.
    public var thenCloses: Bool

    /// A description of garbage.
    public init(afterPushes: Int, connections: Int, thenCloses: Bool = false) {
        self.afterPushes = afterPushes
        self.connections = connections
        self.thenCloses = thenCloses
    }
}

/// A fixed answer for a token.
public struct SimulatedAnswer: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The reason that APNs gives; empty for 200.
    public var reason: String
    /// The number of pushes that get this answer before the token works; nil for all.
    public var times: Int?

    /// A fixed answer.
    public init(status: Int, reason: String, times: Int? = nil) {
        self.status = status
        self.reason = reason
        self.times = times
    }
}

/// Decides which pushes and answers meet a fault, over all connections. It keeps the counters for
/// the `…Every` of `SimulatorFaults`.
struct FaultPlan {
    /// What happens to a correct push.
    enum Fate: Equatable {
        case accepted
        /// Accepted, but no answer will come.
        case silent
        /// Reset with REFUSED_STREAM, unprocessed.
        case refusedStream
        /// Reset with another code, unprocessed.
        case reset
        /// Accepted, then reset with another code.
        case resetAccepted
        /// Answered by a gateway in front of the service, which had passed the push on or not.
        case gateway(status: Int, isPassedOn: Bool)
        case refused(Answer)
    }

    /// The extras that an answer gets.
    struct AnswerExtras: OptionSet {
        let rawValue: Int

        /// A 1xx answer before it.
        static let information = AnswerExtras(rawValue: 1)
        static let trailers = AnswerExtras(rawValue: 2)
        static let largeHeaders = AnswerExtras(rawValue: 4)
    }

    private let faults: SimulatorFaults
    private let dressesAnswers: Bool
    private var pushes = 0
    private var answers = 0
    private var payloadsToCome = 0
    private var gatewayAnswers = 0
    /// The number of connections that may still be sent garbage.
    private var garbageLeft: Int

    init(_ faults: SimulatorFaults) {
        self.faults = faults
        dressesAnswers = faults.informationEvery > 0 || faults.trailersEvery > 0 || faults.largeHeadersEvery > 0
        garbageLeft = faults.garbage?.connections ?? 0
    }

    /// Decides the fate of the next push. When several faults coincide, the first in this order
    /// happens.
    mutating func next() -> Fate {
        pushes += 1
        if isHit(faults.refusedStreamEvery, number: pushes) { return .refusedStream }
        if isHit(faults.resetEvery, number: pushes) { return .reset }
        if isHit(faults.tooManyRequestsEvery, number: pushes) {
            return .refused(Answer(status: 429, reason: "TooManyRequests"))
        }
        if isHit(faults.unavailableEvery, number: pushes) {
            return .refused(Answer(status: 503, reason: "ServiceUnavailable"))
        }
        if isHit(faults.internalErrorEvery, number: pushes) {
            return .refused(Answer(status: 500, reason: "InternalServerError"))
        }
        if isHit(faults.resetAcceptedEvery, number: pushes) { return .resetAccepted }
        if isHit(faults.gatewayEvery, number: pushes) {
            gatewayAnswers += 1
            return .gateway(status: 502 + gatewayAnswers % 3, isPassedOn: gatewayAnswers % 2 == 0)
        }
        return isHit(faults.silentEvery, number: pushes) ? .silent : .accepted
    }

    /// Decides whether the next push is answered as soon as its headers are complete, without its
    /// payload.
    mutating func answersEarly() -> Bool {
        guard faults.earlyAnswerEvery > 0 else { return false }
        payloadsToCome += 1
        return isHit(faults.earlyAnswerEvery, number: payloadsToCome)
    }

    /// Decides the extras of the next answer.
    mutating func nextDressing() -> AnswerExtras {
        guard dressesAnswers else { return [] }
        answers += 1
        var dressing: AnswerExtras = []
        if isHit(faults.informationEvery, number: answers) { dressing.insert(.information) }
        if isHit(faults.trailersEvery, number: answers) { dressing.insert(.trailers) }
        if isHit(faults.largeHeadersEvery, number: answers) { dressing.insert(.largeHeaders) }
        return dressing
    }

    /// Decides whether a connection that has reached the configured number of pushes is sent
    /// garbage.
    mutating func sendsGarbage() -> Bool {
        guard garbageLeft > 0 else { return false }
        garbageLeft -= 1
        return true
    }

    private func isHit(_ every: Int, number: Int) -> Bool { every > 0 && number % every == 0 }
}
