import Audience
import Base
import Campaigns
import Runs

extension FrozenEnvironment {
    /// The list of suppressed devices that counts there. Apple's own servers have one list each, however they are named; one that an authority of the
    /// project's own vouches for is another server under Apple's name.
    var listName: String {
        switch self {
        case .server("api.push.apple.com", _, nil): "production"
        case .server("api.sandbox.push.apple.com", _, nil), .server("api.development.push.apple.com", _, nil): "sandbox"
        default: name
        }
    }
}

extension SuppressionList {
    /// What planning asks; nil when nobody is suppressed.
    func suppressedDevices() throws -> SuppressedDevices? {
        try withTokens { count, forEach in
            try SuppressedDevices(capacity: count) { insert in try forEach(insert) }
        }
    }

    /// Takes what a run that has ended says of its devices into the list of its app. What goes wrong is said, and changes nothing in how
    /// the run ended.
    static func absorb(_ run: RunStore, _ console: Console) {
        do {
            let environment = try RunSettings(json: run.plan.settings, runFile: run.path).environment
            let list = SuppressionList(of: run, environment: environment.listName)
            let change = try list.absorb(run)
            if change.added + change.renewed > 0 {
                console.detail("\(TextFormat.count(change.added)) devices are suppressed from now on, in \(list.path)")
            }
            if change.notSuppressed > 0, try run.status().state == .finished { console.warn(sparedText(change.notSuppressed)) }
        } catch {
            console.warn(
                "The devices whose tokens are invalid could not be put on the suppression list, so the next plan will name them again. \(error)"
            )
        }
    }
    private static func sparedText(_ count: Int) -> String {
        let devices =
            count == 1
            ? "1 device is not suppressed although its token was"
            : "\(TextFormat.count(count)) devices are not suppressed although their tokens were"
        return
            "\(devices) refused: too few others were accepted to tell whether the tokens are bad or the settings wrong. Check environment and topic in volley.yaml, and that the export belongs to this app."
    }
}
