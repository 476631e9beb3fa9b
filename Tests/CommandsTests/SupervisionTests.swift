import Glibc
import Testing

@testable import Commands

@Suite("What volley serve decides about its children")
struct SupervisionTests {
    /// Both children run.
    private func running() -> Supervision {
        var supervision = Supervision(hasSender: true)
        #expect(supervision.handle(.begun, at: 0) == [.start(.console), .look])
        #expect(supervision.handle(.started(.console), at: 0) == [])
        #expect(supervision.handle(.looked(isHeld: false), at: 0) == [.start(.sender)])
        #expect(supervision.handle(.started(.sender), at: 0) == [])
        #expect(supervision.wakeAt == nil)
        return supervision
    }

    @Test("without a sender, only the console is started")
    func withoutSender() {
        var supervision = Supervision(hasSender: false)
        #expect(supervision.handle(.begun, at: 0) == [.start(.console)])
        #expect(supervision.handle(.started(.console), at: 0) == [])
        #expect(supervision.handle(.endRequested, at: 1) == [.end(.console)])
        #expect(supervision.handle(.ended(.console, isWrong: false), at: 2) == [.finish(isWrong: false)])
    }

    @Test("a child that ends is started again after 1, 2, 4 … 60 seconds")
    func delays() {
        var supervision = running()
        var now = 0.0
        var delays: [Double] = []
        for _ in 0..<8 {
            guard
                case .tellEnded(.console, let seconds)? = supervision.handle(.ended(.console, isWrong: false), at: now)
                    .first
            else {
                break
            }
            delays.append(seconds)
            #expect(supervision.wakeAt == now + seconds)
            #expect(supervision.handle(.timePassed, at: now + seconds - 0.1) == [])
            now += seconds
            #expect(supervision.handle(.timePassed, at: now) == [.start(.console)])
            #expect(supervision.handle(.started(.console), at: now) == [])
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60])
        #expect(
            supervision.handle(.ended(.console, isWrong: false), at: now + 60) == [.tellEnded(.console, seconds: 1)])
    }

    @Test("the delay of one child does not become that of the other")
    func ownDelays() {
        var supervision = running()
        #expect(supervision.handle(.ended(.console, isWrong: false), at: 1) == [.tellEnded(.console, seconds: 1)])
        #expect(supervision.handle(.ended(.sender, isWrong: false), at: 1) == [.tellEnded(.sender, seconds: 1)])
        #expect(supervision.handle(.timePassed, at: 2) == [.start(.console), .look])
    }

    @Test("the console ends first, then the sender")
    func ending() {
        var supervision = running()
        #expect(supervision.handle(.endRequested, at: 1) == [.end(.console)])
        #expect(supervision.handle(.endRequested, at: 1) == [])
        #expect(supervision.handle(.ended(.console, isWrong: false), at: 2) == [.end(.sender)])
        #expect(supervision.handle(.ended(.sender, isWrong: false), at: 9) == [.finish(isWrong: false)])
    }

    @Test("a sender that ends by itself while the console ends does not keep volley serve")
    func endingTogether() {
        var supervision = running()
        #expect(supervision.handle(.endRequested, at: 1) == [.end(.console)])
        #expect(supervision.handle(.ended(.sender, isWrong: false), at: 1) == [])
        #expect(supervision.handle(.ended(.console, isWrong: false), at: 2) == [.finish(isWrong: false)])
    }

    @Test("what waits to be started again is not started after the end was requested")
    func endingWhileDue() {
        var supervision = running()
        _ = supervision.handle(.ended(.console, isWrong: false), at: 1)
        #expect(supervision.handle(.endRequested, at: 1) == [.end(.sender)])
        #expect(supervision.handle(.timePassed, at: 40) == [])
        #expect(supervision.handle(.ended(.sender, isWrong: false), at: 40) == [.finish(isWrong: false)])
    }

    @Test(
        "a child that does not end in its time is killed, once: the console after 10 s, the sender after 40 s, within a manager's 60 s"
    )
    func frozen() {
        var supervision = running()
        #expect(supervision.handle(.endRequested, at: 1) == [.end(.console)])
        #expect(supervision.wakeAt == 11 && supervision.handle(.timePassed, at: 10.9) == [])
        #expect(supervision.handle(.timePassed, at: 11) == [.kill(.console, afterSeconds: 10)])
        #expect(supervision.wakeAt == nil && supervision.handle(.timePassed, at: 12) == [])
        #expect(supervision.handle(.ended(.console, isWrong: false), at: 12) == [.end(.sender)])
        #expect(supervision.wakeAt == 52)
        #expect(supervision.handle(.timePassed, at: 52) == [.kill(.sender, afterSeconds: 40)])
        #expect(supervision.handle(.ended(.sender, isWrong: false), at: 52) == [.finish(isWrong: false)])
    }

    @Test("another sender stays; when it ends, this one takes its place, and both are told of once")
    func heldElsewhere() {
        var supervision = Supervision(hasSender: true)
        _ = supervision.handle(.begun, at: 0)
        _ = supervision.handle(.started(.console), at: 0)
        #expect(supervision.handle(.looked(isHeld: true), at: 0) == [.tellHeld])
        #expect(supervision.handle(.timePassed, at: 10) == [.look])
        #expect(supervision.handle(.looked(isHeld: true), at: 10) == [])
        #expect(supervision.handle(.timePassed, at: 20) == [.look])
        #expect(supervision.handle(.looked(isHeld: false), at: 20) == [.start(.sender)])
    }

    @Test(
        "a console that says at once that it cannot serve like that ends everything; one that ended in another way before is started again"
    )
    func wrong() {
        for seconds in [1.0, 100] {
            var supervision = running()
            #expect(supervision.handle(.ended(.console, isWrong: true), at: seconds) == [.tellWrong, .end(.sender)])
            #expect(supervision.handle(.ended(.sender, isWrong: false), at: seconds + 1) == [.finish(isWrong: true)])
        }
        // Its accounts are damaged, it is killed in its first second, it served.
        for seconds in [0.2, 20] {
            var other = running()
            #expect(other.handle(.ended(.console, isWrong: false), at: seconds) == [.tellEnded(.console, seconds: 1)])
            #expect(other.handle(.timePassed, at: seconds + 1) == [.start(.console)])
            #expect(other.handle(.started(.console), at: seconds + 1) == [])
            #expect(
                other.handle(.ended(.console, isWrong: true), at: seconds + 2) == [.tellEnded(.console, seconds: 2)])
        }
    }

    @Test("a console that ends over and over never ends the sender")
    func troubledConsole() {
        var supervision = running(), now = 0.0
        for _ in 0..<200 {
            now += 0.1
            let actions = supervision.handle(.ended(.console, isWrong: false), at: now)
            guard case .tellEnded(.console, let seconds)? = actions.first, actions.count == 1, seconds <= 60 else {
                Issue.record("\(actions)")
                return
            }
            now += seconds
            #expect(supervision.handle(.timePassed, at: now) == [.start(.console)])
            #expect(supervision.handle(.started(.console), at: now) == [])
        }
    }

    @Test("how a child ended is said with its code or signal")
    func ends() {
        #expect(ServedProcess.End.exited(3).words == "with code 3")
        #expect(
            ServedProcess.End.signal(SIGSEGV).words == "by SIGSEGV"
                && ServedProcess.End.signal(40).words == "by signal 40")
    }

    @Test("whatever happens in whatever order, an end that was requested is reached, and no child runs twice")
    func histories() {
        for seed in 0..<2_000 { History(seed: UInt64(seed)).play() }
    }
}

/// A random history of children.
private struct History {
    private var state: UInt64
    private var supervision: Supervision
    private var alive: Set<Supervision.Child> = []
    private var told: Set<Supervision.Child> = []
    private var now = 0.0
    private var isFinished = false, isEnding = false

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        supervision = Supervision(hasSender: seed % 3 != 0)
    }

    private mutating func random(_ bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }

    func play() {
        var history = self
        history.handle(.begun)
        for _ in 0..<history.random(40) { history.step() }
        history.isEnding = true
        history.handle(.endRequested)
        for _ in 0..<10 where !history.isFinished {
            // A child that was told to end does so, in the end.
            guard let child = history.told.first else { break }
            if history.random(3) == 0, let late = history.supervision.wakeAt {
                history.now = max(history.now, late)
                history.handle(.timePassed)
            }
            history.end(child)
        }
        #expect(history.isFinished)
        #expect(history.alive.isEmpty)
    }

    private mutating func step() {
        now += Double(random(70))
        switch random(3) {
        case 0: if let child = alive.first { end(child) }
        case 1: if supervision.wakeAt.map({ $0 <= now }) ?? false { handle(.timePassed) }
        default: if let at = supervision.wakeAt { now = max(now, at); handle(.timePassed) }
        }
    }

    private mutating func end(_ child: Supervision.Child) {
        alive.remove(child)
        told.remove(child)
        handle(.ended(child, isWrong: isEnding ? random(2) == 0 : false))
    }

    private mutating func handle(_ event: Supervision.Event) {
        for action in supervision.handle(event, at: now) {
            #expect(!isFinished)
            switch action {
            case .look: handle(.looked(isHeld: random(3) == 0))
            case .start(let child):
                #expect(!alive.contains(child))
                if random(5) == 0 {
                    handle(.notStarted(child))
                } else {
                    alive.insert(child)
                    handle(.started(child))
                }
            case .end(let child):
                #expect(alive.contains(child))
                told.insert(child)
            case .kill(let child, _): #expect(alive.contains(child) && told.contains(child))
            case .tellEnded, .tellWrong, .tellHeld: break
            case .finish: isFinished = true
            }
        }
    }
}
