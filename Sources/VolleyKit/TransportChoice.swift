import Base
import Delivery

/// `--transport`: how pushes travel.
public enum TransportChoice: String, Sendable, CaseIterable {
    /// nghttp2, and curl where there is a proxy.
    case auto
    /// nghttp2, which knows no proxies.
    case nghttp2
    /// libcurl.
    case curl

    /// The transport that carries the pushes: the only place that decides it.
    /// - Throws: a `Diagnostic` when the choice cannot go through the proxy.
    func transport(through proxy: ChosenProxy?) throws(Diagnostic) -> Transport {
        switch (self, proxy) {
        case (.curl, _), (.auto, .some): return .curl
        case (.auto, nil), (.nghttp2, nil): return .nghttp2
        case (.nghttp2, let proxy?):
            throw proxy.source.diagnostic(
                "--transport nghttp2 goes through no proxy, and \(proxy.source) sets the proxy \(proxy.address)",
                remedy: "Leave --transport out, which takes curl then, or write `proxy: none` in volley.yaml.")
        }
    }
}
