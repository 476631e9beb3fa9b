import Base
import CCurl
import Glibc

/// Carries pushes over libcurl.
final class CurlTransport: PushTransport {
    var events: [TransportEvent] = []

    private let settings: SenderSettings
    private let options: CurlOptions
    private let proxy: ProxyAddress?
    private let epoll: EpollHandle
    private var ready = [epoll_event](repeating: epoll_event(), count: 64)
    private var connections: [CurlConnection?] = []
    /// By the push's slot.
    private var transfers: [CurlTransfer?] = []
    private var idle: [CurlTransfer] = []
    private var done: [(CurlTransfer, CURLcode)] = []

    /// - Throws: a `Diagnostic` when no more files can be opened.
    init(_ settings: SenderSettings) throws(Diagnostic) {
        self.settings = settings
        epoll = try EpollHandle()
        options = CurlOptions(settings)
        proxy = settings.proxyAddress
    }

    deinit {
        for connection in connections.indices { close(connection) }
    }

    // MARK: Actions

    /// Says that the connection is open; libcurl connects when the first push comes.
    func open(_ connection: Int) {
        while connections.count <= connection { connections.append(nil) }
        precondition(connections[connection] == nil, "a connection is opened once")
        var token: ProviderToken?
        if case .token(let source) = settings.credentials { token = source.current() }
        connections[connection] = CurlConnection(
            index: connection, epoll: epoll, headers: CurlOptions.headerLines(settings.headers, token), token: token,
            hasProxyTLS: proxy?.scheme == .https)
        events.append(.opened(connection: connection))
    }

    func close(_ connection: Int) {
        guard connection < connections.count, let closing = connections[connection] else { return }
        for transfer in transfers { if let transfer, transfer.connection === closing { takeBack(transfer) } }
        connections[connection] = nil
    }

    func token(of connection: Int) -> ProviderToken? { connection < connections.count ? connections[connection]?.token : nil }

    func submit(push: Int, id: APNsID, on connection: Int, token: UnsafeBufferPointer<UInt8>, payload: UnsafeBufferPointer<UInt8>) {
        guard connection < connections.count, let connection = connections[connection] else {
            events.append(.notProcessed(push: push))
            return
        }
        let transfer = idle.popLast() ?? CurlTransfer(options)
        transfer.prepare(push: push, id: id, token: token, payload: payload, connection: connection)
        while transfers.count <= push { transfers.append(nil) }
        transfers[push] = transfer
        connection.add(transfer)
    }

    func abandon(push: Int, on connection: Int) {
        if push < transfers.count, let transfer = transfers[push] { takeBack(transfer) }
    }

    /// libcurl tells nobody of PING.
    func ping(_ connection: Int) {}

    // MARK: Waiting

    func poll(until deadline: Int64) {
        var wakeAt = deadline
        for connection in connections { if let timer = connection?.timerAt { wakeAt = min(wakeAt, timer) } }
        let left = max(0, wakeAt - monotonicNanoseconds())
        let count = epoll.wait(&ready, milliseconds: Int32(min((left + 999_999) / 1_000_000, 1000)))
        for event in ready.prefix(count) { dispatch(event) }
        let now = monotonicNanoseconds()
        for connection in connections { if let connection, let timer = connection.timerAt, timer <= now { connection.actOnTimer() } }
        for connection in connections { if let connection { collect(from: connection) } }
    }

    private func dispatch(_ event: epoll_event) {
        let connection = Int(event.data.u64 >> 32)
        guard connection < connections.count, let connection = connections[connection] else { return }
        var mask: Int32 = 0
        if event.events & EPOLLIN.rawValue != 0 { mask |= CURL_CSELECT_IN }
        if event.events & EPOLLOUT.rawValue != 0 { mask |= CURL_CSELECT_OUT }
        if event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { mask |= CURL_CSELECT_ERR }
        connection.act(on: Int32(bitPattern: UInt32(truncatingIfNeeded: event.data.u64)), mask)
    }

    private func collect(from connection: CurlConnection) {
        // All messages first: taking a handle out searches libcurl's list of messages for more of them.
        while let next = connection.nextDone() { done.append(next) }
        for (transfer, code) in done { report(transfer, code, connection) }
        done.removeAll(keepingCapacity: true)
    }

    private func takeBack(_ transfer: CurlTransfer) {
        guard let connection = transfer.connection else { return }
        connection.remove(transfer)
        if !connection.hasAnswered { connection.endObservation(of: transfer) }
        transfers[transfer.push] = nil
        transfer.finish()
        idle.append(transfer)
    }

    // MARK: Reporting

    private func report(_ transfer: CurlTransfer, _ code: CURLcode, _ connection: CurlConnection) {
        let push = transfer.push
        defer { takeBack(transfer) }
        guard code == CURLE_OK else { return reportError(transfer, code, connection) }
        guard volley_easy_get_long(transfer.easy.pointer, CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0) else {
            // Whoever answered is no APNs, and what it did with the push is anyone's guess.
            events.append(.lost(push: push, reason: "ConnectionLost"))
            events.append(.failed(connection: connection.index, .notHTTP2))
            return
        }
        noteAnswer(to: transfer, on: connection)
        events.append(.answered(push: push, transfer.readAnswer()))
    }

    private func noteAnswer(to transfer: CurlTransfer, on connection: CurlConnection) {
        guard !connection.hasAnswered else { return }
        connection.endObservation(of: transfer)
        connection.hasAnswered = true
    }

    private func reportError(_ transfer: CurlTransfer, _ code: CURLcode, _ connection: CurlConnection) {
        let message = transfer.errorMessage(code)
        let reply = proxy.map { CurlProxyReply(address: $0, easy: transfer.easy.pointer) }
        let failure = CurlFailure(code, message: message, connection: connection, proxy: reply)
        // Without its body no request is complete, so no server may have acted on it.
        let isProvablyUnsent = !transfer.bodyWasRead && volley_easy_get_long(transfer.easy.pointer, CURLINFO_REQUEST_SIZE) == 0
        switch failure {
        case .connection(let failure):
            events.append(.notProcessed(push: transfer.push))
            events.append(.failed(connection: connection.index, failure))
        case .stream, .broken:
            if connection.isSealed, let answer = transfer.answerBeforeFailure() {
                noteAnswer(to: transfer, on: connection)
                events.append(.answered(push: transfer.push, answer))
            } else if isProvablyUnsent {
                events.append(.notProcessed(push: transfer.push))
            } else if failure == .stream {
                events.append(.reset(push: transfer.push))
            } else {
                events.append(.lost(push: transfer.push, reason: "ConnectionLost"))
            }
            guard failure == .broken, !connection.isLeaving else { return }
            connection.isLeaving = true
            events.append(.leaving(connection: connection.index, cause: message, isInOrder: false))
        }
    }
}
