/// When a push is no longer worth delivering.
public enum Expiry: Hashable, Sendable {
    /// `0`: the service tries once and does not store it.
    case immediately
    /// `4h`: a number of seconds after the run starts.
    case after(seconds: Int)
    /// A date and time.
    case at(Timestamp)
}
