extension FrozenEnvironment {
    /// The list of suppressed devices that counts there. Apple's own servers have one list each, however they are named; one that an authority of the
    /// project's own vouches for is another server under Apple's name.
    package var listName: String {
        switch self {
        case .server("api.push.apple.com", _, nil): "production"
        case .server("api.sandbox.push.apple.com", _, nil), .server("api.development.push.apple.com", _, nil): "sandbox"
        default: name
        }
    }
}
