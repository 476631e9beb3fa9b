/// Sentences about why a run stops that more than one room writes. Nothing is decided by reading them.
public enum StopReason {
    /// Most tokens are refused while the run is sent, which is the settings' fault and not theirs.
    /// - Parameter reason: APNs' reason of the last one.
    public static func tooManyBadTokens(_ reason: String) -> String {
        "More than half of the device tokens were refused as \(reason). That is the wrong environment (production or sandbox) or the wrong topic, "
            + "not the tokens: \(check)"
    }

    /// The same at the end of a run of any size.
    /// - Parameters:
    ///   - reason: APNs' most frequent one.
    ///   - evidence: blames the settings.
    public static func tooManyBadTokens(_ reason: String, _ evidence: RunEvidence) -> String {
        let settingsEvidence = evidence.settingsEvidence ?? evidence.all
        let devices =
            switch (settingsEvidence.ambiguous, settingsEvidence.answers) {
            case (_, 1): "token of the one device that was pushed to"
            case (let part, let all) where part == all: "tokens of all \(TextFormat.count(all)) devices that were pushed to"
            case (let part, let all): "tokens of \(TextFormat.count(part)) of the \(TextFormat.count(all)) devices that were pushed to"
            }
        // A single answer does not tell.
        let cause =
            settingsEvidence.ambiguous == 1
            ? "The environment (production or sandbox) or the topic may be wrong, or that token is; it is not suppressed: "
            : "Most likely the environment (production or sandbox) or the topic is wrong, not the tokens, which are not suppressed: "
        return
            "APNs refused the \(devices)\(settingsEvidence == evidence.all ? "" : " since others were accepted"), as \(reason). \(cause)\(check) Then plan the campaign "
            + "again, as this run keeps the settings that it was planned with." + repetition(evidence.all.accepted)
    }

    private static func repetition(_ accepted: Int) -> String {
        switch accepted {
        case 0: ""
        case 1: " The device that got this push would get it again."
        default: " The \(TextFormat.count(accepted)) devices that got this push would get it again."
        }
    }

    private static let check = "check environment and topic in volley.yaml, and that the export belongs to this app."
}
