import Runs

@testable import Automation

/// Conditions for each order at the end.
extension OrderWorld {
    mutating func judge() {
        for placed in table.rows {
            let (nonce, kind) = (placed.order.nonce, placed.order.kind)
            let count = effects[nonce] ?? 0
            if !placed.state.hasEnded { fail(.ended, "\(kind.name) \(placed.number) is \(placed.state)") }
            if let answer = answers[nonce], answer.state != placed.state, !wasDouble {
                fail(.told, "\(kind.name) \(placed.number) is \(placed.state), and its process said \(answer.state)")
            }
            guard kind.isTakenOnce else { continue }
            if count > 1 || (created[nonce] ?? 0) > 1 {
                fail(.doneOnce, "\(kind.name) \(placed.number) was done \(count) times")
            }
            guard !wasDouble else { continue }
            let isDone: Bool? =
                switch placed.state {
                case .done(let result): result.end != nil ? true : kind.sendsItsRun ? nil : true
                case .refused, .lapsed, .left(.nothing): false
                case .left(.notBegun): false
                case .left, .waiting, .taken: nil
                }
            if let isDone, isDone != (count > 0) {
                fail(.told, "\(kind.name) \(placed.number) is \(placed.state), and was done \(count) times")
            }
            meet("\(kind.name) \(placed.state.name)")
        }
    }
}
