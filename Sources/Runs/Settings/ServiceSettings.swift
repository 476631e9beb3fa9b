public import Base
public import PushServices

/// What a plan freezes about one of the services that take its pushes: where they go, what they are
/// sent with, and how fast.
public struct ServiceSettings: Hashable, Sendable {
    /// The service's name: the standard one's in plans of older versions, which know none.
    public var serviceName = PushServices.standard.name
    /// The service's switches that the app had on.
    public var switchedOn: Set<String> = []
    /// Where pushes go.
    public var environment: FrozenEnvironment
    /// With the suffix that the push type needs.
    public var topic: String
    /// What pushes are sent with; nil to the simulator, where an app need not have one.
    public var credential: FrozenCredential?
    /// Never faster than this; nil for none of its own. It counts what the service's own pace
    /// counts (`Batching.paceUnit`).
    public var pace: Pace?
    /// The one that all runs of the app keep together at this service, in place of what the service
    /// takes from everybody.
    public var appPace: Pace?

    /// What to do with pushes whose answers were lost; nil for what the run's settings say.
    public var unknownPolicy: UnknownPolicy?

    /// Settings with everything else as usual.
    public init(environment: FrozenEnvironment, topic: String) {
        self.environment = environment
        self.topic = topic
    }

    /// The service's facts.
    public var service: any PushService {
        (PushServices.named(serviceName) ?? PushServices.standard).switched(on: switchedOn)
    }

    /// The list of suppressed devices that counts for it: targets of different services and servers
    /// have nothing to do with one another. A service's own servers have one list each, however
    /// they are named; one that an authority of the project's own vouches for is another server
    /// under the service's name. The standard service's lists have the names that they had when it
    /// was the only one.
    public var listName: String {
        let prefix = serviceName == PushServices.standard.name ? "" : serviceName + ":"
        guard case .server(let host, _, nil) = environment else { return prefix + environment.name }
        return prefix + (service.account.environments.choices.first { $0.isAt(host) }?.name ?? environment.name)
    }

    /// Whether a text can be the names of lists, joined as in `RunSettings.listName`.
    static func areLists(_ text: String) -> Bool {
        text.split(separator: "+", omittingEmptySubsequences: false).allSatisfy { name in
            PushServices.ofRuns.contains { service in
                let prefix = service.name == PushServices.standard.name ? "" : service.name + ":"
                guard name.hasPrefix(prefix) else { return false }
                let environment = name.dropFirst(prefix.count)
                return environment == "simulator" || service.account.environments.named(String(environment)) != nil
                    || isServer(environment)
            }
        }
    }

    /// `host:port`; an IPv6 address may have no brackets.
    private static func isServer(_ text: Substring) -> Bool {
        guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
            let port = Int(text[text.index(after: colon)...])
        else {
            return false
        }
        return (1...65_535).contains(port) && text[..<colon].utf8.allSatisfy(isOfHost)
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ":"), UInt8(ascii: "%"), 0x80...:
            true
        default: false
        }
    }
}
