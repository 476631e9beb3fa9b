import HTTP2

/// The frames that a connection sends.
extension Connection {
    /// HTTP/2's own defaults said aloud, and the limit on header lists that a strict server sets. The connection's window is wide, as a
    /// thousand small requests at once must fit.
    func submitFirstSettings() {
        submit(settings: [
            (.headerTableSize, 4096), (.maximumConcurrentStreams, UInt32(limits.streamLimit)), (.initialWindowSize, 65535),
            (.maximumFrameSize, 16384), (.maximumHeaderListSize, 8000),
        ])
        setConnectionWindow(16 << 20)
    }

    /// Announces a new stream limit. Streams beyond it are reset with REFUSED_STREAM until the client has acknowledged it, and end the
    /// connection with GOAWAY afterwards.
    func announce(streamLimit: Int) { submit(settings: [(.maximumConcurrentStreams, UInt32(streamLimit))]) }

    /// Ends the connection after the last stream that was decided: all later ones were not processed.
    func goAway(reason: String) {
        limits.isEnding = true
        submitGoAway(lastStreamID: limits.lastStreamID, .noError, debugData: Array("{\"reason\":\"\(reason)\"}".utf8))
    }

    /// Resets a stream as not processed.
    func refuse(_ request: PushRequest) {
        request.state = .finished
        submitReset(.refusedStream, streamID: request.streamID)
        streamRefused()
    }

    /// Hands a request's answer to the session, with `retry-after` when there is a number of seconds.
    func submitAnswer(to request: PushRequest, retryAfterSeconds: Int?) {
        request.state = .finished
        request.unsentBody = request.answer.body[...]
        let digits = Self.digits(request.answer.status), seconds = retryAfterSeconds.map { Array(String($0).utf8) } ?? []
        let id = request[.id] ?? UnsafeBufferPointer(start: nil, count: 0)
        // The first id enters the compression table, so that later ones can refer to its name; they themselves would only churn it.
        let isFirst = !hasAnswered
        hasAnswered = true
        digits.withUnsafeBufferPointer { digits in
            seconds.withUnsafeBufferPointer { seconds in
                withUnsafeTemporaryAllocation(of: Field.self, capacity: 3) { fields in
                    fields.initializeElement(at: 0, to: Field(":status", digits))
                    fields.initializeElement(at: 1, to: Field("apns-id", id, isIndexed: isFirst))
                    fields.initializeElement(at: 2, to: Field("retry-after", seconds))
                    let used = UnsafeBufferPointer(rebasing: fields[..<(seconds.isEmpty ? 2 : 3)])
                    submitAnswer(used, hasBody: !request.unsentBody.isEmpty, streamID: request.streamID)
                }
            }
        }
    }

    private static let accepted = Array("200".utf8)

    private static func digits(_ status: Int) -> [UInt8] { status == 200 ? accepted : Array(String(status).utf8) }
}
