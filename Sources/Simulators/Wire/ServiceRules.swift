import Base

/// What one service demands of a request, and how it answers. Everything else (TLS, HTTP/2, faults,
/// the ledger and its figures) is the same for every service. Only the server's thread calls it.
///
/// The server calls a class through the protocol a few times for each request. That costs
/// nanoseconds where a request costs microseconds; what is done for each header (`HeaderName`,
/// `PushRequest`) is the wire's for this reason.
protocol ServiceRules: AnyObject {
    /// Whether the service also speaks HTTP/1.1, and not HTTP/2 alone.
    var speaksHTTP1: Bool { get }

    /// The bytes of a body that are kept: more than any body that the service accepts, so that what
    /// is checked is complete.
    var keptBodyBytes: Int { get }

    /// The headers that only this service reads (`PushRequest.own`): in lower-case letters.
    var ownHeaders: [StaticString] { get }

    /// The number of distinct credentials that were accepted.
    var acceptedCredentials: Int { get }

    /// What the rules remember about a new connection.
    func makeMemory(certificate: CertificateState) -> ConnectionMemory

    /// Whether the headers of a request say that it is a push.
    func isPush(_ request: PushRequest) -> Bool

    /// Sets the answer to a request, its kind, and the recipients of its pushes.
    /// - Parameter hasBody: whether the body is complete; if not, it is not checked.
    func decide(_ request: PushRequest, hasBody: Bool, memory: ConnectionMemory, now: Timestamp)

    /// Replaces the answer to an accepted request by a fault's.
    func refuse(_ request: PushRequest, as fault: Answer)

    /// Takes an accepted push, once it is certain that no fault comes before it: what the service
    /// remembers of it, it remembers here.
    func take(_ request: PushRequest)

    /// The header that an answer has in addition to its status: its name, and its value, which is
    /// valid until the request changes.
    func header(of request: PushRequest) -> (name: StaticString, value: UnsafeBufferPointer<UInt8>)

    /// The body of an answer.
    func body(of request: PushRequest) -> [UInt8]

    /// Whether an answer has the server's `date` when its clock differs from this machine's.
    func showsClock(in answer: Answer) -> Bool

    /// What tells an accepted push from others; nil for a push that cannot be told from others.
    /// - Parameter push: the push's place among those of the request, from 0 to
    ///   `PushRequest.pushCount`.
    func marks(of push: Int, in request: PushRequest) -> LedgerMarks?

    /// Adds the members of a push's line to the ledger, beginning with a comma.
    func describe(_ push: Int, of request: PushRequest, in file: LedgerFile)
}

extension ServiceRules {
    var speaksHTTP1: Bool { true }

    /// The application protocols of a simulator (RFC 7301), the preferred one first. The last one
    /// is also what a client speaks that offers none.
    func applicationProtocols(_ configuration: SimulatorConfiguration) -> [String] {
        configuration.speaksOnlyHTTP1 ? ["http/1.1"] : speaksHTTP1 ? ["h2", "http/1.1"] : ["h2"]
    }

    /// None: `HeaderName` has all.
    var ownHeaders: [StaticString] { [] }

    func take(_ request: PushRequest) {}

    func body(of request: PushRequest) -> [UInt8] { request.answerText }

    func showsClock(in answer: Answer) -> Bool { !answer.isAccepted }

    func marks(of push: Int, in request: PushRequest) -> LedgerMarks? {
        guard request.addressees.indices.contains(push) else { return nil }
        let addressee = request.addressees[push]
        return LedgerMarks(target: TokenHash(text: addressee.target), id: TokenHash(text: addressee.id))
    }
}

/// The client certificate of the handshake.
enum CertificateState {
    case none, inForce, expired
}

/// What a service's rules remember about a connection. A service that remembers anything has a
/// class of its own.
class ConnectionMemory {}

/// The hashes of an accepted push's target and id.
struct LedgerMarks {
    let target: TokenHash, id: TokenHash
}

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
