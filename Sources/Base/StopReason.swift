/// Reasons for which a run stops that others than those who read them must recognise.
public enum StopReason {
    private static let badTokens = "More than half of the device tokens were refused as "

    /// Most tokens are refused, which is the settings' fault and not theirs.
    /// - Parameter reason: APNs' reason of the last one.
    public static func tooManyBadTokens(_ reason: String) -> String {
        badTokens + "\(reason). That is the wrong environment (production or sandbox) or the wrong topic, "
            + "not the tokens: check environment and topic in volley.yaml, and that the export belongs to this app."
    }

    /// What stands between a share of answers and its outcome when a campaign's `stop_when` stops the run.
    public static let ofTheAnswers = "of the answers so far were"

    /// Whether a run that stopped for `text` says nothing against the tokens that were refused.
    public static func absolvesTokens(_ text: String) -> Bool {
        text.hasPrefix(badTokens) || text.contains(" \(ofTheAnswers) \(Outcome.invalidToken) ")
    }
}
