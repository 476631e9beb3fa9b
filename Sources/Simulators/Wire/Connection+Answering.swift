import Base
import HTTP2

/// The frames that a connection sends.
extension Connection {
    /// Sends HTTP/2's defaults explicitly, and the limit on header lists that a strict server sets.
    /// The connection's window keeps HTTP/2's default, 65,535 bytes, which a hundred requests fill.
    func submitFirstSettings() {
        let windows = server.faults.windows
        submit(settings: [
            (.headerTableSize, 4096), (.maximumConcurrentStreams, UInt32(limits.streamLimit)),
            (.initialWindowSize, UInt32(windows?.streamBytes ?? 65535)), (.maximumFrameSize, 16384),
            (.maximumHeaderListSize, 8000),
        ])
    }

    /// Announces a new stream limit. Until the client acknowledges it, streams beyond it are reset
    /// with REFUSED_STREAM; afterwards they end the connection with GOAWAY.
    func announce(streamLimit: Int) { submit(settings: [(.maximumConcurrentStreams, UInt32(streamLimit))]) }

    /// Sends GOAWAY with the last stream that was decided: no later stream was processed.
    func goAway(reason: String) {
        guard !limits.isEnding else { return }
        limits.isEnding = true
        submitGoAway(lastStreamID: limits.lastStreamID, .noError, debugData: Array("{\"reason\":\"\(reason)\"}".utf8))
    }

    /// Resets a stream as not processed.
    func refuse(_ request: PushRequest) {
        request.state = .finished
        submitReset(.refusedStream, streamID: request.streamID)
        streamRefused()
    }

    /// Resets a stream that was not processed, with a code that does not say so.
    func reset(_ request: PushRequest, _ error: HTTP2ErrorCode) {
        request.state = .finished
        submitReset(error, streamID: request.streamID)
        server.ledger.countResetStream()
    }

    /// Passes a request's answer to the session, with `retry-after` and `date` if they are given.
    func submitAnswer(
        to request: PushRequest, by rules: any ServiceRules, retryAfterSeconds: Int?, date: String?,
        dressing: FaultPlan.AnswerExtras
    ) {
        request.state = .finished
        request.unsentBody = rules.body(of: request)[...]
        request.hasTrailers = dressing.contains(.trailers)
        if dressing.contains(.information) { submitInformation(before: request) }
        let digits = Self.digits(request.answer.status),
            seconds = retryAfterSeconds.map { Array(String($0).utf8) } ?? []
        let dateText = date.map { Array($0.utf8) } ?? []
        let header = rules.header(of: request)
        let own = request.answerFields, ownValues = own.flatMap { Array($0.value.utf8) }
        let padding = dressing.contains(.largeHeaders) ? Self.padding : []
        // The first value enters the compression table, so that later answers can refer to its
        // name. Later ids would only churn the table.
        let isFirst = !hasAnswered
        hasAnswered = true
        digits.withUnsafeBufferPointer { digits in
            withBuffers(seconds, dateText, padding, ownValues) { seconds, dateText, padding, ownValues in
                withUnsafeTemporaryAllocation(of: Field.self, capacity: 4 + own.count + Self.paddingFields) { fields in
                    fields.initializeElement(at: 0, to: Field(":status", digits))
                    fields.initializeElement(at: 1, to: Field(header.name, header.value, isIndexed: isFirst))
                    var count = 2
                    if !seconds.isEmpty {
                        fields.initializeElement(at: count, to: Field("retry-after", seconds))
                        count += 1
                    }
                    if !dateText.isEmpty {
                        fields.initializeElement(at: count, to: Field("date", dateText))
                        count += 1
                    }
                    var start = 0
                    for field in own {
                        let value = UnsafeBufferPointer(rebasing: ownValues[start..<start + field.value.utf8.count])
                        start += value.count
                        fields.initializeElement(at: count, to: Field(field.name, value, isIndexed: false))
                        count += 1
                    }
                    if !padding.isEmpty {
                        for _ in 0..<Self.paddingFields {
                            fields.initializeElement(at: count, to: Field("x-padding", padding, isIndexed: false))
                            count += 1
                        }
                    }
                    let used = UnsafeBufferPointer(rebasing: fields[..<count])
                    submitAnswer(
                        used, hasBody: !request.unsentBody.isEmpty || request.hasTrailers, streamID: request.streamID)
                }
            }
        }
    }

    /// Answers in HTML and without the service's header, like a proxy or load balancer that timed
    /// out or had no server to ask.
    func answerAsGateway(_ request: PushRequest, status: Int) {
        request.state = .finished
        request.unsentBody = Array(Self.gatewayPage(status).utf8)[...]
        request.hasTrailers = false
        let type: StaticString = "text/html"
        Self.digits(status).withUnsafeBufferPointer { digits in
            submit([Field(":status", digits), Field("content-type", type.bytes)]) {
                submitAnswer($0, hasBody: true, streamID: request.streamID)
            }
        }
    }

    static func gatewayPage(_ status: Int) -> String {
        "<html><body><h1>\(status)</h1>No server is available to handle this request.</body></html>\n"
    }

    private typealias Bytes = UnsafeBufferPointer<UInt8>

    private func withBuffers(
        _ first: [UInt8], _ second: [UInt8], _ third: [UInt8], _ fourth: [UInt8],
        _ body: (Bytes, Bytes, Bytes, Bytes) -> Void
    ) {
        first.withUnsafeBufferPointer { first in
            second.withUnsafeBufferPointer { second in
                third.withUnsafeBufferPointer { third in
                    fourth.withUnsafeBufferPointer { fourth in body(first, second, third, fourth) }
                }
            }
        }
    }

    private func submitInformation(before request: PushRequest) {
        let status: StaticString = "103", link: StaticString = "<https://localhost/>; rel=preconnect"
        submit([Field(":status", status.bytes), Field("link", link.bytes)]) {
            submitInformation($0, streamID: request.streamID)
        }
    }

    /// Sends the trailers after the body of an answer.
    func submitTrailers(to request: PushRequest) {
        let value: StaticString = "none"
        submit([Field("x-trailer", value.bytes)]) { submitTrailers($0, streamID: request.streamID) }
    }

    private func submit(_ fields: [Field], _ body: (UnsafeBufferPointer<Field>) -> Void) {
        fields.withUnsafeBufferPointer(body)
    }

    /// The number of headers that together are longer than a frame. Huffman coding would lengthen a
    /// tilde, so they are not shortened.
    private static let paddingFields = 3
    private static let padding = [UInt8](repeating: UInt8(ascii: "~"), count: 7000)
    private static let accepted = Array("200".utf8)

    private static func digits(_ status: Int) -> [UInt8] { status == 200 ? accepted : Array(String(status).utf8) }
}

/// The times when a connection must do something.
struct ConnectionAlarms {
    /// Something to do later.
    enum Alarm: CaseIterable {
        /// Send GOAWAY: the second of two, or one that leaves out fewer pushes than intended.
        case goAway
        /// Raise the stream limit again.
        case streamLimit
        /// Give windows back.
        case windows
        /// Stop waiting for a client that does not close its side.
        case abandonment
    }

    private var due: [Alarm: Timestamp] = [:]

    /// The time of the earliest alarm; nil without an alarm.
    var next: Timestamp? { due.isEmpty ? nil : due.values.min() }

    mutating func set(_ alarm: Alarm, moment: Timestamp) { due[alarm] = moment }

    /// Removes and returns an alarm that is due; nil if no alarm is due.
    mutating func takeDue(at now: Timestamp) -> Alarm? {
        guard let alarm = Alarm.allCases.first(where: { alarm in due[alarm].map { $0 <= now } ?? false }) else {
            return nil
        }
        due[alarm] = nil
        return alarm
    }

    mutating func removeAll() { due = [:] }
}

/// Bytes of flow-control windows that are given back late. Some bytes of the connection's first
/// window are never given back.
struct DelayedWindowUpdates {
    /// The bytes of one piece of a payload.
    struct Entry {
        let due: Timestamp
        let streamID: Int32
        let streamBytes: Int
        let connectionBytes: Int
    }

    /// The connection's first window in HTTP/2: RFC 9113 section 6.9.2.
    private static let firstConnectionBytes = 65535

    private let windows: SimulatedWindows
    /// Bytes of the connection's first window that are still to be kept when they are used.
    private var excess: Int
    private var entries: [Entry] = []

    init(_ windows: SimulatedWindows) {
        self.windows = windows
        excess = max(0, Self.firstConnectionBytes - windows.connectionBytes)
    }

    /// When the next entry is due; nil without an entry.
    var nextDue: Timestamp? { entries.first?.due }

    mutating func append(_ bytes: Int, streamID: Int32, now: Timestamp) {
        let kept = min(excess, bytes)
        excess -= kept
        let due = Timestamp(epochMilliseconds: now.epochMilliseconds + Int64(windows.delayMilliseconds))
        entries.append(Entry(due: due, streamID: streamID, streamBytes: bytes, connectionBytes: bytes - kept))
    }

    /// Removes and returns the entries that are due.
    mutating func takeDue(at now: Timestamp) -> ArraySlice<Entry> {
        let taken = entries.prefix { $0.due <= now }
        entries.removeFirst(taken.count)
        return taken
    }
}
