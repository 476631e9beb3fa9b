/// Watches the share of answers that are bad in some way: tokens that the service calls bad, or
/// pushes that it refuses for good. Some are normal in any list. If most are bad, something else is
/// wrong, and going on would get the connections closed and a whole audience written off.
struct ShareAlarm {
    /// The number of answers from which on the share is judged; later over windows of `windowSize`.
    private static let firstJudgement = 100
    private static let windowSize = 1000

    private var answers: Int
    private var bad: Int

    /// - Parameters:
    ///   - answers: answers counted before, fewer than a window.
    ///   - bad: how many of them were bad.
    init(answers: Int = 0, bad: Int = 0) { (self.answers, self.bad) = (answers, bad) }

    /// Whether most of the counted answers are bad. It needs fewer answers than an alarm, for the
    /// end of the canary, where some answers may be missing.
    var isBad: Bool { answers >= Self.firstJudgement / 2 && bad * 2 > answers }

    /// Counts one answer for several pushes; true if the run must stop.
    mutating func isAlarming(afterBad isBad: Bool, pushes: Int32) -> Bool {
        var isAlarming = false
        for _ in 0..<pushes where self.isAlarming(afterBad: isBad) { isAlarming = true }
        return isAlarming
    }

    /// Counts an answer; true if the run must stop.
    mutating func isAlarming(afterBad isBad: Bool) -> Bool {
        answers += 1
        if isBad { bad += 1 }
        let alarm = isBad && answers >= Self.firstJudgement && bad * 2 > answers
        if answers == Self.windowSize {
            // Halved, not forgotten: the next window is judged from its first answer.
            answers /= 2
            bad /= 2
        }
        return alarm
    }
}
