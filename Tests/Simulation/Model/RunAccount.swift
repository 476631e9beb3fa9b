import Base

@testable import Delivery
import PushServices

/// A model of the run file, as described in docs/architecture.md: what was claimed, and what was
/// recorded about each recipient. It survives a crash.
struct RunAccount {
    /// The recipients of the run, ascending.
    let members: [Int]
    private(set) var isMember: [Bool]
    /// The statuses of recorded answers.
    private(set) var statuses: [Int]
    private(set) var reasons: [String]
    private(set) var isClaimed: [Bool]
    private(set) var outcomes: [Outcome?]
    /// Claimed in an earlier epoch without an outcome, and sent again: whatever the result now, it
    /// is unknown whether it was delivered then.
    private(set) var carriesDoubt: [Bool]
    /// The epoch in which each was answered, from 0 on; only those with an answer count.
    private(set) var epochOfAnswer: [Int]
    private var epoch = 0
    /// The answers when each epoch but the first began.
    private(set) var evidenceBefore: [TokenEvidence] = []
    /// Named requests, as the run file keeps them.
    private(set) var calls: [NamedCall] = []
    private var lastCall = 0
    private var claimedAt: [Timestamp?]
    /// Recipients of calls that must be sent again under their names.
    private var repeated: Set<Int> = []
    /// Claims and records of this epoch.
    private(set) var claimedCount = 0
    private(set) var recordedCount = 0

    /// - Parameter recipients: of the campaign; a retry is for some of them.
    init(of members: [Int], among recipients: Int) {
        self.members = members
        isMember = Array(repeating: false, count: recipients)
        for member in members { isMember[member] = true }
        statuses = Array(repeating: 0, count: recipients)
        reasons = Array(repeating: "", count: recipients)
        isClaimed = Array(repeating: false, count: recipients)
        outcomes = Array(repeating: nil, count: recipients)
        epochOfAnswer = Array(repeating: 0, count: recipients)
        carriesDoubt = Array(repeating: false, count: recipients)
        claimedAt = Array(repeating: nil, count: recipients)
    }

    /// What the run's figures say about tokens and settings, over all its epochs.
    var evidence: TokenEvidence {
        var outcomes: [Outcome: Int] = [:]
        var reasons: [String: Int] = [:]
        for member in members {
            outcomes[reported(member) ?? .unknown, default: 0] += 1
            if !self.reasons[member].isEmpty { reasons[self.reasons[member], default: 0] += 1 }
        }
        return TokenEvidence(outcomes: outcomes, reasons: reasons, blaming: ServerAnswer.badTokenReasons)
    }

    /// Commits a claim, which voids the `unsent` of an earlier epoch: from now on the push may be
    /// on the wire.
    mutating func claim(_ recipients: some Sequence<Int>, at now: Timestamp) {
        for recipient in recipients {
            if outcomes[recipient] == .unknown, lastCall > 0 {
                name([NamedCall(name: "", namedAt: now, recipients: [recipient])])
            }
            isClaimed[recipient] = true
            claimedAt[recipient] = claimedAt[recipient] ?? now
            outcomes[recipient] = nil
            (statuses[recipient], reasons[recipient]) = (0, "")
            claimedCount += 1
        }
    }

    /// Records an outcome; returns what is wrong with it, if anything.
    mutating func record(_ recipient: Int, _ outcome: Outcome, status: Int, reason: String) -> String? {
        recordedCount += 1
        if let earlier = outcomes[recipient], earlier != .unsent {
            return "recipient \(recipient) is recorded as \(outcome), and was as \(earlier)"
        }
        if !isClaimed[recipient], outcome != .unsent {
            return "recipient \(recipient) is recorded as \(outcome), and was never claimed"
        }
        let isUnsure = carriesDoubt[recipient] && [.unsent, .failed, .rejected].contains(outcome)
        outcomes[recipient] = isUnsure ? .unknown : outcome
        let isRefusedAgain = isUnsure && outcome == .rejected
        (statuses[recipient], epochOfAnswer[recipient]) = (status, epoch)
        reasons[recipient] = isRefusedAgain ? OwnReason.refusedAgain.rawValue : reason
        return nil
    }

    /// What a report says about a recipient; nil if an epoch that ended cleanly forgot it.
    func reported(_ recipient: Int) -> Outcome? {
        outcomes[recipient]
            ?? (!isClaimed[recipient]
                ? .unsent : carriesDoubt[recipient] || repeated.contains(recipient) ? .unknown : nil)
    }

    /// Whether a recipient is unknown, and the service did not refuse it when it went out again.
    private func isOpenDoubt(_ recipient: Int) -> Bool {
        outcomes[recipient] == .unknown && reasons[recipient] != OwnReason.refusedAgain.rawValue
    }

    // MARK: Named requests

    /// Commits the names of requests.
    mutating func name(_ calls: [NamedCall]) {
        for var call in calls {
            lastCall += 1
            call.number = lastCall
            self.calls.append(call)
        }
    }

    /// What a new process finds at a service that recognizes repeats, as RunSender does it.
    /// - Returns: as `resume`, and the calls to repeat and the pasts of pushes.
    mutating func resume(
        _ protection: RepeatProtection, resends: Bool, at now: Timestamp
    ) -> (toSend: [Int], unknown: [Int], unsent: [Int], repeats: [NamedCall], pasts: [Int: PushHistory]) {
        let lost = members.filter { isClaimed[$0] && outcomes[$0] == nil }
        let ranges = lost.map { $0..<$0 + 1 }
        let review: CallReview
        switch protection {
        case .none: preconditionFailure("only for services that recognize repeats")
        case .fetched(let names):
            let recorded = outcomes
            review = CallReview(calls, lost: ranges, names: names, at: now) { ids in
                ids.reduce(into: [:]) { known, id in known[id] = recorded[id] }
            }
        case .derived(let windowSeconds):
            review = CallReview(
                calls, lost: ranges, windowSeconds: windowSeconds, claimedAt: { claimedAt[$0.lowerBound] }, at: now)
        }
        for recipient in review.unsent { outcomes[recipient] = .unsent }
        for recipient in review.unknown {
            outcomes[recipient] = .unknown
            carriesDoubt[recipient] = true
        }
        repeated = Set(review.repeats.flatMap(\.recipients))
        var pasts: [Int: PushHistory] = [:]
        var inDoubt: [Int] = []
        if case .derived = protection {
            let generations = CallReview.generations(of: calls)
            inDoubt = lost.filter { outcomes[$0] == nil }
            for recipient in members where isClaimed[recipient] && outcomes[recipient] == .unsent {
                pasts[recipient] = PushHistory(generation: (generations[recipient] ?? 0) + 1)
                name([NamedCall(name: "\((generations[recipient] ?? 0) + 1)", namedAt: now, recipients: [recipient])])
            }
            for recipient in inDoubt + (resends ? members.filter(isOpenDoubt) : []) {
                pasts[recipient] = PushHistory(generation: generations[recipient] ?? 0, isInDoubt: true)
            }
        } else {
            calls.removeAll { review.over.contains($0.number) }
        }
        let doubtful = inDoubt + (resends ? members.filter(isOpenDoubt) : [])
        for recipient in doubtful { carriesDoubt[recipient] = true }
        let rest = members.filter { outcomes[$0] == .unsent || !isClaimed[$0] }
        beginEpoch()
        precondition(
            repeated.isDisjoint(with: doubtful) && repeated.isDisjoint(with: rest),
            "who is in a repeated call goes nowhere else")
        return (doubtful + rest, review.unknown, review.unsent, review.repeats, pasts)
    }

    private mutating func beginEpoch() {
        evidenceBefore.append(evidence)
        epoch += 1
        claimedCount = 0
        recordedCount = 0
    }

    /// What a new process finds.
    /// - Returns: those to send: never claimed, `unsent`, and with `resends` those that are
    ///   unknown, which come first. And those that only now turn out to be unknown.
    mutating func resume(resends: Bool) -> (toSend: [Int], unknown: [Int]) {
        beginEpoch()
        var unknown: [Int] = []
        var doubtful: [Int] = []
        var rest: [Int] = []
        for recipient in members {
            if outcomes[recipient] == .unsent || !isClaimed[recipient] {
                rest.append(recipient)
            } else if outcomes[recipient] == nil {
                if !carriesDoubt[recipient] { unknown.append(recipient) }
                if resends { doubtful.append(recipient) } else { outcomes[recipient] = .unknown }
                carriesDoubt[recipient] = true
            }
        }
        return (doubtful + rest, unknown)
    }
}

/// Recipients on their way to a loop.
struct SourceBatch {
    var recipients: ArraySlice<Int>
    /// The call that they are, if an earlier process named it.
    var call: NamedCall?
}

/// The reader's side of a run: batches of claimed recipients in a bounded queue.
struct PushSource {
    private(set) var batches: [SourceBatch] = []
    private(set) var isClosed = false
    /// Claimed, but not in the queue yet.
    private(set) var hand: ArraySlice<Int> = []
    private(set) var waitsForRoom = false
    private var rest: ArraySlice<Int>
    private var repeats: ArraySlice<NamedCall>
    private let nature: Nature

    init(_ recipients: [Int], _ nature: Nature, repeats: [NamedCall]) {
        rest = recipients[...]
        self.repeats = repeats[...]
        self.nature = nature
    }

    var isFinished: Bool { isClosed && batches.isEmpty }
    var queuedCount: Int { batches.reduce(0) { $0 + $1.recipients.count } }

    mutating func close() { isClosed = true }

    mutating func take() -> SourceBatch? { batches.isEmpty ? nil : batches.removeFirst() }

    /// The reader's next step: claims if it has nothing in hand, and puts a batch. True if it put
    /// one or is done.
    mutating func step(_ account: inout RunAccount, at now: Timestamp) -> Bool {
        guard !isClosed else { return false }
        if let call = repeats.first {
            waitsForRoom = batches.count >= nature.queuedBatches
            guard !waitsForRoom else { return false }
            repeats.removeFirst()
            account.claim(call.recipients, at: now)
            batches.append(SourceBatch(recipients: call.recipients.sorted()[...], call: call))
            return true
        }
        if hand.isEmpty {
            guard !rest.isEmpty else {
                isClosed = true
                return true
            }
            hand = rest.prefix(min(nature.claimSize, nature.paces.pushesAhead ?? .max))
            rest = rest.dropFirst(hand.count)
            account.claim(hand, at: now)
        }
        waitsForRoom = batches.count >= nature.queuedBatches
        guard !waitsForRoom else { return false }
        batches.append(SourceBatch(recipients: hand.prefix(nature.batchSize)))
        hand = hand.dropFirst(nature.batchSize)
        return true
    }
}
