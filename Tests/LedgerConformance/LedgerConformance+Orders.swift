import Base
import Runs

extension LedgerConformance {
    static let orders: [Behaviour] = [
        Behaviour("nobody can be asked where no process sends the run, or it is gone") { bench in
            let ledger = try bench.ledger(of: 6)
            func refusesAll() throws {
                for order in RunOrder.allCases {
                    try refused("an order to nobody") { try ledger.append(.ordered(order, at: LedgerBench.noon)) }
                }
                try expect(ledger.status().order, nil, "order")
            }
            try refusesAll()
            try expect(ledger.status().state, .planned, "state")
            try ledger.start()
            ledger.crash()
            try refusesAll()
            try expect(ledger.status().cause, .ledger(.processGone), "cause")
        },
        Behaviour("who sends the run sees that it is to pause, and to go on") { bench in
            let open = try bench.run(of: 6)
            let (sender, other) = (try open(), try open())
            try sender.start()
            try expect(sender.status().order, .goOn, "order")
            try other.append(.ordered(.pause, at: LedgerBench.noon))
            try expect(sender.status().order, .pause, "order")
            try expect(sender.status().finishedAt, nil, "end")
            try other.append(.ordered(.goOn, at: LedgerBench.noon))
            try expect(sender.status().order, .goOn, "order")
            try sender.take(0..<6)
        },
        Behaviour("an order that does not fit is refused, and changes nothing") { bench in
            let open = try bench.run(of: 6)
            let (sender, other) = (try open(), try open())
            try sender.start()
            try refused("to go on what goes on") { try other.append(.ordered(.goOn, at: LedgerBench.noon)) }
            try other.append(.ordered(.pause, at: LedgerBench.noon))
            try refused("to pause what is paused") { try other.append(.ordered(.pause, at: LedgerBench.noon)) }
            try expect(sender.status().order, .pause, "order")
            try other.append(.ordered(.cancel, at: LedgerBench.noon))
            try refused("to pause what is cancelled") { try other.append(.ordered(.pause, at: LedgerBench.noon)) }
            try expect(sender.status().order, .cancel, "order")
        },
        Behaviour("of a run that is cancelled nobody more is claimed, and what comes in is still recorded") { bench in
            let open = try bench.run(of: 6)
            let (sender, other) = (try open(), try open())
            try sender.start()
            try sender.take(0..<3)
            try other.append(.ordered(.cancel, at: LedgerBench.noon.adding(seconds: 9)))
            for entry in [
                RunEntry.claimed(3..<6, at: LedgerBench.noon), .reopened([0], resendsUnknown: true, at: .now()),
            ] {
                let error = try refused("a claim of a run that is cancelled") { try sender.append(entry) }
                try expect(error as? SendingRevoked, SendingRevoked(isCancelled: true), "\(error)")
            }
            try sender.append(.settled([[settled(0), settled(1)]]))
            try expect(sender.counts(), [.accepted: 2, .unknown: 1, .unsent: 3], "outcomes")
            let status = try other.status()
            try expect(status.cause, .cancelled, "cause")
            try expect(status.finishedAt, LedgerBench.noon.adding(seconds: 9), "end")
        },
    ]

    static let ends: [Behaviour] = [
        Behaviour("a run finishes, or stops for what its figures say, in one moment") { bench in
            for objection in [nil, StopCause.described("too many refusals")] {
                let ledger = try bench.sending(6)
                try ledger.take(0..<6)
                try ledger.append(.settled([(0..<6).map { settled($0) }]))
                var seen: [Outcome: Int] = [:]
                let cause = try ledger.append(
                    .finished(
                        unless: { figures in
                            seen = figures.outcomes.filter { $0.value > 0 }
                            return objection
                        }, at: LedgerBench.noon.adding(seconds: 3))
                ).objection
                try expect(seen, [.accepted: 6], "figures that were judged")
                try expect(cause, objection, "objection")
                let end = RunStatus(
                    state: objection == nil ? .finished : .stopped, cause: objection, startedAt: LedgerBench.noon,
                    finishedAt: LedgerBench.noon.adding(seconds: 3))
                try expect(ledger.status().end, end, "status")
            }
        },
        Behaviour("a state is recorded from those states alone that were looked at") { bench in
            let ledger = try bench.sending(6)
            try refused("an end of what is not paused") {
                try ledger.append(.state(.stopped, cause: .interrupted, at: LedgerBench.noon, from: [.paused]))
            }
            try expect(ledger.status().state, .running, "state")
            try ledger.append(.state(.stopped, cause: .interrupted, at: LedgerBench.noon, from: [.running, .paused]))
            try expect(ledger.status().cause, .interrupted, "cause")
        },
        Behaviour("what had been answered as each life but the first began is known, in order") { bench in
            let open = try bench.run(of: 20)
            for epoch in 0..<3 {
                let ledger = try open()
                try ledger.start()
                try expect(
                    ledger.answers(ofService: 0).beforeEpochs.map(\.answers), (0..<epoch).map { ($0 + 1) * 4 },
                    "answers before lives")
                let ids = epoch * 4..<epoch * 4 + 4
                try ledger.take(ids)
                try ledger.append(.settled([ids.map { settled($0) }]))
                ledger.crash()
            }
        },
        Behaviour("when a life ends, it is noted how far the run is") { bench in
            let open = try bench.run(of: 6)
            let first = try open()
            try first.start()
            try first.take(0..<6)
            try first.append(.settled([(0..<4).map { settled($0) } + [unsent(4), unsent(5)]]))
            try first.append(.state(.stopped, cause: .interrupted, at: LedgerBench.noon))
            try first.append(.epochEnded)
            first.crash()
            let second = try open()
            let older = try NewEpoch(after: second.status().epoch, reached: 3, claimed: 6, in: "sandbox")
            try expect(
                second.append(.epochNoted(older, at: LedgerBench.noon)).beginning, .isOutdated,
                "a life of what has reached fewer")
            try second.start(from: [.stopped])
        },
    ]
}
