/// The headers in which a service says how much more it takes, in lower-case letters.
public struct BudgetHeaders: Hashable, Sendable {
    /// How many requests are left.
    public let remaining: String
    /// In how many seconds there are new ones.
    public let reset: String

    /// The names.
    public init(remaining: String, reset: String) {
        self.remaining = remaining
        self.reset = reset
    }
}
