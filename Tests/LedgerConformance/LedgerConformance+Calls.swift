import Base
import Runs

extension LedgerConformance {
    static let calls: [Behaviour] = [
        Behaviour("calls are there as they were named, in their order, also for another process") { bench in
            let open = try bench.run(
                of: 400, segments: [RunSegment(ids: 0..<300, service: 0), RunSegment(ids: 300..<400, service: 1)])
            let first = try open()
            try first.start()
            try first.take(0..<300)
            try first.take(300..<400)
            let ids = Array(stride(from: 0, to: 290, by: 7)) + [3, 299, 298]
            try first.append(.callsNamed([call("a", ids), call("b", [5])]))
            try first.append(.callsNamed([call("c", [300, 399], ofService: 1)]))
            first.crash()
            let second = try open()
            try expect(second.calls(ofService: 0).map(\.name), ["a", "b"], "names")
            try expect(second.calls(ofService: 0).map(\.recipients), [ids, [5]], "recipients")
            try expect(
                second.calls(ofService: 0).map(\.namedAt), [LedgerBench.noon, LedgerBench.noon], "when they were named")
            try expect(second.calls(ofService: 1).map(\.recipients), [[300, 399]], "recipients of the other service")
        },
        Behaviour("a run that names no calls has none") { bench in
            let ledger = try bench.sending(6)
            try ledger.take(0..<6)
            try ledger.append(.settled([[settled(0, .unknown, status: 0)]]))
            try ledger.append(.reopened([0], resendsUnknown: true, at: .now()))
            try expect(ledger.calls(ofService: 0), [], "calls")
        },
        Behaviour("who was never claimed is in no call, and then none of the calls is named") { bench in
            let ledger = try bench.sending(6)
            try ledger.take(0..<3)
            try refused("a call of a recipient who was not claimed") {
                try ledger.append(.callsNamed([call("a", [0, 1]), call("b", [2, 3])]))
            }
            try expect(ledger.calls(ofService: 0), [], "calls")
        },
        Behaviour("no call is named once the run is cancelled, or another process has it") { bench in
            let open = try bench.run(of: 6)
            let ledger = try open()
            try ledger.start()
            try ledger.take(0..<3)
            try ledger.append(.state(.cancelled, cause: .cancelled, at: LedgerBench.noon))
            let error = try refused("a call of a cancelled run") { try ledger.append(.callsNamed([call("a", [0])])) }
            try expect((error as? SendingRevoked)?.isCancelled, true, "whether it says that it is cancelled")
        },
        Behaviour("calls that are forgotten are gone, and no others") { bench in
            let ledger = try bench.sending(6)
            try ledger.take(0..<6)
            try ledger.append(.callsNamed([call("a", [0]), call("b", [1]), call("c", [2])]))
            let numbers = try ledger.calls(ofService: 0).map(\.number)
            try ledger.append(.callsForgotten([numbers[1]]))
            try expect(ledger.calls(ofService: 0).map(\.name), ["a", "c"], "calls")
            try ledger.append(.callsNamed([call("d", [1])]))
            try expect(ledger.calls(ofService: 0).map(\.name), ["a", "c", "d"], "calls")
        },
        Behaviour("who is unknown and reopened is in a call without a name; who was unsent is not") { bench in
            let ledger = try bench.sending(6)
            try ledger.take(0..<6)
            try ledger.append(.callsNamed([call("a", [0, 1, 2])]))
            try ledger.append(.settled([[settled(0, .unknown, status: 0), unsent(1)]]))
            try ledger.append(.reopened([0, 1, 2], resendsUnknown: true, at: .now()))
            try expect(
                ledger.calls(ofService: 0).filter { $0.name.isEmpty }.flatMap(\.recipients), [0], "who is in doubt")
        },
        Behaviour("names of calls change no claim, no outcome and no figure") { bench in
            let ledger = try bench.sending(6)
            try ledger.take(0..<4)
            try ledger.append(.settled([[settled(0)]]))
            let (before, claims) = (try ledger.counts(), try ledger.claims().made)
            try ledger.append(.callsNamed([call("a", [0, 1]), call("b", [2])]))
            try expect(ledger.counts(), before, "outcomes")
            try expect(ledger.claims().made, claims, "claims that were made")
            try expect(ledger.claimedWithoutOutcome(), [1..<4], "claimed without an outcome")
        },
    ]

    private static func call(_ name: String, _ recipients: [Int], ofService service: Int = 0) -> NamedCall {
        NamedCall(service: service, name: name, namedAt: LedgerBench.noon, recipients: recipients)
    }
}
