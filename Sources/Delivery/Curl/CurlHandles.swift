import Base
import CCurl
import Cryptography
import Glibc
import HTTP2

/// Whether libcurl is ready. Initializes it once in a process, as libcurl requires before any
/// handle is made.
let curlIsReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

/// A libcurl easy handle, freed with its owner.
///
/// Over HTTP/2, libcurl 7.88 forgets what it has already read behind an answer that is larger than
/// its buffer, usually 16 KB: the frames of other answers, and updates of windows. If nothing more
/// comes in, requests wait for them until they are given up. So the buffer takes the largest answer
/// that is accepted.
struct CurlEasyHandle: ~Copyable {
    /// The most bytes to take of an answer.
    static let longestAnswer = 1 << 20

    let pointer: UnsafeMutableRawPointer

    /// - Throws: a `Diagnostic` when there is not enough memory.
    init() throws(Diagnostic) {
        guard curlIsReady, let pointer = curl_easy_init() else { throw .cannotMake("a libcurl connection") }
        self.pointer = pointer
        volley_easy_set_long(pointer, CURLOPT_BUFFERSIZE, Self.longestAnswer)
    }

    deinit { curl_easy_cleanup(pointer) }
}

/// A list of header lines in libcurl's own form, freed with its owner.
struct CurlHeaderList: ~Copyable {
    let first: UnsafeMutablePointer<curl_slist>

    /// - Parameter lines: at least one.
    /// - Throws: a `Diagnostic` when there is not enough memory for all of them.
    init(_ lines: [String]) throws(Diagnostic) {
        precondition(!lines.isEmpty, "libcurl cannot represent an empty list of headers")
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(list, line) else {
                curl_slist_free_all(list)
                throw .cannotMake("a libcurl request")
            }
            list = longer
        }
        guard let list else { preconditionFailure("a list of at least one line has a first one") }
        first = list
    }

    deinit { curl_slist_free_all(first) }
}

/// The file with this machine's authorities, as libcurl was built to find it; nil if it finds no
/// file.
var systemBundle: String? {
    curl_version_info(CURLVERSION_SEVENTH)?.pointee.cainfo.map { String(cString: $0) }
}

/// The authority to trust instead of the system's. The file is read once: given its name, libcurl
/// would read it for each connection, and hang if a named pipe had replaced it.
struct CurlAuthority {
    /// Its name, for messages.
    let file: String
    private var pem: [UInt8]

    /// Reads the file. A file that cannot be read is an authority that has issued no certificate,
    /// so nothing is trusted.
    init(file: String) {
        // libcurl does not accept an empty text.
        pem = CertificateAuthorityFile.pem(of: file) + Array("\n".utf8)
        self.file = file
    }

    fileprivate func apply(to easy: UnsafeMutableRawPointer) {
        var pem = pem
        pem.withUnsafeMutableBytes { bytes in
            var blob = curl_blob(data: bytes.baseAddress, len: bytes.count, flags: UInt32(CURL_BLOB_COPY))
            volley_easy_set_pointer(easy, CURLOPT_CAINFO_BLOB, &blob)
        }
        // Otherwise libcurl would also trust the authorities in the system's folder.
        volley_easy_set_string(easy, CURLOPT_CAPATH, nil)
    }
}

/// Sets a handle to verify the server: by the system's authorities, or by one authority alone.
func verifyServer(_ easy: UnsafeMutableRawPointer, _ authority: CurlAuthority?) {
    volley_easy_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    volley_easy_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
    volley_easy_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
    authority?.apply(to: easy)
}

/// Sets a handle to ask for bodies that are not compressed, and to read those that are
/// nevertheless.
func readCompressed(_ easy: UnsafeMutableRawPointer) {
    volley_easy_set_string(easy, CURLOPT_ACCEPT_ENCODING, "identity")
}

/// What went wrong with a transfer, as a clause; libcurl's own words follow in parentheses.
/// - Parameters:
///   - detail: what libcurl wrote into CURLOPT_ERRORBUFFER; blank for its general text.
///   - proxy: its user and password are taken out of the detail.
///   - authorityFile: the file with the only authorities that were trusted; nil for this machine's.
func curlWords(
    _ code: CURLcode, detail: String = "", of easy: UnsafeMutableRawPointer, proxy: ProxyAddress? = nil,
    authorityFile: String? = nil
) -> String {
    if code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_ISSUER_ERROR {
        let results = [CURLINFO_SSL_VERIFYRESULT, CURLINFO_PROXY_SSL_VERIFYRESULT].map {
            volley_easy_get_long(easy, $0)
        }
        return CertificateRefusal.words(
            results.first { $0 != 0 } ?? 0, authorityFile: results[0] == 0 && results[1] != 0 ? nil : authorityFile)
    }
    let said =
        detail.isEmpty ? curl_easy_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)" : detail
    return "\(curlClause(code)) (libcurl: \(proxy.map { said.replacing($0.url, with: $0.description) } ?? said))"
}

/// Source: libcurl-errors(3).
private func curlClause(_ code: CURLcode) -> String {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST: "the server's name cannot be resolved"
    case CURLE_COULDNT_RESOLVE_PROXY: "the proxy's name cannot be resolved"
    case CURLE_COULDNT_CONNECT: "no connection could be made"
    case CURLE_OPERATION_TIMEDOUT: "there was no answer in time"
    case CURLE_SSL_CONNECT_ERROR: "the TLS handshake failed"
    case CURLE_SSL_CACERT_BADFILE: "the file with the certificate authorities cannot be used"
    case CURLE_SSL_CERTPROBLEM: "the client certificate cannot be used"
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR: "the connection broke"
    case CURLE_GOT_NOTHING: "the server closed the connection without an answer"
    case CURLE_PARTIAL_FILE: "the answer was cut off"
    case CURLE_FILESIZE_EXCEEDED: "the answer is too large"
    case CURLE_HTTP2, CURLE_HTTP2_STREAM: "the server broke off the HTTP/2 connection"
    case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL: "what answers there does not speak HTTP"
    case CURLE_URL_MALFORMAT: "the address cannot be read"
    case CURLE_OUT_OF_MEMORY: "there is not enough memory"
    case CURLE_PROXY: "the proxy did not connect Volley"
    default: "the transfer failed"
    }
}

/// Sets a handle to use exactly the given proxy; none if it is empty. libcurl would read the
/// environment if these options were not set.
func useProxy(_ easy: UnsafeMutableRawPointer, _ proxy: String) {
    volley_easy_set_string(easy, CURLOPT_PROXY, proxy)
    volley_easy_set_string(easy, CURLOPT_NOPROXY, "")
    guard !proxy.isEmpty else { return }
    volley_easy_set_long(easy, CURLOPT_HTTPPROXYTUNNEL, 1)
    // Sends user and password at once, which avoids a refusal and a second socket.
    volley_easy_set_long(easy, CURLOPT_PROXYAUTH, volley_auth_basic)
    volley_easy_set_long(easy, CURLOPT_SOCKS5_AUTH, volley_auth_basic)
    volley_easy_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    volley_easy_set_long(easy, CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    volley_easy_set_long(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 1)
    volley_easy_set_long(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 2)
}

/// The libraries that pushes and calls go through, in the versions that this process runs with.
public enum DeliveryLibraries {
    /// libcurl: `7.88.1`; blank if it does not say.
    public static var curl: String {
        curl_version_info(CURLVERSION_SEVENTH)?.pointee.version.map { String(cString: $0) } ?? ""
    }

    /// nghttp2: `1.52.0`.
    public static var nghttp2: String { HTTP2Library.version }
}
