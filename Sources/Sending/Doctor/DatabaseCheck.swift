import Audience
public import Base
public import Campaigns

/// Checks a database that devices are read from. No query of a campaign is executed.
public struct DatabaseCheck: Sendable {
    let database: Database
    let cancellation: Cancellation

    /// Prepares the check of a database of volley.yaml.
    public init(_ database: Database, _ cancellation: Cancellation) {
        (self.database, self.cancellation) = (database, cancellation)
    }

    /// Connects, and looks at the server and at what the role may do.
    /// - Throws: `CancellationError`.
    public func step() throws -> CheckStep {
        let audience = AudienceDatabase(
            name: database.name.value, variable: database.variable, seconds: database.timeoutSeconds)
        do { return .ok("database", message: try audience.check(cancellation)) } catch let mistake as Diagnostic {
            return .failed("database", mistake)
        }
    }
}
