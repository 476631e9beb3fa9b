import Base
import Foundation
import TestCommands
import Testing

/// How closely a run reaches its pace if the server accepts everything, by the server's ledger.
/// Assertions about time need an otherwise idle machine, so only `make faults` runs them;
/// `PacerTests` and `PaceKeepingTests` test the same with a clock that is never late.
@Suite("the pace is reached", .serialized, .enabled(if: FaultScale.isThorough, "only in `make faults`"))
struct PaceFaultTests {
    @Test("within 2 %, and never exceeded", arguments: [100, 500, 2000])
    func reached(pace: Int) throws {
        let seconds = 8
        let server = try LedgeredServer(app: "pace: \(pace)/s", devices: pace * seconds)
        try server.folder.writeCampaign(delivery: "unknown: skip")
        let sent = try server.start().finish(timeout: 60)
        #expect(sent.status == 0, "\(sent.errors)")
        try server.expectAgreement("pace \(pace)")
        // The first push waits for its answer before the others are sent.
        let times = try server.entries().map(\.milliseconds).sorted().dropFirst()
        let start = try #require(times.first)
        let bySecond = Dictionary(grouping: times) { ($0 - start) / 1000 }.mapValues(\.count)
        let whole = (0..<seconds).compactMap { bySecond[$0] }
        #expect(whole.count == seconds)
        #expect(whole.allSatisfy { $0 <= pace }, "\(whole)")
        #expect(Double(whole.reduce(0, +)) >= 0.98 * Double(pace * seconds), "\(whole)")
    }
}
