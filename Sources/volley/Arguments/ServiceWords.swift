import PushServices
import Simulators

/// The service's name and terms, as help texts use them.
enum ServiceWords {
    private static let service = PushServices.standard

    /// The names of all services.
    static let names = PushServices.all.map(\.displayName).joined(separator: " and ")
    /// The service's term for a collapse id, and how long that may be.
    static let collapseID = "\(service.terms.collapseID), at most \(service.rules.collapseIDBytes) bytes"
    /// The service's term for a push type.
    static let pushType = service.terms.pushType
    /// What each service addresses a device by, and how that is written.
    static let target = PushServices.all.map { "\($0.target.noun) (\($0.target.writing))" }.joined(separator: " or ")
    /// The name of a key file: an example, and the pattern.
    static let keyFile = file?.name(id: "ABC123DEFG") ?? "key.p8", keyFileForm = file?.name(id: "ID") ?? "key.p8"
    /// The service's own environments and the simulator.
    static let environments = service.account.environments.choices.map(\.name).joined(separator: ", ") + " or simulator"

    private static let file = service.account.credentials.lazy.compactMap(\.file).first

    /// The simulator of the service.
    static let standIn = Simulators.standard
    /// The services that have a simulator.
    static let standInList = Simulators.all.map(\.service)
    /// The same in a sentence.
    static let standIns = standInList.joined(separator: " or ")
    /// The files for the credentials of simulators.
    static let standInFiles = Simulators.all.map(\.keyFile).joined(separator: " or ")

    /// An answer of each simulator.
    static func standInAnswers(_ answer: (StandIn) -> SimulatedAnswer) -> String {
        Simulators.all.map { answer($0).words }.joined(separator: " or ")
    }
}

extension SimulatedAnswer {
    /// The status and the reason.
    var words: String { "\(status) \(reason)" }
}
