import Base
import PushServices

/// Why a connection could not be had.
enum ConnectionFailure: Hashable, Sendable {
    /// May pass: refused, no such name, timed out.
    case unreachable(String)
    /// The server's certificate is not to be trusted.
    case untrusted(String)
    /// The server does not speak HTTP/2.
    case notHTTP2
    /// The server refused the client certificate during the handshake.
    case certificateRefused(String)
    /// The proxy did not let Volley through, and would not the next time.
    case proxyRefused(ProxyRefusal)
    /// This machine's own settings cannot work: a file that cannot be read, say.
    case misconfigured(String)
}

/// Why a proxy did not let Volley through.
enum ProxyRefusal: Hashable, Sendable {
    /// It wants a user and a password, or others.
    case credentials(String)
    /// It does not allow this server.
    case forbidden(String)
    /// The proxy's own certificate is not to be trusted.
    case untrusted(String)
}

extension DeliveryMachine {
    /// A connection asked for by `open` takes pushes now.
    mutating func connectionOpened(_ connection: Int, at now: Moment) {
        precondition(connections[connection].state == .opening, "only a connection that was asked for opens")
        connections[connection].state = .open
        connections[connection].lastProgress = now.nanoseconds
        hasConnected = true
    }

    /// A connection could not be had. Nothing that was submitted to it reached the peer.
    mutating func connectionFailed(_ connection: Int, _ failure: ConnectionFailure, at now: Moment) {
        guard connections[connection].state != .closed else { return }
        // Not to be closed halfway, when it is empty.
        connections[connection].state = .open
        while let request = oldest(on: connection) { notProcessed(request, at: now) }
        forget(connection)
        switch failure {
        case .unreachable(let cause): noteFruitless(cause, at: now)
        case .untrusted(let cause):
            stopConnecting(.serverNotTrusted(endpoint: settings.endpoint, cause: cause), at: now)
        case .notHTTP2: stopForService(.notHTTP2(endpoint: settings.endpoint), at: now)
        case .certificateRefused(let cause):
            stopConnecting(.certificateRefused(endpoint: settings.endpoint, cause: cause), at: now)
        case .proxyRefused(let refusal): proxyRefused(refusal, at: now)
        case .misconfigured(let cause):
            stopConnecting(.misconfigured(endpoint: settings.endpoint, cause: cause), at: now)
        }
    }

    /// A connection died. What is still in flight on it was handed to the wire and will not be answered; the driver has said `notProcessed`
    /// before of what provably was not.
    mutating func connectionLost(_ connection: Int, cause: String, at now: Moment) {
        guard connections[connection].state != .closed else { return }
        let slot = connections[connection]
        loseAllInFlight(on: connection, reason: .connectionLost, at: now)
        forget(connection)
        if slot.state != .retiring { noteEnd(of: slot, cause: cause, at: now) }
    }

    /// A connection takes no more pushes (GOAWAY, or the first sign that it is broken); what is in flight may still be answered. The driver has said
    /// `notProcessed` before of what provably will not be.
    /// - Parameter isInOrder: the peer says that nothing is wrong (NO_ERROR): another connection may take its place at once.
    mutating func connectionLeaves(_ connection: Int, cause: String, isInOrder: Bool = false, at now: Moment) {
        guard connections[connection].state != .closed, connections[connection].state != .retiring else { return }
        let slot = connections[connection]
        // One that leaves after a few requests is no better than a loss: the service takes rapid connecting and closing for an attack.
        if isInOrder, slot.answers >= settings.smallestBudget {
            requestBudget.noteLeave(after: slot.answers + slot.inFlight)
        } else {
            noteEnd(of: slot, cause: cause, at: now)
        }
        drain(connection)
    }

    /// The peer's window takes so many more requests for now; `.max` when it is no limit.
    mutating func windowChanged(_ connection: Int, room: Int) {
        if connections[connection].state != .closed { connections[connection].freeWindow = room }
    }

    /// A run that has got through before waits, as for any server that is away for a while.
    private mutating func proxyRefused(_ refusal: ProxyRefusal, at now: Moment) {
        let proxy = settings.proxy ?? ""
        switch refusal {
        case .credentials(let cause), .forbidden(let cause), .untrusted(let cause):
            if hasEverAnswered { return noteFruitless("the proxy \(proxy) lets nobody through any more: \(cause)", at: now) }
        }
        switch refusal {
        case .credentials(let cause):
            stopConnecting(.proxyCredentials(proxy: proxy, cause: cause), at: now)
        case .forbidden(let cause):
            stopConnecting(.proxyForbids(proxy: proxy, endpoint: settings.endpoint, cause: cause), at: now)
        case .untrusted(let cause):
            stopConnecting(.proxyNotTrusted(proxy: proxy, cause: cause), at: now)
        }
    }

    private mutating func stopConnecting(_ stop: ConnectionStop, at now: Moment) {
        self.stop(.connection(service: settings.service.name, stop), at: now)
    }

    /// What is tried.
    private var destination: ConnectionStop.Destination {
        .init(endpoint: settings.endpoint, proxy: settings.proxy, usesCertificate: !settings.usesProviderToken)
    }

    private mutating func noteEnd(of connection: ConnectionSlot, cause: String, at now: Moment) {
        if connection.answers == 0 { noteFruitless(cause, at: now) } else { noteLoss(at: now) }
    }

    /// The peer's limit of streams changed; the latest counts.
    mutating func limitChanged(_ connection: Int, to limit: Int) {
        if connections[connection].state != .closed { connections[connection].peerLimit = max(1, limit) }
    }

    /// Another provider token is to be used from now on: over new connections, as a connection may stay wedged with the token it saw first.
    mutating func tokenChanged() {
        for connection in connections.indices { drain(connection) }
    }

    /// The peer wants to leave, or the connection should not be used further: answers are awaited, nothing more is submitted.
    mutating func drain(_ connection: Int) {
        guard connections[connection].state == .open || connections[connection].state == .opening else { return }
        connections[connection].state = .retiring
        closeIfDrained(connection)
    }

    mutating func closeIfDrained(_ connection: Int) {
        if connections[connection].state == .retiring, connections[connection].inFlight == 0 { close(connection) }
    }

    mutating func close(_ connection: Int) {
        forget(connection)
        actions.append(.close(connection: connection))
    }

    private mutating func forget(_ connection: Int) {
        precondition(connections[connection].inFlight == 0, "a connection must be empty before it is closed")
        connections[connection] = ConnectionSlot()
    }

    /// There are pushes for a connection, or one is wanted before there are any.
    var wantsConnection: Bool {
        !fresh.isEmpty || !again.isEmpty || settings.connectsFirst && !hasConnected && !isSourceEnded
    }

    /// Asks for a connection if there is none, or if streams are the limit and more of them help.
    mutating func openIfNeeded(at now: Moment) {
        guard ending == nil, now.nanoseconds >= reconnectAt, wantsConnection else { return }
        // With a pace of one push in many minutes a connection would only idle away until its time comes.
        if let next = nextPaceTime, next - now.nanoseconds > Int64(nanosecondsFromSeconds: settings.connectTimeoutSeconds) { return }
        var (used, aging) = (0, 0)
        for connection in connections where connection.state == .open || connection.state == .opening {
            // The next one is opened before this one is used up.
            if requestBudget.isHalfUsed(by: connection.submitted) {
                aging += 1
                continue
            }
            used += 1
            // One that is not warm yet shows first whether the server is well.
            if connection.state == .opening || !connection.isWarm || room(of: connection) > 0 {
                return growth.noteRoom()
            }
        }
        guard used < settings.connections, used + aging < 2 * settings.connections else { return }
        if used > 0 {
            guard nextPushIsAllowed, (nextPaceTime ?? .min) <= now.nanoseconds else { return growth.noteRoom() }
            switch growth.noteFull(at: now.nanoseconds, answers: answerCount, connections: used) {
            case .stay: return
            case .giveUpLast: return retireNewcomer()
            case .openOneMore: break
            }
        }
        let free = connections.firstIndex { $0.state == .closed }
        if free == nil { connections.append(ConnectionSlot()) }
        let connection = free ?? connections.count - 1
        connections[connection].state = .opening
        connections[connection].lastProgress = now.nanoseconds
        actions.append(.open(connection: connection))
    }

    /// Gives up the open connection that has had the fewest answers.
    private mutating func retireNewcomer() {
        let open = connections.indices.filter { connections[$0].state == .open }
        if let newcomer = open.min(by: { connections[$0].answers < connections[$1].answers }) { drain(newcomer) }
    }

    /// Requests that may be in flight there: one until the first was accepted, then what both sides allow.
    func limit(of connection: ConnectionSlot) -> Int {
        connection.isWarm ? max(1, min(window.limit, connection.peerLimit)) : 1
    }

    /// How many more requests should go there.
    private func room(of connection: ConnectionSlot) -> Int { min(limit(of: connection) - connection.inFlight, connection.freeWindow) }

    /// The open connection with the most room, nil when all are full; one that is soon used up before all others.
    func connectionWithRoom() -> Int? {
        var best: Int?
        var bestRoom = 0
        for (index, connection) in connections.enumerated() where connection.state == .open {
            let room = room(of: connection)
            if room > 0, requestBudget.isHalfUsed(by: connection.submitted) { return index }
            if room > bestRoom { (best, bestRoom) = (index, room) }
        }
        return best
    }

    mutating func noteAnswer(on connection: Int, at now: Moment) {
        connections[connection].answers += 1
        connections[connection].pingedAt = nil
        answerCount += 1
        connections[connection].lastProgress = now.nanoseconds
        hasEverAnswered = true
        fruitlessConnections = 0
    }

    private mutating func noteLoss(at now: Moment) {
        let remembered = recentLosses.add(at: now.nanoseconds)
        let ceiling = Int64(nanosecondsFromSeconds: min(1, settings.retry.firstDelaySeconds / 10 * (remembered - 1)))
        reconnectAt = now.nanoseconds + Int64.random(in: 0...ceiling, using: &random)
    }

    /// A connection ended without a single answer: wait longer each time, and give up where waiting no longer makes sense.
    private mutating func noteFruitless(_ cause: String, at now: Moment) {
        if fruitlessConnections == 0 { fruitlessSince = now.nanoseconds }
        fruitlessConnections += 1
        let ceiling = min(30, settings.retry.firstDelaySeconds * Double(1 << min(fruitlessConnections - 1, 10)))
        reconnectAt = now.nanoseconds + Int64(nanosecondsFromSeconds: Double.random(in: ceiling / 2...ceiling, using: &random))
        if settings.connectsFirst, !hasConnected {
            // Whoever asked for help goes on without.
            if fruitlessConnections >= settings.fruitlessConnectionLimit { isSourceEnded = true }
        } else if !hasEverAnswered, fruitlessConnections >= settings.fruitlessConnectionLimit {
            stopConnecting(.unreachable(destination, attempts: fruitlessConnections, cause: cause), at: now)
        } else if now.nanoseconds - fruitlessSince > Int64(nanosecondsFromSeconds: settings.retry.maximumTotalSeconds) {
            stopConnecting(.lost(destination, cause: cause), at: now)
        }
    }
}
