import Base
import Foundation
import TestSupport
import Testing

@testable import Automation
@testable import Runs

@Suite("the record of orders, and its model")
struct OrderTableTests {
    /// Details about another run than the order's are damage.
    private static let run = "20261201-090000-c-7f3a"

    @Test("the model that the simulation works on answers every call as the file does", arguments: 0..<8)
    func agree(seed: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-orders-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // Two processes use the file at once.
        let files = [try OrderStore(folder: folder), try OrderStore(folder: folder)]
        let memory = MemoryOrders()
        var random = SeededRandom(UInt64(seed))
        let kinds: [Order.Kind] = [
            .approve(run: Self.run, digest: "d"), .reject(run: Self.run, digest: "d", reason: "Why?"),
            .send(run: Self.run, digest: "d"),
            .withdraw(run: Self.run), .test(file: "/a.yaml", digest: "d"), .plan(file: "/a.yaml", digest: "d"),
            .resume(run: Self.run),
            .retry(run: Self.run), .retryUnsent(run: Self.run),
            .pause(run: Self.run), .cancel(run: Self.run), .skip(campaign: "c", occurrence: "2026-12-01T09:00"),
            .approveTime(campaign: "c", occurrence: "2026-12-01T09:00", digest: "d", mostDevices: 7),
            .withdrawApproval(campaign: "c", occurrence: "2026-12-01T09:00"),
        ]
        #expect(Set(kinds.map(\.name)) == Set(Order.Kind.Name.allCases.map(\.rawValue)))
        let states: [OrderState] = [
            .lapsed, .done(.init(run: Self.run, end: .stopped(.interrupted))), .refused(.overtaken),
            .left(.unfinished(run: Self.run)),
        ]
        for step in 0..<150 {
            let file = files[Int.random(in: 0...1, using: &random)]
            let nonce = "n\(Int.random(in: 0..<12, using: &random))",
                epoch = "life \(Int.random(in: 0..<2, using: &random))"
            let now = Timestamp(epochMilliseconds: Int64(step) * 1000)
            let state = states[Int.random(in: 0..<states.count, using: &random)]
            switch Int.random(in: 0..<7, using: &random) {
            case 0...1:
                let order = Order(
                    nonce: nonce, kind: kinds[Int.random(in: 0..<kinds.count, using: &random)], by: "anna",
                    at: OrderMoment(time: now, uptime: Uptime(start: "s", milliseconds: 5)))
                #expect((try? file.place(order)) == (try? memory.place(order)))
            case 2:
                #expect(
                    try file.take(nonce, epoch: epoch, from: nil, at: now)
                        == memory.take(nonce, epoch: epoch, from: nil, at: now))
            case 3:
                #expect(
                    try file.take(nonce, epoch: epoch, from: "life 0", at: now)
                        == memory.take(nonce, epoch: epoch, from: "life 0", at: now)
                )
            case 4:
                #expect(
                    try file.end(nonce, as: state, epoch: epoch, at: now)
                        == memory.end(nonce, as: state, epoch: epoch, at: now))
            case 5:
                #expect(
                    try file.leave(nonce, of: epoch, as: state, at: now)
                        == memory.leave(nonce, of: epoch, as: state, at: now))
            default:
                #expect(
                    try file.note(made: Self.run, by: nonce, epoch: epoch)
                        == memory.note(made: Self.run, by: nonce, epoch: epoch))
            }
            #expect(try file.unended() == memory.unended(), "after step \(step)")
        }
        #expect(try OrderRecords(folder: folder).read(atMost: 100).orders.reversed() == memory.rows)
        for file in files { file.close() }
    }
}
