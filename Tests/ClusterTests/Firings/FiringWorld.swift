import TestSupport

@testable import Cluster

/// Several `volley schedule` and their database: services are killed, are suspended and come back,
/// the database goes down and comes up without what was written last. Each time may be sent by one
/// run only. A clock of seconds, and a seed that decides what happens.
struct FiringWorld {
    /// A rule that is left out.
    enum Breakage {
        /// Services do not write their own records again.
        case writesNothing
        /// Times are found due as soon as the own record is written.
        case isNeverQuiet
    }

    /// What a service's own record says of a time.
    enum Entry: Hashable {
        case planning(run: String, until: Int)
        /// Its run may have been begun.
        case sending(run: String)
        case elsewhere
    }

    private struct Service {
        /// Survives a kill.
        var record: [String: Entry] = [:]
        var number: Int?
        var epoch = 0
        var barrier = FiringBarrier()
        var watch = WorkerWatch()
        var absentUntil = 0
        /// Until then it is left in peace: it has just come back.
        var calmUntil = 0
    }

    private struct Database {
        var table = FiringTable()
        /// nil until the first look.
        var epoch: Int?
        var beganAt = 0
        var upAt = 0

        func isQuiet(_ now: Int) -> Bool { epoch == nil || Double(now - beganAt) < FiringBarrier.quietSeconds }
    }

    private static let period = 40, late = 160, end = 900
    private let breakage: Breakage?
    /// Whether the database forgets. Then no service is away for longer than the quiet time: what
    /// is lost for good cannot be known.
    private let forgets: Bool
    private var random: SeededRandom
    private var now = 0
    private var services = [Service](repeating: Service(), count: 3)
    private var database = Database()
    private var past: [FiringTable] = []
    private var runs = 0
    /// Runs that were begun, by their times.
    private(set) var sent: [String: Set<String>] = [:]
    private(set) var forgotten = 0, takenOver = 0, refused = 0

    init(seed: UInt64, breakage: Breakage? = nil) {
        (self.breakage, forgets, random) = (breakage, !seed.isMultiple(of: 3), SeededRandom(seed))
    }

    /// Times that were sent by more than one run.
    var failures: [String] { sent.filter { $0.value.count > 1 }.keys.sorted() }

    /// Times that were not sent although they were due long ago.
    var missed: Int { (1...(Self.end - Self.late) / Self.period).count { sent["\($0)"] == nil } }

    private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    mutating func run() {
        while now < Self.end {
            now += 1
            past.append(database.table)
            if chance(0.01) { crash() }
            for number in services.indices.shuffled(using: &random) {
                disturb(number)
                guard services[number].absentUntil <= now else { continue }
                guard database.upAt <= now else {
                    services[number].watch.disconnected()
                    services[number].barrier.isLost()
                    continue
                }
                // A service that was suspended may continue before it beats.
                let isJustBack = services[number].absentUntil == now
                if chance(0.8) || !isJustBack && services[number].calmUntil > now { beat(number) }
                work(number)
            }
        }
    }

    // MARK: - What goes wrong

    private mutating func crash() {
        database.epoch = nil
        database.upAt = now + (chance(0.5) ? 0 : Int.random(in: 1...5, using: &random))
        guard forgets else { return }
        forgotten += 1
        database.table = past[max(0, past.count - Int.random(in: 1...200, using: &random))]
    }

    private mutating func disturb(_ number: Int) {
        guard now > services[number].calmUntil, now > services[number].absentUntil, chance(0.03) else { return }
        let longest = forgets ? 20 : 90
        services[number].absentUntil = now + Int.random(in: 1...longest, using: &random)
        services[number].calmUntil = services[number].absentUntil + 5
        if chance(0.5) { restart(number) }
    }

    private mutating func restart(_ number: Int) {
        var service = Service()
        (service.record, service.absentUntil, service.calmUntil) = (
            services[number].record, services[number].absentUntil, services[number].calmUntil
        )
        // A machine that takes its place, and has no record of times that others have.
        if chance(0.5) { service.record = service.record.filter { $0.value != .elsewhere } }
        services[number] = service
    }

    // MARK: - What a service does

    private mutating func beat(_ number: Int) {
        if database.epoch == nil {
            (database.epoch, database.beganAt) = (Int.random(in: 1 ... .max, using: &random), now)
        }
        guard let epoch = database.epoch else { return }
        if services[number].number == nil || services[number].epoch != epoch {
            (services[number].number, services[number].epoch) = (database.table.join(), epoch)
        }
        guard let me = services[number].number, let beat = database.table.beats[me] else {
            services[number].number = nil
            return services[number].barrier.isLost()
        }
        database.table.beats[me] = beat + 1
        services[number].barrier.beat(
            .init(service: me, epoch: epoch), isQuiet: database.isQuiet(now) && breakage != .isNeverQuiet)
        let others = database.table.beats.filter { $0.key != me }
        let seen = Dictionary(uniqueKeysWithValues: others.map { ("\($0.key)", $0.value) })
        for silence in services[number].watch.look(at: seen, epoch: Int64(epoch), Double(now)) {
            if let dead = Int(silence.worker) { database.table.beats[dead] = nil }
        }
    }

    private mutating func work(_ number: Int) {
        writeAgain(number)
        for (time, entry) in services[number].record.filter({ isDue($0.key) }).sorted(by: { $0.key < $1.key }) {
            switch entry {
            case .planning(let run, let until) where until <= now: begin(time, run, number)
            case .sending(let run) where !(sent[time]?.contains(run) ?? false): begin(time, run, number)
            case .planning, .sending, .elsewhere: break
            }
        }
        guard services[number].barrier.mayFind else { return }
        for time in database.table.orphans where isDue(time) {
            guard !isOpen(services[number].record[time]), find(time, number) else { continue }
            takenOver += 1
        }
        for time in times where services[number].record[time] == nil { _ = find(time, number) }
    }

    private func isOpen(_ entry: Entry?) -> Bool { entry.map { $0 != .elsewhere } ?? false }

    /// Those that are due, and not too late.
    private var times: [String] {
        (max(1, (now - Self.late + Self.period - 1) / Self.period)...max(1, now / Self.period)).map { "\($0)" }.filter(
            isDue)
    }

    private func isDue(_ time: String) -> Bool {
        guard let due = Int(time).map({ $0 * Self.period }) else { return false }
        return due <= now && now <= due + Self.late
    }

    private mutating func writeAgain(_ number: Int) {
        guard let standing = services[number].barrier.toWrite else { return }
        if breakage != .writesNothing {
            var rows: [String: FiringTable.Row] = [:]
            for (time, entry) in services[number].record {
                switch entry {
                case .planning(let run, _): rows[time] = .init(run: run, state: .claimed, owner: standing.service)
                case .sending(let run):
                    let hasBegun = sent[time]?.contains(run) ?? false
                    rows[time] = .init(run: run, state: hasBegun ? .begun : .claimed, owner: standing.service)
                case .elsewhere: break
                }
            }
            database.table.write(rows)
            for (time, entry) in services[number].record {
                guard case .planning(let run, _) = entry else { continue }
                if case .another = claim(time, .init(run: run, state: .claimed, owner: standing.service)) {
                    services[number].record[time] = .elsewhere
                }
            }
        }
        services[number].barrier.wrote(as: standing)
    }

    private mutating func claim(_ time: String, _ row: FiringTable.Row) -> FiringTable.Claim {
        let claim = database.table.claim(time, row, isQuiet: breakage != .isNeverQuiet && database.isQuiet(now))
        if claim == .refused { refused += 1 }
        return claim
    }

    /// - Returns: whether the time is this service's.
    private mutating func find(_ time: String, _ number: Int) -> Bool {
        guard services[number].barrier.mayFind else { return false }
        runs += 1
        switch claim(time, .init(run: "run \(runs)", state: .claimed, owner: services[number].number)) {
        case .ours:
            // It may be killed before that is in its own record.
            if chance(0.01) {
                restart(number)
                return false
            }
            services[number].record[time] = .planning(
                run: "run \(runs)", until: now + Int.random(in: 1...40, using: &random))
            return true
        case .another: services[number].record[time] = .elsewhere
        case .refused: break
        }
        return false
    }

    private mutating func begin(_ time: String, _ run: String, _ number: Int) {
        services[number].record[time] = .sending(run: run)
        if chance(0.02) { return restart(number) }
        switch claim(time, .init(run: run, state: .begun, owner: nil)) {
        case .ours:
            if chance(0.02) { return restart(number) }
            sent[time, default: []].insert(run)
        case .another: services[number].record[time] = .elsewhere
        case .refused: break
        }
    }
}
