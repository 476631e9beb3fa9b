public import Base

/// One thing that a person did: a line of the list that is only added to.
public struct Activity: Hashable, Sendable {
    /// Whoever did it.
    public struct Person: Hashable, Sendable {
        /// The account, also if it was removed since; nil for a person at the terminal, and for signing in without an account.
        public let account: AccountID?
        /// The name it had then; nil for the terminal.
        public let name: AccountName?

        /// A person.
        public init(account: AccountID?, name: AccountName?) { (self.account, self.name) = (account, name) }
    }

    /// Its place in the list, from 1 on: what was noted later has a larger one, whatever the clock said.
    public let number: Int64
    /// When, by the clock of the machine.
    public let at: Timestamp
    /// Who.
    public let person: Person
    /// What.
    public let kind: ActivityKind
    /// The app that it concerns; nil for none, or for all.
    public let app: String?
    /// What it was done to: the file of a campaign, the id of a run, the name of an account; nil if the kind says it all.
    public let subject: String?
    /// From where; nil if that is unknown.
    public let address: IPAddress?
}

/// Which activities are read. All that is given must hold.
public struct ActivityFilter: Hashable, Sendable {
    /// Only those of this account.
    public var account: AccountID?
    /// Only those of this app.
    public var app: String?
    /// Only those of one of these apps, which leaves out what concerns no app; nil for all.
    public var apps: Set<String>?
    /// Only those of this kind.
    public var kind: ActivityKind.Name?

    /// Reads everything, unless something is given.
    public init(account: AccountID? = nil, app: String? = nil, apps: Set<String>? = nil, kind: ActivityKind.Name? = nil) {
        self.account = account
        self.app = app
        self.apps = apps
        self.kind = kind
    }
}

/// A page of activities.
public struct ActivityPage: Hashable, Sendable {
    /// The newest first.
    public let activities: [Activity]
    /// The numbers of lines of the page that cannot be read.
    public let damaged: [Int64]
    /// What to give as `before` for the next page, with older ones; nil on the last.
    public let next: Int64?
}
