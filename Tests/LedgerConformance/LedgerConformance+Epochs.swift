import Base
import Runs

extension LedgerConformance {
    static let epochs: [Behaviour] = [
        Behaviour("a life that was noted, begun and confirmed is the run's, which runs from then on") { bench in
            let ledger = try bench.ledger(of: 6)
            let new = NewEpoch(after: "", reached: 0, claimed: 0, in: "sandbox")
            try ledger.lockForSending(isSending: true)
            try expect(
                ledger.append(.epochNoted(new, at: LedgerBench.noon)).beginning, .noted, "the beginning of a life")
            try ledger.append(.epochBegan(new.epoch, at: LedgerBench.noon, from: [.planned]))
            try expect(ledger.append(.epochConfirmed(givenUp: [])).beginning, .noted, "whether the life was confirmed")
            try expect(ledger.status().epoch, new.epoch, "life")
            try expect(
                ledger.status().end,
                RunStatus(state: .running, cause: nil, startedAt: LedgerBench.noon, finishedAt: nil), "status")
            try expect(ledger.loss(during: .sending), nil, "what is lost")
            try expect(
                ledger.status().isBeingSent && ledger.status().sendingSince != nil, true, "whether it is being sent")
        },
        Behaviour("a run begins from the states alone that were looked at") { bench in
            let ledger = try bench.ledger(of: 6)
            try refused("a beginning from another state") {
                try ledger.append(.epochBegan("1-a", at: LedgerBench.noon, from: [.stopped, .paused]))
            }
            try expect(ledger.status().state, .planned, "state")
            try expect(ledger.status().epoch, "", "life")
        },
        Behaviour("one holder at a time has the right to send") { bench in
            let open = try bench.run(of: 6)
            let (first, second) = (try open(), try open())
            try first.lockForSending(isSending: true)
            try first.lockForSending(isSending: true)
            try refused("the right to send that another has") { try second.lockForSending(isSending: true) }
            first.unlock()
            try second.lockForSending(isSending: true)
            try refused("the right to send that the other has by now") { try first.lockForSending(isSending: true) }
        },
        Behaviour("who only keeps others from sending is seen to be there, and not to send") { bench in
            let open = try bench.run(of: 6)
            let (first, second) = (try open(), try open())
            try first.lockForSending(isSending: false)
            try expect(second.status().isBeingSent, true, "whether somebody has the right to send")
            try expect(second.status().sendingSince, nil, "since when it is being sent")
            try refused("the right to send that another has") { try second.lockForSending(isSending: false) }
        },
        Behaviour("of two that want to begin a plan one begins") { bench in
            let open = try bench.run(of: 6)
            let (first, second) = (try open(), try open())
            try first.start(from: [.planned])
            try refused("a second beginning") {
                try second.append(.epochBegan("1-b", at: LedgerBench.noon, from: [.planned]))
            }
            first.crash()
            try refused("a second beginning of what the first has begun") {
                try second.append(.epochBegan("1-b", at: LedgerBench.noon, from: [.planned]))
            }
            try expect(second.status().epoch, first.status().epoch, "life")
        },
        Behaviour("a run that goes on keeps its start, and has no end until it ends again") { bench in
            let open = try bench.run(of: 6)
            let first = try open()
            try first.start()
            try first.append(.state(.stopped, cause: .interrupted, at: LedgerBench.noon.adding(seconds: 5)))
            try first.append(.epochEnded)
            first.crash()
            let second = try open()
            try second.start(from: [.stopped], at: LedgerBench.noon.adding(seconds: 60))
            try expect(
                second.status().end,
                RunStatus(state: .running, cause: nil, startedAt: LedgerBench.noon, finishedAt: nil), "status")
        },
        Behaviour("who saw an older life than the last begins none") { bench in
            let ledger = try bench.sending(6)
            try ledger.append(.state(.stopped, cause: .interrupted, at: LedgerBench.noon))
            try ledger.append(.epochEnded)
            let stale = NewEpoch(after: "", reached: 0, claimed: 0, in: "sandbox")
            try expect(
                ledger.append(.epochNoted(stale, at: LedgerBench.noon)).beginning, .isOutdated,
                "a life after one that is not the last")
        },
        Behaviour("who knows of fewer claims than were made begins no life") { bench in
            let open = try bench.run(of: 6)
            let first = try open()
            try first.start()
            try first.take(0..<5)
            first.crash()
            let second = try open()
            let older = try NewEpoch(after: second.status().epoch, reached: 2, claimed: 2, in: "sandbox")
            try expect(
                second.append(.epochNoted(older, at: LedgerBench.noon)).beginning, .isOutdated,
                "a life of an older copy")
            let present = try NewEpoch(after: second.status().epoch, reached: 5, claimed: 5, in: "sandbox")
            try expect(
                second.append(.epochNoted(present, at: LedgerBench.noon)).beginning, .noted, "a life of what is there")
        },
    ]

    static let crashes: [Behaviour] = [
        Behaviour("after a crash who was claimed and has no outcome is between sent and unsent, and nobody else is") {
            bench in
            let open = try bench.run(of: 20)
            let first = try open()
            try first.start()
            try first.take(0..<8)
            try first.append(.settled([(0..<3).map { settled($0) }]))
            try first.take(8..<12)
            try first.append(.settled([[settled(10)]]))
            first.crash()
            let second = try open()
            try expect(second.claimedWithoutOutcome(), [3..<10, 11..<12], "claimed without an outcome")
            try expect(second.counts(), [.accepted: 4, .unknown: 8, .unsent: 8], "outcomes")
            try expect(second.lease(atMost: 100, of: 0..<20), 12..<20, "next range")
        },
        Behaviour("a run whose process is gone has stopped, without an end") { bench in
            let open = try bench.run(of: 6)
            let first = try open()
            try first.start()
            first.crash()
            let status = try open().status()
            try expect(status.state, .stopped, "state")
            try expect(status.cause, .ledger(.processGone), "cause")
            try expect(status.finishedAt, nil, "end")
        },
        Behaviour("those who were lost are recorded as unknown, once") { bench in
            let open = try bench.run(of: 20)
            let first = try open()
            try first.start()
            try first.take(0..<12)
            try first.append(.settled([[settled(0), unsent(1), settled(2, .unknown, status: 0)]]))
            first.crash()
            let second = try open()
            try second.start()
            try expect(second.append(.lost(at: LedgerBench.noon)).count, 9, "who was lost")
            try expect(second.append(.lost(at: LedgerBench.noon)).count, 0, "who was lost the second time")
            try expect(second.recipients(.unknown), Array(2..<12), "who is unknown")
            try expect(
                second.figures(withGroups: false).count(.processEnded), 9,
                "who may have been sent to as the process ended")
            try expect(second.figures(withGroups: false).count(.interrupted), 1, "who was not")
        },
        Behaviour("a crash after reopening leaves them unknown, and those whose outcome was there before as they were")
        { bench in
            let open = try bench.run(of: 6)
            let first = try open()
            try first.start()
            try first.take(0..<6)
            try first.append(.settled([[settled(0), unsent(1), unsent(2)]]))
            try first.append(.reopened([1, 2], resendsUnknown: false, at: .now()))
            first.crash()
            let second = try open()
            try expect(second.counts(), [.accepted: 1, .unknown: 5], "outcomes")
            try expect(second.recipients(.accepted), [0], "who accepted it")
        },
        Behaviour("resumed again and again, each recipient settles once") { bench in
            let open = try bench.run(of: 100)
            var sent: [Int] = []
            for epoch in 0..<5 {
                let ledger = try open()
                try ledger.start(at: LedgerBench.noon.adding(seconds: Double(epoch)))
                try ledger.append(.lost(at: LedgerBench.noon))
                for _ in 0..<3 {
                    guard let range = try ledger.lease(atMost: 11, of: 0..<100) else { break }
                    try ledger.take(range)
                    sent += range
                    // The last of each group is handed to the wire, and no answer to it is
                    // recorded.
                    try ledger.append(.settled([range.dropLast().map { settled($0) }]))
                }
                ledger.crash()
            }
            try expect(sent, Array(0..<100), "who was sent to")
            let last = try open()
            try expect(last.counts().values.reduce(0, +), 100, "everybody")
            try expect(
                last.recipients(.accepted).count + last.counts()[.unknown, default: 0], 100,
                "who accepted it or is unknown")
        },
        Behaviour("a process that stood still while another took over claims nobody any more") { bench in
            let open = try bench.run(of: 20)
            let (first, second) = (try open(), try open())
            try first.start()
            try first.take(0..<4)
            try first.append(.settled([[unsent(0)]]))
            first.crash()
            try second.start()
            try second.take(4..<8)
            for entry in [
                RunEntry.claimed(8..<12, at: LedgerBench.noon), .reopened([0], resendsUnknown: false, at: .now()),
            ] {
                let error = try refused("a claim for an epoch that is over") { try first.append(entry) }
                try expect(error as? SendingRevoked, SendingRevoked(isCancelled: false), "\(error)")
            }
            try expect(second.claims().claimed.ranges, [0..<8], "claims")
        },
    ]
}
