import Base
public import PushServices

/// What the reasons behind outcomes mean and what to do about them: those of push services, and
/// Volley's own.
public enum ReasonText {
    /// What a reason means and what to do, one to three sentences; nil for an unknown one.
    /// - Parameters:
    ///   - service: the service that gave it.
    ///   - face: the readers.
    public static func explanation(of reason: String, by service: any PushService, for face: TextMedium = .terminal)
        -> String?
    {
        OwnReason(rawValue: reason)?.explanation(for: face) ?? service.words(about: reason)?.explanation
    }

    /// What it means that a service calls the token of a Live Activity gone.
    static let activityOver =
        "The Live Activity is over, or its token has changed. The device itself is not left out of later campaigns."

    /// The outcome to which a reason leads as a rule; nil if it may be any. A gateway's answer with
    /// the same words can lead to another one.
    static func outcome(of reason: String, by service: any PushService) -> Outcome? {
        if let own = OwnReason(rawValue: reason) { return own.outcome }
        return service.words(about: reason)?.meaning.usualOutcome ?? .rejected
    }
}

extension OwnReason {
    /// What it means and what to do.
    fileprivate func explanation(for face: TextMedium) -> String {
        let anyway =
            face == .console
            ? "The people who run Volley can send anyway." : "`volley retry RUN --outcome unsent` sends anyway."
        return switch self {
        case .connectionLost:
            "The connection broke before an answer came, so these may have been delivered. If you send again, some may appear twice."
        case .streamReset:
            "The server aborted the request without an answer, so these may have been delivered. If you send again, some may appear twice."
        case .noAnswer:
            "No answer came in time, so these may have been delivered. If you send again, some may appear twice."
        case .processEnded:
            "They may have been sent: the process ended before an answer came. If you send again, some may appear twice."
        case .refusedAgain:
            "The answer to an earlier attempt was lost, and the service refused the push when it went out again. It may have delivered the first one: if "
                + "you send again, some may appear twice."
        case .awaitingAnswer:
            "The push is on its way, and its answer is not here yet."
        case .notSentYet:
            "Their turn has not come yet."
        case .notKnownSinceBackup:
            "They had not been sent to when the backup was made from which the run was put back. Since then they may have got the push."
        case .notKnownHere:
            "Other machines may have sent to them, and what those recorded is not in this file yet. `volley store fetch` brings it once the run has ended."
        case .expired:
            "It was too late: the campaign's expiry had passed before their turn came."
        case .tooLate:
            "Nothing was sent to them in time, and the campaign's 'late' forbids sending so much later. \(anyway)"
        case .frequencyCap:
            "Counting what other runs sent, or were about to send, they had as many pushes as 'frequency' allows. \(anyway)"
        case .quietHours:
            "Their quiet hours began before their turn came. A run that continues sends to them when the quiet hours are over."
        case .other:
            "A run file keeps only so many reasons apart; this stands for the others."
        case .paused:
            "The run was paused before their turn came."
        case .stopped:
            "The run stopped before their turn came."
        case .interrupted:
            "The run was interrupted before their turn came."
        case .cancelled:
            "The run was cancelled before their turn came."
        }
    }
}

extension AnswerMeaning {
    /// The outcome of a push that was given up after such answers.
    fileprivate var usualOutcome: Outcome {
        switch self {
        case .accepted: .accepted
        case .invalidTarget: .invalidToken
        // Where Volley cannot get another credential.
        case .rejected, .rejectedLikeAll, .stop, .stopIfRepeated, .usedUp, .split, .retry(.credentialExpired): .rejected
        case .retry: .failed
        case .maybeTaken, .notTheService, .untold: .unknown
        }
    }
}
