import Workspace
import Base
import Runs

/// How often devices may be pushed to, judged again when sending begins: plans wait, and others are sent meanwhile.
extension RunSender {
    /// Of the app's devices. A retry is asked for whatever they got, and so is a test.
    var history: FrequencyHistory {
        let isCapped = run.plan.retryOf == nil && !run.plan.isTest
        return FrequencyHistory(
            app: run.plan.app, environment: settings.environment, caps: isCapped ? settings.frequencyCaps : [], now: clock.now())
    }
}
