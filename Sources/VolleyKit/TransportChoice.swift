import Delivery

/// `--transport`: how pushes travel.
public enum TransportChoice: String, Sendable, CaseIterable {
    /// nghttp2.
    case auto
    /// nghttp2 on an epoll loop of our own.
    case nghttp2
    /// libcurl.
    case curl

    /// The transport that carries the pushes: the only place that decides it.
    var transport: Transport { self == .curl ? .curl : .nghttp2 }
}
