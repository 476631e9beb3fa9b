public import Base

/// Why something about accounts is not done. No case holds a secret. Trouble with the file itself is a `Diagnostic`.
public enum AccountError: ExplainedError, Hashable, Sendable {
    /// Not a name to sign in with.
    case badName
    /// Not a name that others can read.
    case badDisplayName
    /// An account has the name already.
    case nameTaken(AccountName)
    /// The new password is too easy to guess, or cannot be used.
    case unfitPassword(PasswordFlaw)
    /// There is no such account; it may have been removed a moment ago.
    case noSuchAccount
    /// The account is disabled.
    case disabled(AccountName)
    /// Nobody would be left who administers all apps.
    case lastAdministrator
    /// An administrator of all apps exists already, so there is no first one to invite.
    case alreadyAdministered
    /// Whoever asked may not do this.
    case notPermitted
    /// The person may hold the account, too, so they cannot confirm it.
    case tied
    /// The link was used, withdrawn, has lapsed or never existed: which of these is not told.
    case invitationNotValid
    /// The session has ended.
    case notSignedIn
    /// The second factor is in use already; or it is not, and something needs it.
    case secondFactor(isOn: Bool)
    /// The code is wrong, was used already, or is of another minute.
    case wrongCode
    /// The account is a provider's, which decides what was to be changed.
    case ofProvider
    /// Too many people sign in at the same moment.
    case busy

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
        case .nameTaken(let name): ("an account \(name) exists already", "Choose another name, or reset the password of that account.")
        case .unfitPassword(let flaw): flaw.words
        case .noSuchAccount: ("there is no such account", "It may have been removed. Load the list of accounts again.")
        case .disabled(let name): ("the account \(name) is disabled", "An administrator can enable it.")
        case .lastAdministrator:
            (
                "this is the last administrator of all apps with a password, who cannot be removed, disabled or lose that role",
                "Make another person with a password administrator of all apps first."
            )
        case .alreadyAdministered:
            ("there is an administrator already", "Ask an administrator for an invitation, or reset the password of that account.")
        case .notPermitted: ("you may not do this", "Ask an administrator of all apps that it concerns.")
        case .tied:
            (
                "you cannot confirm this account, because your own one counts as one person with it",
                "Ask an administrator without such a tie."
            )
        case .invitationNotValid:
            ("this link does not work any more: it works once, and only for some time", "Ask an administrator for a new one.")
        case .notSignedIn: ("you are not signed in any more", "Sign in again.")
        case .secondFactor(isOn: true): ("the second factor is in use already", "Switch it off first to set it up on another device.")
        case .secondFactor(isOn: false): ("the second factor is not set up", "Set it up first.")
        case .wrongCode:
            ("the code is not right", "Wait for the next one. If no code works, check the clock of the device that shows them.")
        case .ofProvider:
            (
                "this person signs in elsewhere: password, second factor and roles are kept there",
                "Have them changed at the provider of identities. Here the account can be disabled or removed."
            )
        case .busy: ("too many people are signing in at the moment", "Try again in a few seconds.")
        }
    }
}
