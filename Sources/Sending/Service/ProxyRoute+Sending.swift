import Campaigns
package import Base
import Delivery
package import Runs
import Workspace

extension ProxyRoute {
    /// The way of a run that was planned before, maybe with another volley.yaml: as the file is now. Without one the environment decides.
    package init(_ present: CurrentProject, _ settings: RunSettings) throws(Diagnostic) {
        try self.init(present.app?.proxy ?? present.project.proxy, to: settings.environment)
    }

    /// Sends that way.
    func apply(to settings: inout SenderSettings) {
        settings.proxy = proxy?.address.url
    }
}
