import Base

/// The check of this machine's clock. Provider tokens carry the time at which they were made: with a wrong
/// clock, good credentials look bad.
extension DeliveryMachine {
    /// A difference between the clocks that is not worth mentioning: tokens are valid for an hour, and answers take time.
    private static let harmlessSeconds = 60.0

    /// Stops the run because the service calls the provider token expired and it cannot be renewed yet.
    /// - Parameter ageSeconds: the token's age by a clock that does not jump; nil if unknown.
    mutating func tokenRefused(ageSeconds: Double? = nil, at now: Moment) {
        stopForService(.tokenExpired(ageSeconds: ageSeconds, clockLagSeconds: harmfulClockLagSeconds), at: now)
    }

    /// Notes the server's time from an answer about credentials.
    mutating func noteClock(_ answer: Answer, at now: Moment) {
        guard let serverTime = answer.serverTime else { return }
        clockLagSeconds = Double(serverTime.epochMilliseconds - now.wall.epochMilliseconds) / 1000
    }

    /// How far this machine's clock is behind the server's; nil if they agree or the server does not tell the time.
    var harmfulClockLagSeconds: Double? { clockLagSeconds.flatMap { abs($0) > Self.harmlessSeconds ? $0 : nil } }
}
