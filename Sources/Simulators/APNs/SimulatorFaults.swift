public import HTTP2

/// What goes wrong, on purpose. Each fault is independent of the others, and none is on unless set.
///
/// A number called `…Every` or `…After` is a number of pushes, 0 for never. Where it counts the pushes of one connection, those before the
/// last are answered first: with 2 or more every connection makes some progress before it is hurt. When several faults would end a
/// connection at the same push, the first of this list does.
///
/// Besides these, tokens with certain first eight digits always meet their fate (`TokenRules`), so that any export with such tokens shows
/// every kind of outcome in its report.
public struct SimulatorFaults: Sendable {
    // MARK: Answers

    /// Tokens that get a fixed answer (lower-case hex): `400 BadDeviceToken`, `410 Unregistered`, ….
    public var answers: [String: SimulatedAnswer] = [:]
    /// Answers are held back this long.
    public var latencyMilliseconds = 0
    /// Every n-th push that would be accepted is answered 429, 503 or 500 instead.
    public var tooManyRequestsEvery = 0, unavailableEvery = 0, internalErrorEvery = 0
    /// Every n-th push that would be accepted is answered 502, 503 or 504 in turn, in HTML and without apns-id, as a proxy or load balancer does. Every
    /// other one of them is accepted: the gateway had passed it on.
    public var gatewayEvery = 0
    /// Header retry-after in seconds on 429 and 503; nil for none.
    public var retryAfterSeconds: Int?
    /// How far the server's clock, by which provider tokens are judged, is ahead of this machine's (behind if below 0); refusals of tokens then carry
    /// a `date` by that clock. nil for no difference and no `date`, as APNs sends none that anybody documents.
    public var clockAheadSeconds: Double?
    /// Every n-th push is accepted but never answered.
    public var silentEvery = 0
    /// Every n-th push is answered as soon as its headers are there, the payload unread and unchecked; an accepted one is then reset with
    /// NO_ERROR, which asks the client not to go on with the payload (RFC 9113 section 8.1). What nginx does with `return 200`.
    public var earlyAnswerEvery = 0
    /// Every n-th answer is preceded by HEADERS with the status 103.
    public var informationEvery = 0
    /// Every n-th answer ends with trailers.
    public var trailersEvery = 0
    /// Every n-th answer carries 21,000 bytes of headers that mean nothing, which take HEADERS and a CONTINUATION.
    public var largeHeadersEvery = 0

    // MARK: Resets of streams

    /// Every n-th push that would be accepted is reset with REFUSED_STREAM, unprocessed.
    public var refusedStreamEvery = 0
    /// Every n-th push that would be accepted is reset with `resetErrorCode`, unprocessed.
    public var resetEvery = 0
    /// Every n-th push is accepted, and its stream then reset with `resetErrorCode` instead of an answer: a client cannot know.
    public var resetAcceptedEvery = 0
    /// The code of `resetEvery` and `resetAcceptedEvery`.
    public var resetErrorCode = HTTP2ErrorCode.internalError

    // MARK: Limits

    /// Streams allowed once the first push was accepted.
    public var streamLimit = 1000
    /// Streams allowed before that. With a client certificate the full limit holds at once.
    public var firstStreamLimit = 1
    /// After so many rejections on a connection the stream limit falls back to `firstStreamLimit`, until the next accepted push.
    public var streamLimitFallsBackAfterRejections = 0
    /// Each time so many pushes were accepted on a connection the stream limit falls to 1 and rises again after
    /// `streamLimitDipMilliseconds`.
    public var streamLimitDipEvery = 0
    /// How long the stream limit stays down; with 0 until no stream is open.
    public var streamLimitDipMilliseconds = 0
    /// Flow-control windows that are smaller than HTTP/2's own, 65,535 bytes, or given back late; nil for those.
    public var windows: SimulatedWindows?

    // MARK: Connections that end

    /// After so many pushes on a connection it is cut without a word, the last of them accepted and unanswered. What the client sent
    /// meanwhile decides whether TCP ends it with FIN or RST.
    public var disconnectEvery = 0
    /// After so many pushes on a connection, the last of them accepted and unanswered, half a HEADERS frame is written, then FIN without
    /// close_notify.
    public var cutMidFrameEvery = 0
    /// After so many pushes on a connection, the last of them accepted and unanswered, TCP resets it (RST).
    public var resetConnectionEvery = 0
    /// After so many pushes on a connection, the last of them accepted and unanswered, it is closed with FIN and without close_notify.
    public var closeWithoutNotifyEvery = 0
    /// After so many pushes on a connection, the last of them accepted and unanswered, it is closed in TLS with close_notify, but without
    /// GOAWAY.
    public var closeWithoutGoAwayEvery = 0
    /// After so many pushes on a connection, the last of them accepted and unanswered, it falls silent: it stays open, but nothing is read
    /// or written any more, and no PING answered.
    public var silentAfter = 0
    /// After so many pushes on a connection it is closed with GOAWAY: the last of them is the last stream that was processed.
    public var goAwayEvery = 0
    /// After so many pushes on a connection it is closed with GOAWAY, whose last stream id leaves out the `lowGoAwayLeavesOut` latest: those
    /// were not processed, and the ledger knows nothing of them. The others are answered. When too few pushes come for a tenth of a second,
    /// GOAWAY leaves out those that did.
    public var lowGoAwayEvery = 0
    /// Pushes that were seen and are left out; less than `lowGoAwayEvery`.
    public var lowGoAwayLeavesOut = 1
    /// After so many pushes on a connection it is closed in two steps (RFC 9113 section 6.8): GOAWAY with 2^31-1 asks for no further
    /// streams, and `gracefulGoAwayMilliseconds` later a second one names the last that was processed.
    public var gracefulGoAwayEvery = 0
    /// The time between the two. Pushes that come meanwhile are processed.
    public var gracefulGoAwayMilliseconds = 50
    /// After so many rejections on a connection (4xx but for 410 and 429, which are no error of the sender) it is closed with GOAWAY. APNs
    /// does the same after a number that Apple does not publish.
    public var rejectionsBeforeGoAway = 1000
    /// A connection without a request for so long is closed with GOAWAY and the reason IdleTimeout, in seconds; 0 for never.
    public var idleTimeoutSeconds = 0

    // MARK: Noise

    /// Each time so many pushes came on a connection it is sent `pingFloodSize` PINGs at once.
    public var pingFloodEvery = 0, pingFloodSize = 1000
    /// Each time so many pushes came on a connection it is sent `settingsFloodSize` empty SETTINGS at once.
    public var settingsFloodEvery = 0, settingsFloodSize = 100
    /// Each time so many pushes came on a connection it is sent what clients must ignore (RFC 9113 sections 5.3.2, 5.5 and 6.5.2):
    /// PRIORITY, frames of an unknown type on the connection and on a stream, a setting of an unknown identifier.
    public var strangeFramesEvery = 0
    /// Bytes that are no HTTP/2; nil for none.
    public var garbage: SimulatedGarbage?

    /// None.
    public init() {}
}

/// Flow-control windows that are small and given back late.
public struct SimulatedWindows: Hashable, Sendable {
    /// SETTINGS_INITIAL_WINDOW_SIZE: bytes of a payload that a client may send before it must wait; 1 or more.
    public var streamBytes: Int
    /// The connection's window, 1 to 65,535 bytes. Every connection begins with 65,535, as HTTP/2 knows no other beginning: what is beyond
    /// this number is not given back once it is used.
    public var connectionBytes: Int
    /// Each WINDOW_UPDATE comes so long after the bytes that it gives back.
    public var delayMilliseconds: Int

    /// Small windows.
    public init(streamBytes: Int, connectionBytes: Int = 65535, delayMilliseconds: Int = 1) {
        self.streamBytes = streamBytes
        self.connectionBytes = connectionBytes
        self.delayMilliseconds = delayMilliseconds
    }
}

/// Random bytes, within TLS, where frames should be. They cannot be taken for a frame: they begin with a length that is never allowed.
public struct SimulatedGarbage: Hashable, Sendable {
    /// After so many pushes on a connection, which are processed; 0 for instead of the first SETTINGS, and then no push of that connection
    /// is processed.
    public var afterPushes: Int
    /// How many connections are hurt so; the later ones are well.
    public var connections: Int
    /// Whether the connection is closed thereafter (FIN without close_notify), or goes on as if nothing had been.
    public var thenCloses: Bool

    /// Garbage.
    public init(afterPushes: Int, connections: Int, thenCloses: Bool = false) {
        self.afterPushes = afterPushes
        self.connections = connections
        self.thenCloses = thenCloses
    }
}

/// A fixed answer for a token.
public struct SimulatedAnswer: Hashable, Sendable {
    /// HTTP status.
    public var status: Int
    /// APNs' reason; empty for 200.
    public var reason: String
    /// How many pushes get it before the token works; nil for always.
    public var times: Int?

    /// A fixed answer.
    public init(status: Int, reason: String, times: Int? = nil) {
        self.status = status
        self.reason = reason
        self.times = times
    }
}
