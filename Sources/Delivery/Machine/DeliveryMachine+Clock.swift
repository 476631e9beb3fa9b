import Base

/// Provider tokens carry the time at which they were made, by this machine's clock: one that is wrong makes good credentials look bad.
extension DeliveryMachine {
    /// What two clocks may differ by without a word: tokens live for an hour, and answers take their time.
    private static let harmlessSeconds = 60.0
    private static let tokenLifetimeSeconds = 3600.0

    /// No other provider token may be had, though APNs calls this one expired.
    /// - Parameter ageSeconds: since it was made, by a clock that does not jump; nil when nobody knows.
    mutating func tokenRefused(ageSeconds: Double? = nil, at now: Moment) {
        var clock = clockComplaint
        if clock == nil, let ageSeconds {
            clock =
                "A token is good for an hour, so this machine's clock seems to be at least "
                + "\(TextFormat.duration(seconds: max(0, Self.tokenLifetimeSeconds - ageSeconds))) behind the server's."
        }
        let age = ageSeconds.map { "it is only \(TextFormat.duration(seconds: $0)) old" } ?? "it is younger than 20 minutes"
        stop(
            "APNs calls the provider token expired although \(age), and allows no newer one within 20 minutes. "
                + (clock.map { "\($0) Set the clock" } ?? "Check this machine's clock") + ", then resume the run.", at: now)
    }

    /// The server's clock, as an answer about credentials tells it.
    mutating func noteClock(_ answer: Answer, at now: Moment) {
        guard let serverTime = answer.serverTime else { return }
        clockLagSeconds = Double(serverTime.epochMilliseconds - now.wall.epochMilliseconds) / 1000
    }

    /// By how much this machine's clock is wrong, a whole sentence; nil when it is not, or when the server does not say the time.
    var clockComplaint: String? {
        guard let lag = clockLagSeconds, abs(lag) > Self.harmlessSeconds else { return nil }
        return "This machine's clock is \(TextFormat.duration(seconds: abs(lag))) \(lag > 0 ? "behind" : "ahead of") the server's."
    }

    /// What to add to advice about a token that APNs calls invalid.
    func clockAdvice(about reason: String) -> String {
        guard reason == "InvalidProviderToken" || reason == "ExpiredProviderToken", let complaint = clockComplaint else { return "" }
        return " \(complaint) That alone makes provider tokens invalid: set the clock."
    }
}
