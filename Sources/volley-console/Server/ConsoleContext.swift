import Base
import Hummingbird
import NIOCore
import Synchronization

/// What is known of a request beside itself.
struct ConsoleContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Who is connected; nil over a Unix socket.
    let peer: IPAddress?
    /// How it came; nil before it was looked at, and when it names a host that is not the console's.
    var sight: HostRules.Sight?
    /// Who signed in, for the log.
    let account = VisitorName()

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peer = source.channel.peer
    }
}

/// The name of whoever a request turns out to come from.
final class VisitorName: Sendable {
    private let name = Mutex<String?>(nil)

    /// nil while that is not known.
    var value: String? { name.withLock { $0 } }

    func set(_ account: String) { name.withLock { $0 = account } }
}
