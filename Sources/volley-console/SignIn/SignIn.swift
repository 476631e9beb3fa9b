import Base

/// What a person may do in the console, for an app or for all.
enum Right: String, CaseIterable, Hashable, Sendable {
    /// See campaigns, their sources and the calendar.
    case seeCampaigns
    /// See runs and read their reports.
    case readReports
    /// Download results with whole device tokens.
    case exportTokens
    /// See versions, health and activity.
    case seeSystem
}

/// What a person may do, app by app.
struct Rights: Hashable, Sendable {
    /// For all apps, also those to come.
    var everywhere: Set<Right> = []
    /// By an app's name, beyond those for all.
    var byApp: [String: Set<Right>] = [:]

    /// Whether it covers an app.
    func allow(_ right: Right, app: String) -> Bool { everywhere.contains(right) || byApp[app]?.contains(right) == true }

    /// Whether it covers any app: lists show what belongs to those alone.
    func allowSomewhere(_ right: Right) -> Bool { everywhere.contains(right) || byApp.values.contains { $0.contains(right) } }
}

/// A person who signed in.
struct Session: Hashable, Sendable {
    /// The name that was typed to sign in.
    var account: String
    /// As pages call the person.
    var displayName: String
    var rights: Rights
    /// Whether the password was typed within the last five minutes: whole device tokens leave the console only then.
    var isFresh: Bool
}

/// What a person typed to sign in. It is never shown or logged.
struct Credentials: Sendable {
    var name: String
    var password: String
    /// Six digits of a second factor, or a recovery code; blank without one.
    var code: String
}

/// What became of an attempt to sign in.
enum SignInResult: Sendable {
    /// - Parameter secret: 256 random bits as text, for the cookie; it is given out this once.
    case begun(secret: String)
    /// Name, password or code are wrong; which, nobody is told.
    case refused
    /// Too many attempts failed: the next counts after so many seconds.
    case slowedDown(seconds: Int)
}

/// Who may enter. Calls may block, and come from several threads.
protocol SignIn: Sendable {
    /// Whether there is an account: without one, there is nothing to see but the sign-in page.
    var hasAccounts: Bool { get }

    /// The session of a cookie, used now; nil when it ended or there never was one.
    func session(secret: String, at now: Timestamp) throws -> Session?

    /// Begins a session.
    /// - Parameter address: where the person is; nil where that is not known.
    func begin(_ credentials: Credentials, from address: String?, at now: Timestamp) throws -> SignInResult

    /// Ends a session; does nothing when it ended before.
    func end(secret: String, at now: Timestamp) throws
}
