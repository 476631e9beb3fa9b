import Cryptography
import Glibc
import Testing

@Suite("TLS sessions")
final class ResumptionTests {
    private let folder = TemporaryFolder()
    private let authority = CertificateAuthority(commonName: "Test authority")

    private func server() throws -> TLSServerContext {
        try TLSServerContext(
            certificate: authority.issueServerCertificate(names: ["localhost"]), offersResumption: true)
    }

    private func client() throws -> TLSClientContext {
        try TLSClientContext(authorityFile: folder.write("ca.pem", authority.certificatePEM), certificate: nil)
    }

    /// Whether a connection between the two could be made, and whether it was resumed.
    private func connect(_ client: TLSClientContext, _ server: TLSServerContext) throws -> (
        isOpen: Bool, isResumed: Bool
    ) {
        var sockets: [Int32] = [0, 0]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &sockets) == 0)
        defer { for socket in sockets { close(socket) } }
        let ours = try TLSConnection(client, host: "localhost", socket: sockets[0])
        let theirs = try TLSConnection(server, socket: sockets[1])
        var progress = (ours: TLSProgress.wantsRead, theirs: TLSProgress.wantsRead)
        for _ in 0..<10 {
            if progress.ours != .done(0) { progress.ours = ours.handshake() }
            if progress.theirs != .done(0) { progress.theirs = theirs.handshake() }
        }
        // In TLS 1.3 the session comes after the handshake, with the first read.
        var buffer = [UInt8](repeating: 0, count: 100)
        _ = buffer.withUnsafeMutableBytes { ours.read(into: $0) }
        return (progress == (.done(0), .done(0)), ours.isResumed)
    }

    @Test("the second connection to a server resumes the session of the first, and each session is used once")
    func resumes() throws {
        let (client, server) = (try client(), try server())
        #expect(try connect(client, server) == (true, false))
        #expect(try connect(client, server) == (true, true))
        #expect(try connect(client, server) == (true, true))
    }

    @Test("a server that knows nothing of the session is connected to in full")
    func otherServer() throws {
        let client = try client()
        #expect(try connect(client, server()) == (true, false))
        #expect(try connect(client, server()) == (true, false))
    }
}
