import Base
import Runs

extension LedgerConformance {
    static let outcomes: [Behaviour] = [
        Behaviour("outcomes are kept as they were recorded") { bench in
            let ledger = try bench.sending(4)
            try ledger.take(0..<4)
            var gone = settled(1, .invalidToken, status: 410, reason: "Unregistered", attempts: 2)
            gone.invalidSince = LedgerBench.noon.adding(seconds: -3600)
            let all = [
                settled(0), gone, settled(2, .failed, status: 503, reason: "Shutdown", attempts: 6),
                unsent(3, .expired),
            ]
            try ledger.append(.settled([all]))
            var found: [Settlement?] = []
            try ledger.forEachResult { _, _, settlement, _ in found.append(settlement) }
            try expect(found, all, "outcomes")
        },
        Behaviour("parts are recorded together") { bench in
            let ledger = try bench.sending(6)
            try ledger.take(0..<6)
            try ledger.append(.settled([[settled(5), settled(2)], [], [settled(0)]]))
            try expect(ledger.recipients(.accepted), [0, 2, 5], "who accepted it")
            try ledger.append(.settled([[Settlement]]()))
            try expect(ledger.claimedWithoutOutcome(), [1..<2, 3..<5], "claimed without an outcome")
        },
        Behaviour("nobody is settled twice, and then nothing of the group is recorded") { bench in
            let ledger = try bench.sending(6)
            try ledger.take(0..<6)
            try ledger.append(.settled([[settled(2)]]))
            try refused("an outcome in another's place") {
                try ledger.append(.settled([[settled(1)], [settled(2, .failed)]]))
            }
            try expect(ledger.recipients(.accepted), [2], "who accepted it")
            try expect(ledger.counts(), [.accepted: 1, .unknown: 5], "outcomes")
        },
        Behaviour("who was given back may get an outcome later") { bench in
            let ledger = try bench.sending(6)
            try ledger.take(0..<6)
            try ledger.append(.settled([[unsent(0), unsent(1)]]))
            try ledger.append(.settled([[settled(0), unsent(1, .paused)]]))
            try expect(ledger.recipients(.accepted), [0], "who accepted it")
            try expect(ledger.figures(withGroups: false).reasons, ["Paused": 1], "reasons")
        },
        Behaviour("who was never claimed can be unsent, and nothing else") { bench in
            let ledger = try bench.sending(6)
            try refused("an outcome of somebody who was never claimed") { try ledger.append(.settled([[settled(0)]])) }
            try ledger.append(.settled([[unsent(0)]]))
            try expect(ledger.counts(), [.unsent: 6], "outcomes")
            try refused("an outcome of nobody") { try ledger.append(.settled([[unsent(6)]])) }
        },
        Behaviour("who is claimed is unknown until an outcome is recorded, and the figures come to the audience") {
            bench in
            let ledger = try bench.sending(20)
            try ledger.take(0..<12)
            try expect(ledger.counts(), [.unknown: 12, .unsent: 8], "outcomes")
            try ledger.append(
                .settled([[settled(3), settled(4, .rejected, status: 400, reason: "BadTopic"), unsent(5)]]))
            try expect(ledger.counts(), [.accepted: 1, .rejected: 1, .unknown: 9, .unsent: 9], "outcomes")
            // A recipient that was claimed and has no outcome may turn out to be unsent.
            try expect(ledger.reached(), 2, "who was reached")
        },
        Behaviour("who is deferred is unsent, and can be claimed for another time") { bench in
            let ledger = try bench.sending(6)
            try ledger.take(0..<2)
            try ledger.append(.settled([[settled(0)]]))
            try expect(
                ledger.append(.deferred(0..<4, .quietHours, isTooLate: false, at: LedgerBench.noon)).count, 2,
                "who is unsent")
            try expect(ledger.claims().claimed.ranges, [0..<2], "claims")
            try expect(ledger.counts(), [.accepted: 1, .unknown: 1, .unsent: 4], "outcomes")
            try expect(
                ledger.append(.deferred(2..<4, .quietHours, isTooLate: false, at: LedgerBench.noon)).count, 2,
                "who is unsent once more")
            try expect(ledger.lease(atMost: 9, of: 0..<6), 2..<6, "next range")
            try ledger.take(2..<6)
            try expect(ledger.claimedWithoutOutcome(), [1..<6], "claimed without an outcome")
            try expect(ledger.figures(withGroups: false).reasons, [:], "reasons")
        },
        Behaviour("a wave that is too late stays unsent for good") { bench in
            let ledger = try bench.sending(6, waves: [2, 2, 2])
            try expect(
                ledger.append(.deferred(2..<4, .tooLate, isTooLate: true, at: LedgerBench.noon)).count, 2,
                "who is unsent")
            try expect(ledger.claims().skippedWaves, [2], "waves that were skipped")
            try expect(ledger.claims().claimed.ranges, [2..<4], "claims")
            try expect(ledger.lease(atMost: 9, of: 0..<6), 0..<2, "range before the wave")
            try ledger.take(0..<2)
            try expect(ledger.lease(atMost: 9, of: 0..<6), 4..<6, "range behind the wave")
        },
        Behaviour("a wave is done when all of it are claimed and none of its outcomes is open") { bench in
            let ledger = try bench.sending(6, waves: [3, 3])
            func isDone(resending: Bool = false, _ closing: Set<OwnReason> = []) throws -> Bool {
                try ledger.isSettled(0..<3, OpenOutcomes(resendsUnknown: resending, closing: closing))
            }
            try ledger.take(0..<2)
            try ledger.append(.settled([[settled(0), settled(1, .unknown, status: 0)]]))
            try expect(isDone(), false, "whether a wave of whom one is not claimed is done")
            try ledger.take(2..<3)
            try expect(isDone(), false, "whether a wave of whom one has no outcome is done")
            try ledger.append(.settled([[unsent(2, .frequencyCap)]]))
            try expect(isDone(), false, "whether a wave of whom one is unsent is done")
            try expect(isDone([.frequencyCap]), true, "whether a wave is done of whom one gets nothing any more")
            try expect(
                isDone(resending: true, [.frequencyCap]), false,
                "whether a wave is done of whom an unknown one is sent to again")
        },
    ]

    static let reading: [Behaviour] = [
        Behaviour("pushes come in order, with token and cells, and with their language when it is asked for") { bench in
            let ledger = try bench.ledger(of: 6)
            for isAsked in [false, true] {
                var found: [String] = []
                try ledger.forEachPush(in: 2..<9, PushSelection(withTraits: isAsked)) { push in
                    let (token, cell) = (
                        String(decoding: push.token, as: UTF8.self), String(decoding: push.cells[0], as: UTF8.self)
                    )
                    found.append("\(push.id) \(token) \(cell) \(String(decoding: push.language, as: UTF8.self))")
                }
                let expected = (2..<6).map { id in
                    let recipient = LedgerBench.recipient(id)
                    return "\(id) \(recipient.token.text) \(recipient.fields[0]) \(isAsked ? recipient.language : "")"
                }
                try expect(found, expected, "pushes")
            }
        },
        Behaviour(
            "what is left of a claim are those without an outcome, the unsent and, when they are sent to again, the unknown that were not refused since"
        ) { bench in
            let ledger = try bench.sending(10)
            try ledger.take(0..<8)
            try ledger.append(
                .settled([
                    [
                        settled(0), unsent(1), settled(2, .unknown, status: 0, attempts: 3),
                        settled(3, .failed, status: 503),
                        unsent(4, .frequencyCap),
                        settled(5, .unknown, status: 400, reason: "RefusedAgain", attempts: 2),
                    ]
                ]))
            func left(resending: Bool) throws -> [String] {
                var found: [String] = []
                try ledger.forEachPush(
                    in: 0..<8,
                    PushSelection(unsettled: OpenOutcomes(resendsUnknown: resending, closing: [.frequencyCap]))
                ) { push in
                    found.append("\(push.id) \(push.attempts) \(push.mayHaveArrived)")
                }
                return found
            }
            let rest = (6..<8).map { "\($0) 0 true" }
            try expect(left(resending: false), ["1 0 false"] + rest, "who is left")
            try expect(
                left(resending: true), ["1 0 false", "2 3 true"] + rest,
                "who is left where the unknown are sent to again")
        },
        Behaviour("who is reopened is claimed and nothing else; who is settled stays so") { bench in
            let ledger = try bench.sending(6)
            try ledger.take(0..<6)
            try ledger.append(.settled([[settled(0), unsent(1), settled(2, .unknown, status: 0, attempts: 3)]]))
            try expect(
                ledger.append(.reopened([0, 1, 2], resendsUnknown: false, at: .now())).attempts, [:], "attempts")
            try expect(ledger.claimedWithoutOutcome(), [1..<2, 3..<6], "claimed without an outcome")
            try expect(ledger.append(.reopened([2, 3], resendsUnknown: true, at: .now())).attempts, [2: 3], "attempts")
            try expect(ledger.counts(), [.accepted: 1, .unknown: 5], "outcomes")
            try ledger.append(.settled([[settled(1), settled(2, attempts: 4)]]))
            try expect(ledger.recipients(.accepted), [0, 1, 2], "who accepted it")
        },
        Behaviour("who is reopened counts as one more claim") { bench in
            let ledger = try bench.sending(6)
            try ledger.take(0..<6)
            try ledger.append(.settled([(0..<6).map { unsent($0) }]))
            try ledger.append(.reopened([0, 1, 2, 3], resendsUnknown: false, at: .now()))
            try expect(ledger.claims().made, 10, "claims that were made")
            try expect(ledger.claims().claimed.ranges, [0..<6], "claims")
        },
    ]
}
