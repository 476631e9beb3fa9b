import CNghttp2

/// The frames that a connection sends.
extension Connection {
    /// HTTP/2's own defaults said aloud, and the limit on header lists that a strict server sets. The connection's window is wide, as a
    /// thousand small requests at once must fit.
    func submitFirstSettings() {
        submit(settings: [
            (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 4096), (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(limits.streamLimit)),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 65535), (NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 16384),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, 8000),
        ])
        nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, 16 << 20)
    }

    /// Announces a new stream limit. nghttp2 resets streams beyond it with REFUSED_STREAM until the client has acknowledged it, and ends
    /// the connection with GOAWAY afterwards.
    func announce(streamLimit: Int) {
        submit(settings: [(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(streamLimit))])
    }

    private func submit(settings: [(nghttp2_settings_id, UInt32)]) {
        let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    /// Ends the connection after the last stream that was decided: all later ones were not processed.
    func goAway(reason: String) {
        limits.isEnding = true
        let body = Array("{\"reason\":\"\(reason)\"}".utf8)
        nghttp2_submit_goaway(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), limits.lastStreamID, NGHTTP2_NO_ERROR.rawValue, body, body.count)
    }

    /// Resets a stream as not processed.
    func refuse(_ request: PushRequest) {
        request.state = .finished
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), request.streamID, NGHTTP2_REFUSED_STREAM.rawValue)
        noteRefusedStream()
    }

    /// Hands a request's answer to the session, with `retry-after` when there is a number of seconds.
    func submitAnswer(to request: PushRequest, retryAfterSeconds: Int?) {
        request.state = .finished
        request.unsentBody = request.answer.body[...]
        let digits = Self.digits(request.answer.status), seconds = retryAfterSeconds.map { Array(String($0).utf8) } ?? []
        let id = request[.id] ?? UnsafeBufferPointer(start: nil, count: 0)
        // The first id enters the compression table, so that later ones can refer to its name; they themselves would only churn it.
        let idFlags = hasAnswered ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
        hasAnswered = true
        digits.withUnsafeBufferPointer { digits in
            seconds.withUnsafeBufferPointer { seconds in
                withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: 3) { fields in
                    fields.initializeElement(at: 0, to: nghttp2_nv(":status", digits))
                    fields.initializeElement(at: 1, to: nghttp2_nv("apns-id", id, flags: idFlags))
                    fields.initializeElement(at: 2, to: nghttp2_nv("retry-after", seconds))
                    submit(UnsafeBufferPointer(rebasing: fields[..<(seconds.isEmpty ? 2 : 3)]), to: request)
                }
            }
        }
    }

    private func submit(_ fields: UnsafeBufferPointer<nghttp2_nv>, to request: PushRequest) {
        guard !request.unsentBody.isEmpty else {
            nghttp2_submit_response(session, request.streamID, fields.baseAddress, fields.count, nil)
            return
        }
        var provider = nghttp2_data_provider(source: nghttp2_data_source(), read_callback: bodyProvider)
        nghttp2_submit_response(session, request.streamID, fields.baseAddress, fields.count, &provider)
    }

    private static let accepted = Array("200".utf8)

    private static func digits(_ status: Int) -> [UInt8] { status == 200 ? accepted : Array(String(status).utf8) }
}

extension nghttp2_nv {
    /// A header whose name and value nghttp2 copies.
    fileprivate init(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>, flags: nghttp2_nv_flag = NGHTTP2_NV_FLAG_NONE) {
        self.init(
            name: UnsafeMutablePointer(mutating: name.utf8Start), value: UnsafeMutablePointer(mutating: value.baseAddress),
            namelen: name.utf8CodeUnitCount, valuelen: value.count, flags: UInt8(flags.rawValue))
    }
}
