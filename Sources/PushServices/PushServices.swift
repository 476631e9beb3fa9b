public import Base

/// The services that Volley supports.
public enum PushServices {
    /// All services. This is the only place that lists them.
    public static let all: [any PushService] = [APNs(), FCM(), Getui(), JPush(), RongCloud()]

    /// The service of an app when the project names none.
    public static let standard = all[0]

    /// The column that holds a push's id in results of several services.
    public static let commonIDColumn = "push_id"

    /// The columns that hold a push's id in results: a table with such a column is a report.
    public static let idColumns = all.map(\.idColumn) + [commonIDColumn]

    /// All that a run may go through: the services, and those by which it goes to audiences that
    /// they keep, which volley.yaml does not name.
    public static let ofRuns = all + all.compactMap { $0.ownAudience?.service }

    /// The service with this name; nil if no service has it.
    public static func named(_ name: String) -> (any PushService)? { ofRuns.first { $0.name == name } }

    /// The service that another or a misspelt name stands for; nil if that is not clear.
    public static func meant(by text: String) -> (any PushService)? {
        let word = text.lowercased()
        if let service = all.first(where: {
            [$0.name, $0.displayName.lowercased()].contains(word) || $0.otherNames.contains(word)
        }) {
            return service
        }
        // Nothing longer is a typing slip.
        guard word.utf8.count <= 64 else { return nil }
        return nearestName(to: word, among: all.map(\.name)).flatMap { near in all.first { $0.name == near } }
    }

    /// Those that keep audiences to which campaigns may go, by names that apps gave their devices.
    public static let keepingAudiences = all.filter { $0.ownAudience.map { $0.broadcasts == nil } ?? false }

    /// The one with broadcast channels.
    public static let broadcasting = all.first { $0.ownAudience?.broadcasts != nil }
}

extension WarningName {
    /// Every warning. Those of services come where the warnings about payloads begin.
    public static let allCases: [WarningName] = {
        let start = own.prefix { $0 != .nothingVisible }
        return start + PushServices.all.flatMap(\.warnings) + own.dropFirst(start.count)
    }()

    /// The warning with this name; nil if no warning has it.
    public init?(rawValue: String) {
        guard let name = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = name
    }
}

extension SignedTokenFacts {
    /// The facts for the standard service.
    public static let standard = APNs.tokens
}
