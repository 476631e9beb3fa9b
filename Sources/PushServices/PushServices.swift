public import Base

/// The services that Volley knows.
public enum PushServices {
    /// Each of them: the one place that names them all.
    public static let all: [any PushService] = [APNs()]

    /// The one that an app uses whose project names none.
    public static let standard = all[0]

    /// What their results call a push's id: a table with such a column is a report.
    public static let idColumns = all.map(\.idColumn)

    /// The service with this name; nil when there is none.
    public static func named(_ name: String) -> (any PushService)? { all.first { $0.name == name } }
}

extension WarningName {
    /// Every warning that there is; those of services where what is said of payloads begins.
    public static let allCases: [WarningName] = {
        let start = own.prefix { $0 != .nothingVisible }
        return start + PushServices.all.flatMap(\.warnings) + own.dropFirst(start.count)
    }()

    /// The warning of that name; nil when there is none.
    public init?(rawValue: String) {
        guard let name = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = name
    }
}

extension SignedTokenFacts {
    /// Of the standard service.
    public static let standard = APNs.tokens
}
