import Base
import Runs

/// How often devices may be pushed to, judged again when sending begins: plans wait, and others are sent meanwhile.
extension RunSender {
    /// What the report says of those who may get no more.
    package static let cappedReason = Outcome.frequencyCap

    /// Reasons for which those who are unsent get nothing of a run any more, also when it goes on.
    static let closingReasons: Set<String> = [cappedReason, tooLate]

    /// Of the app's devices. A retry is asked for whatever they got, and so is a test.
    var history: FrequencyHistory {
        let isCapped = run.plan.retryOf == nil && !run.plan.isTest
        return FrequencyHistory(
            app: run.plan.app, environment: settings.environment, caps: isCapped ? settings.frequencyCaps : [], now: clock.now())
    }
}
