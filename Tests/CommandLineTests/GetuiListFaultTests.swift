import Base
import Foundation
import TestCommands
import Testing

/// One text to many devices as lists of Getui, through each fault of the simulator and through
/// kills: afterwards the report is compared with the simulator's ledger, device by device.
/// `make faults` does it with 200,000 devices.
@Suite("lists of Getui, every push accounted for", .serialized)
struct GetuiListFaultTests {
    private static let devices = FaultScale.isThorough ? 200_000 : 6000

    struct Fault: CustomTestStringConvertible, Sendable {
        var name: String
        var options: [String]
        /// Whether answers may be lost, so that the devices of a list are in doubt.
        var losesAnswers = false
        var isNone: Bool { name == "nothing" }
        var testDescription: String { name }
    }

    /// Lists have about a thousand devices, and faults count devices.
    private static let faults: [Fault] = [
        Fault(name: "nothing", options: ["--latency", "20"]),
        Fault(name: "503", options: ["--latency", "20", "--unavailable-every", "9"]),
        // Something in front of Getui may have passed the list on.
        Fault(name: "500", options: ["--latency", "20", "--internal-error-every", "7"], losesAnswers: true),
        Fault(name: "a request is reset", options: ["--latency", "20", "--reset-every", "4"], losesAnswers: true),
        Fault(name: "a gateway answers", options: ["--latency", "20", "--gateway-every", "5"], losesAnswers: true),
        Fault(name: "answers before the body was read", options: ["--latency", "20", "--early-answer-every", "40"]),
        Fault(name: "GOAWAY", options: ["--latency", "20", "--go-away-every", "6"], losesAnswers: true),
        Fault(
            name: "the connection is cut", options: ["--latency", "20", "--disconnect-every", "5"], losesAnswers: true),
        Fault(name: "texts are forgotten", options: ["--latency", "20", "--lists-per-task", "2"]),
        Fault(name: "tokens are revoked", options: ["--latency", "20", "--messages-per-token", "4"]),
        Fault(name: "tokens end", options: ["--latency", "300", "--token-seconds", "6"]),
    ]

    private static let chosen =
        FaultScale.isThorough
        ? faults
        : faults.filter {
            ["nothing", "a request is reset", "the connection is cut", "texts are forgotten"].contains($0.name)
        }

    private func server(_ options: [String], devices: Int = devices) throws -> LedgeredServer {
        try LedgeredServer(app: "lists: true", devices: devices, faults: options, service: .getui)
    }

    /// Lists are in the ledger under their task.
    private func isList(_ id: String) -> Bool { id.hasPrefix("RASL_") }

    @Test("report and ledger agree after", arguments: chosen)
    func agree(fault: Fault) throws {
        let server = try server(fault.options)
        // Unless the campaign says otherwise, a device that may have its push gets no other.
        try server.folder.writeCampaign()
        let sent = try server.folder.volley("send", "campaign.yaml", "--yes", "--json", timeout: 900)
        #expect([0, 1].contains(sent.status), "\(sent)")
        let outcomes = try sent.json()["outcomes"]
        #expect(outcomes?.sum == Self.devices && outcomes?.int("unsent") == 0, "\(outcomes?.text ?? "")")
        let unknown = try server.tokens("unknown")
        if !fault.losesAnswers { #expect(outcomes?.int("accepted") == Self.devices, "\(outcomes?.text ?? "")") }
        try server.expectAgreement("\(fault.name)")
        let entries = try server.entries()
        // Most go as lists. Devices that lose their list to a fault go in batches. Their number
        // depends on the number of lists under way.
        let lists = entries.count { $0.isAccepted && isList($0.id) }
        #expect(lists > (fault.isNone ? entries.count { $0.isAccepted } / 2 : 1000), "\(lists) went as lists")
        // Batches are recognized, so that only those in lists can be unknown.
        #expect(entries.allSatisfy { !unknown.contains($0.token) || isList($0.id) })
    }

    @Test("a process that is killed at any moment, and its resumption too, sends to nobody twice and leaves nobody out")
    func killed() throws {
        for kill in 0..<max(2, min(FaultScale.kills, 20)) {
            let policy = kill % 3 == 2 ? "resend" : "skip"
            let server = try server(["--latency", "40"], devices: FaultScale.isThorough ? 50_000 : Self.devices * 2)
            try server.folder.writeCampaign(delivery: "unknown: \(policy)")
            var inDoubt: Set<String> = []
            for command in [["send", "campaign.yaml", "--yes"], ["resume", "last"]] {
                let running = try VolleyBinary.start(command + ["--quiet"], in: server.folder.url)
                usleep(.random(in: 200_000...1_500_000))
                Glibc.kill(running.processID, SIGKILL)
                _ = running.finish(timeout: 10)
                guard server.hasRun else { continue }
                inDoubt.formUnion(try server.tokens("unknown"))
                let accepted = server.acceptedSoFar()
                #expect(
                    try server.tokens("unsent").isDisjoint(with: accepted),
                    "kill \(kill): accepted, and reported as unsent")
            }
            guard server.hasRun else { continue }
            try server.finishRun("kill \(kill)", timeout: 300)
            guard policy == "resend" else {
                try server.expectAgreement("kill \(kill)")
                continue
            }
            // Devices of a list go again in another request, and so under another id.
            let accepted = try server.accepted(), claimed = try server.tokens("accepted")
            #expect(Set(accepted.filter { $0.value.count > 1 }.keys).isSubset(of: inDoubt), "kill \(kill)")
            #expect(
                claimed.isSubset(of: accepted.keys) && Set(accepted.keys).subtracting(claimed).isEmpty, "kill \(kill)")
        }
    }
}
