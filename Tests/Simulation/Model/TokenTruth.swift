/// The true state of a recipient's token, whatever APNs' answers are taken to mean.
enum TokenTruth {
    case good
    /// A good one that is refused because environment or topic is wrong: the answer's index.
    case refusedBySettings(Int)
    /// The device is gone, and APNs says so.
    case gone(Int)
    /// Not a token of this app, although the settings are right.
    case bad(Int)

    /// APNs' answer, which is always the same; nil if it accepts the push.
    var answer: Int? {
        switch self {
        case .good: nil
        case .refusedBySettings(let answer), .gone(let answer), .bad(let answer): answer
        }
    }

    /// Whether the device would get pushes if it were sent to with the right settings.
    var isGood: Bool {
        switch self {
        case .good, .refusedBySettings: true
        case .gone, .bad: false
        }
    }

    var isGone: Bool { if case .gone = self { true } else { false } }
}
