public import Base

/// The number of an account. It is never given to another one, also after the account was removed.
public struct AccountID: Hashable, Sendable {
    /// From 1 on.
    public let number: Int64

    /// The account with a number.
    public init(_ number: Int64) { self.number = number }
}

/// An account that cannot be read: one of its values, or of its roles, is damaged. It signs in nobody.
public struct DamagedAccount: Hashable, Sendable {
    /// Which.
    public let id: AccountID
    /// Its name; nil if that is what cannot be read.
    public let name: AccountName?
}

/// A person who may use the console. Holds no secret.
public struct Account: Hashable, Sendable {
    /// Whether the person may sign in.
    public enum State: String, Hashable, Sendable {
        case active
        /// Kept with its roles, without any right.
        case disabled
    }

    /// Its number.
    public let id: AccountID
    /// What the person signs in with.
    public var name: AccountName
    /// What others see.
    public var displayName: DisplayName
    /// Whether the person may sign in.
    public var state: State
    /// What the account may do once it is active.
    public var grants: Set<RoleGrant>
    /// Whether signing in takes a code besides the password.
    public var hasSecondFactor: Bool
    /// The provider of identities by which the person signs in; nil for a person with a password. Such an account has no password and no second
    /// factor, and its roles are what the provider says at each sign-in.
    public let issuer: String?
    /// When the invitation was accepted, or the person first came from the provider.
    public let madeAt: Timestamp

    /// What the person may do now: nothing while the account is disabled.
    public var rights: Rights { Rights(state == .active ? grants : []) }

    /// Whether this is one of those of whom one must always be left: a provider may fail, or forget who administers.
    var administersEverything: Bool { issuer == nil && rights.allows(.manageUsers, app: nil) }
}

/// Who changes something, and from where.
public struct Actor: Hashable, Sendable {
    /// The account; nil for a person at the terminal, who can read and write the file anyway and therefore may do everything.
    public let account: AccountID?
    /// Where the request came from; nil for the terminal, and where nothing is known.
    public let address: IPAddress?

    /// A person who is signed in.
    public init(_ account: AccountID, address: IPAddress?) { (self.account, self.address) = (account, address) }

    private init() { (account, address) = (nil, nil) }

    /// A person at the terminal of the machine.
    public static let terminal = Actor()
}
