import Base
import PushServices

/// Why a connection could not be opened.
enum ConnectionFailure: Hashable, Sendable {
    /// A failure that may pass: refused, no such name, timed out.
    case unreachable(String)
    /// The server's certificate cannot be trusted.
    case untrusted(String)
    /// The server does not speak HTTP/2.
    case notHTTP2
    /// The server refused the client certificate during the handshake.
    case certificateRefused(String)
    /// The proxy did not let Volley through, and would not let it through next time.
    case proxyRefused(ProxyRefusal)
    /// This machine's own settings cannot work, for example because a file cannot be read.
    case misconfigured(String)
    /// There is no token to show to the server yet. Nothing was tried.
    case credentialPending
}

/// Why a proxy did not let Volley through.
enum ProxyRefusal: Hashable, Sendable {
    /// It requires a user and a password, or different ones.
    case credentials(String)
    /// It does not allow connections to this server.
    case forbidden(String)
    /// The proxy's own certificate cannot be trusted.
    case untrusted(String)
}

extension DeliveryMachine {
    /// Notes that a connection requested by `open` is ready for pushes.
    mutating func connectionOpened(_ connection: Int, at now: Moment) {
        precondition(connections[connection].state == .opening, "only a requested connection can open")
        connections[connection].state = .open
        connections[connection].lastProgress = now.nanoseconds
        hasConnected = true
    }

    /// Notes that a connection could not be opened. Nothing submitted to it reached the peer.
    mutating func connectionFailed(_ connection: Int, _ failure: ConnectionFailure, at now: Moment) {
        guard connections[connection].state != .closed else { return }
        // Otherwise the loop would close a retiring connection as soon as it is empty.
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
        case .credentialPending: credentialPending(at: now)
        }
    }

    /// Notes that a connection died. What is still in flight on it was handed to the wire and will
    /// not be answered. The driver has already called `notProcessed` for what was provably not
    /// processed.
    mutating func connectionLost(_ connection: Int, cause: String, at now: Moment) {
        guard connections[connection].state != .closed else { return }
        let slot = connections[connection]
        loseAllInFlight(on: connection, reason: .connectionLost, at: now)
        forget(connection)
        if slot.state != .retiring { noteEnd(of: slot, cause: cause, at: now) }
    }

    /// Notes that a connection may get no more pushes (GOAWAY, or the first sign that it is
    /// broken). What is in flight may still be answered. The driver has already called
    /// `notProcessed` for what provably will not be.
    /// - Parameter isInOrder: the peer says that nothing is wrong (NO_ERROR), so another connection
    ///   may replace this one at once.
    mutating func connectionLeaves(_ connection: Int, cause: String, isInOrder: Bool = false, at now: Moment) {
        guard connections[connection].state != .closed, connections[connection].state != .retiring else { return }
        let slot = connections[connection]
        // A connection that leaves after a few requests counts as lost: the service takes rapid
        // connecting and closing for an attack.
        if isInOrder, slot.answers >= settings.smallestBudget {
            requestBudget.noteLeave(after: slot.answers + slot.inFlight)
        } else {
            noteEnd(of: slot, cause: cause, at: now)
        }
        drain(connection)
    }

    /// Notes how many more requests fit into the peer's window for now; `.max` if the window does
    /// not limit them.
    mutating func windowChanged(_ connection: Int, room: Int) {
        if connections[connection].state != .closed { connections[connection].freeWindow = room }
    }

    /// Stops the run, unless it has got through before: then it waits, as for any server that is
    /// away for a while.
    private mutating func proxyRefused(_ refusal: ProxyRefusal, at now: Moment) {
        let proxy = settings.proxy ?? ""
        switch refusal {
        case .credentials(let cause), .forbidden(let cause), .untrusted(let cause):
            if hasEverAnswered {
                return noteFruitless("the proxy \(proxy) no longer connects Volley: \(cause)", at: now)
            }
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

    /// What Volley tries to connect to.
    private var destination: ConnectionStop.Destination {
        .init(endpoint: settings.endpoint, proxy: settings.proxy, usesCertificate: !settings.usesProviderToken)
    }

    private mutating func noteEnd(of connection: ConnectionSlot, cause: String, at now: Moment) {
        if connection.answers == 0 { noteFruitless(cause, at: now) } else { noteLoss(at: now) }
    }

    /// Notes the peer's new limit on streams. The latest one counts.
    mutating func limitChanged(_ connection: Int, to limit: Int) {
        if connections[connection].state != .closed { connections[connection].peerLimit = max(1, limit) }
    }

    /// Drains all connections because there is a new provider token. It needs new connections: a
    /// connection may stay wedged with the token it saw first.
    mutating func tokenChanged() {
        credentialPendingSince = nil
        for connection in connections.indices { drain(connection) }
    }

    /// Submits nothing more to a connection and only awaits its answers: the peer wants to leave,
    /// or the connection should no longer be used.
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

    /// Whether a connection is needed: there are pushes for it, or it must be open before any are
    /// taken.
    var wantsConnection: Bool {
        !fresh.isEmpty || !again.isEmpty || settings.connectsFirst && !hasConnected && !isSourceEnded
    }

    /// Requests a connection if it has none, or if streams are the limit and another connection may
    /// help.
    mutating func openIfNeeded(at now: Moment) {
        guard ending == nil, credentialPendingSince == nil, now.nanoseconds >= reconnectAt, wantsConnection else {
            return
        }
        // With a pace of one push in many minutes, a connection would only sit idle until the push
        // is due.
        if let next = nextPaceTime,
            next - now.nanoseconds > Int64(nanosecondsFromSeconds: settings.connectTimeoutSeconds)
        {
            return
        }
        var (used, aging) = (0, 0)
        for connection in connections where connection.state == .open || connection.state == .opening {
            // Its replacement is opened before it is used up.
            if requestBudget.isHalfUsed(by: connection.submitted) {
                aging += 1
                continue
            }
            used += 1
            // A connection that is not warm yet must first show whether the server is well.
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

    /// Drains the open connection with the fewest answers.
    private mutating func retireNewcomer() {
        let open = connections.indices.filter { connections[$0].state == .open }
        if let newcomer = open.min(by: { connections[$0].answers < connections[$1].answers }) { drain(newcomer) }
    }

    /// Returns how many requests may be in flight on a connection: one until the first push was
    /// accepted, then what both sides allow.
    func limit(of connection: ConnectionSlot) -> Int {
        connection.isWarm ? max(1, min(window.limit, connection.peerLimit)) : 1
    }

    /// Returns how many more requests the connection has room for.
    func room(of connection: Int) -> Int { room(of: connections[connection]) }

    private func room(of connection: ConnectionSlot) -> Int {
        min(limit(of: connection) - connection.inFlight, connection.freeWindow)
    }

    /// Returns the open connection with the most room; nil if all are full. A connection that is
    /// soon used up comes before all others.
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

    /// Handles a connection that ended without a single answer: waits longer each time, and gives
    /// up where waiting no longer makes sense.
    private mutating func noteFruitless(_ cause: String, at now: Moment) {
        if fruitlessConnections == 0 { fruitlessSince = now.nanoseconds }
        fruitlessConnections += 1
        let ceiling = min(30, settings.retry.firstDelaySeconds * Double(1 << min(fruitlessConnections - 1, 10)))
        reconnectAt =
            now.nanoseconds + Int64(nanosecondsFromSeconds: Double.random(in: ceiling / 2...ceiling, using: &random))
        if settings.connectsFirst, !hasConnected {
            // The loop that requested help continues alone.
            if fruitlessConnections >= settings.fruitlessConnectionLimit { isSourceEnded = true }
        } else if !hasEverAnswered, fruitlessConnections >= settings.fruitlessConnectionLimit {
            stopConnecting(.unreachable(destination, attempts: fruitlessConnections, cause: cause), at: now)
        } else if now.nanoseconds - fruitlessSince > Int64(nanosecondsFromSeconds: settings.retry.maximumTotalSeconds) {
            stopConnecting(.lost(destination, cause: cause), at: now)
        }
    }
}
