import Foundation
import Glibc
import TestCommands
import TestSupport

/// One run, one fault, and what must hold afterwards.
struct History: Sendable, CustomStringConvertible {
    var fault: Fault
    var moment: Moment
    var seed: UInt64

    var description: String { "\(fault.rawValue), \(moment.rawValue), seed \(seed)" }

    /// How long others may take to continue a dead worker's part; seconds.
    private static let takeoverSeconds = 40.0

    /// Plays it.
    /// - Returns: all violations; blank without any.
    func play() -> [String] {
        do {
            var setup = Machines.Setup()
            fault.prepare(&setup)
            let machines = try Machines(setup)
            let found = try play(machines)
            guard !found.isEmpty else { return [] }
            return found + machines.lastWords
        } catch { return ["\(error)"] }
    }

    private func play(_ machines: Machines) throws -> [String] {
        var random = SeededRandom(seed), found: [String] = []
        try machines.send()
        moment.wait(for: machines, &random)
        let struck = Date(), left = machines.setup.recipients - machines.answered
        try fault.strike(machines, &random)
        let settled = Date()
        if fault == .killHome { waitForOthers(machines) }
        let status = try finish(machines, &found)
        if ![0, 1].contains(status) { found.append("home ended with \(status)") }
        if let words = fault.words, left > machines.setup.recipients / 4, !machines.said(.home).contains(words) {
            found.append("home does not say: \(words)")
        }
        let judge = try MachineJudge(machines)
        found += judge.findings(limits(machines.setup), recipients: machines.setup.recipients)
        let end = Double(judge.lastAnswer) / 1000,
            start = (fault == .killDuringRestart ? settled : struck).timeIntervalSince1970
        // At two thirds of the pace until the part of the dead is free. A process that does not
        // reach the database declares no other dead.
        let sending = Double(left) / (Double(MachineScale.pace) * 0.6)
        // Processes that share two cores with twenty others send more slowly than the pace.
        let slack = MachineScale.isThorough ? 0.0 : 60
        let allowed = max(Self.takeoverSeconds, settled.timeIntervalSince(struck) + 15) + sending + slack
        if fault.deaths > 0, !fault.endsHome, end - start > allowed {
            found.append("the last answer came \(Int(end - start)) s after the fault; \(Int(allowed)) s may be")
        }
        return found
    }

    /// Waits until the helpers have finished what home began; without work they wait for more.
    private func waitForOthers(_ machines: Machines) {
        machines.wait(atMost: 100) { !["running", "paused"].contains(machines.database.runState) }
    }

    /// - Returns: the exit code of the last command at home.
    private func finish(_ machines: Machines, _ found: inout [String]) throws -> Int32 {
        var status: Int32 = fault == .killHome || fault == .killAndResumeHome ? 3 : machines.finishHome(within: 250)
        if fault.endsHome, ![0, 1].contains(status) {
            try machines.start(.home, "resume", "last")
            status = machines.finishHome(within: 250)
        }
        for (name, status) in machines.finishHelpers()
        where status != 0 && !(status == 128 + SIGKILL && fault.deaths > 0) {
            found.append("\(name.rawValue) ended with \(status)")
        }
        return status
    }

    private func limits(_ setup: Machines.Setup) -> MachineJudge.Limits {
        // What a process sends in a third of a second, were it alone, and what it has claimed ahead
        // of that.
        let claimed = MachineScale.pace / 3 + max(50, MachineScale.pace / 10)
        // If a worker never confirmed the database's new epoch, its claims are not known: all that
        // it had leased, for a second, is unknown.
        let leased = fault == .killDuringRestart ? MachineScale.pace : 0
        let isCalm = fault == .none || fault == .clocksApart
        return MachineJudge.Limits(
            unknown: fault.deaths * (claimed + leased), pace: MachineScale.pace,
            reachesPace: isCalm && MachineScale.isThorough)
    }
}
