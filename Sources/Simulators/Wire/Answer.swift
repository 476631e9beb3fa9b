/// A header of an answer.
struct AnswerField {
    /// The name as HTTP/2 writes it, in lower case.
    let name: StaticString
    let value: String
}

/// The answer of a service to a request, or what it means for one of the pushes of the request.
struct Answer: Equatable {
    /// The HTTP status.
    var status: Int
    /// The service's reason; empty if it accepted the request.
    var reason: String
    /// With 410: when the token became invalid, in milliseconds since 1970.
    var invalidSinceMilliseconds: Int64?

    static let accepted = Answer(status: 200, reason: "")

    /// Some services refuse with the status 200, and say so in the body.
    var isAccepted: Bool { status == 200 && reason.isEmpty }

    /// Whether a connection counts it as the sender's error. APNs does not count 410, and 429 and
    /// 5xx say nothing about the request.
    var isRejection: Bool { (400..<500).contains(status) && status != 410 && status != 429 }
}
