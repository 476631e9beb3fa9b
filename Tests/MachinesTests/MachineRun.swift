import Base
import Foundation
import Glibc
import TestCommands
import TestServers

/// Runs over three machines without a fault: the smallest, those of several services, in waves, and
/// what people ask for on the way.
enum MachineRun: String, CaseIterable, Sendable {
    case one, sixty, otherKey = "another key", services = "several services", waves, brake = "stop_when"
    case homeKilledBetweenWaves = "home killed between two waves", orders, ordersAtHome = "orders where it was planned"
    case ordersFromCopy = "orders where a copy was fetched", ordersBetweenWaves = "orders between waves"
    case resumed = "several services, interrupted and resumed"
    /// Home is declared dead twice, as if it had stood still, and a helper once.
    case declaredDead = "home was declared dead"
    /// The database is away while home is interrupted.
    case interruptedWithoutStore = "interrupted while the store is away"
    /// Home is told to stop while the database is away, and then interrupted.
    case cancelledWithoutStore = "cancelled while the store is away", pausedWithoutStore =
        "paused while the store is away"
    case cancelledAfterDeath = "cancelled at home after its process was killed"
    case resumedAfterAll = "resumed after it was cancelled so"
    /// A backup of the database is brought back while home sends alone, or after it was killed.
    case restored, restoredAfterDeath = "restored after home was killed"

    private static let pace = 250
    /// Runs in which people interrupt and give orders, but no pace is measured: they may be played
    /// at the same time as others.
    static let withOrders: [MachineRun] = [
        .ordersAtHome, .ordersFromCopy, .ordersBetweenWaves, .resumed, .declaredDead, .interruptedWithoutStore,
        .cancelledWithoutStore, .pausedWithoutStore,
    ]

    /// - Returns: everything that is wrong; blank if nothing is.
    func play() -> [String] {
        do {
            let machines = try Machines(setup)
            let found = try play(machines)
            return found.isEmpty ? [] : found + machines.lastWords
        } catch { return ["\(error)"] }
    }

    private var setup: Machines.Setup {
        var setup = Machines.Setup(recipients: 2000, pace: "\(Self.pace)/s")
        switch self {
        case .one: setup.recipients = 1
        case .sixty: (setup.recipients, setup.pace) = (60, "1/s")
        case .services, .resumed:
            setup.hasFCM = true
            let fcm = (0..<1000).map { "fcm\($0):APA91b" + String(repeating: "x", count: 134) + ",android\n" }
            setup.export =
                "device_token,platform\n" + (0..<1000).map { "\(Machines.token($0)),ios\n" }.joined() + fcm.joined()
        case .waves, .homeKilledBetweenWaves, .ordersBetweenWaves:
            // The first wave is due at once, the other one within a minute or two.
            let zones = ["UTC", "Etc/GMT-1"]
            setup.export =
                "device_token,timezone\n" + (0..<2000).map { "\(Machines.token($0)),\(zones[$0 % 2])\n" }.joined()
            setup.schedule =
                "schedule: {at: \(Self.nextMinute()), timezone: recipient, fallback_timezone: UTC, late: send}"
        case .brake:
            setup.delivery += "\nstop_when: {invalid_token: 20%, after: 400}"
            let bad = (0..<2000).filter { $0 % 3 == 0 }.map { Machines.token($0) + "\n" }.joined()
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("volley-bad-\(UUID().uuidString)")
            try? Data(bad.utf8).write(to: file)
            setup.simulator = ["--latency", "400", "--bad-tokens", file.path]
        // Answers of all machines are outstanding when it is cancelled.
        case .orders, .ordersAtHome, .ordersFromCopy: setup.simulator = ["--latency", "400"]
        case .restored, .restoredAfterDeath, .interruptedWithoutStore: setup.hasOwnServer = true
        // The others must not be through before they are told.
        case .cancelledWithoutStore, .pausedWithoutStore: (setup.recipients, setup.hasOwnServer) = (4000, true)
        case .otherKey, .declaredDead, .cancelledAfterDeath, .resumedAfterAll: break
        }
        return setup
    }

    /// In UTC, so that there are ten seconds or more until then.
    private static func nextMinute() -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyy-MM-dd HH:mm"
        return formatter.string(from: Date(timeIntervalSinceNow: 70))
    }

    private func play(_ machines: Machines) throws -> [String] {
        if self == .restored || self == .restoredAfterDeath { return try playRestored(machines) }
        var found: [String] = []
        var limits = MachineJudge.Limits(pace: self == .sixty || Self.withOrders.contains(self) ? nil : Self.pace)
        if self == .otherKey { try Self.replaceKey(of: .third, machines) }
        try machines.send()
        var expected: Int32 = 0
        switch self {
        case .one, .sixty, .services, .waves, .restored, .restoredAfterDeath: break
        case .otherKey:
            if !machines.wait(atMost: 60, until: { machines.said(.third).contains("is left to other machines") }) {
                found.append("the machine with another key does not say that it cannot help")
            }
        case .homeKilledBetweenWaves:
            machines.wait(atMost: 60) { machines.answered >= machines.setup.recipients / 2 }
            machines.kill(.home)
            machines.wait(atMost: 150) { !["running", "paused"].contains(machines.database.runState) }
            try machines.start(.home, "resume", "last")
            limits.unknown = Self.pace
        case .brake: (expected, limits.unsent) = (3, machines.setup.recipients)
        case .orders, .ordersAtHome:
            (expected, limits.unsent) = (3, machines.setup.recipients)
            found += try Self.giveOrders(
                machines, from: self == .orders ? [.third, .second, .third] : [.home, .home, .home])
        case .ordersFromCopy:
            (expected, limits.unsent) = (3, machines.setup.recipients)
            found += try Self.giveOrdersFromCopy(machines)
        case .ordersBetweenWaves:
            (expected, limits.unsent) = (3, machines.setup.recipients)
            found += try Self.giveOrdersBetweenWaves(machines)
        case .resumed: found += try Self.interruptAndResume(machines)
        case .declaredDead:
            limits.unknown = 3 * Self.pace
            found += try Self.declareDead(machines)
        case .interruptedWithoutStore:
            // What was answered and not recorded is unknown.
            limits.unknown = 12 * Self.pace
            found += try Self.interruptWithoutStore(machines)
        case .cancelledWithoutStore:
            (expected, limits.unsent, limits.unknown) = (3, machines.setup.recipients, 12 * Self.pace)
            found += try Self.stopWithoutStore(machines, by: "cancel", state: "cancelled")
        case .pausedWithoutStore:
            limits.unknown = 12 * Self.pace
            found += try Self.stopWithoutStore(machines, by: "pause", state: "paused")
            try machines.start(.home, "resume", "last")
        case .cancelledAfterDeath:
            (expected, limits.unsent, limits.unknown) = (128 + SIGKILL, machines.setup.recipients, Self.pace)
            found += try Self.cancelAfterDeath(machines)
        case .resumedAfterAll:
            limits.unknown = Self.pace
            found += try Self.cancelAfterDeath(machines)
            try machines.start(.home, "resume", "last")
        }
        let status = machines.finishHome(within: 200)
        // What was unknown makes an exit code of 1.
        if status != expected, expected != 0 || status != 1 || limits.unknown == 0 {
            found.append("home ended with \(status), not \(expected)")
        }
        for (name, status) in machines.finishHelpers() where status != 0 {
            found.append("\(name.rawValue) ended with \(status)")
        }
        let judge = try MachineJudge(machines)
        found += judge.findings(limits, recipients: machines.setup.recipients)
        if self == .sixty, judge.busiestSecond() > 2 {
            found.append("\(judge.busiestSecond()) in a second, of a pace of 1/s")
        }
        // Four hundred answers, and what left until everybody knew of them.
        if self == .brake, machines.setup.recipients - judge.count("unsent") > 400 + 4 * Self.pace {
            found.append("it stopped late")
        }
        return found
    }

    private static func replaceKey(of name: Machines.Name, _ machines: Machines) throws {
        let folder = machines.folder(name).url
        let made = try RunningVolley(
            executable: "/bin/sh",
            ["-ec", "openssl ecparam -genkey -name prime256v1 -noout | openssl pkcs8 -topk8 -nocrypt -out other.p8"],
            in: folder, environment: [:], input: nil
        ).finish()
        guard made.status == 0 else { throw CommandFailure(what: made.errors) }
        let file = folder.appendingPathComponent("volley.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        try Data(text.replacing(machines.simulators[0].key, with: "other.p8").utf8).write(to: file)
    }

    /// The database forgets what home did after a backup.
    private func playRestored(_ machines: Machines) throws -> [String] {
        var found: [String] = []
        let server = machines.database.server
        try machines.start(.home, "send", "campaign.yaml", "--yes")
        machines.wait(atMost: 60) { machines.answered > 300 }
        try server.backUp(.online, schema: "")
        let saved = machines.answered
        machines.wait(atMost: 60) { machines.answered > saved + 300 }
        if self == .restoredAfterDeath { machines.kill(.home) }
        try server.bringBack(.online, schema: "")
        for name in Machines.Name.helpers { try machines.start(name, "work") }
        let first: Int32
        if self == .restoredAfterDeath {
            let before = machines.answered
            machines.wait(atMost: 100) { machines.database.runState == "stopped" }
            if machines.answered != before { found.append("\(machines.answered - before) were sent without an order") }
            try machines.start(.home, "resume", "last")
            first = machines.finishHome(within: 60)
        } else {
            first = machines.finishHome(within: 60)
        }
        let (said, words) = (
            machines.said(.home), self == .restored ? "has forgotten" : "could say whether something is missing"
        )
        if first != 3 || !said.contains(words) {
            found.append("home ended with \(first), and not because the store \(words)")
        }
        // If a killed process's records were lost, only the ledger still has the devices that it
        // had sent to.
        if self == .restoredAfterDeath { return found }
        try machines.start(.home, "resume", "last")
        let status = machines.finishHome(within: 150)
        if ![0, 1].contains(status) { found.append("home ended with \(status) after the resumption") }
        for (name, status) in machines.finishHelpers() where status != 0 {
            found.append("\(name.rawValue) ended with \(status)")
        }
        let limits = MachineJudge.Limits(unknown: machines.setup.recipients, pace: Self.pace)
        found += try MachineJudge(machines).findings(limits, recipients: machines.setup.recipients)
        return found
    }
}
