import Base

/// SOCKS4, and SOCKS4a, which accepts names. The protocols' only sources are NEC's SOCKS4.protocol and SOCKS4A.protocol. They have a user
/// but no password.
struct SOCKS4: ProxyDialogue {
    let opening: ProxyStep
    private var reply: [UInt8] = []

    private static let replyLength = 8

    init(_ proxy: ProxyAddress, to destination: ProxyTunnel.Destination) {
        var request: [UInt8] = [4, 1] + bigEndian(destination.port)
        let user = Array((proxy.user ?? "").utf8) + [0]
        if let address = destination.address ?? IPAddress(destination.host), address.isIPv4 {
            request += address.bytes + user
        } else if proxy.scheme == .socks4a {
            // The impossible address 0.0.0.x says that a name follows.
            request += [0, 0, 0, 1] + user + Array(destination.host.utf8) + [0]
        } else {
            opening = .fail(.unreachable("\(destination.host) has no IPv4 address, and SOCKS4 supports no other"))
            return
        }
        opening = .say(request)
    }

    mutating func receive(_ byte: UInt8) -> ProxyStep {
        reply.append(byte)
        if reply[0] != 0 { return .fail(.unreachable("the proxy does not speak SOCKS4")) }
        guard reply.count == Self.replyLength else { return .listen }
        return switch reply[1] {
        case 90: .open
        case 92, 93: .fail(.proxyRefused(.credentials("it asked this machine's identd for the user, and rejected the answer")))
        default: .fail(.unreachable("the proxy rejected the request, or cannot reach it"))
        }
    }
}

/// Returns a port in network byte order.
func bigEndian(_ port: Int) -> [UInt8] { [UInt8(port >> 8 & 0xFF), UInt8(port & 0xFF)] }
