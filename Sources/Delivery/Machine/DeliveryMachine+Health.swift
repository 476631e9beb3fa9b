extension DeliveryMachine {
    /// The peer answered a PING: it lives, however long its answers take.
    mutating func connectionAlive(_ connection: Int, at now: Moment) {
        guard connections[connection].state != .closed else { return }
        connections[connection].lastProgress = now.nanoseconds
        connections[connection].pingedAt = nil
    }

    /// Asks connections that have said nothing for a while for a sign of life, and gives up those that give none.
    mutating func checkHealth(at now: Moment) {
        guard now.nanoseconds >= timeoutsResumeAt else { return }
        for connection in connections.indices where now.nanoseconds >= healthCheck(of: connections[connection]) {
            if connections[connection].pingedAt == nil {
                connections[connection].pingedAt = now.nanoseconds
                actions.append(.ping(connection: connection))
            } else {
                actions.append(.close(connection: connection))
                connectionLost(connection, cause: "no sign of life within \(settings.pingTimeoutSeconds) s", at: now)
            }
        }
    }

    /// When a connection must be asked, or must have answered: monotonic nanoseconds.
    func healthCheck(of connection: ConnectionSlot) -> Int64 {
        guard connection.state == .open || connection.state == .retiring else { return .max }
        if let pinged = connection.pingedAt { return pinged + Int64(nanosecondsFromSeconds: settings.pingTimeoutSeconds) }
        guard connection.oldest >= 0 else { return connection.lastProgress + Int64(nanosecondsFromSeconds: settings.idlePingSeconds) }
        let silentSince = max(connection.lastProgress, pushes[Int(connection.oldest)].submitted)
        return silentSince + Int64(nanosecondsFromSeconds: settings.pingAfterSeconds)
    }
}
