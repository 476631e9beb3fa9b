public import Base
public import Cryptography
import HTTP2
public import PushServices
import Synchronization

/// Where pushes go.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// The name that the server's certificate must carry.
    public var host: String
    /// From 1 to 65535.
    public var port: Int
    /// A PEM file with the only authority to trust; nil for the system's.
    public var certificateAuthorityFile: String?
    /// Hosts that take the same pushes at the same port when this one does not, in the order in
    /// which they are tried: over libcurl only.
    public var spareHosts: [String] = []

    /// Creates an endpoint.
    public init(host: String, port: Int, certificateAuthorityFile: String? = nil) {
        self.host = host
        self.port = port
        self.certificateAuthorityFile = certificateAuthorityFile
    }

    /// Creates the endpoint of one of a service's own servers.
    public init(_ environment: ServiceEnvironment) {
        self.init(host: environment.host, port: environment.port)
        spareHosts = environment.spareHosts
    }

    /// `host:port`
    public var description: String { "\(host):\(port)" }
}

/// How Volley proves its identity to the service.
public enum Credentials: Sendable {
    /// Provider tokens. All senders of a process share one source, because the 20-minute rule
    /// applies to a key, not to a connection.
    case token(SignedTokenSource)
    /// Tokens that a server gives out for a time. The source must have been started, and be stopped
    /// after the last run.
    case fetched(FetchedTokenSource)
    /// A name and a secret that each request shows.
    case fixed(FixedTokenSource)
    /// A secret with which each request is signed: over libcurl only.
    case signed(RequestSigner)
    /// TLS with a client certificate.
    case certificate(ClientCertificate)
}

extension RequestTemplate {
    /// Checks that each value can be a header. After a line break the rest would become a header of
    /// its own, and a space at either end makes an HTTP/2 request malformed (RFC 9113 section
    /// 8.2.1).
    /// - Throws: a `Diagnostic` when a value cannot be a header.
    func check() throws(Diagnostic) {
        for header in headers
        where !HTTP2Header.canHold(header.value) || header.value.hasPrefix(" ") || header.value.hasSuffix(" ") {
            throw Diagnostic(
                "\(header.name) contains a control character, or begins or ends with a space, which a header may not: '\(header.value)'",
                remedy: "Write it as one line of visible text, without spaces around it.")
        }
    }
}

/// Everything a sender needs to know before the first push.
public struct SenderSettings: Sendable {
    /// The service that receives the pushes.
    public let service: any PushService
    /// Where pushes go.
    public var endpoint: Endpoint
    /// The sender's credentials.
    public var credentials: Credentials
    /// The options that all pushes share.
    public var options: PushOptions
    /// The seed from which each push's id is derived.
    public var runSeed: RunSeed
    /// The pace, never exceeded in any second; nil for no limit. It counts what the service's own
    /// pace counts (`Batching.paceUnit`).
    public var pace: Pace?
    /// Paces that all senders keep together that name the same objects, such as an app's.
    public var sharedPaces: [PaceAllotment] = []
    /// The moment after which nothing more is sent; what is left is unsent. nil for none.
    public var deadline: Timestamp?
    /// Whether a push is sent again after its answer was lost (under the same id), or reported as
    /// unknown.
    public var resendsUnknown: Bool
    /// Shares of bad answers beyond which the run stops, in addition to what always stops a run
    /// (most tokens bad, most pushes rejected); nil for none.
    public var stopLimits: StopLimits?
    /// When and how often a refused push is tried again.
    public var retry: RetryPolicy
    /// The moment before which the service takes no pushes, as it said to an earlier epoch of the
    /// run; nil for none.
    public var heldUntil: Timestamp?
    /// Gets the receipts of the service's answers, each before the settlements that came with it
    /// are in the queue of results; nil if they are not needed.
    public var receipts: ReceiptQueue?
    /// Dates settlements, and says when something has expired.
    public var clock = CommonClock()
    /// A proxy (`http://user:password@host:3128`, `socks5h://host:1080`; user and password
    /// percent-encoded); nil for none, whatever the environment says.
    public var proxy: String?
    /// For tests: a PEM file of authorities to trust for an `https` proxy's certificate, in place
    /// of the system's bundle.
    var proxyAuthorityFile: String?
    /// The most loops, each on its own thread with its own connections; by default the number of
    /// cores. A run with a pace always has one, and so has a service with a limit of calls.
    public var loops: Int
    /// For tests: further loops join even if the running ones are not saturated.
    var startsLoopsAtOnce = false
    /// The most TCP connections of a loop. It begins with one and adds others while streams are the
    /// limit.
    public var connections: Int
    /// The most streams in flight on a connection. The server's own limit also applies.
    public var streamsPerConnection: Int
    /// How many pushes must be answered before any other goes out. Only measurements change it.
    var canaryPushes = Canary.usualSize
    /// What carries the requests, as the service requires. Only tests and measurements choose
    /// another wire.
    package var wire: Wire
    /// Commits the names of calls before they leave, where the service recognizes repeats; returns
    /// false if they could not be committed: then they never leave. Called on a thread of its own.
    package var commitCalls: @Sendable ([NamedCall]) -> Bool = { _ in true }
    /// The longest time to connect, including TLS.
    public var connectTimeoutSeconds: Double
    /// The longest wait from submitting a push to its answer.
    public var answerTimeoutSeconds: Double

    /// What all requests share.
    var request: RequestTemplate { service.request(options) }

    /// Settings with the usual limits, and with the service's waits.
    public init(
        _ service: any PushService = PushServices.standard, endpoint: Endpoint, credentials: Credentials,
        options: PushOptions,
        runSeed: RunSeed
    ) {
        self.service = service
        self.endpoint = endpoint
        self.credentials = credentials
        self.options = options
        self.runSeed = runSeed
        resendsUnknown = true
        retry = service.retry
        wire = service.wire
        loops = availableCores()
        connections = 8
        streamsPerConnection = 1000
        connectTimeoutSeconds = 10
        answerTimeoutSeconds = 30
    }

    /// The parsed proxy; nil for none.
    var proxyAddress: ProxyAddress? { proxy.flatMap { try? ProxyAddress($0, .asInEnvironment) } }
}

/// Receipts on their way from a sender's loops to the record.
public final class ReceiptQueue: Sendable {
    private let receipts = Mutex<[String]>([])

    /// An empty queue.
    public init() {}

    func add(_ receipt: String) { receipts.withLock { $0.append(receipt) } }

    /// Takes out what came since the last time.
    public func take() -> [String] {
        receipts.withLock { receipts in
            defer { receipts = [] }
            return receipts
        }
    }

    /// Puts back what could not be recorded.
    public func putBack(_ taken: [String]) { receipts.withLock { $0 = taken + $0 } }
}

/// Signs each request of a run.
public struct RequestSigner: Sendable {
    private let signature: RequestSignature
    private let secret: AppSecret

    /// Signs with a secret, as a service requires.
    public init(_ signature: RequestSignature, _ secret: AppSecret) {
        self.signature = signature
        self.secret = secret
    }

    /// The header lines of a request that leaves now; each is for one request.
    func lines(at now: Timestamp) -> [String] {
        let digits = Array("0123456789abcdef".utf8)
        let nonce = String(
            decoding: (0..<signature.nonceDigits).map { _ in digits[Int.random(in: 0...15)] }, as: UTF8.self)
        let time = String(now.epochSeconds)
        return [
            "\(signature.account): \(secret.topic)", "\(signature.nonce): \(nonce)", "\(signature.timestamp): \(time)",
            "\(signature.signature): \(SHA1.hex(of: secret.secret + nonce + time))",
        ]
    }
}

extension Credentials {
    /// What signs each request; nil where requests are not signed.
    var signer: RequestSigner? { if case .signed(let signer) = self { signer } else { nil } }
}
