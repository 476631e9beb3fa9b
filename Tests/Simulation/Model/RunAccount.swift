import Base

@testable import Delivery
import PushServices

/// A model of the run file, as described in docs/architecture.md: what was claimed, and what was recorded about each recipient. It survives
/// a crash.
struct RunAccount {
    /// The recipients of the run, ascending.
    let members: [Int]
    private(set) var isMember: [Bool]
    /// The statuses of recorded answers.
    private(set) var statuses: [Int]
    private(set) var reasons: [String]
    private(set) var isClaimed: [Bool]
    private(set) var outcomes: [Outcome?]
    /// Claimed in an earlier life without an outcome, and sent again: whatever the result now, it is unknown whether it was delivered then.
    private(set) var carriesDoubt: [Bool]
    /// The life in which each was answered, from 0 on; only those with an answer count.
    private(set) var lifeOfAnswer: [Int]
    private var life = 0
    /// The answers when each life but the first began.
    private(set) var evidenceBefore: [TokenEvidence] = []
    /// Claims and records of this life.
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
        lifeOfAnswer = Array(repeating: 0, count: recipients)
        carriesDoubt = Array(repeating: false, count: recipients)
    }

    /// What the run's figures say about tokens and settings, over all its lives.
    var evidence: TokenEvidence {
        var outcomes: [Outcome: Int] = [:]
        var reasons: [String: Int] = [:]
        for member in members {
            outcomes[reported(member) ?? .unknown, default: 0] += 1
            if !self.reasons[member].isEmpty { reasons[self.reasons[member], default: 0] += 1 }
        }
        return TokenEvidence(outcomes: outcomes, reasons: reasons, blaming: ServerAnswer.badTokenReasons)
    }

    /// Commits a claim, which voids the `unsent` of an earlier life: from now on the push may be on the wire.
    mutating func claim(_ recipients: some Sequence<Int>) {
        for recipient in recipients {
            isClaimed[recipient] = true
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
        if !isClaimed[recipient], outcome != .unsent { return "recipient \(recipient) is recorded as \(outcome), and was never claimed" }
        let isUnsure = carriesDoubt[recipient] && (outcome == .unsent || outcome == .failed)
        outcomes[recipient] = isUnsure ? .unknown : outcome
        (statuses[recipient], reasons[recipient], lifeOfAnswer[recipient]) = (status, reason, life)
        return nil
    }

    /// What a report says about a recipient; nil if a life that ended cleanly forgot it.
    func reported(_ recipient: Int) -> Outcome? {
        outcomes[recipient] ?? (!isClaimed[recipient] ? .unsent : carriesDoubt[recipient] ? .unknown : nil)
    }

    /// What a new process finds.
    /// - Returns: those to send: never claimed, `unsent`, and with `resends` those that are unknown, which come first. And those that only
    ///   now turn out to be unknown.
    mutating func resume(resends: Bool) -> (toSend: [Int], unknown: [Int]) {
        evidenceBefore.append(evidence)
        life += 1
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
        claimedCount = 0
        recordedCount = 0
        return (doubtful + rest, unknown)
    }
}

/// The reader's side of a run: batches of claimed recipients in a bounded queue.
struct PushSource {
    private(set) var batches: [ArraySlice<Int>] = []
    private(set) var isClosed = false
    /// Claimed, but not in the queue yet.
    private(set) var hand: ArraySlice<Int> = []
    private(set) var waitsForRoom = false
    private var rest: ArraySlice<Int>
    private let nature: Nature

    init(_ recipients: [Int], _ nature: Nature) {
        rest = recipients[...]
        self.nature = nature
    }

    var isFinished: Bool { isClosed && batches.isEmpty }
    var queuedCount: Int { batches.reduce(0) { $0 + $1.count } }

    mutating func close() { isClosed = true }

    mutating func take() -> ArraySlice<Int>? { batches.isEmpty ? nil : batches.removeFirst() }

    /// The reader's next step: claims if it has nothing in hand, and puts a batch. True if it put one or is done.
    mutating func step(_ account: inout RunAccount) -> Bool {
        guard !isClosed else { return false }
        if hand.isEmpty {
            guard !rest.isEmpty else {
                isClosed = true
                return true
            }
            hand = rest.prefix(min(nature.claimSize, nature.settings.pace.map(nature.service.batching.pushesAhead) ?? .max))
            rest = rest.dropFirst(hand.count)
            account.claim(hand)
        }
        waitsForRoom = batches.count >= nature.queuedBatches
        guard !waitsForRoom else { return false }
        batches.append(hand.prefix(nature.batchSize))
        hand = hand.dropFirst(nature.batchSize)
        return true
    }
}
