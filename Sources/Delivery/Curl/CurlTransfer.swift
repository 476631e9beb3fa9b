import Base
import CCurl

/// What libcurl reports about a fetch. Its callback holds this object unretained.
final class FetchLog {
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private(set) var body: [UInt8] = []
    private(set) var isTooLarge = false

    init() { errorText.pointee = 0 }

    deinit { errorText.deallocate() }

    /// Makes a handle report here. This object must outlive the transfer.
    func attach(to easy: UnsafeMutableRawPointer) {
        volley_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        volley_easy_set_pointer(easy, CURLOPT_WRITEDATA, Unmanaged.passUnretained(self).toOpaque())
        volley_easy_set_transfer_function(easy, CURLOPT_WRITEFUNCTION) { buffer, size, count, context in
            guard let buffer, let context else { return 0 }
            let notes = Unmanaged<FetchLog>.fromOpaque(context).takeUnretainedValue()
            return notes.take(UnsafeRawBufferPointer(start: buffer, count: size * count)) ? size * count : 0
        }
    }

    /// Returns whether the answer is not too large yet.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= TokenAnswer.longestBody else {
            isTooLarge = true
            return false
        }
        body += bytes
        return true
    }

    /// What libcurl wrote about the failure; blank for nothing.
    var detail: String { String(cString: errorText) }
}

/// A transfer that another thread can end at once, as `curl_easy_perform` cannot be.
struct CurlTransfer: ~Copyable {
    private let multi: UnsafeMutableRawPointer
    private let easy: UnsafeMutableRawPointer

    /// - Parameter easy: outlives this value.
    /// - Throws: a `Diagnostic` when there is not enough memory.
    init(_ easy: UnsafeMutableRawPointer) throws(Diagnostic) {
        guard let multi = curl_multi_init() else { throw .cannotMake("a libcurl connection") }
        self.multi = multi
        self.easy = easy
        curl_multi_add_handle(multi, easy)
    }

    deinit {
        curl_multi_remove_handle(multi, easy)
        curl_multi_cleanup(multi)
    }

    /// Returns libcurl's verdict; nil if it was cancelled.
    /// - Throws: a `Diagnostic` when libcurl cannot go on.
    borrowing func run(until cancellation: FetchCancellation) throws(Diagnostic) -> CURLcode? {
        var running: Int32 = 1
        while true {
            guard curl_multi_perform(multi, &running) == CURLM_OK else { throw .cannotMake("a libcurl connection") }
            if running == 0 { break }
            if cancellation.isCancelled { return nil }
            var watched = curl_waitfd(fd: cancellation.wakeup.descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
            // libcurl wakes earlier for its own deadlines, but may overlook a connection
            // (`CurlConnection`).
            let isConnected = volley_easy_get_offset(easy, CURLINFO_PRETRANSFER_TIME_T) > 0
            let longest = isConnected ? TokenFetcher.totalSeconds * 1000 : Double(CurlConnection.lookNanoseconds) / 1e6
            curl_multi_poll(multi, &watched, 1, Int32(longest), nil)
            if watched.revents != 0 { cancellation.wakeup.clear() }
        }
        var left: Int32 = 0
        guard let message = curl_multi_info_read(multi, &left) else { throw .cannotMake("a libcurl connection") }
        return message.pointee.data.result
    }
}
