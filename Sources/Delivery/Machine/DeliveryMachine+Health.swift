extension DeliveryMachine {
    /// Notes that the peer answered a PING: it is alive, however long its answers take.
    mutating func connectionAlive(_ connection: Int, at now: Moment) {
        guard connections[connection].state != .closed else { return }
        connections[connection].lastProgress = now.nanoseconds
        connections[connection].pingedAt = nil
    }

    /// Pings connections that have been silent for a while, and gives up those that do not respond.
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

    /// Returns when a connection must be pinged, or must have answered the ping: monotonic nanoseconds.
    func healthCheck(of connection: ConnectionSlot) -> Int64 {
        guard connection.state == .open || connection.state == .retiring else { return .max }
        if let pinged = connection.pingedAt { return pinged + Int64(nanosecondsFromSeconds: settings.pingTimeoutSeconds) }
        guard connection.oldest >= 0 else { return connection.lastProgress + Int64(nanosecondsFromSeconds: settings.idlePingSeconds) }
        let silentSince = max(connection.lastProgress, pushes[Int(connection.oldest)].submitted)
        return silentSince + Int64(nanosecondsFromSeconds: settings.pingAfterSeconds)
    }
}
