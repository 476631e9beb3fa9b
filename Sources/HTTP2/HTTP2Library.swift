import CNghttp2

/// The library that speaks HTTP/2.
public enum HTTP2Library {
    /// The version that this process runs with: `1.52.0`; blank if it does not say.
    public static var version: String { nghttp2_version(0)?.pointee.version_str.map { String(cString: $0) } ?? "" }
}
