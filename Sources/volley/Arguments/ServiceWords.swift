import PushServices
import Simulators

/// How help names the service and what is the service's own.
enum ServiceWords {
    private static let service = PushServices.standard

    /// The service.
    static let name = service.displayName
    /// What the service calls a collapse id, and how long it may be.
    static let collapseID = "\(service.terms.collapseID), at most \(service.rules.collapseIDBytes) bytes"
    /// What the service calls a push type.
    static let pushType = service.terms.pushType
    /// How targets are written.
    static let target = "device token, \(service.target.writing)"
    /// A key's file: an example, and how its name is made.
    static let keyFile = file?.name(id: "ABC123DEFG") ?? "key.p8", keyFileForm = file?.name(id: "ID") ?? "key.p8"
    /// The service's own environments and the simulator.
    static let environments = service.account.environments.choices.map(\.name).joined(separator: ", ") + " or simulator"

    private static let file = service.account.credentials.lazy.compactMap(\.file).first

    /// What stands in for the service.
    static let standIn = Simulators.standard
}

extension SimulatedAnswer {
    /// Status and reason.
    var words: String { "\(status) \(reason)" }
}
