/// Why a row of an export did not become a recipient. A row has exactly one reason:
/// `duplicateToken` if it is not the newest of its device, otherwise the first of the following
/// that applies, with two exceptions. `badToken` comes before `notMatched`: it is not clear which
/// device such a row would decide for. A device of the holdout whose text cannot be rendered or
/// sent is `renderError` or `payloadTooLarge`: the others of its variant that are compared with it
/// could be reached.
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
    /// On the suppression list: the service said earlier that the token is invalid, or a person put
    /// it there.
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

    /// Whether nobody wished it: something is wrong with the row, the device or the text.
    public var isUnintended: Bool {
        switch self {
        case .badRow, .missingToken, .badToken, .noService, .suppressed, .renderError, .payloadTooLarge: true
        case .notMatched, .filtered, .excluded, .duplicateToken, .aliasLimit, .frequency, .holdout: false
        }
    }

    /// Whether the device takes one of its alias's places: not when it was left out before aliases
    /// are checked.
    public var takesPlaceInAlias: Bool {
        switch self {
        case .aliasLimit, .frequency, .holdout, .renderError, .payloadTooLarge: true
        case .badRow, .notMatched, .filtered, .excluded, .missingToken, .badToken, .noService, .suppressed,
            .duplicateToken:
            false
        }
    }

    /// Whether a user that the row names gets no push of their own instead: the device was left out
    /// on purpose.
    public var standsForUser: Bool {
        switch self {
        case .frequency, .holdout: true
        case .badRow, .notMatched, .filtered, .excluded, .missingToken, .badToken, .noService, .suppressed,
            .duplicateToken, .aliasLimit,
            .renderError, .payloadTooLarge:
            false
        }
    }
}
