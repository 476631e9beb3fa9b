import Workspace
import Base
import Runs

/// The frequency caps, checked again when sending begins: other runs may have been sent while the plan waited.
extension RunSender {
    /// The recent pushes to the app's devices. No caps apply to a retry or a test: a person asks for these regardless of what the devices
    /// got.
    var history: FrequencyHistory {
        let isCapped = run.plan.retryOf == nil && !run.plan.isTest
        return FrequencyHistory(
            app: run.plan.app, lists: settings.lists, caps: isCapped ? settings.frequencyCaps : [], now: clock.now())
    }
}
