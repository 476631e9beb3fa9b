import CCurl
import Glibc

/// Set up once in a process, as libcurl asks, before any handle is made.
let curlIsReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

/// An easy handle, freed with its owner.
struct CurlEasyHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer

    init() {
        precondition(curlIsReady, "libcurl cannot be set up")
        guard let pointer = curl_easy_init() else { preconditionFailure("libcurl is out of memory") }
        self.pointer = pointer
    }

    deinit { curl_easy_cleanup(pointer) }
}

/// A multi handle, freed with its owner; its easy handles must have been removed before.
struct CurlMultiHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer

    init() {
        precondition(curlIsReady, "libcurl cannot be set up")
        guard let pointer = curl_multi_init() else { preconditionFailure("libcurl is out of memory") }
        self.pointer = pointer
    }

    deinit { curl_multi_cleanup(pointer) }
}

/// Header lines in libcurl's own form, freed with their owner.
struct CurlHeaderList: ~Copyable {
    let first: UnsafeMutablePointer<curl_slist>

    /// - Parameter lines: at least one.
    init(_ lines: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines { list = curl_slist_append(list, line) ?? list }
        guard let list else { preconditionFailure("libcurl is out of memory") }
        first = list
    }

    deinit { curl_slist_free_all(first) }
}

/// The server is always verified: by the system's authorities, or by one alone.
func verifyServer(_ easy: UnsafeMutableRawPointer, _ certificateAuthorityFile: String?) {
    volley_easy_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    volley_easy_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
    volley_easy_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
    guard let certificateAuthorityFile else { return }
    volley_easy_set_string(easy, CURLOPT_CAINFO, certificateAuthorityFile)
    // The only authority: libcurl would look into the system's folder as well.
    volley_easy_set_string(easy, CURLOPT_CAPATH, nil)
}
