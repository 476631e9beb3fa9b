import Base

/// Reads `delivery.stop_when`: shares of bad answers beyond which a run stops.
struct StopReader {
    static let example = "stop_when: {invalid_token: 20%, rejected: 1%, after: 1000}"
    /// More answers than any run has.
    private static let mostAnswers = 1_000_000_000

    let section: Section

    /// - Parameter node: the value of `stop_when`; nil when it is wrong, and reported.
    init?(_ node: YAMLNode, findings: Findings) {
        guard
            let section = Section(
                node, CampaignKeys.stopWhen, of: CampaignKeys.file, example: Self.example, findings: findings)
        else {
            return nil
        }
        self.section = section
    }

    /// The limits; what is wrong in them was reported.
    func read() -> StopLimits {
        var limits = StopLimits()
        for outcome in StopLimits.outcomes {
            limits.shares[outcome] = section.parsed(outcome.name, example: "\(outcome.name): 5%", Self.share)
        }
        if let after = section.wholeNumber(
            "after", in: 1...Self.mostAnswers, example: "after: \(StopLimits.usualAnswers)")
        {
            limits.after = after
        }
        if !StopLimits.outcomes.contains(where: { section.mentions($0.name) }),
            section.entries.allSatisfy({ $0.key.value == "after" })
        {
            section.findings.error(
                "'stop_when' names no share, so it would never stop anything", at: section.position,
                remedy: "For example: \(Self.example)."
            )
        }
        return limits
    }

    /// `20%`, `0.5%`: above 0 and at most 100.
    static func share(_ text: String) throws(Mistake) -> StopShare {
        let text = text.trimmingSpaces()
        guard text.hasSuffix("%") else {
            guard let number = number(text), number > 0 else { throw noPercentage(text) }
            // 0.2 may mean a fifth or a fifth of a percent: the author must say which.
            throw number < 1
                ? Mistake(
                    "\(quoted(text)) may mean \(trimmed(number * 100))% or \(trimmed(number))%",
                    remedy: "Write it with a percent sign, for example: \(trimmed(number * 100))%.")
                : Mistake("\(quoted(text)) lacks a percent sign", remedy: "Write \(text)%.")
        }
        guard let percent = number(text.dropLast().trimmingSpaces()) else { throw noPercentage(text) }
        guard percent <= 100 else {
            throw Mistake("\(quoted(text)) is more than 100%", remedy: "Write a share above 0% and up to 100%.")
        }
        let millionths = Int((percent * 10_000).rounded())
        guard millionths > 0 else {
            throw Mistake(
                "a limit of \(quoted(text)) would stop the run at the first such answer, and some are normal in any list",
                remedy: "Write a share above 0%, for example: 1%.")
        }
        return StopShare(millionths: millionths)
    }

    /// Digits with at most one point, nothing else.
    private static func number(_ text: String) -> Double? {
        guard !text.isEmpty, text.utf8.count <= 20, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else {
            return nil
        }
        return Double(text)
    }

    private static func trimmed(_ percent: Double) -> String {
        String(StopShare(millionths: max(1, Int((percent * 10_000).rounded()))).description.dropLast())
    }

    private static func noPercentage(_ text: String) -> Mistake {
        Mistake(
            "\(quoted(text)) is not a percentage", remedy: "Write it with a percent sign, for example: 20% or 0.5%.")
    }
}
