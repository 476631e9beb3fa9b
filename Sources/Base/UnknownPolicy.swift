/// What to do with a push after its answer was lost.
public enum UnknownPolicy: String, Hashable, Sendable {
    /// Send it again under the same id.
    case resend
    /// Never send twice: it is reported as unknown.
    case skip
}
