/// The push types of APNs (header `apns-push-type`), with the rules that hang on them.
/// Source: Apple, "Sending notification requests to APNs".
public enum PushType: String, CaseIterable, Hashable, Sendable {
    case alert, background, voip, complication, fileprovider, location, liveactivity, pushtotalk, mdm, widgets, controls

    /// What a topic must end with for this type; empty for the bare bundle id.
    public var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The largest payload in bytes.
    public var maximumPayloadBytes: Int { self == .voip ? 5120 : 4096 }
}

/// The header `apns-priority`.
public enum PushPriority: Int, Hashable, Sendable {
    /// 1: power first, never wakes the device.
    case low = 1
    /// 5: when it suits the device; the only one allowed for background pushes.
    case normal = 5
    /// 10: now. The default.
    case high = 10
}
