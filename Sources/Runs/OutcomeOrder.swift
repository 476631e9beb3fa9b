import Base

/// Settlements in the order of their ids, in which rows are appended to the table's end and one look at a claim serves all of its
/// recipients; those that are what most are by themselves.
enum OutcomeOrder {
    /// Accepted at the first attempt: all else of a settlement is always the same then.
    struct Usual: BitwiseCopyable {
        var recipient: Int
        var latencyMilliseconds: Int
        var settledAtMilliseconds: Int
    }

    /// - Returns: the usual ones, and the indices of all others; of the same recipient in the order in which they came.
    static func split(_ settlements: [Settlement]) -> (usual: [Usual], others: [Int]) {
        var usual: [Usual] = []
        usual.reserveCapacity(settlements.count)
        var others: [Int] = []
        settlements.withUnsafeBufferPointer { settlements in
            for index in settlements.indices {
                if isUsual(settlements[index]) {
                    usual.append(
                        Usual(
                            recipient: settlements[index].recipient, latencyMilliseconds: settlements[index].latencyMilliseconds,
                            settledAtMilliseconds: Int(settlements[index].settledAt.epochMilliseconds)))
                } else {
                    others.append(index)
                }
            }
        }
        let inOrder = { (left: Int, right: Int) in (settlements[left].recipient, left) < (settlements[right].recipient, right) }
        others.sort(by: inOrder)
        usual = sorted(usual)
        // Whoever is in both has to be recorded in the order in which the settlements came.
        if haveCommon(usual, others.map { settlements[$0].recipient }) { return ([], settlements.indices.sorted(by: inOrder)) }
        return (usual, others)
    }

    private static func haveCommon(_ usual: [Usual], _ others: [Int]) -> Bool {
        var next = 0
        for recipient in others {
            while next < usual.count, usual[next].recipient < recipient { next += 1 }
            if next < usual.count, usual[next].recipient == recipient { return true }
        }
        return false
    }

    @inline(__always) private static func isUsual(_ settled: Settlement) -> Bool {
        settled.outcome == .accepted && settled.status == 200 && settled.attempts == 1 && settled.reason.isEmpty
            && settled.invalidSince == nil
    }

    /// Ids lie close together, and mostly come nearly in order: counting where each belongs takes one pass, sorting a dozen.
    private static func sorted(_ usual: [Usual]) -> [Usual] {
        guard let first = usual.first else { return usual }
        var (least, most) = (first.recipient, first.recipient)
        for one in usual {
            least = min(least, one.recipient)
            most = max(most, one.recipient)
        }
        guard least >= 0, most - least < 8 * usual.count + 64 else { return usual.sorted { $0.recipient < $1.recipient } }
        var places = [Int32](repeating: -1, count: most - least + 1)
        for (index, one) in usual.enumerated() {
            // Twice the same recipient: the account does not add up, which the insertion finds.
            if places[one.recipient - least] >= 0 { return usual.sorted { $0.recipient < $1.recipient } }
            places[one.recipient - least] = Int32(truncatingIfNeeded: index)
        }
        var sorted: [Usual] = []
        sorted.reserveCapacity(usual.count)
        for place in places where place >= 0 { sorted.append(usual[Int(place)]) }
        return sorted
    }
}
