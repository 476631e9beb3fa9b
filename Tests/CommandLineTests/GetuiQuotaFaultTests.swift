import Base
import Foundation
import TestCommands
import Testing

/// Limits of Getui that hold a run for a minute: only `make faults` waits that long.
@Suite("Getui's limits of a minute")
struct GetuiQuotaFaultTests {
    @Test(
        "a limit on calls holds the run, and what was beyond it arrives after the hold",
        .enabled(if: FaultScale.isThorough))
    func quota() throws {
        let bench = try GetuiCampaignTests.Bench(devices: 30, firstDigits: [20: "00010005"], app: "pace: 20/s")
        let start = Date()
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(sent.status == 0 && Date().timeIntervalSince(start) >= 60, "\(sent)")
        #expect(try sent.json().int("attempts") == 30, "a hold is no attempt: \(sent)")
        let answers = try bench.answers()
        #expect(
            answers.count == 30 && answers.values.allSatisfy { $0.last == "sent" && $0.count { $0 == "sent" } == 1 })
    }

    @Test(
        "calls beyond those of a minute wait for the next one, and the wait is no attempt",
        .enabled(if: FaultScale.isThorough))
    func broadcasts() throws {
        let bench = try GetuiAudienceCampaignTests.bench(
            "tags: {file: tags.txt}\naliases: [u1]", faults: ["--broadcasts-per-minute", "2"])
        try bench.folder.write("tags.txt", (0..<250).map { "t\($0)\n" }.joined())
        let sent = try bench.folder.volley("send", "campaign.yaml", "--yes", "--json")
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 4, "\(sent)")
        #expect(try sent.json().int("attempts") == 4, "\(sent)")
        let entries = try bench.ledger()
        #expect(
            entries.count { $0["code"]?.stringValue == "30014" } == 50 && entries.count { $0["code"] == .null } == 251,
            "\(sent)")
    }
}
