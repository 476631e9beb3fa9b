public import Logging

/// What a message is about, as far as that is known.
public struct LogSubject: Hashable, Sendable {
    /// The app in volley.yaml.
    public var app: String?
    /// The campaign's name.
    public var campaign: String?
    /// The run's id.
    public var run: String?
    /// Of a run that has ended: `audience`, and how many of its recipients have each outcome.
    public var figures: [String: Int]

    /// Creates a subject.
    public init(app: String? = nil, campaign: String? = nil, run: String? = nil, figures: [String: Int] = [:]) {
        (self.app, self.campaign, self.run, self.figures) = (app, campaign, run, figures)
    }

    /// Nothing in particular.
    public static let none = LogSubject()

    /// The names and values, as a log event has them. Figures are numbers.
    public var metadata: Logger.Metadata {
        var metadata = figures.mapValues { Logger.MetadataValue.stringConvertible($0) }
        for (name, value) in [("app", app), ("campaign", campaign), ("run", run)] where value != nil {
            metadata[name] = "\(value ?? "")"
        }
        return metadata
    }
}
