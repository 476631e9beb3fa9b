public import Base
import PushServices
public import Runs

/// What every ledger must do, whatever it stores runs in: which process claims, what is recorded,
/// what a crash leaves, which process may send, what others request. A new kind of ledger is
/// correct when it passes all of them.
public struct LedgerConformance: Sendable {
    /// Opens a run as a separate process would: each call returns another holder of the same run.
    public typealias Open = () throws -> any RunLedger

    /// Something that a ledger must do.
    public struct Behaviour: Sendable, CustomStringConvertible {
        /// A sentence.
        public let description: String
        let check: @Sendable (LedgerBench) throws -> Void

        init(_ description: String, _ check: @escaping @Sendable (LedgerBench) throws -> Void) {
            self.description = description
            self.check = check
        }
    }

    /// A violation: something that a ledger did but must not, or did not but must.
    public struct Breach: Error, CustomStringConvertible {
        /// What was found and what was expected.
        public let description: String
    }

    /// All of them.
    public static let behaviours = claims + calls + segments + outcomes + reading + epochs + crashes + orders + ends

    private let make: @Sendable (RunPlan, [Recipient]) throws -> Open

    /// - Parameter make: makes a planned run of these recipients, in a separate place that lasts as
    ///   long as the returned closure.
    public init(make: @escaping @Sendable (RunPlan, [Recipient]) throws -> Open) { self.make = make }

    /// Checks one behaviour, with a separate run.
    /// - Throws: `Breach`, or an error of the ledger that it must not throw.
    public func check(_ behaviour: Behaviour) throws { try behaviour.check(LedgerBench(make: make)) }
}

/// What the behaviours are tested with.
final class LedgerBench {
    private let make: @Sendable (RunPlan, [Recipient]) throws -> LedgerConformance.Open
    /// Keeps the places of runs, which go with the closures that open them.
    private var made: [LedgerConformance.Open] = []

    init(make: @escaping @Sendable (RunPlan, [Recipient]) throws -> LedgerConformance.Open) { self.make = make }

    /// The time of everything, unless it matters.
    static let noon = Timestamp(epochSeconds: 1_796_126_400)

    /// Opens a planned run of this many recipients, repeatedly.
    /// - Parameters:
    ///   - waves: how many recipients are sent to together, wave after wave; empty if all are at
    ///     once.
    ///   - segments: if there are two services, their segments.
    func run(of audience: Int, waves: [Int] = [], segments: [RunSegment] = []) throws -> LedgerConformance.Open {
        var settings = RunSettings(
            environment: .named(APNs.sandbox), topic: "com.example.shop", pushType: .alert, renderingRules: 5)
        settings.unknownPolicy = .resend
        if !segments.isEmpty {
            var second = ServiceSettings(environment: .named(FCM.production), topic: "shop-1a2b")
            second.serviceName = FCM().name
            settings.services.append(second)
        }
        var plan = RunPlan(
            id: "20261201-090000-spring-sale-7f3a", campaign: "spring-sale", app: "shop",
            campaignFile: "/x/spring.yaml",
            campaignSource: "name: spring-sale\n",
            projectFile: "/x/volley.yaml", seed: RunSeed(high: 1, low: 2), fields: ["first_name"], plannedAt: Self.noon,
            planHash: "abc",
            rows: audience, audience: audience, skipped: [:], settings: .success(settings), preview: .object([]))
        for count in waves {
            let first = plan.waves.last?.ids.upperBound ?? 0
            plan.waves.append(RunWave(ids: first..<first + count, zone: "Etc/UTC", due: Self.noon))
        }
        plan.serviceSegments = segments
        let open = try make(plan, (0..<audience).map { Self.recipient($0, ofService: plan.service(of: $0)) })
        made.append(open)
        return open
    }

    /// A planned run with one holder.
    func ledger(of audience: Int, waves: [Int] = []) throws -> any RunLedger { try run(of: audience, waves: waves)() }

    /// A run with one holder, that is being sent.
    func sending(_ audience: Int, waves: [Int] = []) throws -> any RunLedger {
        let ledger = try ledger(of: audience, waves: waves)
        try ledger.start()
        return ledger
    }

    static func recipient(_ id: Int, ofService service: Int = 0) -> Recipient {
        let digits = String(id, radix: 16)
        let target =
            service == 0 ? String(repeating: "a", count: 64 - digits.count) : String(repeating: "Z", count: 140)
        return Recipient(
            token: Target(normalized: target + digits), registrationID: "reg\(id)", alias: "user\(id)",
            language: id.isMultiple(of: 2) ? "en" : "", fields: ["name \(id)"]
        )
    }
}

extension RunLedger {
    /// Begins an epoch, or another one after an earlier one, as the gate before sending does. A
    /// process that is gone left `running` behind.
    func start(from states: Set<RunState> = [.planned, .running, .stopped], at moment: Timestamp = LedgerBench.noon)
        throws
    {
        try lockForSending(isSending: true)
        let new = try NewEpoch(after: status().epoch, reached: reached(), claimed: claims().made, in: "sandbox")
        try expect(append(.epochNoted(new, at: moment)).beginning, .noted, "the beginning of an epoch")
        try append(.epochBegan(new.epoch, at: moment, from: states))
        try expect(append(.epochConfirmed(givenUp: [])).beginning, .noted, "whether the epoch was confirmed")
    }

    /// The process is gone: everything that it had written is there, and any process may get its
    /// right to send.
    func crash() { unlock() }

    /// Recipients that the run has reached, or may have, according to the record.
    func reached() throws -> Int {
        let open = try claimedWithoutOutcome().reduce(0) { $0 + $1.count }
        return try plan.audience - figures(withGroups: false).outcomes[.unsent, default: 0] - open
    }

    /// Recipients that were claimed and have no outcome.
    func claimedWithoutOutcome() throws -> [Range<Int>] { try unsettled(in: 0..<plan.audience, OpenOutcomes()).inDoubt }

    /// Claims ids as the reader does, and notes this before anything is pushed.
    func take(_ ids: Range<Int>, at moment: Timestamp = LedgerBench.noon) throws {
        try append(.claimed(ids, at: moment))
        try append(.claimsNoted(claims().made))
    }

    /// The recipients with a recorded outcome.
    func recipients(_ outcome: Outcome) throws -> [Int] {
        var ids: [Int] = []
        try forEachResult { id, _, settlement, _ in if settlement?.outcome == outcome { ids.append(id) } }
        return ids
    }

    /// The counts of all outcomes that occur.
    func counts() throws -> [Outcome: Int] { try figures(withGroups: false).outcomes.filter { $0.value > 0 } }

    /// Whether there is nothing left to send to some recipients: all are claimed, and none of their
    /// outcomes is open.
    public func isSettled(_ ids: Range<Int>, _ open: OpenOutcomes) throws -> Bool {
        try claims().claimed.contains(all: ids) && unsettled(in: ids, open).isEmpty
    }
}

extension RunStatus {
    /// The state, its cause and the times alone.
    public var end: RunStatus { RunStatus(state: state, cause: cause, startedAt: startedAt, finishedAt: finishedAt) }
}

/// A push with an outcome.
func settled(_ id: Int, _ outcome: Outcome = .accepted, status: Int = 200, reason: String = "", attempts: Int = 1)
    -> Settlement
{
    Settlement(
        recipient: id, outcome: outcome, status: status, reason: reason, attempts: attempts, latencyMilliseconds: 30,
        settledAt: LedgerBench.noon)
}

/// A push that was never handed to the wire.
func unsent(_ id: Int, _ reason: OwnReason = .interrupted) -> Settlement {
    Settlement(recipient: id, outcome: .unsent, own: reason, settledAt: LedgerBench.noon)
}

/// - Throws: `Breach` if the value is not the expected one.
func expect<Value: Equatable>(
    _ found: @autoclosure () throws -> Value, _ expected: Value, _ what: String, line: UInt = #line
) throws {
    let found = try found()
    guard found != expected else { return }
    throw LedgerConformance.Breach(description: "\(what): \(found), expected \(expected) (line \(line))")
}

/// - Throws: `Breach` if the body throws nothing.
/// - Returns: the error that it throws.
@discardableResult
func refused(_ what: String, line: UInt = #line, _ body: () throws -> Void) throws -> any Error {
    do { try body() } catch { return error }
    throw LedgerConformance.Breach(description: "\(what) was not refused (line \(line))")
}
