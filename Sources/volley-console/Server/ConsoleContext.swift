import Base
import Hummingbird
import NIOCore
import Synchronization

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
