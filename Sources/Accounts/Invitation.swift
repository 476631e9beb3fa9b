public import Base

/// A link with which a person chooses a password, once: for a new account, or for one whose
/// password is forgotten. Holds no secret.
public struct Invitation: Hashable, Sendable {
    /// What the link is for.
    public enum Purpose: Hashable, Sendable {
        /// A new account.
        case newAccount(AccountName, DisplayName, Set<RoleGrant>)
        /// Another password for an account that exists.
        case newPassword(AccountID)
    }

    /// Its number, from 1 on.
    public let id: Int64
    /// What it is for.
    public let purpose: Purpose
    /// When it was made.
    public let madeAt: Timestamp
    /// The moment from which it no longer works.
    public let lapsesAt: Timestamp

    /// How long a link works. Source: the issue of the console.
    public static let daysOfUse: Int64 = 7
    /// How long the link of the first administrator works: the person that gets it owns the
    /// console.
    public static let hoursOfFirst: Int64 = 24

    /// Whether it works, as far as time is concerned. It does not work while the clock is set to a
    /// time before it was made.
    func isOpen(at now: Timestamp) -> Bool {
        now < lapsesAt && now >= madeAt.adding(seconds: -Double(Session.clockToleranceSeconds))
    }
}

/// An invitation with its secret, which exists only here: send the link to the person, and do not
/// store it.
public struct InvitationLink: Hashable, Sendable {
    /// What the link ends with.
    public let token: SecretToken
    /// What it is for, and for how long.
    public let invitation: Invitation
}
