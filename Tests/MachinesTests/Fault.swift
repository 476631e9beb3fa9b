import Foundation
import Glibc
import TestServers
import TestSupport

/// The faults during a run that three machines send.
enum Fault: String, CaseIterable, Sendable {
    case none, killHelper = "kill-helper", killBothHelpers = "kill-both-helpers", killHome = "kill-home"
    /// Home is killed, and resumes at once, while the helpers send.
    case killAndResumeHome = "kill-and-resume-home"
    /// A process is stopped for longer than others take to declare it dead, and then continues.
    case stopHelper = "stop-helper", stopHome = "stop-home"
    /// The database shuts down at once, and is back after seconds; or does not answer for longer
    /// than workers may submit without it.
    case restartDatabase = "restart-database", freezeDatabase = "freeze-database"
    /// The primary is gone, and the standby for which its commits waited takes over.
    case promoteStandby = "promote-standby"
    /// The relay between a helper, or home, and the database passes nothing on, and closes nothing.
    case freezeRelay = "freeze-relay", freezeHomeRelay = "freeze-home-relay"
    /// Home is stopped twice, and while the database restarts.
    case stopHomeTwice = "stop-home-twice", stopHomeDuringRestart = "stop-home-during-restart"
    case clocksApart = "clocks-apart"
    /// A helper is killed while the database is away.
    case killDuringRestart = "kill-during-restart"
    /// The database takes no more connections, or takes the role's rights away, for some seconds.
    case noConnections = "no-connections", noRights = "no-rights"
    /// The database's disk is full for a while.
    case fullDisk = "full-disk"

    /// What the machines need for it.
    func prepare(_ setup: inout Machines.Setup) {
        switch self {
        case .restartDatabase, .freezeDatabase, .killDuringRestart, .stopHomeDuringRestart, .noConnections:
            setup.hasOwnServer = true
        case .promoteStandby: setup.hasStandby = true
        case .freezeRelay: setup.relayed = .third
        case .freezeHomeRelay: setup.relayed = .home
        case .fullDisk: setup.hasSmallDisk = true
        case .clocksApart: setup.clocks = [.home: 3600, .second: -3600]
        case .none, .killHelper, .killBothHelpers, .killHome, .killAndResumeHome, .stopHelper, .stopHome,
            .stopHomeTwice, .noRights:
            break
        }
    }

    /// How many workers it kills, with their claims.
    var deaths: Int {
        switch self {
        case .none, .restartDatabase, .freezeDatabase, .promoteStandby, .clocksApart, .noConnections, .noRights,
            .fullDisk:
            0
        case .killHelper, .killHome, .killAndResumeHome, .stopHelper, .stopHome, .stopHomeDuringRestart, .freezeRelay,
            .freezeHomeRelay,
            .killDuringRestart:
            1
        case .killBothHelpers, .stopHomeTwice: 2
        }
    }

    /// Whether it can be played on this machine.
    var canBePlayed: Bool {
        switch self {
        case .clocksApart: Machines.faketime != nil
        case .fullDisk: SmallDisk.canBeMade
        default: true
        }
    }

    /// The messages that home must show while the database refuses something, and when home takes
    /// part again.
    var words: String? {
        switch self {
        case .noRights: "Give the role its rights"
        case .fullDisk: "make room there"
        case .freezeDatabase, .noConnections: "Sending waits for the store"
        default: nil
        }
    }

    /// Whether home is gone, and needs `volley resume` to learn how the run ended.
    var endsHome: Bool { self == .killHome || self == .killAndResumeHome }

    /// Longer than others take to declare a worker dead.
    private static let silenceSeconds = 35.0

    /// Carries it out, and waits until it is over.
    func strike(_ machines: Machines, _ random: inout SeededRandom) throws {
        func pass(_ seconds: Double) { machines.wait(atMost: seconds) { false } }
        let helper = Machines.Name.helpers[Int.random(in: 0..<2, using: &random)]
        switch self {
        case .none, .clocksApart: break
        case .killHelper: machines.kill(helper)
        case .killBothHelpers: for name in Machines.Name.helpers { machines.kill(name) }
        case .killHome, .killAndResumeHome: machines.kill(.home)
        case .stopHelper, .stopHome, .stopHomeTwice, .stopHomeDuringRestart:
            let name = self == .stopHelper ? helper : .home
            machines.signal(name, SIGSTOP)
            if self == .stopHomeDuringRestart {
                pass(10)
                machines.database.server.stop()
                try machines.database.server.start()
            }
            pass(Self.silenceSeconds)
            machines.signal(name, SIGCONT)
            guard self == .stopHomeTwice else { break }
            pass(3)
            machines.signal(name, SIGSTOP)
            pass(Self.silenceSeconds)
            machines.signal(name, SIGCONT)
        case .restartDatabase, .killDuringRestart:
            machines.database.server.stop()
            if self == .killDuringRestart { machines.kill(helper) }
            pass(Double(Int.random(in: 0..<4, using: &random)))
            try machines.database.server.start()
        case .freezeDatabase:
            machines.database.server.freeze(true)
            pass(12 + Double(Int.random(in: 0..<10, using: &random)))
            machines.database.server.freeze(false)
        case .promoteStandby: try machines.database.failOver()
        case .freezeRelay, .freezeHomeRelay:
            machines.database.freezeRelays(true)
            pass(Self.silenceSeconds)
            machines.database.freezeRelays(false)
        case .noConnections: try withoutConnections(machines) { pass(9) }
        case .fullDisk:
            try machines.database.fillDisk(true)
            pass(9)
            try machines.database.fillDisk(false)
        case .noRights:
            try machines.database.sql("ALTER TABLE volley_journal OWNER TO postgres")
            pass(9)
            try machines.database.sql("ALTER TABLE volley_journal OWNER TO volley")
        }
    }

    /// Ends all connections of workers, and lets them open none while a closure runs.
    private func withoutConnections(_ machines: Machines, _ body: () -> Void) throws {
        try machines.database.sql("ALTER ROLE volley CONNECTION LIMIT 2")
        try machines.database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'volley'")
        body()
        try machines.database.sql("ALTER ROLE volley CONNECTION LIMIT -1")
    }
}

/// When in a run a fault strikes.
enum Moment: String, CaseIterable, Sendable {
    case publishing, canary, early, middle, nearEnd = "near-end"

    /// Waits for it.
    func wait(for machines: Machines, _ random: inout SeededRandom) {
        let recipients = machines.setup.recipients
        let answered: Int
        switch self {
        case .publishing:
            machines.wait(atMost: 60) {
                machines.database.runState != "" || machines.answered > 0 || !machines.isRunning(.home)
            }
            return
        case .canary: answered = 1
        case .early: answered = recipients / 20 + Int.random(in: 0..<max(1, recipients / 10), using: &random)
        case .middle: answered = recipients / 3 + Int.random(in: 0..<max(1, recipients / 3), using: &random)
        case .nearEnd: answered = recipients - recipients / 20
        }
        machines.wait(atMost: 300) { machines.answered >= answered || !machines.isRunning(.home) }
    }
}
