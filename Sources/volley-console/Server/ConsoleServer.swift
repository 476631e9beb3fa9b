import Base
import Campaigns
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// The web server: Hummingbird, with the routes of the table behind the gate.
struct ConsoleServer {
    let site: Site
    let settings: ConsoleSettings?
    let connections: Connections
    let log: Logger
    var pages = WorkPool(threads: 4, waiting: 100)
    var signIns = WorkPool(threads: 2, waiting: 16)
    /// For people that signed in from there before, or are signed in.
    var knownSignIns = WorkPool(threads: 1, waiting: 16)
    var providers = WorkPool(threads: 4, waiting: 32)
    /// For forms of whole campaigns, which may be long, and write lists of all devices of a run.
    var forms = WorkPool(threads: 4, waiting: 32)

    /// The limits on the bytes of a head, and on the number of its fields.
    private static let headBytes = 16 << 10, headFields = 100

    /// The application, which `runService` runs until SIGTERM or SIGINT.
    /// - Parameter running: called with the channel that listens.
    func application(
        at address: ListenAddress, routes: [Route] = RouteTable.all,
        running: @escaping @Sendable (any Channel) async -> Void
    )
        -> Application<RouterResponder<ConsoleContext>>
    {
        let hosts = HostRules(settings)
        let router = Router(context: ConsoleContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: RequestMiddleware(hosts: hosts, site: site, pages: pages, log: log))
        let gate = Gate(
            site: site, pages: pages, signIns: signIns, knownSignIns: knownSignIns, providers: providers, forms: forms)
        for route in routes {
            router.on(RouterPath(route.path), method: route.method == .get ? .get : .post) { request, context in
                try await gate.answer(route, request, context).response
            }
        }
        let (connections, isSecure) = (connections, hosts.isPublic)
        return Application(
            router: router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [
                        ConnectionGuard(connections, isSecure: isSecure, mostBodyBytes: Route.mostBodyBytes)
                    ],
                    idleTimeout: .nanoseconds(Int64(connections.timeouts.head * 1e9)),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: Self.headBytes, maxHeaderListSize: Self.headBytes,
                        maxHeaderFieldCount: Self.headFields))),
            configuration: .init(address: address.bindAddress, serverName: nil, backlog: 1024),
            onServerRunning: running, logger: quiet)
    }

    /// Hummingbird's own messages: only what has gone wrong.
    private var quiet: Logger {
        var quiet = log
        quiet.logLevel = .error
        return quiet
    }
}

/// What is known of a request in addition to its contents.
struct ConsoleContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connected address; nil over a Unix socket.
    let peer: IPAddress?
    /// How it came; nil before it was looked at, and when it names a host that is not the
    /// console's.
    var requestOrigin: HostRules.RequestOrigin?
    /// The signed-in person, for the log.
    let account = VisitorName()

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peer = source.channel.peer
    }
}

/// The name of the person that sent the request, once it is known.
final class VisitorName: Sendable {
    private let name = Mutex<String?>(nil)

    /// nil while that is not known.
    var value: String? { name.withLock { $0 } }

    func set(_ account: String) { name.withLock { $0 = account } }
}
