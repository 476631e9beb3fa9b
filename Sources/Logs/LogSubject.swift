public import Logging

/// What a message is about, as far as that is known.
public struct LogSubject: Hashable, Sendable {
    /// The app in volley.yaml.
    public var app: String?
    /// The campaign's name.
    public var campaign: String?
    /// The run's id.
    public var run: String?

    /// Creates a subject.
    public init(app: String? = nil, campaign: String? = nil, run: String? = nil) {
        (self.app, self.campaign, self.run) = (app, campaign, run)
    }

    /// Nothing in particular.
    public static let none = LogSubject()

    /// The names and values, as a log event has them.
    public var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        for (name, value) in [("app", app), ("campaign", campaign), ("run", run)] where value != nil { metadata[name] = "\(value ?? "")" }
        return metadata
    }
}
