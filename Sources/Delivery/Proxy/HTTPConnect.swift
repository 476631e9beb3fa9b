import Base

/// CONNECT (RFC 9110 section 9.3.6). It sends Basic credentials (RFC 7617) at once: a proxy that requires them would only close the
/// connection after asking.
struct HTTPConnect: ProxyDialogue {
    /// The most bytes of all heads together. Real proxies send less than a tenth of that.
    static let longestAnswer = 65_536

    let opening: ProxyStep
    private var line: [UInt8] = []
    private var count = 0
    /// The status of the head being read; nil until its first line is complete.
    private var status: Int?

    init(_ proxy: ProxyAddress, to destination: ProxyTunnel.Destination) {
        let host = destination.host.contains(":") ? "[\(destination.host)]" : destination.host
        let target = "\(host):\(destination.port)"
        var head = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n"
        if let user = proxy.user {
            head += "Proxy-Authorization: Basic \(base64(Array("\(user):\(proxy.password ?? "")".utf8)))\r\n"
        }
        opening = .say(Array("\(head)\r\n".utf8))
    }

    mutating func receive(_ byte: UInt8) -> ProxyStep {
        count += 1
        if count > Self.longestAnswer {
            return .fail(.unreachable("the proxy's answer to CONNECT is longer than \(Self.longestAnswer) bytes"))
        }
        guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            return status == nil && !Self.mayBeStatusLine(line) ? Self.garbage : .listen
        }
        // A bare line feed also ends a line (RFC 9112 section 2.2).
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        defer { line.removeAll(keepingCapacity: true) }
        guard let status else { return readStatusLine() }
        guard line.isEmpty else { return .listen }
        // After 1xx another head follows. What a 2xx says about a body does not count (RFC 9110 sections 15.2 and 9.3.6).
        self.status = nil
        return status < 200 ? .listen : .open
    }

    private mutating func readStatusLine() -> ProxyStep {
        let digits = line.dropFirst(Self.prefix.count + 2).prefix(4)
        guard line.count >= Self.prefix.count + 5, line[Self.prefix.count + 1] == UInt8(ascii: " "),
            digits.count == 3 || digits.last == UInt8(ascii: " "), let code = Int(String(decoding: digits.prefix(3), as: UTF8.self)),
            code >= 100
        else { return Self.garbage }
        status = code
        // The rest of a refusal does not matter, and may never come.
        return code < 300 ? .listen : .fail(Self.refusal(code))
    }

    private static let prefix = Array("HTTP/1.".utf8)
    private static let garbage = ProxyStep.fail(.unreachable("the proxy answered CONNECT with something that is not HTTP/1"))

    private static func mayBeStatusLine(_ line: [UInt8]) -> Bool { line.prefix(prefix.count).elementsEqual(prefix.prefix(line.count)) }

    private static func refusal(_ status: Int) -> ConnectionFailure {
        let answer = "it answered \(status) to CONNECT"
        return switch status {
        case 407: .proxyRefused(.credentials(answer))
        case 408, 429, 500...: .unreachable("the proxy cannot reach it: \(answer)")
        default: .proxyRefused(.forbidden(answer))
        }
    }
}
