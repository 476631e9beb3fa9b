@testable import Cluster

/// The times of schedules as the database has them and changes them: each call is one statement.
/// `FiringTableTests` compares it with a real database.
struct FiringTable: Hashable {
    /// The run that has a time.
    struct Row: Hashable {
        var run: String
        var state: SharedFiring.State
        var owner: Int?
    }

    /// What a claim finds.
    enum Claim: Hashable {
        case ours
        case another(Row)
        /// The database has just come up, and may have forgotten which run has the time.
        case refused
    }

    /// By their times.
    var rows: [String: Row] = [:]
    /// Services that are not on record as dead, and their latest beats.
    var beats: [Int: Int64] = [:]
    private var lastService = 0

    mutating func join() -> Int {
        lastService += 1
        beats[lastService] = 0
        return lastService
    }

    private func isAlive(_ service: Int?) -> Bool { service.map { beats[$0] != nil } ?? false }

    /// Times that dead services had claimed and not begun.
    var orphans: [String] { rows.filter { $0.value.state == .claimed && !isAlive($0.value.owner) }.keys.sorted() }

    mutating func claim(_ time: String, _ row: Row, isQuiet: Bool) -> Claim {
        let old = rows[time]
        if let changed = claimed(row, after: old, isQuiet) {
            rows[time] = changed
            return .ours
        }
        guard let old, !(isQuiet && old.run != row.run && old.state == .skipped && row.state == .begun) else {
            return .refused
        }
        return .another(old)
    }

    private func claimed(_ new: Row, after old: Row?, _ isQuiet: Bool) -> Row? {
        guard let old else { return isQuiet ? nil : new }
        if old.run == new.run {
            guard [.claimed, .begun, new.state].contains(old.state) || new.state == .begun else { return nil }
            return Row(run: new.run, state: old.state == .begun ? .begun : new.state, owner: new.owner ?? old.owner)
        }
        if isQuiet { return nil }
        return old.state == .claimed && !isAlive(old.owner) || old.state == .skipped && new.state == .begun ? new : nil
    }

    /// A service writes again what its record says.
    mutating func write(_ firings: [String: Row]) {
        for (time, new) in firings {
            guard let old = rows[time] else {
                rows[time] = new
                continue
            }
            let wasPlanned = new.state == .begun && [.claimed, .skipped].contains(old.state)
            if wasPlanned || old.run == new.run && old.state == .claimed { rows[time] = new }
        }
    }
}
