public import Base

/// An action of a person on another account after which both may belong to one person. Approvals
/// count the two as one person for a week: otherwise an administrator could approve their own
/// campaign with an account that they made.
public struct AccountTie: Hashable, Sendable {
    /// What was done.
    public enum Action: String, CaseIterable, Hashable, Sendable {
        /// The account was made with a link of theirs.
        case invited
        /// Its password was reset with a link of theirs.
        case passwordReset = "password_reset"
        /// They gave it a role that approves.
        case promoted
        case enabled
        case secondFactorRemoved = "second_factor_removed"

        /// Before the name of the account.
        public var words: String {
            switch self {
            case .invited: "invited"
            case .passwordReset: "gave a new password to"
            case .promoted: "gave a role that approves to"
            case .enabled: "enabled"
            case .secondFactorRemoved: "removed the second factor of"
            }
        }
    }

    /// The person that acted, and the changed account. By name: an account that is removed and made
    /// again keeps its ties.
    public let holder: AccountName, account: AccountName
    /// What was done.
    public let deed: Action
    /// When it took effect: for a link, when it was used.
    public let at: Timestamp

    /// How long it counts. Source: the issue on two-person approval.
    public static let days: Int64 = 7

    /// A tie.
    public init(holder: AccountName, account: AccountName, deed: Action, at: Timestamp) {
        (self.holder, self.account, self.deed, self.at) = (holder, account, deed, at)
    }

    /// A tie of which a name cannot be read.
    struct Partial: Hashable, Sendable {
        /// nil means any account.
        var holder: AccountName?, account: AccountName?
        var deed: Action
        var at: Timestamp
    }

    /// The moment from which it does not count.
    public var endsAt: Timestamp { at.adding(seconds: Double(Self.days * 86_400)) }
}

/// The ties that count at a moment, and what follows from them. One person may hold two accounts:
/// by a tie between them, by a chain of ties, or because a third person is tied to both.
public struct AccountTies: Hashable, Sendable {
    /// The ties.
    public let all: [AccountTie]

    private let partial: [AccountTie.Partial]

    /// The ties that have not ended. Setting the clock back extends them.
    public init(_ ties: [AccountTie], at now: Timestamp) { self.init(ties, partial: [], at: now) }

    init(_ ties: [AccountTie], partial: [AccountTie.Partial], at now: Timestamp) {
        all = ties.filter { $0.endsAt > now }
        self.partial = partial.filter { $0.at.adding(seconds: Double(AccountTie.days * 86_400)) > now }
    }

    /// Whether any tie is to an account.
    func concern(_ account: AccountName) -> Bool {
        (all.map(\.account) + partial.compactMap(\.account)).contains(account)
    }

    /// The possible ties of two accounts: a damaged name may be that of either.
    private func between(_ left: AccountName, _ right: AccountName) -> AccountTies {
        let possible = partial.flatMap { tie -> [AccountTie] in
            guard let known = tie.holder ?? tie.account else { return [] }
            return [left, right].filter { $0 != known }.map {
                AccountTie(holder: tie.holder ?? $0, account: tie.account ?? $0, deed: tie.deed, at: tie.at)
            }
        }
        return AccountTies(all + possible, at: Timestamp(epochMilliseconds: .min / 2))
    }

    /// An account and all that may hold it, directly or through others.
    public func hands(on account: AccountName) -> Set<AccountName> {
        var (found, open): (Set<AccountName>, [AccountName]) = ([account], [account])
        while let next = open.popLast() {
            for tie in all where tie.account == next && found.insert(tie.holder).inserted { open.append(tie.holder) }
        }
        return found
    }

    /// Whether one person may hold both.
    public func haveOneHand(_ left: AccountName, _ right: AccountName) -> Bool {
        guard partial.isEmpty else { return between(left, right).haveOneHand(left, right) }
        return !hands(on: left).isDisjoint(with: hands(on: right))
    }

    /// Why two accounts count as one person.
    public struct Evidence: Hashable, Sendable {
        /// Of the approver, the other account.
        public var other: AccountName
        /// The tie that ends when its account is confirmed.
        public var tie: AccountTie
        /// When the two count as two people again, if nothing else happens.
        public var until: Timestamp

        /// What the approver reads after a colon, with what to do.
        public var sentence: String {
            "until \(until.minuteText) your account counts as one person with \(other), because \(tie.holder) \(tie.deed.words) \(tie.account); "
                + "ask an approver without such a tie, or an administrator without one to confirm the account \(tie.account)"
        }
    }

    /// Why an account must not approve what another wrote or requested; nil if it may.
    public func bond(of approver: AccountName, with other: AccountName) -> Evidence? {
        guard approver != other else { return nil }
        guard partial.isEmpty else { return between(approver, other).bond(of: approver, with: other) }
        let shared = hands(on: approver).intersection(hands(on: other))
        guard !shared.isEmpty else { return nil }
        // If only the approver holds the other account, that one must be confirmed.
        let toConfirm = shared == [approver] ? other : approver
        let ties = all.filter { $0.account == toConfirm && !hands(on: $0.holder).isDisjoint(with: shared) }
        guard let tie = ties.max(by: { $0.endsAt < $1.endsAt }) else { return nil }
        let ends = all.map(\.endsAt).sorted()
        return Evidence(
            other: other, tie: tie,
            until: ends.first { !AccountTies(all, at: $0).haveOneHand(approver, other) } ?? tie.endsAt)
    }
}
