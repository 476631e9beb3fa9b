import Foundation
import Glibc
import TestServers
import TestSupport

/// What befalls a run that three machines send.
enum Fault: String, CaseIterable, Sendable {
    case none, killHelper = "kill-helper", killBothHelpers = "kill-both-helpers", killHome = "kill-home"
    /// Home is killed, and resumes at once, while the helpers send.
    case killAndResumeHome = "kill-and-resume-home"
    /// A process stands still for longer than others take to declare it dead, and goes on.
    case stopHelper = "stop-helper", stopHome = "stop-home"
    /// The database shuts down at once, and is there again after seconds; or answers nothing for longer than members may submit without it.
    case restartDatabase = "restart-database", freezeDatabase = "freeze-database"
    /// The primary is gone, and the standby for which its commits waited takes over.
    case promoteStandby = "promote-standby"
    /// What lies between a helper and the database passes nothing on, and closes nothing.
    case freezeRelay = "freeze-relay"
    case clocksApart = "clocks-apart"
    /// A helper is killed while the database is away.
    case killDuringRestart = "kill-during-restart"
    /// The database takes no more connections, or takes the role's rights away, for some seconds.
    case noConnections = "no-connections", noRights = "no-rights"

    /// What the machines need for it.
    func prepare(_ setup: inout Machines.Setup) {
        switch self {
        case .restartDatabase, .freezeDatabase, .killDuringRestart, .noConnections: setup.hasOwnServer = true
        case .promoteStandby: setup.hasStandby = true
        case .freezeRelay: setup.relayed = .third
        case .clocksApart: setup.clocks = [.home: 3600, .second: -3600]
        case .none, .killHelper, .killBothHelpers, .killHome, .killAndResumeHome, .stopHelper, .stopHome, .noRights: break
        }
    }

    /// How many members it takes away with what they had claimed.
    var deaths: Int {
        switch self {
        case .none, .restartDatabase, .freezeDatabase, .promoteStandby, .clocksApart, .noConnections: 0
        case .killHelper, .killHome, .killAndResumeHome, .stopHelper, .stopHome, .freezeRelay, .killDuringRestart: 1
        case .killBothHelpers: 2
        // Nobody can record anything.
        case .noRights: 3
        }
    }

    /// Whether home needs `volley resume` to learn how the run ended.
    var endsHome: Bool { [.killHome, .killAndResumeHome, .stopHome].contains(self) }

    /// Longer than others take to declare a member dead.
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
        case .stopHelper, .stopHome:
            let name = self == .stopHome ? .home : helper
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
        case .freezeRelay:
            machines.database.freezeRelays(true)
            pass(Self.silenceSeconds)
            machines.database.freezeRelays(false)
        case .noConnections: try withoutConnections(machines) { pass(8) }
        case .noRights:
            try machines.database.sql("ALTER TABLE volley_journal OWNER TO postgres")
            pass(3)
            try machines.database.sql("ALTER TABLE volley_journal OWNER TO volley")
        }
    }

    /// Ends all connections of members, and lets them open none for as long as something takes.
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
            machines.wait(atMost: 60) { machines.database.runState != "" || machines.answered > 0 || !machines.isRunning(.home) }
            return
        case .canary: answered = 1
        case .early: answered = recipients / 20 + Int.random(in: 0..<max(1, recipients / 10), using: &random)
        case .middle: answered = recipients / 3 + Int.random(in: 0..<max(1, recipients / 3), using: &random)
        case .nearEnd: answered = recipients - recipients / 20
        }
        machines.wait(atMost: 300) { machines.answered >= answered || !machines.isRunning(.home) }
    }
}
