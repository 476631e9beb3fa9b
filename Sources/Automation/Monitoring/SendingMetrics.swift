import Base
import PushServices
import Runs
import Sending
import Synchronization

/// The results and the state of this process's runs, for metrics: recipients by outcome, the
/// latency of services, and pushes in flight.
final class SendingMetrics: Sendable {
    /// What pushes are counted by.
    struct Label: Hashable, Comparable, Sendable {
        var app: String, campaign: String, service: String

        static func < (one: Label, other: Label) -> Bool {
            (one.app, one.campaign, one.service) < (other.app, other.campaign, other.service)
        }
    }

    /// Answers by how long they took.
    struct Latencies: Hashable, Sendable {
        /// The upper bounds of the buckets; seconds.
        static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

        /// The number of values in each bucket that fit into no smaller one; the last bucket has no
        /// bound.
        private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
        private(set) var seconds = 0.0

        mutating func add(milliseconds: Int) {
            let seconds = Double(milliseconds) / 1000
            counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
            self.seconds += seconds
        }

        mutating func add(_ other: Latencies) {
            for (place, count) in other.counts.enumerated() { counts[place] += count }
            seconds += other.seconds
        }
    }

    private struct State {
        var outcomes: [Label: [Outcome: Int]] = [:]
        var latencies: [Label: Latencies] = [:]
        /// The runs that are being sent, by their ids.
        var runs: [String: (label: Label, progress: RunProgress)] = [:]
        /// The services that take no push of a run, by run.
        var silences: [String: [Silence]] = [:]
        /// The runs that are paused, by their ids.
        var paused: Set<String> = []
        /// By how many seconds each campaign's last time was begun too late.
        var lateness: [Label: Double] = [:]
    }

    /// A service that has taken no push of a run for a while, although devices wait for it.
    struct Silence: Hashable, Sendable {
        var app: String, campaign: String, run: String
        /// The service's name and address, as a person reads them.
        var service: String, endpoint: String
        var waiting: Int
        /// The beginning, in seconds of a clock that is never set.
        var since: Double
        /// How long it had lasted at the last check.
        var seconds = 0

        /// Shorter ones are reported in the log and on the run's page. Services are busy for a few
        /// seconds every day, and a health file that changed each time would be useless.
        static let longSeconds = 60

        var sentence: String {
            return
                "\(service) (\(endpoint)) has taken no push of the app \(app) for \(TextFormat.span(seconds: Int64(seconds))): \(TextFormat.devices(waiting)) of the run \(run) \(TextFormat.plural(waiting, one: "waits", many: "wait")). Volley keeps trying; `volley doctor \(app)` looks for the cause"
        }
    }

    private let state = Mutex(State())

    /// Takes an event of a run that this process sends.
    func note(_ event: RunEvent, of plan: RunPlan) {
        switch event {
        case .settled(let settlements): add(settlements, of: plan)
        case .progress(let progress):
            let label = Label(app: plan.app, campaign: plan.campaign, service: progress.service.name)
            state.withLock { $0.runs[plan.id] = (label, progress) }
        case .silent(let silent): note(silent, of: plan, uptime: Heartbeats.uptime)
        case .answersAgain(let service):
            state.withLock { $0.silences[plan.id]?.removeAll { $0.service == service.displayName } }
        // A paused run waits for a person, and not for its service.
        case .paused:
            state.withLock { state in
                state.silences[plan.id] = nil
                state.paused.insert(plan.id)
            }
        case .resumed: state.withLock { _ = $0.paused.remove(plan.id) }
        case .progressOver, .ended:
            state.withLock { state in
                state.runs[plan.id] = nil
                state.silences[plan.id] = nil
                if case .ended = event { state.paused.remove(plan.id) }
            }
        default: break
        }
    }

    private func note(_ silent: SilentService, of plan: RunPlan, uptime: Double) {
        let silence = Silence(
            app: plan.app, campaign: plan.campaign, run: plan.id, service: silent.service.displayName,
            endpoint: silent.endpoint,
            waiting: silent.waiting, since: uptime - Double(silent.seconds))
        state.withLock { state in
            state.silences[plan.id, default: []].removeAll { $0.service == silence.service }
            state.silences[plan.id, default: []].append(silence)
        }
    }

    /// The runs that are paused.
    var paused: Set<String> { state.withLock { $0.paused } }

    /// Notes whether a run that no process sends is paused.
    /// - Returns: whether it is paused and was not known to be.
    func note(_ run: String, isPaused: Bool) -> Bool {
        state.withLock { state in
            guard isPaused else {
                state.paused.remove(run)
                return false
            }
            return state.paused.insert(run).inserted
        }
    }

    /// Notes that the sending of a campaign's time begins.
    /// - Parameter lateness: by how much it is late; seconds.
    func noteBeginning(app: String, campaign: String, lateness: Double) {
        state.withLock { $0.lateness[Label(app: app, campaign: campaign, service: "")] = max(0, lateness) }
    }

    private func add(_ settlements: [Settlement], of plan: RunPlan) {
        let services = plan.services, segments = plan.segments
        // Every outcome comes through here: arrays are quick, and neighbouring outcomes mostly
        // belong to one segment.
        var outcomes = [[Int]](repeating: [Int](repeating: 0, count: Outcome.allCases.count), count: services.count)
        var latencies = [Latencies](repeating: Latencies(), count: services.count)
        var segment = segments.first
        for settlement in settlements {
            if segment?.ids.contains(settlement.recipient) != true {
                segment = segments.first { $0.ids.contains(settlement.recipient) }
            }
            let service = segment?.service ?? 0
            outcomes[service][settlement.outcome.rawValue] += 1
            // Without an answer there is no latency.
            if settlement.status != 0 { latencies[service].add(milliseconds: settlement.latencyMilliseconds) }
        }
        state.withLock { state in
            for (number, service) in services.enumerated() {
                let label = Label(app: plan.app, campaign: plan.campaign, service: service.name)
                for outcome in Outcome.allCases where outcomes[number][outcome.rawValue] > 0 {
                    state.outcomes[label, default: [:]][outcome, default: 0] += outcomes[number][outcome.rawValue]
                }
                // By app and service: each campaign would have more than a dozen time series of its
                // own.
                guard latencies[number] != Latencies() else { continue }
                state.latencies[Label(app: plan.app, campaign: "", service: service.name), default: Latencies()].add(
                    latencies[number])
            }
        }
    }

    // MARK: - What is known

    /// Recipients by outcome, in a fixed order.
    var outcomes: [(label: Label, counts: [Outcome: Int])] { sorted(\.outcomes) }

    /// How long answers took, in a fixed order.
    var latencies: [(label: Label, latencies: Latencies)] { sorted(\.latencies) }

    /// By how many seconds the last times were begun too late, in a fixed order.
    var lateness: [(label: Label, seconds: Double)] { sorted(\.lateness) }

    /// Silences of a minute and more, in a fixed order.
    func longSilences(uptime: Double) -> [Silence] {
        state.withLock { $0.silences }.sorted { $0.key < $1.key }.flatMap(\.value).map { silence in
            var silence = silence
            silence.seconds = Int(uptime - silence.since)
            return silence
        }.filter { $0.seconds >= Silence.longSeconds }
    }

    /// The runs that are being sent, by their ids.
    var runs: [(id: String, label: Label, progress: RunProgress)] {
        state.withLock { $0.runs }.sorted { $0.key < $1.key }.map { ($0.key, $0.value.label, $0.value.progress) }
    }

    private func sorted<Value>(_ values: (State) -> [Label: Value]) -> [(Label, Value)] {
        state.withLock { values($0) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
