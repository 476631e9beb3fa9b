import Base
import Runs

extension LedgerConformance {
    static let claims: [Behaviour] = [
        Behaviour("of a plan nobody is claimed, and nothing has begun") { bench in
            let ledger = try bench.ledger(of: 20)
            try expect(ledger.claims().claimed, ClaimSet(), "claims")
            try expect(ledger.claims().made, 0, "claims that were made")
            try expect(ledger.status().epoch, "", "epoch")
            try expect(ledger.counts(), [.unsent: 20], "outcomes")
            try expect(
                ledger.status().end, RunStatus(state: .planned, cause: nil, startedAt: nil, finishedAt: nil), "status")
        },
        Behaviour("the first range begins with the first recipient, and is no longer than was asked for") { bench in
            try expect(bench.sending(20).lease(atMost: 8, of: 0..<20), 0..<8, "first range")
        },
        Behaviour("what was given and not claimed is given again") { bench in
            let ledger = try bench.sending(20)
            _ = try ledger.lease(atMost: 8, of: 0..<20)
            try expect(ledger.lease(atMost: 5, of: 0..<20), 0..<5, "range after one that was not claimed")
            try ledger.take(0..<2)
            try expect(ledger.lease(atMost: 5, of: 0..<20), 2..<7, "range after one that was claimed in part")
        },
        Behaviour("what follows a claim is given next, until all of the leg are claimed") { bench in
            let ledger = try bench.sending(20)
            var given: [Range<Int>] = []
            while let range = try ledger.lease(atMost: 8, of: 0..<20) {
                try ledger.take(range)
                given.append(range)
            }
            try expect(given, [0..<8, 8..<16, 16..<20], "ranges")
            try expect(ledger.claims().claimed.ranges, [0..<20], "claims")
        },
        Behaviour("a range ends where somebody is claimed, and goes on behind that") { bench in
            let ledger = try bench.sending(20)
            try ledger.take(4..<9)
            try expect(ledger.lease(atMost: 100, of: 0..<20), 0..<4, "range before a claim")
            try ledger.take(0..<4)
            try expect(ledger.lease(atMost: 100, of: 0..<20), 9..<20, "range behind a claim")
        },
        Behaviour("a range lies within its leg, and within the audience") { bench in
            let ledger = try bench.sending(20)
            try expect(ledger.lease(atMost: 100, of: 6..<9), 6..<9, "range of a leg")
            try expect(
                ledger.lease(atMost: 100, of: 15..<40), 15..<20, "range of a leg that is longer than the audience")
            try expect(ledger.lease(atMost: 100, of: 20..<40), nil, "range beyond the audience")
        },
        Behaviour("legs in any order, claimed in parts of any size, come to everybody once") { bench in
            let ledger = try bench.sending(1000)
            var seen: [Int] = []
            for (number, segment) in [600..<1000, 0..<250, 249..<601].enumerated() {
                var size = 1
                while let range = try ledger.lease(atMost: size, of: segment) {
                    try ledger.take(range)
                    seen += range
                    size = (size * 7 + number) % 90 + 1
                }
            }
            try expect(seen.sorted(), Array(0..<1000), "who was claimed")
        },
        Behaviour("a range of whom one is claimed already is not claimed") { bench in
            let ledger = try bench.sending(20)
            try ledger.take(5..<8)
            for range in [0..<6, 7..<9, 5..<8, 6..<7, 0..<20] {
                try refused("a claim of \(range)") { try ledger.take(range) }
            }
            try expect(ledger.claims().claimed.ranges, [5..<8], "claims")
            try expect(ledger.claims().made, 3, "claims that were made")
        },
        Behaviour("nobody beyond the audience is claimed") { bench in
            let ledger = try bench.sending(20)
            try refused("a claim beyond the audience") { try ledger.take(18..<21) }
            try expect(ledger.claims().claimed.isEmpty, true, "whether nobody is claimed")
        },
        Behaviour("an empty claim changes nothing") { bench in
            let ledger = try bench.sending(20)
            try ledger.append(.claimed(3..<3, at: LedgerBench.noon))
            try expect(ledger.claims().claimed.isEmpty, true, "whether nobody is claimed")
            try expect(ledger.claims().last, nil, "last claim")
        },
        Behaviour("who gets nothing is recorded in the moment of the claim") { bench in
            let ledger = try bench.sending(20)
            try ledger.append(
                .claimed(0..<10, unsent: [unsent(3, .frequencyCap), unsent(7, .frequencyCap)], at: LedgerBench.noon))
            try expect(ledger.recipients(.unsent), [3, 7], "who is unsent")
            try expect(ledger.claimedWithoutOutcome(), [0..<3, 4..<7, 8..<10], "claimed without an outcome")
        },
        Behaviour("the first claim of some recipients, and the last of all, are known by their moments") { bench in
            let ledger = try bench.sending(20)
            try expect(ledger.claims().first(of: 0..<20), nil, "first claim before there was any")
            for (number, range) in [10..<12, 0..<5, 5..<10].enumerated() {
                try ledger.take(range, at: LedgerBench.noon.adding(seconds: Double(number)))
            }
            try expect(ledger.claims().first(of: 0..<10), LedgerBench.noon.adding(seconds: 1), "first claim")
            try expect(ledger.claims().first(of: 9..<11), LedgerBench.noon, "first claim")
            try expect(ledger.claims().first(of: 12..<20), nil, "first claim of those that nobody claimed")
            try expect(ledger.claims().last, LedgerBench.noon.adding(seconds: 2), "last claim")
        },
    ]
}
