import Automation
import Base
import Glibc

/// The decisions of `volley serve` about its two children: the console, and the sender, which is
/// `volley schedule`. A value without processes and clock: events come in, actions go out. Times
/// are seconds on a clock that only goes forward.
struct Supervision: Hashable {
    /// A child.
    enum Child: CaseIterable, Hashable { case console, sender }

    /// What happened.
    enum Event: Hashable {
        /// `volley serve` begins.
        case begun
        /// The answer to `look`: whether another process holds the right to be the sender.
        case looked(isHeld: Bool)
        /// A child runs, or cannot be started.
        case started(Child), notStarted(Child)
        /// A child ended.
        /// - Parameter isWrong: whether it says that its arguments, volley.yaml or its port are
        ///   wrong.
        case ended(Child, isWrong: Bool)
        /// Only the time of `wakeAt` has come.
        case timePassed
        /// `volley serve` shall end.
        case endRequested
    }

    /// What to do, in this order.
    enum Action: Hashable {
        /// Check whether another process is the sender.
        case look
        case start(Child)
        /// Tell a child to end, also one that was stopped.
        case end(Child)
        /// Kill a child that did not end in time: it is frozen, or hangs.
        case kill(Child, afterSeconds: Double)
        /// Report that a child ended, and after how many seconds it is started again.
        case tellEnded(Child, seconds: Double)
        /// Report that everything ends because the console cannot serve with these settings.
        case tellWrong
        /// Report that another process is the sender.
        case tellHeld
        /// End: all children have.
        case finish(isWrong: Bool)
    }

    private enum State: Hashable {
        case off
        case due(at: Double)
        case starting
        case running(since: Double)
        case ending(until: Double)
        case killed
    }

    /// Seconds until a child is started again: 1, 2, 4 … 60.
    private static let firstDelay = 1.0, longestDelay = 60.0
    /// A child that ran for this long was well.
    private static let healthySeconds = 60.0
    /// Seconds that a child has to end: the console no longer answers; a sender waits ten seconds
    /// for answers, and has to record them, to close the run and to say how it ended. A manager of
    /// services waits longer than both together (`TimeoutStopSec` of the units).
    private static func secondsToEnd(_ child: Child) -> Double { child == .console ? 10 : 40 }
    /// How often to check whether another sender is still there: a lock sends no event.
    private static let secondsPerLook = 10.0

    private var states: [Child: State] = [.console: .off, .sender: .off]
    private var delays: [Child: Double] = [.console: Self.firstDelay, .sender: Self.firstDelay]
    private let hasSender: Bool
    private var isEnding = false, isHeldElsewhere = false, isRight = false, isWrong = false

    /// - Parameter hasSender: whether to run a sender.
    init(hasSender: Bool) { self.hasSender = hasSender }

    /// When to report `timePassed`; nil for never.
    var wakeAt: Double? {
        states.values.compactMap { state in
            switch state {
            case .due(let at), .ending(let at): at
            case .off, .starting, .running, .killed: nil
            }
        }.min()
    }

    /// Takes an event.
    mutating func handle(_ event: Event, at now: Double) -> [Action] {
        switch event {
        case .begun:
            states[.console] = .due(at: now)
            if hasSender { states[.sender] = .due(at: now) }
            return startDue(now)
        case .looked(let isHeld): return looked(isHeld, now)
        case .started(let child):
            states[child] = .running(since: now)
            return isEnding ? endNext(now) : []
        case .notStarted(let child): return ended(child, isWrong: false, livedFor: 0, now)
        case .ended(let child, let isWrong):
            var lived = 0.0
            if case .running(let since) = states[child] { lived = now - since }
            return ended(child, isWrong: isWrong, livedFor: lived, now)
        case .timePassed: return isEnding ? killLate(now) : startDue(now)
        case .endRequested:
            guard !isEnding else { return [] }
            isEnding = true
            for child in Child.allCases { if case .due = states[child] { states[child] = .off } }
            return endNext(now)
        }
    }

    private mutating func startDue(_ now: Double) -> [Action] {
        return Child.allCases.compactMap { child in
            guard case .due(let at) = states[child], at <= now else { return nil }
            states[child] = .starting
            return child == .sender ? .look : .start(child)
        }
    }

    private mutating func looked(_ isHeld: Bool, _ now: Double) -> [Action] {
        guard !isEnding else {
            states[.sender] = .off
            return endNext(now)
        }
        guard isHeld else {
            isHeldElsewhere = false
            return [.start(.sender)]
        }
        defer { isHeldElsewhere = true }
        states[.sender] = .due(at: now + Self.secondsPerLook)
        return isHeldElsewhere ? [] : [.tellHeld]
    }

    private mutating func ended(_ child: Child, isWrong: Bool, livedFor seconds: Double, _ now: Double) -> [Action] {
        states[child] = .off
        if isEnding { return endNext(now) }
        // Only the first console can show that the command is wrong, however long that takes. When
        // one has ended in another way, because of a damaged file of its own, a signal, or after it
        // served, the sender has begun its work and continues.
        if child == .console, !isWrong { isRight = true }
        if child == .console, isWrong, !isRight {
            self.isWrong = true
            isEnding = true
            for child in Child.allCases { if case .due = states[child] { states[child] = .off } }
            return [.tellWrong] + endNext(now)
        }
        let delay = seconds >= Self.healthySeconds ? Self.firstDelay : delays[child, default: Self.firstDelay]
        delays[child] = min(delay * 2, Self.longestDelay)
        states[child] = .due(at: now + delay)
        return [.tellEnded(child, seconds: delay)]
    }

    /// The console ends first: so that no order is placed that the sender would no longer take.
    private mutating func endNext(_ now: Double) -> [Action] {
        for child in Child.allCases {
            switch states[child] {
            case .running:
                states[child] = .ending(until: now + Self.secondsToEnd(child))
                return [.end(child)]
            case .ending, .killed, .starting: return []
            case .off, .due, nil: continue
            }
        }
        return [.finish(isWrong: isWrong)]
    }

    private mutating func killLate(_ now: Double) -> [Action] {
        Child.allCases.compactMap { child in
            guard case .ending(let until) = states[child], until <= now else { return nil }
            states[child] = .killed
            return .kill(child, afterSeconds: Self.secondsToEnd(child))
        }
    }
}

/// A child of `volley serve`. It ends by SIGTERM when `volley serve` does, for any reason.
struct ServedProcess: Sendable {
    /// Its number.
    let process: pid_t
    private let end: WorkerThread<Int32>

    /// Starts a program.
    /// - Parameters:
    ///   - reportsToManager: whether it notifies the manager of services that it is ready, and
    ///     alive.
    ///   - ended: signalled when it has ended.
    /// - Throws: `Diagnostic`: it cannot be started.
    init(_ program: String, _ arguments: [String], reportsToManager: Bool, ringing ended: Wakeup) throws(Diagnostic) {
        let process: pid_t, variables = reportsToManager ? ServiceManager.variablesOfChild : []
        let environment = ChildProgram.environmentOfSupervised + variables
        do throws(FileError) {
            process = try ChildProgram.start([program] + arguments, environment: environment)
        } catch {
            throw Diagnostic(
                "it cannot be started: \(error)", file: program,
                remedy: "Make sure that the file is there and may be executed.")
        }
        self.process = process
        let child = process
        end = try WorkerThread("child", ringing: ended) {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            return status
        }
    }

    /// Whether it has ended.
    var hasEnded: Bool { end.isFinished }

    /// How a process ended.
    enum End: Hashable {
        case exited(Int32), signal(Int32)

        /// Completes the sentence `volley schedule ended`. Source: signal(7).
        var words: String {
            switch self {
            case .exited(let code): return "with code \(code)"
            case .signal(let number):
                let names: [Int32: String] = [
                    SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
                    SIGABRT: "SIGABRT",
                    SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV", SIGTERM: "SIGTERM",
                ]
                return "by \(names[number] ?? "signal \(number)")"
            }
        }
    }

    /// How it ended, once it has. Call it once.
    func ended() -> End {
        let status = end.join()
        return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signal(status & 0x7F)
    }

    /// Tells it to end. A stopped process would learn of it only after it is continued.
    func terminate() {
        _ = Glibc.kill(process, SIGTERM)
        _ = Glibc.kill(process, SIGCONT)
    }

    /// Ends it.
    func kill() { _ = Glibc.kill(process, SIGKILL) }
}
