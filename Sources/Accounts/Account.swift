public import Base

/// The number of an account. It is never reused, even after the account was removed.
public struct AccountID: Hashable, Sendable {
    /// From 1 on.
    public let number: Int64

    /// The account with a number.
    public init(_ number: Int64) { self.number = number }
}

/// An account that cannot be read: one of its values, or of its roles, is damaged. It cannot be
/// used to sign in.
public struct DamagedAccount: Hashable, Sendable {
    /// Which.
    public let id: AccountID
    /// Its name; nil if the name is damaged.
    public let name: AccountName?
}

/// A user of the console. Holds no secret.
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
    /// Whether signing in takes a code in addition to the password.
    public var hasSecondFactor: Bool
    /// The provider of identities by which the person signs in; nil for a person with a password.
    /// Such an account has no password and no second factor, and its roles are what the provider
    /// says at each sign-in.
    public let issuer: String?
    /// When the invitation was accepted, or the person first came from the provider.
    public let madeAt: Timestamp

    /// What the person may do now: nothing while the account is disabled.
    public var rights: Rights { Rights(state == .active ? grants : []) }

    /// Whether this is one of the accounts of which one must always remain: a provider may fail, or
    /// lose the roles of administrators.
    var administersEverything: Bool { issuer == nil && rights.allows(.manageUsers, app: nil) }
}

/// The author of a change, and where it came from.
public struct Actor: Hashable, Sendable {
    /// The account; nil for a person at the terminal, where everything is allowed: that person can
    /// read and write the file anyway.
    public let account: AccountID?
    /// Where the request came from; nil for the terminal, and if it is unknown.
    public let address: IPAddress?

    /// A signed-in person.
    public init(_ account: AccountID, address: IPAddress?) { (self.account, self.address) = (account, address) }

    private init() { (account, address) = (nil, nil) }

    /// A person at the terminal of the machine.
    public static let terminal = Actor()
}

/// What a person signs in with: 1 to 100 of the letters a to z, digits, `.`, `_`, `-`, `+` and `@`,
/// so that an email address can be used, and no two names look alike (UTS 39 on confusable
/// characters). Capital letters count as small ones.
public struct AccountName: Hashable, Sendable, CustomStringConvertible {
    /// In small letters.
    public let text: String
    /// Bytes, as characters.
    public static let longest = 100

    /// - Throws: `AccountError.badName`.
    public init(_ text: String) throws(AccountError) {
        guard let name = AccountName(reading: text) else { throw .badName }
        self = name
    }

    /// The name in a text; nil if no account can have it. White space around it does not count.
    init?(reading text: String) {
        // Reads no more than necessary of a text that may have any length.
        guard text.utf8.count <= Self.longest * 2 else { return nil }
        let trimmed = text.utf8.drop { $0 == 0x20 }
        guard let end = trimmed.lastIndex(where: { $0 != 0x20 }) else { return nil }
        var bytes: [UInt8] = []
        for byte in trimmed[...end] {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): bytes.append(byte | 0x20)
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): bytes.append(byte)
            default:
                guard "._-+@".utf8.contains(byte) else { return nil }
                bytes.append(byte)
            }
        }
        guard bytes.count <= Self.longest else { return nil }
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    /// The name.
    public var description: String { text }
}

/// What others see of a person: 1 to 200 bytes of any language in one line. Characters that control
/// a terminal, break the line or turn the direction of the text after them are refused, so that a
/// name cannot look like something else.
public struct DisplayName: Hashable, Sendable, CustomStringConvertible {
    /// Without white space around it.
    public let text: String
    /// Bytes of UTF-8.
    public static let longest = 200

    /// - Throws: `AccountError.badDisplayName`.
    public init(_ text: String) throws(AccountError) {
        guard text.utf8.count <= Self.longest, !Blank.isText(text) else { throw .badDisplayName }
        let scalars = text.unicodeScalars
        let start = scalars.firstIndex { !$0.properties.isWhitespace } ?? scalars.endIndex
        let end = scalars.lastIndex { !$0.properties.isWhitespace } ?? start
        let trimmed = String(scalars[start...end])
        // A name must not contain characters that are shown as escapes; a soft line end would break
        // the line.
        guard TextFormat.inLine(trimmed) == trimmed,
            trimmed.unicodeScalars.allSatisfy({ $0 != "\u{2028}" && $0 != "\u{2029}" })
        else { throw .badDisplayName }
        self.text = trimmed
    }

    /// The name.
    public var description: String { text }
}

/// Why an action on accounts is refused. No case holds a secret. Problems with the file itself are
/// a `Diagnostic`.
public enum AccountError: ExplainedError, Hashable, Sendable {
    /// The text cannot be a sign-in name.
    case badName
    /// The text cannot be a displayed name.
    case badDisplayName
    /// An account has the name already.
    case nameTaken(AccountName)
    /// The new password is too easy to guess, or cannot be used.
    case unfitPassword(PasswordFlaw)
    /// There is no such account; it may have been removed a moment ago.
    case noSuchAccount
    /// The account is disabled.
    case disabled(AccountName)
    /// No account would be left that administers all apps.
    case lastAdministrator
    /// An administrator of all apps exists already, so there is no first one to invite.
    case alreadyAdministered
    /// The account may not do this.
    case notPermitted
    /// The person may hold the account, too, so they cannot confirm it.
    case tied
    /// The link was used, withdrawn, has lapsed or never existed: the case does not say which.
    case invitationNotValid
    /// The session has ended.
    case notSignedIn
    /// The second factor is already in use; or it is not, although the action needs it.
    case secondFactor(isOn: Bool)
    /// The code is wrong, was used already, or is of another minute.
    case wrongCode
    /// The account comes from a provider, which decides the value in question.
    case ofProvider
    /// Too many people are signing in at the same moment.
    case busy
    /// The person has as many drafts as one may have.
    case tooManyDrafts

    /// What a person reads.
    public var diagnostics: [Diagnostic] {
        let (message, remedy) = words
        return [Diagnostic(message, remedy: remedy)]
    }

    private var words: (message: String, remedy: String?) {
        switch self {
        case .badName:
            (
                "this cannot be a name to sign in with",
                "Use 1 to \(AccountName.longest) of the letters a to z, digits and . _ - + @, for example the email address."
            )
        case .badDisplayName:
            (
                "this cannot be shown as a person's name",
                "Use 1 to \(DisplayName.longest) bytes in one line, without invisible characters that control text."
            )
        case .nameTaken(let name):
            ("an account \(name) exists already", "Choose another name, or reset the password of that account.")
        case .unfitPassword(let flaw): flaw.words
        case .noSuchAccount: ("there is no such account", "It may have been removed. Load the list of accounts again.")
        case .disabled(let name): ("the account \(name) is disabled", "An administrator can enable it.")
        case .lastAdministrator:
            (
                "this is the last administrator of all apps with a password, who cannot be removed, disabled or lose that role",
                "Make another person with a password administrator of all apps first."
            )
        case .alreadyAdministered:
            (
                "there is an administrator already",
                "Ask an administrator for an invitation, or reset the password of that account."
            )
        case .notPermitted: ("you may not do this", "Ask an administrator of all apps that it concerns.")
        case .tied:
            (
                "you cannot confirm this account, because your own one counts as one person with it",
                "Ask an administrator without such a tie."
            )
        case .invitationNotValid:
            (
                "this link does not work any more: it works once, and only for some time",
                "Ask an administrator for a new one."
            )
        case .notSignedIn: ("you are not signed in any more", "Sign in again.")
        case .secondFactor(isOn: true):
            ("the second factor is in use already", "Switch it off first to set it up on another device.")
        case .secondFactor(isOn: false): ("the second factor is not set up", "Set it up first.")
        case .wrongCode:
            (
                "the code is not right",
                "Wait for the next one. If no code works, check the clock of the device that shows them."
            )
        case .ofProvider:
            (
                "this person signs in elsewhere: password, second factor and roles are kept there",
                "Have them changed at the provider of identities. Here the account can be disabled or removed."
            )
        case .busy: ("too many people are signing in at the moment", "Try again in a few seconds.")
        case .tooManyDrafts:
            (
                "you have \(AccountStore.mostDrafts) drafts, and there can be no more",
                "Save or discard some of them. Today lists them."
            )
        }
    }
}
