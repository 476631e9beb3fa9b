import Base

/// The rules that depend on push types, kept separate from the sender's rules.
/// Source: Apple, "Sending notification requests to APNs".
extension PushType {
    /// The suffix that a topic must have for this type; empty if the topic is the bundle id itself.
    var topicSuffix: String {
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
    var maximumPayloadBytes: Int { self == .voip ? 5120 : 4096 }
}
