/// The services that Volley knows.
public enum PushServices {
    /// Each of them: the one place that names them all.
    public static let all: [any PushService] = [APNs()]

    /// The one that an app uses whose project names none.
    public static let standard = all[0]

    /// The service with this name; nil when there is none.
    public static func named(_ name: String) -> (any PushService)? { all.first { $0.name == name } }
}

extension SignedTokenFacts {
    /// Of the standard service.
    public static let standard = APNs.tokens
}
