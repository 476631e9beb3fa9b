import Base

/// Provider tokens carry the time at which they were made, by this machine's clock: one that is wrong makes good credentials look bad.
extension DeliveryMachine {
    /// What two clocks may differ by without a word: tokens live for an hour, and answers take their time.
    private static let harmlessSeconds = 60.0

    /// No other provider token may be had, though the service calls this one expired.
    /// - Parameter ageSeconds: since it was made, by a clock that does not jump; nil when nobody knows.
    mutating func tokenRefused(ageSeconds: Double? = nil, at now: Moment) {
        stopForService(.tokenExpired(ageSeconds: ageSeconds, clockLagSeconds: harmfulClockLagSeconds), at: now)
    }

    /// The server's clock, as an answer about credentials tells it.
    mutating func noteClock(_ answer: Answer, at now: Moment) {
        guard let serverTime = answer.serverTime else { return }
        clockLagSeconds = Double(serverTime.epochMilliseconds - now.wall.epochMilliseconds) / 1000
    }

    /// By how much this machine's clock is behind the server's; nil when they agree, or when the server does not say the time.
    var harmfulClockLagSeconds: Double? { clockLagSeconds.flatMap { abs($0) > Self.harmlessSeconds ? $0 : nil } }
}
