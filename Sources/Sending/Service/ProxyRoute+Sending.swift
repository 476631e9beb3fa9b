import Campaigns
package import Base
import Delivery
import PushServices
package import Runs
import Workspace

extension ProxyRoute {
    /// The route of a run that was planned earlier, perhaps with another volley.yaml: the present
    /// file counts. If that sets no proxy, the environment variables decide.
    package init(_ present: CurrentProject, _ settings: RunSettings) throws(Diagnostic) {
        try self.init(
            present.app?.proxy ?? present.project.proxy, to: settings.firstService.environment,
            tokens: settings.service.account.tokenExchange)
    }

    /// The proxy as `SenderSettings.proxy` takes it; nil for none.
    var proxyURL: String? { proxy?.address.url }

    /// The same for the server that gives out tokens.
    var tokenProxyURL: String? { tokenProxy?.address.url }

    /// Makes a sender use this route.
    func apply(to settings: inout SenderSettings) { settings.proxy = proxyURL }
}
