/// What APNs says to a push.
struct Answer: Equatable {
    /// HTTP status.
    var status: Int
    /// Apple's reason; empty for 200.
    var reason: String
    /// With 410: since when the token is invalid, in milliseconds.
    var invalidSinceMilliseconds: Int64?

    static let accepted = Answer(status: 200, reason: "")

    static func badRequest(_ reason: String) -> Answer { Answer(status: 400, reason: reason) }
    static func forbidden(_ reason: String) -> Answer { Answer(status: 403, reason: reason) }

    var isAccepted: Bool { status == 200 }

    /// Whether APNs counts it as an error of the sender. It does not count 410; 429 and 5xx say nothing about the request.
    var isRejection: Bool { (400..<500).contains(status) && status != 410 && status != 429 }

    /// The JSON that goes with it; empty for 200.
    var body: [UInt8] {
        guard !isAccepted else { return [] }
        let since = invalidSinceMilliseconds.map { ",\"timestamp\":\($0)" } ?? ""
        return Array("{\"reason\":\"\(reason)\"\(since)}".utf8)
    }
}
