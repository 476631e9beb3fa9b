import Cryptography
import Glibc
import Synchronization
import TestServers

/// Speaks TLS on a port of 127.0.0.1, and passes everything on to another port: an https proxy in
/// front of a plain one. It ends with this value.
final class TLSFront: Sendable {
    let port: Int
    private let isStopped: Box

    private final class Box: Sendable { let value = Atomic(false) }

    /// Listens from now on.
    init(_ context: TLSServerContext, to target: Int) throws {
        let (listener, port) = try Sockets.listen()
        let isStopped = Box()
        (self.port, self.isStopped) = (port, isStopped)
        startThread {
            while !isStopped.value.load(ordering: .relaxed) {
                guard wait(listener, POLLIN) else { continue }
                let client = accept(listener, nil, nil)
                guard client >= 0 else { continue }
                startThread { Self.serve(client, context, target, isStopped) }
            }
            Sockets.close(listener)
        }
    }

    deinit { isStopped.value.store(true, ordering: .relaxed) }

    private static func serve(_ client: Int32, _ context: TLSServerContext, _ target: Int, _ isStopped: Box) {
        defer { Sockets.close(client) }
        _ = fcntl(client, F_SETFL, O_NONBLOCK)
        var ignored = sigset_t()
        sigemptyset(&ignored)
        sigaddset(&ignored, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &ignored, nil)
        guard let tls = try? TLSConnection(context, socket: client), insist(client, { tls.handshake() }) != nil,
            let server = Sockets.connect(target)
        else { return }
        defer { Sockets.close(server) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { buffer.deallocate() }
        while !isStopped.value.load(ordering: .relaxed) {
            var polled = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            poll(&polled, 2, 100)
            upwards: while true {
                switch tls.read(into: buffer) {
                case .done(let count):
                    guard Sockets.write(Array(buffer[..<count]), to: server) else { return }
                case .wantsRead, .wantsWrite: break upwards
                case .failed: return
                }
            }
            let count = recv(server, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            if count == 0 { return tls.shutdown() }
            if count < 0 {
                guard errno == EAGAIN else { return }
                continue
            }
            var sent = 0
            while sent < count {
                guard let more = insist(client, { tls.write(UnsafeRawBufferPointer(rebasing: buffer[sent..<count])) })
                else { return }
                sent += more
            }
        }
    }

    /// Repeats an operation until it is done; nil if it fails.
    private static func insist(_ socket: Int32, _ body: () -> TLSProgress) -> Int? {
        while true {
            switch body() {
            case .done(let count): return count
            case .wantsRead: _ = wait(socket, POLLIN)
            case .wantsWrite: _ = wait(socket, POLLOUT)
            case .failed: return nil
            }
        }
    }
}

/// Waits at most a tenth of a second.
private func wait(_ socket: Int32, _ events: Int32) -> Bool {
    var polled = pollfd(fd: socket, events: Int16(events), revents: 0)
    return poll(&polled, 1, 100) > 0
}
