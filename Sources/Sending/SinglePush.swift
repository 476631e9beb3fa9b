public import PushServices
public import Workspace
public import Base
import Delivery
public import Runs

/// One push to one device, outside any run.
///
/// ```swift
/// let settings = try run.plan.settings.get()
/// let route = try ProxyRoute(project.proxy, to: settings.firstService.environment)
/// let push = try SinglePush(settings, route, context, at: .now())
/// let payload = Array(#"{"title": "Hello"}"#.utf8)
/// let result = try push.send(payload, to: Target(normalized: "7f3a…"), sending)
/// ```
public struct SinglePush {
    /// The result of a single push.
    public struct Result: Sendable {
        /// The outcome of the push.
        public var settlement: Settlement
        /// How the sender ended.
        public var end: RunEnd
        /// The id of the push at the service.
        public var id: PushID
    }

    /// Warnings about the key or certificate.
    public var warnings: [Diagnostic] { gateway.warnings }
    private let gateway: Gateway
    private let sender: SenderSettings
    private let seed = RunSeed.random()

    /// Opens the credentials that the settings name.
    /// - Parameter other: makes its request instead of the settings' service; nil for that one.
    /// - Throws: `Diagnostic`: the key or certificate cannot be used.
    public init(
        _ settings: RunSettings, _ route: ProxyRoute, _ context: SendingContext, at now: Timestamp,
        as other: (any PushService)? = nil
    ) throws {
        gateway = try Gateway(settings, context, proxy: route.tokenProxyURL, now: now)
        var sender = SenderSettings(
            other ?? settings.service, endpoint: gateway.endpoint, credentials: gateway.credentials,
            options: settings.options(startingAt: now),
            runSeed: seed)
        route.apply(to: &sender)
        sender.connections = 1
        sender.retry.maximumAttempts = 1
        sender.resendsUnknown = false
        self.sender = sender
    }

    /// Sends the push, and waits for the answer.
    /// - Throws: `Diagnostic`: it cannot be sent. Nothing was sent.
    public func send(_ payload: [UInt8], to token: Target, _ options: RunOptions) throws -> Result {
        let batches = BoundedQueue<PushBatch>(capacity: 1), results = BoundedQueue<[Settlement]>(capacity: 16)
        var batch = PushBatch()
        batch.append(recipient: 0, token: token.text, payload: payload)
        batches.put(batch)
        batches.close()
        let (delivery, control) = (try Sender(sender), SendControl())
        let ended = try Wakeup()
        let loop = try WorkerThread("deliver") {
            defer { ended.wake() }
            return delivery.run(source: batches, results: results, control: control)
        }
        options.observer(.begins)
        control.wait(until: ended, options.cancellation, draining: { options.observer(.draining) })
        let end = loop.join()
        _ = gateway.close()
        guard let settlement = results.take()?.first else { preconditionFailure("a push was not settled") }
        return Result(settlement: settlement, end: end, id: PushID(runSeed: seed, recipient: 0))
    }
}
