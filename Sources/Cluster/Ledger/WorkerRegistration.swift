package import Base
import Glibc
package import Runs
import Synchronization

/// Takes part in a run for this process: beats once a second, reads the run's state, declares
/// silent workers dead, and takes over what one worker does for all when no other does it. Values
/// decide (`WorkerWatch`, `SubmissionGate`); this does what they say.
package final class WorkerRegistration: Sendable {
    private static let beatMilliseconds = 1000

    package let ledger: SharedLedger
    private let answers: @Sendable () -> [Int: [Outcome: Int]]
    private let paces: [DividedPace]
    private let isSending = Atomic(false)
    private let state = Mutex(State())
    private let ending: Cancellation
    private let thread = Mutex<WorkerThread<Void>?>(nil)
    /// Rung after each beat, for one thread that waits for news.
    private let beaten: Wakeup
    /// Rung when the next beat should come at once.
    private let hurry: Wakeup

    private struct State {
        var gate = SubmissionGate()
        var watch = WorkerWatch()
        var news: WorkerNews?
        var isDead = false
        /// Why the store cannot be queried now; nil while it can.
        var trouble: Diagnostic?
    }

    /// Joins, and beats for the first time: nothing may be handed over before that.
    /// - Parameters:
    ///   - answers: this worker's so far, by the numbers of services.
    ///   - paces: those that it keeps with other workers.
    /// - Throws: `Diagnostic`: the store cannot be reached, or no longer has the run; no thread can
    ///   be started.
    package init(
        _ ledger: SharedLedger, answers: @escaping @Sendable () -> [Int: [Outcome: Int]],
        dividing paces: [DividedPace] = []
    ) throws {
        (self.ledger, self.answers, self.paces) = (ledger, answers, paces)
        // Nothing leaves before the store has given a part.
        for pace in paces { pace.take(0) }
        ending = try Cancellation()
        beaten = try Wakeup()
        hurry = try Wakeup()
        try ledger.join()
        ledger.state.withLock { $0.isBeating = true }
        beat()
        while let trouble = state.withLock({ $0.trouble }) {
            if ledger.store.retryDeadline.isOver() { throw trouble }
            ledger.store.retryDeadline.pause(milliseconds: Self.beatMilliseconds)
            beat()
        }
        let thread = try WorkerThread("beat") { [self] in
            while !ending.isRequested {
                if ending.wait(milliseconds: Self.beatMilliseconds, orUntil: hurry) { hurry.clear() }
                if !ending.isRequested { beat() }
            }
        }
        self.thread.withLock { $0 = thread }
    }

    /// Ends beating, and leaves the paces to others: this process sends no more. Does not leave the
    /// run.
    package func end() {
        ending.request()
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
        ledger.beating.rest()
        // Otherwise the others find that out by themselves, and allow for more.
        if !paces.isEmpty, !isDead { try? ledger.giveBack(paces) }
    }

    // MARK: - What is known

    /// What the last beat that succeeded brought.
    package var news: WorkerNews? { state.withLock { $0.news } }

    /// Whether another worker declared this one dead: nothing that it writes counts.
    package var isDead: Bool { state.withLock { $0.isDead } }

    /// Why the store cannot be queried now; nil while it can.
    package var trouble: Diagnostic? { state.withLock { $0.trouble } }

    /// Whether this worker does what is done once for all.
    package var isCoordinator: Bool { state.withLock { $0.news?.isCoordinator ?? false } }

    /// Until when pushes may be handed over, in nanoseconds of the clock that counts while the
    /// machine sleeps (CLOCK_BOOTTIME).
    package var handsOverUntil: Int64 { state.withLock { $0.gate.closesAt.map { Int64($0 * 1e9) } ?? 0 } }

    /// Says whether this worker has something to send: otherwise others get its parts of the paces.
    package func note(isSending: Bool) {
        let before = self.isSending.exchange(isSending, ordering: .acquiringAndReleasing)
        // Its part of a pace comes with the next beat.
        if isSending, !before { hurry.wake() }
    }

    /// Waits for a beat since the last time, or until work should end.
    package func waitForNews(_ cancellation: Cancellation) {
        if cancellation.wait(milliseconds: 2 * Self.beatMilliseconds, orUntil: beaten) { beaten.clear() }
    }

    // MARK: - Beating

    private func beat() {
        let start = Self.now()
        do {
            let wants = isSending.load(ordering: .acquiring)
            guard let news = try ledger.beat(answers: answers(), dividing: paces, wants: wants) else {
                state.withLock { $0.isDead = true }
                takeNothing()
                return ring()
            }
            let silent = state.withLock { state in
                if news.isCalm { state.gate.beat(begunAt: start) }
                (state.news, state.trouble) = (news, nil)
                return state.watch.look(
                    at: Dictionary(uniqueKeysWithValues: news.others.map { ("\($0.number)", $0.beat) }),
                    epoch: Int64(news.databaseEpoch),
                    start)
            }
            for silence in silent { try declareDead(silence, news) }
            if news.lacksCoordinator, try ledger.becomeCoordinator() {
                state.withLock { $0.news?.isCoordinator = true }
            }
        } catch {
            state.withLock { state in
                state.watch.disconnected()
                state.trouble = Diagnostic(explaining: error)
            }
            // From now on others may count it as dead: other runs of this process must not use its
            // parts.
            if !state.withLock({ $0.gate.isOpen(at: Self.now()) }) { takeNothing() }
        }
        ring()
    }

    private func takeNothing() { for pace in paces { pace.take(0) } }

    private func declareDead(_ silence: WorkerWatch.Silence, _ news: WorkerNews) throws {
        guard let worker = news.others.first(where: { "\($0.number)" == silence.worker }) else { return }
        _ = try ledger.declareDead(worker.number, beat: silence.beat)
    }

    private func ring() { beaten.wake() }

    /// Seconds on a clock that cannot be set, and that counts on while the machine sleeps.
    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// What a beat brings back: how the run is, and what the other workers say.
package struct WorkerNews: Sendable {
    /// Another worker that is there.
    package struct Other: Hashable, Sendable {
        /// Its number in the store.
        package var number: Int
        /// How often it has beaten.
        package var beat: Int64
        /// The name of its machine.
        package var machine: String
    }

    /// The run's state, which is the order at the same time, and why it stopped.
    package var state: RunState
    package var cause: StopCause?
    /// Whether this worker does what is done once for all.
    package var isCoordinator = false
    /// Whether no worker does.
    package var lacksCoordinator = false
    /// The others that are there.
    package var others: [Other] = []
    /// The answers of all other workers, also of those that left or died, by the numbers of
    /// services.
    package var elsewhere: [Int: [Outcome: Int]] = [:]
    /// The first ids of the segments that all workers may send: their canaries were judged.
    package var openSegments: Set<Int> = []
    /// The first ids of segments that a service stopped.
    package var stoppedSegments: Set<Int> = []
    /// The first ids of segments of which something can be leased: no worker has it yet, or it came
    /// back.
    package var segmentsWithWork: Set<Int> = []
    /// The epoch of the database, and whether all workers, and a survivor, have confirmed that
    /// nothing is missing in it.
    package var databaseEpoch = 0, isCalm = true
    /// Whether a survivor has.
    package var isSurvivorConfirmed = true
    /// Entries that the database has forgotten, though it had confirmed them.
    package var missing = 0
    /// Whether it is known which recipients get nothing because of frequency caps
    /// (`SharedLedger.cappedIDs`).
    package var knowsCapped = false
    /// The database's clock minus this machine's, in seconds, and half of the time that asking
    /// took, which is its error.
    package var clockOffsetSeconds = 0.0, clockErrorSeconds = 0.0
}

/// A pace that the workers of runs divide, as this process last read it.
package struct DividedPace: Sendable {
    /// How a process uses it, in each of its intervals.
    package struct Use: Sendable {
        /// What the others must leave to it (`SharedPace.used`).
        package var used: Int
        /// What has left it (`SharedPace.left`).
        package var left: Int
        /// The smallest part with which it can send anything (`SharedPace.leastPart`).
        package var least: Int

        /// A use.
        package init(used: Int, left: Int, least: Int) { (self.used, self.left, self.least) = (used, left, least) }
    }

    /// The same on all machines.
    package var key: String
    /// What may leave all of them within each of its intervals.
    package var whole: Pace
    /// How this process uses it now.
    package var use: @Sendable () -> Use
    /// Takes a part.
    package var take: @Sendable (Int) -> Void

    /// A pace.
    package init(key: String, whole: Pace, use: @escaping @Sendable () -> Use, take: @escaping @Sendable (Int) -> Void)
    {
        (self.key, self.whole, self.use, self.take) = (key, whole, use, take)
    }
}

/// What this machine is called in the store, for messages and pages.
enum MachineName {
    /// The name of the machine.
    static var host: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "?" }
        return withUnsafeBytes(of: name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// With this process.
    static var process: String { "\(host), process \(getpid())" }
}
