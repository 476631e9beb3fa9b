import TestSupport

@testable import PostgresRuns

/// A run that several members send, in a world where connections break before and after the database has done what it was asked, answers come late, members
/// freeze and are killed. The database is a few tables, and what it does for others is seen in the order in which transactions commit. A seed decides all.
///
/// What is judged: nobody is pushed to twice; a member that is on record as dead submits nothing; the pace holds in every second; everybody is settled in the
/// end, and soon after a death; what is recorded as accepted was accepted.
struct MemberWorld {
    /// A rule that is broken on purpose.
    enum Breakage: String, CaseIterable {
        /// `FOR KEY SHARE`: who is declared dead is not waited for.
        case keyShare
        /// The transaction that declares a member dead reads what was there when it began.
        case repeatableRead
        /// A beat is dated from its answer.
        case gateFromAnswer
        /// A part of the pace counts as free as soon as it is no longer in force.
        case partRaisedEarly
        /// What may have been written is written again under another number.
        case retryWithoutNumber
        /// The observer's time goes on while it is not connected.
        case watchesWhileAway
    }

    /// What a member asks of the database.
    enum Request {
        case lease(number: Int64, most: Int)
        case claim(number: Int64, Range<Int>)
        case settle(number: Int64, [Int: Bool])
        case beat(number: Int64, used: Int, wants: Bool, at: Double)
        case declareDead(MemberWatch.Silence)
    }

    enum Answer {
        case leased(Range<Int>?)
        case done
        case beat(granted: Int, others: [String: Int64], isOver: Bool)
        /// The fence: the member is on record as dead.
        case dead
    }

    /// A row of the table of members.
    struct Row {
        var beat: Int64 = 0
        var isDead = false
        var leased: [Range<Int>] = []
        var entries: [Int64: Entry] = [:]
        var settled = 0
    }

    enum Entry { case lease(Range<Int>?), claim(Range<Int>), settle([Int: Bool]) }

    /// A statement on its way: it begins, waits for locks, and commits.
    struct Statement {
        var id: Int
        var member: String
        var request: Request
        var thread: Int
        /// Whether the answer gets back.
        var isAnswered: Bool
        var answerDelay: Double
        var execution: Double
        /// What it saw when it began, for `repeatableRead`.
        var snapshot: Row?
        var sawAlive = false
    }

    enum Event {
        case tick(member: String)
        case begin(Statement), proceed(Statement), commit(Statement)
        case answer(Statement, Answer)
        case lost(Statement)
        case outcome(member: String, id: Int)
        case trouble
    }

    /// A process.
    struct Member {
        var isGone = false
        /// Seconds; in the past for one that is not frozen.
        var frozenUntil = -1.0
        var watch = MemberWatch()
        var gate = SubmissionGate()
        /// The part of the pace that is in force.
        var part = 0
        var worker = JournalNumbers(), recorder = JournalNumbers()
        /// What each thread waits for: 0 works, 1 records, 2 beats, 3 buries.
        var waiting: [Int: Int] = [:]
        var stretch: Range<Int>?
        var claiming: Range<Int>?
        var toSubmit: [Int] = []
        var outcomes: [Int: Bool] = [:]
        var recording: [Int: Bool] = [:]
        var recent: [(at: Double, count: Int)] = []
        var isOver = false
        var isFenced = false
        var lastBeat = -10.0
        var beats: Int64 = 0
        var lastLook: Double?
        var leaseWaitsUntil = 0.0
    }

    let audience: Int
    /// Pushes a second, all members together.
    let pace: Int
    let breakage: Breakage?
    var random: SeededRandom
    /// Seconds. All members read the same clock, and none of them tells another what it shows.
    var now = 0.0
    var queue: [(at: Double, number: Int, event: Event)] = []
    var numbers = 0

    // The database.
    var next = 0
    var returned: [Range<Int>] = []
    var rows: [String: Row] = [:]
    var parts: PaceParts
    var holders: [String: Set<Int>] = [:]
    var blocked: [(member: String, Statement)] = []
    var lost: Set<Int> = []
    var beatAt: [String: Double] = [:], submittedAt: [String: Double] = [:]
    /// The database cannot be reached until then.
    var awayUntil = -1.0
    var outages = 0
    var outageTimes: [ClosedRange<Double>] = []

    // The processes, and the service.
    var members: [String: Member] = [:]
    var lives = 0
    var submitted: [Int: Int] = [:]
    var accepted: Set<Int> = []
    var window: [(at: Double, count: Int)] = []
    var failures: [String] = []
    var deaths = 0, freezes = 0, fences = 0, losses = 0, lateCommits = 0, returns = 0
    var endedAt: Double?
    var lastTrouble = 0.0

    init(seed: UInt64, breakage: Breakage? = nil) {
        random = SeededRandom(seed)
        self.breakage = breakage
        audience = 600
        pace = Int.random(in: 8...30, using: &random)
        parts = PaceParts(pace: pace)
    }

    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
    mutating func between(_ low: Double, _ high: Double) -> Double { Double.random(in: low...high, using: &random) }
    mutating func fail(_ what: String) { if failures.count < 10 { failures.append("\(now): \(what)") } }

    mutating func at(_ moment: Double, _ event: Event) {
        numbers += 1
        let entry = (moment, numbers, event)
        var low = 0, high = queue.count
        while low < high {
            let middle = (low + high) / 2
            if queue[middle].at > moment || (queue[middle].at == moment && queue[middle].number > numbers) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        queue.insert(entry, at: low)
    }

    // MARK: - Life

    mutating func run() {
        for _ in 0..<3 { join() }
        at(between(1, 5), .trouble)
        let limit = 900.0
        while let entry = queue.popLast(), endedAt == nil, now < limit {
            now = entry.at
            handle(entry.event)
        }
        judge()
    }

    mutating func join() {
        lives += 1
        let name = "m\(lives)"
        members[name] = Member()
        rows[name] = Row()
        at(now + between(0, 0.5), .tick(member: name))
    }

    mutating func handle(_ event: Event) {
        switch event {
        case .trouble: trouble()
        case .tick(let name):
            guard let member = members[name], !member.isGone, !member.isOver else { return }
            guard member.frozenUntil < now else { return at(member.frozenUntil + between(0, 0.05), .tick(member: name)) }
            tick(name)
            at(now + 0.1, .tick(member: name))
        case .begin(let statement): begin(statement)
        case .proceed(let statement): proceed(statement)
        case .commit(let statement): commit(statement)
        case .answer(let statement, let answer): deferred(statement.member, event) { $0.answered(statement, answer) }
        case .lost(let statement): deferred(statement.member, event) { $0.wasLost(statement) }
        case .outcome(let name, let id):
            deferred(name, event) { world in world.members[name]?.outcomes[id] = world.accepted.contains(id) }
        }
    }

    /// What reaches a process that is frozen reaches it when it goes on.
    mutating func deferred(_ name: String, _ event: Event, _ body: (inout MemberWorld) -> Void) {
        guard let member = members[name], !member.isGone else { return }
        guard member.frozenUntil < now else { return at(member.frozenUntil + between(0, 0.05), event) }
        body(&self)
    }

    mutating func trouble() {
        let alive = members.filter { !$0.value.isGone && !$0.value.isFenced }.keys.sorted()
        // Trouble ends, or nothing would show that the run does.
        guard now < 200 else { return }
        lastTrouble = now
        if let name = alive.randomElement(using: &random) {
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                deaths += 1
                doom(name)
                if alive.count < 3 || chance(0.5) { join() }
            case 1:
                freezes += 1
                let until = now + between(0.5, 60)
                members[name]?.frozenUntil = until
                hold(name)
            case 2:
                let until = now + between(0.1, 3)
                members[name]?.frozenUntil = until
            case 3:
                outages += 1
                let from = max(now, awayUntil)
                awayUntil = max(awayUntil, now + between(1, 60))
                if from < awayUntil { outageTimes.append(from...awayUntil) }
            default: if alive.count < 5 { join() }
            }
        }
        at(now + between(1, 40), .trouble)
    }

    /// Kills a member. What it had just sent may get through when it is about to be declared dead.
    mutating func doom(_ name: String) {
        work(name)
        record(name)
        hold(name)
        members[name]?.isGone = true
    }

    /// Holds what a member has under way, for as long as others wait before they declare it dead.
    mutating func hold(_ name: String) {
        guard chance(0.5) else { return }
        for index in queue.indices.reversed() {
            guard case .begin(var statement) = queue[index].event, statement.member == name, needsFence(statement.request) else { continue }
            queue.remove(at: index)
            statement.execution = between(0.1, 6)
            at(now + MemberWatch.silenceSeconds + between(-2, 3), .begin(statement))
        }
    }

    // MARK: - Messages

    mutating func send(_ request: Request, from name: String, thread: Int, patience: Double = 5) {
        numbers += 1
        var statement = Statement(
            id: numbers, member: name, request: request, thread: thread, isAnswered: true,
            answerDelay: between(0.001, 0.03), execution: between(0.001, 0.02))
        members[name]?.waiting[thread] = statement.id
        var arrival = now + between(0.001, 0.03)
        if arrival < awayUntil {
            losses += 1
            return at(now + (chance(0.5) ? between(0.01, 1) : patience), .lost(statement))
        }
        if chance(0.03) {
            losses += 1
            statement.isAnswered = false
            at(now + (chance(0.5) ? between(0.01, 1) : patience), .lost(statement))
            // Never arrives, or arrives, at once or long after it was given up.
            if chance(0.3) { return }
            if chance(0.4) {
                lateCommits += 1
                arrival += between(1, 40)
                // Locks and disks take their time as well.
                if chance(0.5) { statement.execution += between(0.1, 5) }
            }
        } else if chance(0.02) {
            // A slow network.
            statement.answerDelay += between(0.5, patience - 0.5)
        } else if chance(0.02) {
            statement.execution += between(0.1, 3)
        }
        at(arrival, .begin(statement))
    }

    // MARK: - The end

    mutating func judge() {
        guard let endedAt else {
            return fail(
                "not settled in the end: \(next) leased, \(returned.count) returned, \(rows.values.reduce(0) { $0 + $1.settled }) settled")
        }
        var settlements: [Int: Int] = [:]
        var recorded: Set<Int> = []
        for row in rows.values {
            for case .settle(let outcomes) in row.entries.values {
                for (id, isAccepted) in outcomes {
                    settlements[id, default: 0] += 1
                    if isAccepted { recorded.insert(id) }
                }
            }
        }
        if settlements.count != audience { fail("\(settlements.count) of \(audience) are settled") }
        if settlements.values.contains(where: { $0 > 1 }) { fail("a recipient is settled twice") }
        if !recorded.isSubset(of: accepted) { fail("recorded as accepted without having been") }
        if !accepted.subtracting(recorded).isSubset(of: lost) { fail("accepted, and neither recorded nor unknown") }
        if endedAt > lastTrouble + 200 { fail("ended \(endedAt - lastTrouble) s after the last trouble") }
    }
}
