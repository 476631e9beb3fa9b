public import Base

/// The services that Volley knows.
public enum PushServices {
    /// All services. This is the only place that lists them.
    public static let all: [any PushService] = [APNs(), FCM(), Getui(), JPush(), RongCloud()]

    /// The service of an app whose project names none.
    public static let standard = all[0]

    /// The column that holds a push's id in results of several services.
    public static let commonIDColumn = "push_id"

    /// The columns that hold a push's id in results: a table with such a column is a report.
    public static let idColumns = all.map(\.idColumn) + [commonIDColumn]

    /// The service with this name; nil if there is none.
    public static func named(_ name: String) -> (any PushService)? { all.first { $0.name == name } }
}

extension WarningName {
    /// Every warning. Those of services come where the warnings about payloads begin.
    public static let allCases: [WarningName] = {
        let start = own.prefix { $0 != .nothingVisible }
        return start + PushServices.all.flatMap(\.warnings) + own.dropFirst(start.count)
    }()

    /// The warning with this name; nil if there is none.
    public init?(rawValue: String) {
        guard let name = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = name
    }
}

extension SignedTokenFacts {
    /// The facts for the standard service.
    public static let standard = APNs.tokens
}
