/// The answer of APNs to a push.
struct Answer: Equatable {
    /// The HTTP status.
    var status: Int
    /// Apple's reason; empty for 200.
    var reason: String
    /// With 410: when the token became invalid, in milliseconds since 1970.
    var invalidSinceMilliseconds: Int64?

    static let accepted = Answer(status: 200, reason: "")

    static func badRequest(_ reason: String) -> Answer { Answer(status: 400, reason: reason) }
    static func forbidden(_ reason: String) -> Answer { Answer(status: 403, reason: reason) }

    var isAccepted: Bool { status == 200 }

    /// Whether APNs counts it as the sender's error. APNs does not count 410, and 429 and 5xx say nothing about the request.
    var isRejection: Bool { (400..<500).contains(status) && status != 410 && status != 429 }

    /// The JSON body; empty for 200.
    var body: [UInt8] {
        guard !isAccepted else { return [] }
        let since = invalidSinceMilliseconds.map { ",\"timestamp\":\($0)" } ?? ""
        return Array("{\"reason\":\"\(reason)\"\(since)}".utf8)
    }
}
