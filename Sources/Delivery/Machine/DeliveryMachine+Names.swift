import Base
import PushServices

/// What a service recognizes a request by, and until when it does.
struct RequestName: Hashable, Sendable {
    var text: String
    /// From then on nothing leaves under it.
    var usableUntil: Timestamp
}

/// What must be on record before a request leaves, so that it can be sent again after its answer
/// was lost.
enum NameRule: Hashable, Sendable {
    /// Nothing: the service recognizes no repeats that can be relied on.
    case none
    /// The generation of its pushes, if it is not the first.
    case generations
    /// A name that the service gave out for it.
    case calls

    init(_ protection: RepeatProtection) {
        switch protection {
        case .none: self = .none
        case .derived: self = .generations
        case .fetched: self = .calls
        }
    }
}

/// Names of requests, for services that recognize repeats. A request is named before it leaves, and
/// what its name stands for is committed first. It keeps the name as long as it keeps its targets.
/// A lost answer is then no reason to give it up: it goes again under its name.
extension DeliveryMachine {
    /// Submits requests as long as there is room, and requests names for those without one, but for
    /// no more at a time than could leave.
    mutating func submitNamed(at now: Moment) {
        while let next = again.first ?? fresh.first {
            guard nextPushIsAllowed, let connection = connectionWithRoom() else { return }
            if dropOldName(of: next, at: now) || dropRefusedText(of: next, at: now) { continue }
            // Until the next request may leave, more pushes may join it.
            if batching.keepsTexts, nextPaceTime ?? .min <= now.nanoseconds { gatherSmallRequests(in: next) }
            if lacksName(next) {
                // A service that takes nothing for now gives out no names either.
                guard unnamed.count < room(of: connection), max(nextQuotaTime, nextProbeTime) <= now.nanoseconds else {
                    return
                }
                if mayGrow(next), namingTime(behind: unnamed.count) > now.nanoseconds { return }
                guard let request = removeNext() else { return }
                // What was cut down may need none.
                if lacksName(request) { askForName(of: request, at: now) } else { again.prepend(request) }
            } else {
                guard takePace(for: next, at: now.nanoseconds), let request = removeNext() else {
                    return nameAhead(at: now)
                }
                // What was cut down has lost its name.
                if lacksName(request) {
                    askForName(of: request, at: now)
                } else {
                    submit(request, on: connection, at: now)
                }
            }
        }
    }

    // MARK: With a pace

    /// Whether more pushes may join a request that would be closed to them by a name. It leaves no
    /// earlier for being named early.
    private func mayGrow(_ request: Int) -> Bool {
        nameRule == .calls && !isSourceEnded && ownPaceTime != nil && mayJoin(request)
    }

    /// When a request is named, so that its name is there when it may leave: monotonic nanoseconds.
    /// - Parameter others: how many leave before it.
    private func namingTime(behind others: Int) -> Int64 {
        let space = 1e9 / settings.slowestPace
        let leaves = (nextPaceTime ?? 0) + Int64(space * Double(others))
        return max(leaves - namingLead.nanoseconds, nextQuotaTime, nextProbeTime)
    }

    /// Names requests that leave soon, while the next one has its name and waits for the pace.
    private mutating func nameAhead(at now: Moment) {
        while let time = nextNamingAhead, time <= now.nanoseconds, let request = removeNextUntried() {
            askForName(of: request, at: now)
        }
    }

    /// When the next request is named behind one that waits for the pace; nil for not before that
    /// one has left.
    private var nextNamingAhead: Int64? {
        guard nameRule == .calls, ownPaceTime != nil, canary.isOver, serviceHealth.troubleSince == nil, !again.isEmpty,
            let next = fresh.first, lacksName(next), let connection = connectionWithRoom(),
            unnamed.count < room(of: connection)
        else { return nil }
        return namingTime(behind: unnamed.count + again.count)
    }

    /// When the next request leaves, or is named if that comes before: monotonic nanoseconds; nil
    /// if at once.
    var nextStepTime: Int64? {
        guard let next = again.first ?? fresh.first, let leaves = nextPaceTime else { return nil }
        if lacksName(next) { return mayGrow(next) ? namingTime(behind: unnamed.count) : leaves }
        return min(leaves, nextNamingAhead ?? .max)
    }

    /// Whether a request must be named, or its generation be recorded, before it may leave.
    func lacksName(_ request: Int) -> Bool {
        switch nameRule {
        case .none: false
        case .generations: (pushes[request].generation > 0 || namesText(request)) && !pushes[request].isNamed
        case .calls: !pushes[request].isNamed
        }
    }

    /// Whether the next request waits until fewer names are asked for.
    var nextWaitsForNames: Bool {
        guard nameRule != .none, !unnamed.isEmpty, let next = again.first ?? fresh.first, lacksName(next) else {
            return false
        }
        return connectionWithRoom().map { unnamed.count >= room(of: $0) } ?? false
    }

    /// Whether a request that may have arrived goes again, because the service recognizes it or
    /// because the campaign wants it.
    func resendsDoubtful(_ request: Int) -> Bool { settings.resendsUnknown || nameRule != .none && !namesText(request) }

    /// Whether a request may not be divided: it may have arrived, and only as a whole does the
    /// service recognize it.
    func mustStayWhole(_ request: Int) -> Bool {
        nameRule == .calls && pushes[request].isNamed && pushes[request].mayBeDelivered
    }

    private mutating func askForName(of request: Int, at now: Moment) {
        admitToCanary(request)
        lastQuestion += 1
        namingLead.asked(lastQuestion, at: now.nanoseconds)
        unnamed[request] = lastQuestion
        pushes[request].state = .unnamed
        actions.append(.name(request: request, question: lastQuestion))
    }

    /// Notes that a request has a name, or that its generation is recorded. What was settled in the
    /// meantime needs neither.
    /// - Parameters:
    ///   - question: as in the action.
    ///   - name: nil for a generation.
    mutating func named(_ request: Int, question: Int, _ name: RequestName?, at now: Moment) {
        guard unnamed[request] == question else { return }
        unnamed[request] = nil
        namesMissingSince = nil
        namingLead.answered(question, at: now.nanoseconds)
        if let name { names[request] = name }
        pushes[request].isNamed = true
        pushes[request].state = .ready
        again.prepend(request)
    }

    /// Notes that no name comes for now. May be called again and again.
    mutating func namesPending(because trouble: String, at now: Moment) {
        guard !unnamed.isEmpty else { return }
        namesMissingSince = namesMissingSince ?? now.nanoseconds
        nameTrouble = trouble
    }

    /// Stops the run because the service gives out no names.
    mutating func namesRefused(_ reason: String, status: Int, at now: Moment) {
        stopForService(.namesRefused(reason: reason, status: status), at: now)
    }

    /// Takes a name away that the service may soon forget. A request that may have arrived under it
    /// is given up.
    /// - Returns: whether the request was given up.
    private mutating func dropOldName(of request: Int, at now: Moment) -> Bool {
        guard name(of: request).map({ $0.usableUntil <= now.wall }) ?? false else { return false }
        pushes[request].isNamed = false
        guard nameRule == .calls, pushes[request].mayBeDelivered else { return false }
        if again.first == request { _ = again.removeFirst() } else { _ = removeUntried() }
        giveUp(request, at: now)
        return true
    }

    /// Changes the generation of a request that the service refused for now. One that may have
    /// arrived before keeps it, or the service would not recognize it.
    mutating func raiseGeneration(of request: Int) {
        guard nameRule == .generations, !pushes[request].mayBeDelivered, pushes[request].generation < .max else {
            return
        }
        pushes[request].generation += 1
        pushes[request].isNamed = false
    }

    // MARK: What earlier processes left

    /// Adds a call that an earlier process named and perhaps sent: it goes under its name, to
    /// exactly these recipients. Returns the slots of its pushes.
    mutating func add(call recipients: [Int], name: RequestName, at now: Moment) -> [Int] {
        precondition(end == nil && !recipients.isEmpty, "a machine that has ended accepts no pushes")
        let slots = recipients.map { recipient in
            let slot = claimSlot()
            pushes[slot].recipient = recipient
            pushes[slot].state = .member
            return slot
        }
        for (slot, next) in zip(slots, slots.dropFirst()) { pushes[slot].companion = Int32(next) }
        let request = slots[0]
        pushes[request].last = Int32(slots[slots.count - 1])
        pushes[request].count = Int32(slots.count)
        markInDoubt(request)
        pushes[request].isNamed = true
        pushes[request].state = .ready
        names[request] = name
        again.append(request)
        return slots
    }

    /// Adds a push in a request of its own, after what an earlier process did with it.
    mutating func add(recipient: Int, after past: PushHistory, at now: Moment) -> Int {
        let push = add(recipient: recipient, at: now)
        pushes[push].generation = past.generation
        pushes[push].isNamed = past.generation > 0
        if past.isInDoubt { markInDoubt(push) }
        return push
    }

    private mutating func markInDoubt(_ request: Int) {
        pushes[request].mayBeDelivered = true
        pushes[request].isOfEarlierProcess = true
        pushes[request].reason = OwnReason.processEnded.rawValue
    }

    // MARK: Ending

    /// Settles the requests that wait for a name: nothing more leaves.
    mutating func settleUnnamed(at now: Moment) {
        for request in unnamed.keys.sorted() {
            pushes[request].state = .ready
            settleUnsent(request, at: now)
        }
        unnamed.removeAll()
    }

    /// When waiting for names has lasted too long, in monotonic nanoseconds: as long as any outage.
    var nameDeadline: Int64? {
        namesMissingSince.map { $0 + Int64(nanosecondsFromSeconds: settings.retry.maximumTotalSeconds) }
    }

    mutating func stopIfNamesStayAway(at now: Moment) {
        guard let since = namesMissingSince, let end = nameDeadline, now.nanoseconds > end else { return }
        stopForService(.namesMissing(lastTrouble: nameTrouble, seconds: Double(now.nanoseconds - since) / 1e9), at: now)
    }
}

/// With a pace: how long before a request may leave its name is requested. This is long enough for
/// the name to be there in time, and no longer, because a name closes the request to further
/// pushes.
struct NamingLeadTime {
    private static let least = 30e6, most = 2e9
    /// What a longest time counts after each further one: of ten names the one that is fetched
    /// first takes longer than the others.
    private static let memory = 0.95

    private var longest = 0.0
    /// The question that is timed, one at a time.
    private var timed: (question: Int, at: Int64)?

    var nanoseconds: Int64 { Int64(min(Self.most, max(Self.least, 2 * longest))) }

    mutating func asked(_ question: Int, at nanoseconds: Int64) { if timed == nil { timed = (question, nanoseconds) } }

    /// Notes that a question was answered, or is no longer waited for.
    mutating func answered(_ question: Int, at nanoseconds: Int64) {
        guard let timed, timed.question <= question else { return }
        self.timed = nil
        if timed.question == question { longest = max(Double(nanoseconds - timed.at), longest * Self.memory) }
    }
}
