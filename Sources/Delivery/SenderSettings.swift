public import Base
public import Cryptography
import HTTP2
public import PushServices

/// Where pushes go.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// The name that the server's certificate must carry.
    public var host: String
    /// From 1 to 65535.
    public var port: Int
    /// A PEM file with the only authority to trust; nil for the system's.
    public var certificateAuthorityFile: String?

    /// A server.
    public init(host: String, port: Int, certificateAuthorityFile: String? = nil) {
        self.host = host
        self.port = port
        self.certificateAuthorityFile = certificateAuthorityFile
    }

    /// One of a service's own servers.
    public init(_ environment: ServiceEnvironment) { self.init(host: environment.host, port: environment.port) }

    /// `host:port`
    public var description: String { "\(host):\(port)" }
}

/// How Volley shows who it is.
public enum Credentials: Sendable {
    /// Provider tokens. One source for all senders of a process: the 20-minute rule counts per key, not per connection.
    case token(SignedTokenSource)
    /// TLS with a client certificate.
    case certificate(ClientCertificate)
}

extension RequestTemplate {
    /// - Throws: a `Diagnostic` when a value cannot be a header: with a line break in it the rest would be a header of its own, and with a space at an
    /// end HTTP/2 takes no request (RFC 9113 section 8.2.1).
    func check() throws(Diagnostic) {
        for header in headers where !HTTP2Header.canHold(header.value) || header.value.hasPrefix(" ") || header.value.hasSuffix(" ") {
            throw Diagnostic(
                "\(header.name) holds a control character, or begins or ends with a space, which no header may: '\(header.value)'",
                remedy: "Write it as one line of visible text, without spaces around it.")
        }
    }
}

/// Everything a sender needs to know before the first push.
public struct SenderSettings: Sendable {
    /// Who takes the pushes.
    public var service: any PushService
    /// Where pushes go.
    public var endpoint: Endpoint
    /// Who sends.
    public var credentials: Credentials
    /// What all pushes have in common.
    public var options: PushOptions
    /// Derives each push's id.
    public var runSeed: RunSeed
    /// Never faster than this in any second; nil for no limit.
    public var pace: Pace?
    /// The pace of an app, which all senders that name the same object keep together; nil for none.
    public var sharedPace: SharedPace?
    /// After this moment nothing more is sent: what is left is unsent.
    public var deadline: Timestamp?
    /// Whether a push whose answer was lost is sent again (under the same id) or reported as unknown.
    public var resendsUnknown: Bool
    /// Shares of bad answers beyond which the run stops, on top of what always stops one (most tokens bad, most pushes rejected); nil for none.
    public var stopLimits: StopLimits?
    /// When and how often a refused push is tried again.
    public var retry: RetryPolicy
    /// A proxy (`http://user:password@host:3128`, `socks5h://host:1080`; user and password percent-encoded); nil for none, whatever the environment
    /// says.
    public var proxy: String?
    /// For tests: a PEM file with authorities that an `https` proxy's certificate may come from, in place of the system's bundle.
    var proxyAuthorityFile: String?
    /// Loops at most, each on a thread of its own with its own connections; as many as there are cores unless said otherwise. A run with a pace
    /// has one, whatever is said.
    public var loops: Int
    /// For tests: loops join whether or not those that are there have all the work that they can do.
    var startsLoopsAtOnce = false
    /// TCP connections of a loop at most; it begins with one, and adds others while streams are the limit.
    public var connections: Int
    /// Streams in flight on a connection at most; the server's own limit is obeyed as well.
    public var streamsPerConnection: Int
    /// So many pushes are answered before any other goes out; for measurements alone anything but the usual.
    var canaryPushes = Canary.usualSize
    /// To connect, TLS included.
    public var connectTimeoutSeconds: Double
    /// From submitting a push to its answer.
    public var answerTimeoutSeconds: Double

    /// What all requests have in common.
    var request: RequestTemplate { service.request(options) }

    /// Settings with the usual limits.
    public init(endpoint: Endpoint, credentials: Credentials, options: PushOptions, runSeed: RunSeed) {
        service = PushServices.standard
        self.endpoint = endpoint
        self.credentials = credentials
        self.options = options
        self.runSeed = runSeed
        resendsUnknown = true
        retry = RetryPolicy()
        loops = availableCores()
        connections = 8
        streamsPerConnection = 1000
        connectTimeoutSeconds = 10
        answerTimeoutSeconds = 30
    }

    /// The proxy in its parts; nil for none.
    var proxyAddress: ProxyAddress? { proxy.flatMap { try? ProxyAddress($0, .asInEnvironment) } }
}

/// When and how often a push is tried again after a temporary refusal.
public struct RetryPolicy: Hashable, Sendable {
    /// Attempts in all, at least 1.
    public var maximumAttempts = 6
    /// The wait after the first refusal, doubled after each further one, with full jitter.
    public var firstDelaySeconds = 0.5
    /// No wait is longer, unless the server's retry-after asks for it.
    public var longestDelaySeconds = 60.0
    /// A push is given up this long after its first attempt.
    public var maximumTotalSeconds = 900.0

    /// The usual policy.
    public init() {}
}
