import Base

/// The rules that hang on push types, written down apart from those of the sender.
/// Source: Apple, "Sending notification requests to APNs".
extension PushType {
    /// What a topic must end with for this type; empty for the bare bundle id.
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
