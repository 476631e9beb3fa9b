/// The kind of a push, as named by `volley push --push-type`.
public enum PushType: String, CaseIterable, Hashable, Sendable {
    case alert, background, voip, complication, fileprovider, location, liveactivity, pushtotalk, mdm, widgets, controls
}

/// How urgent a push is.
public enum PushPriority: Int, Hashable, Sendable {
    /// 1: saving power comes first; never wakes the device.
    case low = 1
    /// 5: when it suits the device; the only one allowed for background pushes.
    case normal = 5
    /// 10: immediately. The default.
    case high = 10
}

/// When a push is no longer worth delivering.
public enum Expiry: Hashable, Sendable {
    /// `0`: the service tries once and does not store it.
    case immediately
    /// `4h`: a number of seconds after the run starts.
    case after(seconds: Int)
    /// A date and time.
    case at(Timestamp)
}
