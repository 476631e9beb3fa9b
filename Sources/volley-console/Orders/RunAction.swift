import Accounts
import Automation
import Base
import Reports
import Runs

/// What people can order for a run on its page.
enum RunAction: String, CaseIterable, Sendable {
    case approve, reject, withdraw, send, pause, resume, cancel, retry, retryUnsent = "retry-unsent"

    /// The order that it becomes.
    /// - Parameters:
    ///   - digest: of the plan, as it was shown.
    ///   - reason: of a rejection.
    func order(_ run: String, digest: String, reason: String) -> Order.Kind {
        switch self {
        case .approve: .approve(run: run, digest: digest)
        case .reject: .reject(run: run, digest: digest, reason: reason)
        case .withdraw: .withdraw(run: run)
        case .send: .send(run: run, digest: digest)
        case .pause: .pause(run: run)
        case .resume: .resume(run: run)
        case .cancel: .cancel(run: run)
        case .retry: .retry(run: run)
        case .retryUnsent: .retryUnsent(run: run)
        }
    }

    /// What one needs for it.
    var right: Right { order("", digest: "", reason: "").right }

    /// What the list of activities calls it.
    func activity(digest: String, reason: String) -> ActivityKind {
        switch self {
        case .approve: .approved(digest: digest)
        case .reject: .rejected(digest: digest, reason: reason)
        case .withdraw: .withdrawn
        case .send: .sent
        case .pause: .paused
        case .resume: .resumed
        case .cancel: .cancelled
        case .retry, .retryUnsent: .retried
        }
    }

    /// The action that an activity is the request for; nil for any other activity.
    init?(_ name: ActivityKind.Name) {
        guard let action = Self.allCases.first(where: { $0.activity(digest: "", reason: "").name == name }) else {
            return nil
        }
        self = action
    }

    /// What the choice of activities calls its requests.
    var requested: String {
        switch self {
        case .approve: "Approval"
        case .reject: "Rejection"
        case .withdraw: "Withdrawal asked for"
        case .send: "Sending asked for"
        case .pause: "Pause asked for"
        case .resume: "Resumption asked for"
        case .cancel: "Cancellation asked for"
        case .retry, .retryUnsent: "Retry asked for"
        }
    }

    /// Whether it means anything for a run as it is now.
    /// - Parameter needsApproval: whether its app requires an approval.
    func isOffered(for run: RunSummary, needsApproval: Bool) -> Bool {
        if let restored = run.restored, isRefused(for: restored) { return false }
        let isPlan = run.isPlan
        let waits = needsApproval && !run.isApproved && !run.isTest
        return switch self {
        // A plan without recipients needs no approval.
        case .approve: isPlan && waits && run.audience > 0
        case .reject: isPlan && waits
        case .withdraw: isPlan
        case .send: isPlan && !waits && !run.isForATime && run.audience > 0
        case .pause: run.state == .running || run.orderToPassOn == .pause
        case .resume: run.state == .paused || run.state == .stopped && run.left > 0
        case .cancel:
            run.isLive || run.orderToPassOn == .cancel || run.state == .stopped && !run.isHeld || isPlan && !waits
        case .retry: run.state.hasEnded && !run.isTest && !run.isPruned && toRetry(run) > 0
        // A run that stopped continues with them. What the store has forgotten may have been sent.
        case .retryUnsent where run.cause?.isForgetting == true: false
        case .retryUnsent:
            run.state.hasEnded && run.state != .stopped && run.startedAt != nil && !run.isTest && !run.isPruned
                && run.count(.unsent) > 0
        }
    }

    /// Whether every command refuses it for a run that was put back from a backup, as it may have
    /// been done since.
    func isRefused(for restored: RestoredRun) -> Bool {
        switch self {
        case .retry, .retryUnsent: true
        case .approve, .send, .resume: restored.isHeld
        case .reject, .withdraw, .pause, .cancel: false
        }
    }

    /// What its button says.
    var button: String { TextFormat.capitalized(rawValue.replacing("-", with: " ")) }

    /// What its second button says where the first one only asks; nil where a reason or a number is
    /// asked for anyway, or it can be undone.
    var confirmation: String? {
        switch self {
        case .cancel: "Yes, send nothing more of it"
        case .withdraw: "Yes, take the plan back"
        case .approve, .reject, .send, .pause, .resume, .retry, .retryUnsent: nil
        }
    }

    /// How its button looks.
    var look: HTML {
        switch self {
        case .approve, .send: " class=\"main\""
        case .reject, .withdraw, .cancel: " class=\"grave\""
        case .pause, .resume, .retry, .retryUnsent: ""
        }
    }

    /// What will happen.
    func meaning(for run: RunSummary, at now: Timestamp) -> HTML {
        switch self {
        case .approve where run.tooLateAt.map { now > $0 } ?? false:
            "It is too late for the time of this plan: nothing is sent, even if you approve it. \(Remedy.giveAnotherTime.sentence)"
        case .approve:
            run.isForATime
                ? "The plan is sent then, exactly as this page shows it: at its time, or at once if that has come and is not longer ago than the campaign allows."
                : "The plan may be sent then, exactly as this page shows it. Nothing is sent by the approval itself."
        case .reject:
            "The plan is cancelled and never sent. Your reason is kept with it, and the author reads it on Today."
        case .withdraw:
            run.isForATime
                ? "The plan is cancelled and never sent, and the campaign is not sent at its time."
                : "The plan is cancelled and never sent. You can plan the campaign again."
        case .send:
            if let later = run.later(than: now) {
                """
                \(TextFormat.devices(run.audience)) get a push: \(TextFormat.count(run.audience - later.devices)) as soon as the sender begins, and \
                \(TextFormat.count(later.devices)) later, when their time comes or their quiet hours are over; the last at \(Words.moment(later.last)).
                """
            } else {
                "\(TextFormat.devices(run.audience)) get a push, as soon as the sender begins."
            }
        case .pause where run.orderToPassOn == .pause, .cancel where run.orderToPassOn == .cancel:
            "It is \(Words.state(run.state)) on this machine. Other machines that may be sending it are told as well."
        case .pause: "Nothing more is sent until it is resumed. What is on its way now still arrives."
        case .resume:
            """
            Sending goes on with the \(TextFormat.devices(run.count(.unsent))) that got nothing yet. \
            \(run.repeated > 0 ? "It is also sent again to the \(TextFormat.devices(run.repeated)) without an answer, which may get it twice." : "" as HTML)
            """
        case .cancel:
            run.isLive
                ? "Nothing more is sent, for good. What is on its way now still arrives; what arrived cannot be taken back."
                : run.state == .stopped
                    ? "The run ends for good: \(TextFormat.devices(run.count(.unsent))) that got nothing stay without it, unless they are sent to again with “Retry unsent”."
                    : "The plan is never sent."
        case .retry:
            """
            A new run sends the same again to the \(TextFormat.devices(toRetry(run))) whose push failed or whose result is unknown. \
            Those that are suppressed by then are left out. \
            \(run.count(.unknown) > 0 ? "Those with an unknown result may have got it already, and may get it twice." : "" as HTML)
            """
        case .retryUnsent:
            """
            A new run sends the same to the \(TextFormat.devices(run.count(.unsent))) to which this one never sent. Those that are suppressed \
            by then, and those that an earlier retry took over, are left out. \
            \(run.leftOutByFrequency > 0 ? "The number includes \(TextFormat.devices(run.leftOutByFrequency)) that frequency left out." : "" as HTML)
            """
        }
    }

    /// The number of devices, which a person must type before it is ordered; nil for orders that
    /// send no push.
    func countToType(for run: RunSummary) -> Int? {
        switch self {
        case .send: run.audience
        case .retry: toRetry(run)
        case .retryUnsent: run.count(.unsent)
        case .approve, .reject, .withdraw, .pause, .resume, .cancel: nil
        }
    }

    private func toRetry(_ run: RunSummary) -> Int { run.count(.failed) + run.count(.unknown) }
}
