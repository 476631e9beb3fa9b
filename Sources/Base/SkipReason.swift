/// Why a row of an export did not become a recipient. A row has exactly one reason: `duplicateToken` if it is not the newest of its device,
/// otherwise the first of the following that applies. `badToken` comes before `notMatched`: it is not clear which device such a row would
/// decide for.
public enum SkipReason: String, CaseIterable, Hashable, Sendable {
    /// The row could not be read: wrong number of fields, broken JSON.
    case badRow = "bad_row"
    /// No selector names it.
    case notMatched = "not_matched"
    /// A condition of `where` does not hold.
    case filtered = "filtered"
    /// Something in `exclude` holds.
    case excluded = "excluded"
    /// The token cell is blank or absent.
    case missingToken = "missing_token"
    /// The token cell holds something that cannot be a token.
    case badToken = "bad_token"
    /// No service of the app reaches the device.
    case noService = "no_service"
    /// On the suppression list: the service said earlier that the token is invalid, or a person put it there.
    case suppressed = "suppressed"
    /// Another row of the same device counts: it is newer, or equally new and was read later.
    case duplicateToken = "duplicate_token"
    /// The device is not among the most recently active devices of its alias.
    case aliasLimit = "alias_limit"
    /// The device recently got as many pushes as the app or the campaign allows.
    case frequency = "frequency"
    /// Held back for comparison.
    case holdout = "holdout"
    /// A column that the text needs is blank, and the template has no default.
    case renderError = "render_error"
    /// The rendered payload is larger than the service accepts.
    case payloadTooLarge = "payload_too_large"
}
