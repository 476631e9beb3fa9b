import Base
import Campaigns
import Runs

/// `approval: required` of an app: nothing that was not approved is sent.
enum ApprovalGate {
    /// Lets a run pass that was approved, or need not be. A test goes to the app's own test devices, so nobody has to approve it.
    /// - Parameter present: volley.yaml as it is now: a plan that was made before it demanded approval needs one as well. nil when the plan was
    ///   made just now.
    /// - Throws: `Diagnostic` that says how to approve; the plan is to be kept.
    static func check(_ run: RunStore, _ settings: RunSettings, _ present: PresentProject?) throws {
        guard !run.plan.isTest, settings.needsApproval || present?.app?.needsApproval == true, try run.approval() == nil else { return }
        throw refusal(run)
    }

    private static func refusal(_ run: RunStore) -> Diagnostic {
        let id = run.plan.id
        guard run.hasDigest else {
            return Diagnostic(
                "the app '\(run.plan.app)' demands approval, and a plan of this older format cannot be approved", file: run.path,
                remedy: "Plan the campaign again.")
        }
        return Diagnostic(
            "the app '\(run.plan.app)' demands approval, and nobody has approved this plan; it is kept, and nothing was sent",
            file: run.path,
            remedy: "`volley approve \(id) --by NAME` shows and approves it, then `volley send --plan \(id)` sends it.")
    }
}
