import Delivery
import PushServices
import Runs

/// Apple's environments.
extension FrozenEnvironment {
    static let production = FrozenEnvironment.named(APNs.production), sandbox = FrozenEnvironment.named(APNs.sandbox)
}

extension Endpoint {
    static let production = Endpoint(APNs.production)
}
