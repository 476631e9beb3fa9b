import Base
import Foundation
import TestCommands

/// Holds the report of a run that three machines sent against the ledgers of its simulators.
struct MachineJudge {
    /// What is allowed, in addition to what always holds.
    struct Limits: Sendable {
        /// Devices that may be unknown.
        var unknown = 0
        /// Devices that may be unsent: none, unless the run was cancelled or stopped.
        var unsent = 0
        /// The pace for a second; nil for none.
        var pace: Int?
        /// Whether the pace must have been reached from the fifth second on.
        var reachesPace = false
    }

    private let report: [(token: String, outcome: String)]
    private let entries: [MachineSimulator.Entry]

    /// Reads both, and ends the simulators.
    init(_ machines: Machines) throws {
        let read = try machines.volley(.home, "report", "last", "--format", "csv")
        guard read.status == 0 else { throw CommandFailure(what: "report: \(read.errors)") }
        report = read.output.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            return (String(cells[0]), String(cells[5]))
        }
        entries = try machines.simulators.flatMap { try $0.entries() }.sorted { $0.milliseconds < $1.milliseconds }
    }

    func count(_ outcome: String) -> Int { report.count { $0.outcome == outcome } }

    /// Milliseconds since 1970 of the last answer.
    var lastAnswer: Int { entries.last?.milliseconds ?? 0 }

    /// Everything that is wrong; blank if nothing is.
    func findings(_ limits: Limits, recipients: Int) -> [String] {
        var found: [String] = []
        let tokens = Set(report.map(\.token))
        if report.count != recipients || tokens.count != recipients {
            found.append("the report has \(report.count) lines of \(tokens.count) devices, not \(recipients)")
        }
        found += compare()
        if count("unknown") > limits.unknown {
            found.append("\(count("unknown")) are unknown; \(limits.unknown) may be")
        }
        if count("unsent") > limits.unsent { found.append("\(count("unsent")) are unsent; \(limits.unsent) may be") }
        guard let pace = limits.pace else { return found }
        let busiest = busiestSecond()
        // Where tests share the processors, a simulator may read the pushes of a moment later, and
        // count them with the next.
        let allowed = MachineScale.isThorough ? pace : pace + max(3, pace / 5)
        if busiest > allowed { found.append("\(busiest) in a second; the pace is \(pace)") }
        if limits.reachesPace, let slowest = slowestSecond(), slowest * 20 < pace * 19 {
            found.append("\(slowest) in a second after the fifth; the pace is \(pace)")
        }
        return found
    }

    /// Report and ledgers, device by device.
    private func compare() -> [String] {
        var accepted: [String: Int] = [:]
        for entry in entries where entry.isAccepted { accepted[entry.token, default: 0] += 1 }
        var (invented, concealed): ([String], [String]) = ([], [])
        for line in report {
            let times = accepted[line.token] ?? 0
            if line.outcome == "accepted", times == 0 { invented.append(line.token) }
            if line.outcome != "accepted", line.outcome != "unknown", times > 0 {
                concealed.append("\(line.token) \(line.outcome)")
            }
        }
        let twice = accepted.filter { $0.value > 1 }.keys,
            strangers = Set(accepted.keys).subtracting(report.map(\.token))
        return [
            ("reported as accepted, and not in a ledger", invented), ("accepted, and not reported so", concealed),
            ("accepted twice", Array(twice)), ("accepted, and not in the report", Array(strangers)),
        ].compactMap { what, tokens in
            tokens.isEmpty ? nil : "\(tokens.count) \(what): \(tokens.prefix(3).joined(separator: ", "))"
        }
    }

    /// The most answers in any second, wherever it begins.
    func busiestSecond() -> Int {
        var (first, most) = (0, 0)
        for (last, entry) in entries.enumerated() {
            while entries[first].milliseconds <= entry.milliseconds - 1000 { first += 1 }
            most = max(most, last - first + 1)
        }
        return most
    }

    /// The mean of five seconds that had the fewest answers, between the fifth second and two
    /// seconds before the last.
    private func slowestSecond() -> Int? {
        guard let start = entries.first?.milliseconds else { return nil }
        var counts: [Int: Int] = [:]
        for entry in entries { counts[(entry.milliseconds - start) / 1000, default: 0] += 1 }
        let last = (lastAnswer - start) / 1000 - 2
        guard last - 5 >= 5 else { return nil }
        return (5...last - 5).map { first in (first..<first + 5).reduce(0) { $0 + (counts[$1] ?? 0) } / 5 }.min()
    }
}
