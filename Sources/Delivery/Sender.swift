public import Base
import Cryptography
import PushServices

/// Pushes batches to the service. Every push taken from the source is settled exactly once,
/// whatever happens.
///
/// It begins with one loop on one thread. When that loop saturates its core, a second one with its
/// own connections takes batches from the same source; when that is saturated too, a third, and so
/// on up to the number of cores. A run with a pace has one loop, which keeps the pace exactly.
public struct Sender: Sendable {
    private let settings: SenderSettings

    /// - Throws: a `Diagnostic` when the settings cannot work (an authority file that is missing or
    ///   broken, a proxy that is not an address, a header with a line break).
    public init(_ settings: SenderSettings) throws(Diagnostic) {
        try settings.request.check()
        if let file = settings.endpoint.certificateAuthorityFile { try CertificateAuthorityFile.check(file) }
        if let proxy = settings.proxy {
            do throws(Mistake) {
                _ = try ProxyAddress(proxy, .asInEnvironment)
            } catch {
                throw Diagnostic(error.message, remedy: error.remedy)
            }
        }
        self.settings = settings
    }

    /// Runs until the source is closed and empty and all its pushes are settled, or until the run
    /// must stop. Blocks the calling thread.
    /// - Parameters:
    ///   - source: batches in sending order. On a stop the sender closes it and settles what it
    ///     holds as unsent.
    ///   - results: receives settlements in groups, at least five times a second while there are
    ///     any.
    ///   - closingResults: whether the sender closes `results` at its end: not if other senders use
    ///     it.
    public func run(
        source: BoundedQueue<PushBatch>, results: BoundedQueue<[Settlement]>, control: SendControl,
        after earlier: EarlierAnswers = EarlierAnswers(), closingResults: Bool = true
    ) -> RunEnd {
        defer { if closingResults { results.close() } }
        let loopGroup = LoopGroup(control: control, largest: largestLoopGroup)
        if let seconds = settings.heldUntil.map({
            Double($0.epochMilliseconds - settings.clock.now().epochMilliseconds) / 1000
        }),
            seconds > 0
        {
            _ = loopGroup.hold(until: monotonicNanoseconds() + Int64(nanosecondsFromSeconds: seconds))
        }
        let shares = settings.sharedPaces.map { $0.pace.join(weight: $0.weight) }
        defer { for share in shares { share.leave() } }
        let namer: RequestNamer?
        do throws(Diagnostic) { namer = try RequestNamer(settings) } catch {
            return Self.refuse(source, results, because: error)
        }
        // After the loops have ended.
        defer { namer?.stop() }
        func startLoop(isHelper: Bool) throws(Diagnostic) -> WorkerThread<RunEnd> {
            try WorkerThread("deliver") { [settings] in
                withPipeSignalBlocked {
                    do throws(Diagnostic) {
                        return try Self.runLoop(
                            settings, machine: MachineSettings(settings, after: earlier, isHelper: isHelper),
                            queues: SenderQueues(source: source, results: results),
                            loopGroup: LoopContext(group: loopGroup, paceArbiter: shares, namer: namer))
                    } catch {
                        loopGroup.leave()
                        // If a helper cannot start, the other loops do its work.
                        return isHelper ? .finished : Self.refuse(source, results, because: error)
                    }
                }
            }
        }
        var loops: [WorkerThread<RunEnd>] = []
        do throws(Diagnostic) { loops = [try startLoop(isHelper: false)] } catch {
            return Self.refuse(source, results, because: error)
        }
        while loopGroup.waitForHelpWanted() {
            // Without a thread for another loop, the running ones do all the work.
            do throws(Diagnostic) { loops.append(try startLoop(isHelper: true)) } catch { loopGroup.leave() }
        }
        let ends = loops.map { $0.join() }
        return ends.first { if case .stopped = $0 { true } else { false } } ?? ends.first { $0 == .interrupted }
            ?? .finished
    }

    /// Runs a loop to its end. Each transport is written out, so that the compiler makes a loop for
    /// each.
    /// - Throws: a `Diagnostic` when no more files can be opened.
    private static func runLoop(
        _ settings: SenderSettings, machine: MachineSettings, queues: SenderQueues, loopGroup: LoopContext
    ) throws(Diagnostic) -> RunEnd {
        switch settings.wire {
        case .http2:
            var loop = SenderLoop(
                try HTTP2Transport(settings), settings, machine: machine, queues: queues, loopGroup: loopGroup)
            return loop.run()
        case .calls(inFlight: _):
            var loop = SenderLoop(
                try CurlTransport(settings), settings, machine: machine, queues: queues, loopGroup: loopGroup)
            return loop.run()
        }
    }

    /// Settles everything in the source as unsent.
    private static func refuse(
        _ source: BoundedQueue<PushBatch>, _ results: BoundedQueue<[Settlement]>, because mistake: Diagnostic
    )
        -> RunEnd
    {
        source.close()
        while let batch = source.takeIfReady() {
            results.put(
                batch.pushes.map { push in
                    let isInDoubt = batch.call != nil || batch.pasts[push.recipient]?.isInDoubt ?? false
                    return Settlement(
                        recipient: push.recipient, outcome: isInDoubt ? .unknown : .unsent,
                        own: isInDoubt ? .processEnded : .stopped,
                        settledAt: .now())
                })
        }
        return .stopped(.described(mistake.description))
    }

    /// A pace has one keeper, and so has a limit of calls.
    private var largestLoopGroup: Int {
        guard case .http2 = settings.wire, settings.pace == nil, settings.sharedPaces.isEmpty else { return 1 }
        return max(1, settings.loops)
    }
}

/// What a sender's loops take pushes from and put settlements into.
struct SenderQueues: Sendable {
    let source: BoundedQueue<PushBatch>
    let results: BoundedQueue<[Settlement]>
}

/// What the loops of a sender share with one another, and with other runs.
struct LoopContext: Sendable {
    let group: LoopGroup
    let paceArbiter: [PaceParticipant]
    /// Names requests; nil where the service needs no names.
    var namer: RequestNamer?
}
