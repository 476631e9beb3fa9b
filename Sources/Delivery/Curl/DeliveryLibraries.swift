import CCurl
import HTTP2

/// The libraries that pushes and calls go through, in the versions that this process runs with.
public enum DeliveryLibraries {
    /// libcurl: `7.88.1`; blank if it does not say.
    public static var curl: String {
        curl_version_info(CURLVERSION_SEVENTH)?.pointee.version.map { String(cString: $0) } ?? ""
    }

    /// nghttp2: `1.52.0`.
    public static var nghttp2: String { HTTP2Library.version }
}
