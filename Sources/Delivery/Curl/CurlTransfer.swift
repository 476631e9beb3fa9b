import Base
import CCurl
import Glibc

/// One request at a time: an easy handle with everything that libcurl's callbacks write into. Used again for push after push; what all pushes share
/// is set once. The callbacks hold this object unretained, so it lives as long as its transport.
final class CurlTransfer {
    private static let answerLimit = 65_536
    /// `apns-id: ` before the 36 characters that each push overwrites.
    private static let idPrefix = "apns-id: "
    private static let pathPrefix = "/3/device/"

    let easy = CurlEasyHandle()
    /// The slot of the push, -1 while unused.
    private(set) var push = -1
    /// Where it is in flight.
    private(set) var connection: CurlConnection?
    /// libcurl asked for the body. Without a body the request is incomplete, and no server may act on it.
    private(set) var bodyWasRead = false
    /// The answer's body, at most `answerLimit` bytes of it.
    private(set) var answer: [UInt8] = []

    private var payload = UnsafeMutableRawBufferPointer.allocate(byteCount: 5_120, alignment: 1)
    private var payloadCount = 0
    private var payloadOffset = 0
    private let idHeader = CurlHeaderList(["apns-id: 00000000-0000-0000-0000-000000000000"])
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var path: [UInt8] = []

    init(_ options: CurlOptions) {
        errorText.pointee = 0
        let easy = self.easy.pointer
        let context = Unmanaged.passUnretained(self).toOpaque()
        options.apply(to: easy)
        volley_easy_set_pointer(easy, CURLOPT_PRIVATE, context)
        volley_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        volley_easy_set_pointer(easy, CURLOPT_HTTPHEADER, idHeader.first)
        volley_easy_set_pointer(easy, CURLOPT_READDATA, context)
        volley_easy_set_transfer_function(easy, CURLOPT_READFUNCTION) { buffer, size, count, context in
            guard let buffer, let context else { return Int(CURL_READFUNC_ABORT) }
            return CurlTransfer.from(context).readBody(into: buffer, atMost: size * count)
        }
        volley_easy_set_pointer(easy, CURLOPT_WRITEDATA, context)
        volley_easy_set_transfer_function(easy, CURLOPT_WRITEFUNCTION) { buffer, size, count, context in
            guard let buffer, let context else { return 0 }
            return CurlTransfer.from(context).writeAnswer(buffer, size * count)
        }
        // libcurl would send a POST again by itself when a connection dies under it, and a phone might show the push twice.
        // It has to rewind the body for that, which is refused.
        volley_easy_set_seek_function(easy) { _, _, _ in CURL_SEEKFUNC_FAIL }
    }

    deinit {
        // The list that follows belongs to a connection.
        idHeader.first.pointee.next = nil
        payload.deallocate()
        errorText.deallocate()
    }

    static func from(_ context: UnsafeMutableRawPointer) -> CurlTransfer {
        Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    }

    /// Makes the handle ready for a push.
    func prepare(
        push: Int, id: APNsID, token: UnsafeBufferPointer<UInt8>, payload body: UnsafeBufferPointer<UInt8>, connection: CurlConnection
    ) {
        self.push = push
        self.connection = connection
        bodyWasRead = false
        answer.removeAll(keepingCapacity: true)
        errorText.pointee = 0
        if body.count > payload.count {
            payload.deallocate()
            payload = .allocate(byteCount: body.count, alignment: 1)
        }
        payload.copyMemory(from: UnsafeRawBufferPointer(body))
        payloadCount = body.count
        payloadOffset = 0
        writeID(id)
        idHeader.first.pointee.next = connection.headers.first
        path.removeAll(keepingCapacity: true)
        path.append(contentsOf: Self.pathPrefix.utf8)
        path.append(contentsOf: token)
        path.append(0)
        path.withUnsafeBytes { bytes in
            _ = volley_easy_set_string(easy.pointer, CURLOPT_REQUEST_TARGET, bytes.bindMemory(to: CChar.self).baseAddress)
        }
        volley_easy_set_offset(easy.pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
        volley_easy_set_pointer(easy.pointer, CURLOPT_OPENSOCKETDATA, Unmanaged.passUnretained(connection).toOpaque())
    }

    /// The push is done with.
    func finish() {
        push = -1
        connection = nil
    }

    /// libcurl's own words about what went wrong, else those for the code.
    func errorMessage(_ code: CURLcode) -> String {
        let text = String(cString: errorText)
        if !text.isEmpty { return text }
        return curl_easy_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
    }

    /// Overwrites the header's 36 characters where they lie: the list is not built anew for each push.
    private func writeID(_ id: APNsID) {
        guard let text = idHeader.first.pointee.data else { return }
        (text + Self.idPrefix.utf8.count).withMemoryRebound(to: UInt8.self, capacity: APNsID.textCount) {
            id.write(to: UnsafeMutableBufferPointer(start: $0, count: APNsID.textCount))
        }
    }

    private func readBody(into buffer: UnsafeMutablePointer<CChar>, atMost limit: Int) -> Int {
        bodyWasRead = true
        let count = min(limit, payloadCount - payloadOffset)
        guard count > 0, let start = payload.baseAddress else { return 0 }
        UnsafeMutableRawPointer(buffer).copyMemory(from: start + payloadOffset, byteCount: count)
        payloadOffset += count
        return count
    }

    /// What is beyond the limit is dropped: the status counts even when a server talks without end.
    private func writeAnswer(_ buffer: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
        let kept = min(count, Self.answerLimit - answer.count)
        answer.append(contentsOf: UnsafeRawBufferPointer(start: buffer, count: kept))
        return count
    }
}
