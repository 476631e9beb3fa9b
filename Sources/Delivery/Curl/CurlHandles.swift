import Base
import CCurl
import Glibc

/// Set up once in a process, as libcurl asks, before any handle is made.
let curlIsReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

/// An easy handle, freed with its owner.
struct CurlEasyHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer

    /// - Throws: a `Diagnostic` when there is no memory for it.
    init() throws(Diagnostic) {
        guard curlIsReady, let pointer = curl_easy_init() else { throw .cannotMake("a connection of libcurl's") }
        self.pointer = pointer
    }

    deinit { curl_easy_cleanup(pointer) }
}

/// Header lines in libcurl's own form, freed with their owner.
struct CurlHeaderList: ~Copyable {
    let first: UnsafeMutablePointer<curl_slist>

    /// - Parameter lines: at least one.
    /// - Throws: a `Diagnostic` when there is no memory for all of them.
    init(_ lines: [String]) throws(Diagnostic) {
        precondition(!lines.isEmpty, "libcurl has no form for no headers")
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(list, line) else {
                curl_slist_free_all(list)
                throw .cannotMake("a request of libcurl's")
            }
            list = longer
        }
        guard let list else { preconditionFailure("a list of lines has no first") }
        first = list
    }

    deinit { curl_slist_free_all(first) }
}

/// Where this machine keeps its authorities in one file, as libcurl was built to find them; nil where they have none.
var systemBundle: String? {
    curl_version_info(CURLVERSION_SEVENTH)?.pointee.cainfo.map { String(cString: $0) }
}

/// Whom to trust instead of the system's authorities. Read once: libcurl, given the name, would read the file with each connection, and wait when
/// a named pipe has come in its place.
struct CurlAuthority {
    private var pem: [UInt8]

    /// A file that cannot be read is an authority that nobody has a certificate of.
    init(file: String) {
        let read = try? RegularFile.bytes(of: file, atMost: 1 << 20)
        // libcurl takes no empty text.
        pem = (read ?? []) + Array("\n".utf8)
    }

    fileprivate func apply(to easy: UnsafeMutableRawPointer) {
        var pem = pem
        pem.withUnsafeMutableBytes { bytes in
            var blob = curl_blob(data: bytes.baseAddress, len: bytes.count, flags: UInt32(CURL_BLOB_COPY))
            volley_easy_set_pointer(easy, CURLOPT_CAINFO_BLOB, &blob)
        }
        // The only authority: libcurl would look into the system's folder as well.
        volley_easy_set_string(easy, CURLOPT_CAPATH, nil)
    }
}

/// The server is always verified: by the system's authorities, or by one alone.
func verifyServer(_ easy: UnsafeMutableRawPointer, _ authority: CurlAuthority?) {
    volley_easy_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    volley_easy_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1)
    volley_easy_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2)
    authority?.apply(to: easy)
}
