import PushServices
import Simulators

/// The service's name and terms, as help texts use them.
enum ServiceWords {
    private static let service = PushServices.standard

    /// The names of all services.
    static let names = list(PushServices.all.map(\.displayName), "and")
    /// The service's term for a collapse id, and how long that may be.
    static let collapseID = "\(service.terms.collapseID), at most \(service.rules.collapseIDBytes) bytes"
    /// The service's term for a push type.
    static let pushType = service.terms.pushType
    /// What each service addresses a device by, and how that is written.
    static let target = list(PushServices.all.map { "\($0.target.noun) (\($0.target.writing))" })
    /// The name of a key file: an example, and the pattern.
    static let keyFile = file?.name(id: "ABC123DEFG") ?? "key.p8", keyFileForm = file?.name(id: "ID") ?? "key.p8"
    /// The service's own environments and the simulator.
    static let environments = service.account.environments.choices.map(\.name).joined(separator: ", ") + " or simulator"

    private static let file = service.account.credentials.lazy.compactMap(\.file).first

    /// The service with broadcast channels.
    static let broadcasting = PushServices.broadcasting?.displayName ?? ""

    /// The simulator of the service.
    static let standIn = Simulators.standard
    /// The services that have a simulator.
    static let standInList = Simulators.all.map(\.service)
    /// The same in a sentence.
    static let standIns = list(standInList)
    /// The files for the credentials of simulators.
    static let standInFiles = list(Simulators.all.map(\.keyFile))

    /// The simulators that count what they take in a minute.
    static let limitedStandIns = list(Simulators.all.filter(\.isLimited).map { "--service \($0.service)" })

    /// The simulators whose refusals may lack details.
    static let vagueStandIns = list(Simulators.all.filter(\.mayLackDetails).map { "--service \($0.service)" })

    /// The simulators that keep audiences.
    static let audienceStandIns = list(Simulators.all.filter(\.hasOwnAudiences).map { "--service \($0.service)" })

    /// The simulators that limit pushes to everyone and to tags in a minute.
    static let hastyStandIns = list(
        Simulators.all.filter(\.limitsBroadcastsPerMinute).map { "--service \($0.service)" })

    /// The simulators that keep texts of lists.
    static let listingStandIns = list(Simulators.all.filter(\.keepsTasks).map { "--service \($0.service)" })

    /// An answer of each simulator.
    static func standInAnswers(_ answer: (StandIn) -> SimulatedAnswer?) -> String {
        list(Simulators.all.compactMap { answer($0)?.words })
    }

    /// `a, b or c`.
    private static func list(_ words: [String], _ link: String = "or") -> String {
        guard words.count > 1, let last = words.last else { return words.joined() }
        return "\(words.dropLast().joined(separator: ", ")) \(link) \(last)"
    }
}

extension SimulatedAnswer {
    /// The status and the reason.
    var words: String { "\(status) \(reason)" }
}
