import Base
import PushServices
import Runs

extension LedgerConformance {
    private static let two = [RunSegment(ids: 0..<6, service: 0), RunSegment(ids: 6..<10, service: 1)]

    static let segments: [Behaviour] = [
        Behaviour("two legs lease side by side, and neither is given the other's recipients") { bench in
            let ledger = try bench.run(of: 10, segments: two)()
            try ledger.start()
            var given: [[Range<Int>]] = [[], []]
            for round in 0..<4 {
                for (number, segment) in ledger.plan.segments.enumerated() {
                    guard let range = try ledger.lease(atMost: 2 + number, of: segment.ids) else { continue }
                    // One of them is behind with its claim.
                    if number == 1, round == 1 { continue }
                    try ledger.take(range)
                    given[number].append(range)
                }
            }
            try expect(given, [[0..<2, 2..<4, 4..<6], [6..<9, 9..<10]], "ranges")
            try expect(ledger.claims().claimed.ranges, [0..<10], "claims")
        },
        Behaviour("the legs of a run are those that were planned, and show the service of each recipient") { bench in
            let plan = try bench.run(of: 10, segments: two)().plan
            try expect(plan.segments, two, "legs")
            try expect((0..<10).map(plan.service(of:)), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1], "services of recipients")
            try expect(plan.ids(ofService: 1).ranges, [6..<10], "recipients of the second service")
        },
        Behaviour("waves of several services have a leg for each wave and service that has recipients") { bench in
            let segments = [
                RunSegment(ids: 0..<2, service: 0), RunSegment(ids: 2..<5, service: 1),
                RunSegment(ids: 5..<8, service: 0),
            ]
            let plan = try bench.run(of: 8, waves: [5, 3], segments: segments)().plan
            try expect(plan.segments, segments, "legs")
            try expect(
                plan.waves.map { plan.segments(of: $0.ids) }, [Array(segments[..<2]), Array(segments[2...])],
                "legs of waves")
        },
        Behaviour("with one service the legs are the waves, or the whole run") { bench in
            try expect(bench.ledger(of: 6).plan.segments, [RunSegment(ids: 0..<6, service: 0)], "legs")
            let plan = try bench.ledger(of: 6, waves: [4, 2]).plan
            try expect(
                plan.segments, [RunSegment(ids: 0..<4, service: 0), RunSegment(ids: 4..<6, service: 0)], "legs of waves"
            )
        },
        Behaviour("a recipient is read with its leg's form of target") { bench in
            let ledger = try bench.run(of: 10, segments: two)()
            var found: [String] = []
            try ledger.forEachPush(in: 4..<8, PushSelection()) { found.append("\($0.service) \($0.token.count)") }
            try expect(found, ["0 64", "0 64", "1 141", "1 141"], "services and lengths of targets")
            found = []
            try ledger.forEachPush(
                in: 0..<10, PushSelection(unsettled: OpenOutcomes(resendsUnknown: true), withTraits: true)
            ) { push in
                found.append("\(push.id) \(push.service)")
            }
            try expect(found, (0..<10).map { "\($0) \($0 < 6 ? 0 : 1)" }, "services of what is left")
            var targets: [Int] = []
            try ledger.forEachResult { _, recipient, _, _ in targets.append(recipient.token.text.utf8.count) }
            try expect(targets, (0..<10).map { $0 < 6 ? 64 : 141 }, "lengths of targets")
        },
        Behaviour("figures of legs add up to those of the run") { bench in
            let ledger = try bench.run(of: 10, segments: two)()
            try ledger.start()
            try ledger.take(0..<4)
            try ledger.take(6..<9)
            try ledger.append(
                .settled([
                    [
                        settled(0), settled(1, .rejected, status: 400, reason: "BadTopic"), unsent(2), settled(6),
                        settled(7, .rejected, status: 400, reason: "INVALID_ARGUMENT"),
                    ]
                ]))
            let figures = try ledger.figures(withGroups: false)
            try expect(figures.services.count, 2, "services")
            for outcome in Outcome.allCases {
                let sum = figures.services.reduce(0) { $0 + ($1.outcomes[outcome] ?? 0) }
                try expect(sum, figures.outcomes[outcome] ?? -1, "devices that are \(outcome)")
            }
            try expect(
                figures.services[0].outcomes.filter { $0.value > 0 },
                [.accepted: 1, .rejected: 1, .unknown: 1, .unsent: 3],
                "outcomes of the first service")
            try expect(
                figures.services[1].outcomes.filter { $0.value > 0 },
                [.accepted: 1, .rejected: 1, .unknown: 1, .unsent: 1],
                "outcomes of the second service")
            try expect(figures.services[1].reasons, ["INVALID_ARGUMENT": 1], "reasons of the second service")
            try expect(figures.figures(ofService: 1), figures.services[1], "figures of the second service")
        },
        Behaviour("figures of one service are not divided") { bench in
            let ledger = try bench.sending(6)
            try ledger.take(0..<6)
            try ledger.append(.settled([[settled(0)]]))
            let figures = try ledger.figures(withGroups: false)
            try expect(figures.services, [], "services")
            try expect(figures.figures(ofService: 0), figures, "figures of the service")
        },
        Behaviour("what a service had answered before a life says nothing about another service") { bench in
            let open = try bench.run(of: 10, segments: two)
            for epoch in 0..<3 {
                let ledger = try open()
                try ledger.start()
                let answers = try (0..<2).map { try ledger.answers(ofService: $0).beforeEpochs.map(\.answers) }
                // In the second epoch only the second service answers.
                try expect(answers, [epoch > 0 ? [2] : [], [[], [1], [1, 3]][epoch]], "answers before lives")
                let ids = [[0, 1, 6], [7, 8], []][epoch]
                for id in ids { try ledger.take(id..<id + 1) }
                try ledger.append(.settled([ids.map { settled($0) }]))
                ledger.crash()
            }
        },
        Behaviour("receipts are kept by services, in order, each once, over lives") { bench in
            let open = try bench.run(of: 10, segments: two)
            let first = try open()
            try first.start()
            try expect(first.answers(ofService: 0).receipts, [], "receipts before any")
            try first.append(.receipts(["b", "a"], service: 1))
            try first.append(.receipts(["x"], service: 0))
            first.crash()
            let second = try open()
            try second.start()
            try second.append(.receipts(["a", "c"], service: 1))
            try expect(second.answers(ofService: 1).receipts, ["b", "a", "c"], "receipts of the second service")
            try expect(second.answers(ofService: 0).receipts, ["x"], "receipts of the first service")
        },
        Behaviour("a leg's stop is kept, with what holds it, until the next life tries again") { bench in
            let open = try bench.run(of: 10, segments: two)
            let first = try open()
            try first.start()
            try expect(first.status().segments, [:], "states of legs")
            let (held, cause) = (
                LedgerBench.noon.adding(seconds: 3600),
                StopCause.service("fcm", .refused(reason: "SENDER_ID_MISMATCH", status: 403, clockLagSeconds: nil))
            )
            try first.append(.segment(two[1], SegmentState(heldUntil: held, cause: cause)))
            try first.append(.segment(two[0], SegmentState(cause: .interrupted)))
            let expected = [6: SegmentState(heldUntil: held, cause: cause), 0: SegmentState(cause: .interrupted)]
            try expect(first.status().segments, expected, "states of legs")
            first.crash()
            let second = try open()
            try expect(second.status().segments, expected, "states of legs, for another process")
            try second.start()
            try expect(second.status().segments, [6: SegmentState(heldUntil: held)], "states of legs in the next life")
            try second.append(.segment(two[1], SegmentState()))
            try expect(second.status().segments, [:], "states of legs, once nothing holds them")
        },
        Behaviour("what is no leg of the run has no state") { bench in
            let ledger = try bench.run(of: 10, segments: two)()
            try ledger.start()
            for segment in [RunSegment(ids: 0..<5, service: 0), RunSegment(ids: 6..<10, service: 0)] {
                try refused("a state of \(segment)") {
                    try ledger.append(.segment(segment, SegmentState(cause: .interrupted)))
                }
            }
        },
        Behaviour("a leg of a run of one service can be held, too") { bench in
            let ledger = try bench.sending(6)
            let state = SegmentState(heldUntil: LedgerBench.noon)
            try ledger.append(.segment(ledger.plan.segments[0], state))
            try expect(ledger.status().segments, [0: state], "states of legs")
        },
    ]
}
