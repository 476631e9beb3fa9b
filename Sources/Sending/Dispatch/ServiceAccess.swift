import Base
import Delivery
import PushServices
import Runs
import Workspace

/// How a run reaches one of its services.
package struct ServiceAccess: Sendable {
    /// The run's settings as the service sees them.
    let settings: RunSettings
    let way: Route
    let route: ProxyRoute

    /// The way to the service.
    enum Route: Sendable {
        case open(Endpoint, Credentials)
        /// Its credentials cannot be used, for this reason: the run's other services are sent to.
        case closed(Diagnostic)
    }

    /// Why nothing can be sent through it; nil if something can.
    var obstacle: StopCause? {
        guard case .closed(let why) = way else { return nil }
        return .service(service.name, .credentialsUnusable(because: why.description))
    }

    var service: any PushService { settings.service }

    /// Where its pushes go, and the proxy on the way, as a phrase; blank where none can be sent.
    var address: String { if case .open(let endpoint, _) = way { endpoint.description + route.proxyText } else { "" } }

    /// The paces that its requests keep.
    var paces: RequestPaces { settings.paces }

    /// The one that people are told of; nil for as fast as the service takes pushes.
    var pace: Pace? { paces.targets ?? paces.calls }

    /// Whether that pace is one of all services together.
    var sharesPace: Bool { paces.targets != settings.servicePaces.targets }

    var resendsUnknown: Bool { settings.unknownPolicy == .resend }

    /// Whether it recognizes what it gets a second time, so that calls are named.
    var isProtected: Bool { if case .none = service.repeatProtection { false } else { true } }

    /// How many threads render for it, including the one that claims: one for every three loops.
    /// For a push, loops need about four times as much of a core as rendering does.
    func renderers(threads: Int) -> Int { paces.isEmpty ? max(1, (threads + 2) / 3) : 1 }
}
