import Cryptography
import Glibc
import Testing

/// TLS in TLS, with only memory between the two: the outer server passes on what it deciphers.
@Suite("TLS in TLS")
final class NestedTLSTests {
    private let folder = TemporaryFolder()
    private let authority = CertificateAuthority(commonName: "Test authority")

    init() {
        // As every user of TLSConnection must.
        var pipe = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, nil)
    }

    private func server(_ name: String, _ applicationProtocol: String = "h2") throws -> TLSServerContext {
        try TLSServerContext(
            certificate: authority.issueServerCertificate(names: [name]), applicationProtocols: [applicationProtocol])
    }

    private func client() throws -> TLSClientContext {
        try TLSClientContext(authorityFile: folder.write("ca.pem", authority.certificatePEM), certificate: nil)
    }

    private func pair() -> (Int32, Int32) {
        var sockets: [Int32] = [0, 0]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &sockets) == 0)
        return (sockets[0], sockets[1])
    }

    /// Moves all available bytes between the proxy's end of the outer connection and a socket to
    /// the inner server.
    private func relay(_ proxy: borrowing TLSConnection, _ socket: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        buffer.withUnsafeMutableBytes { bytes in
            while case .done(let count) = proxy.read(into: bytes) {
                precondition(write(socket, bytes.baseAddress, count) == count)
            }
            while true {
                let count = read(socket, bytes.baseAddress, bytes.count)
                guard count > 0 else { return }
                precondition(proxy.write(UnsafeRawBufferPointer(rebasing: bytes[..<count])) == .done(count))
            }
        }
    }

    private func shakeHands(
        _ client: borrowing TLSConnection, _ server: borrowing TLSConnection, between: () -> Void = {}
    ) -> (
        TLSProgress, TLSProgress
    ) {
        var progress = (TLSProgress.wantsRead, TLSProgress.wantsRead)
        for _ in 0..<10 {
            if progress.0 == .wantsRead { progress.0 = client.handshake() }
            between()
            if progress.1 == .wantsRead { progress.1 = server.handshake() }
            between()
        }
        return progress
    }

    @Test(
        "both handshakes are verified, bytes pass, and an end in good order is told from a cut",
        arguments: ["proxy", "server", "both", "cut"])
    func nested(closes: String) throws {
        let (ours, theirs) = pair(), (near, far) = pair()
        defer { for socket in [ours, theirs, near, far] { close(socket) } }
        let proxyContext = try TLSClientContext(systemBundle: folder.write("ca.pem", authority.certificatePEM))
        let outer = try TLSConnection(proxyContext, host: "proxy", socket: ours)
        let proxy = try TLSConnection(server("proxy", "http/1.1"), socket: theirs)
        #expect(shakeHands(outer, proxy) == (.done(0), .done(0)))
        #expect(outer.negotiatedProtocol == "http/1.1")
        let inner = try TLSConnection(client(), host: "server", inside: outer)
        let server = try TLSConnection(server("server"), socket: far)
        #expect(shakeHands(inner, server) { relay(proxy, near) } == (.done(0), .done(0)))
        #expect(inner.negotiatedProtocol == "h2")

        var buffer = [UInt8](repeating: 0, count: 16_384)
        #expect(buffer.withUnsafeMutableBytes { inner.read(into: $0) } == .wantsRead)
        for message in [[UInt8](repeating: 7, count: 16_384), Array("hello".utf8)] {
            #expect(message.withUnsafeBytes { inner.write($0) } == .done(message.count))
            relay(proxy, near)
            #expect(
                buffer.withUnsafeMutableBytes { server.read(into: $0) } == .done(message.count)
                    && buffer.starts(with: message))
            #expect(message.withUnsafeBytes { server.write($0) } == .done(message.count))
            relay(proxy, near)
            #expect(buffer.withUnsafeMutableBytes { inner.peek(into: $0) } == .done(message.count))
            #expect(
                buffer.withUnsafeMutableBytes { inner.read(into: $0) } == .done(message.count)
                    && buffer.starts(with: message))
        }
        switch closes {
        case "proxy": proxy.shutdown()
        case "cut":
            // Not `close`: a program that another test starts at this moment may also have the
            // socket open.
            Glibc.shutdown(theirs, Int32(SHUT_RDWR))
        default:
            server.shutdown()
            relay(proxy, near)
            if closes == "both" { proxy.shutdown() }
        }
        let end = buffer.withUnsafeMutableBytes { inner.read(into: $0) }
        let expected =
            closes == "proxy" || closes == "cut" ? "the connection was cut" : "the peer closed the connection"
        #expect(end == .failed(.closed(expected)))
    }

    @Test("the inner server is verified however good the outer one is")
    func untrusted() throws {
        let (ours, theirs) = pair(), (near, far) = pair()
        defer { for socket in [ours, theirs, near, far] { close(socket) } }
        let outer = try TLSConnection(client(), host: "proxy", socket: ours)
        let proxy = try TLSConnection(server("proxy"), socket: theirs)
        #expect(shakeHands(outer, proxy) == (.done(0), .done(0)))
        let inner = try TLSConnection(client(), host: "server", inside: outer)
        let server = try TLSConnection(server("another"), socket: far)
        guard case .failed(.untrusted) = shakeHands(inner, server, between: { relay(proxy, near) }).0 else {
            Issue.record("it was trusted")
            return
        }
    }

    @Test("a shutdown says goodbye to both")
    func shutdown() throws {
        let (ours, theirs) = pair(), (near, far) = pair()
        defer { for socket in [ours, theirs, near, far] { close(socket) } }
        let outer = try TLSConnection(client(), host: "proxy", socket: ours)
        let proxy = try TLSConnection(server("proxy"), socket: theirs)
        _ = shakeHands(outer, proxy)
        let inner = try TLSConnection(client(), host: "server", inside: outer)
        let server = try TLSConnection(server("server"), socket: far)
        _ = shakeHands(inner, server) { relay(proxy, near) }
        inner.shutdown()
        relay(proxy, near)
        var buffer = [UInt8](repeating: 0, count: 100)
        #expect(
            buffer.withUnsafeMutableBytes { server.read(into: $0) }
                == .failed(.closed("the peer closed the connection")))
        #expect(
            buffer.withUnsafeMutableBytes { proxy.read(into: $0) } == .failed(.closed("the peer closed the connection"))
        )
    }
}
