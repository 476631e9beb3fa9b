import Base
import Foundation
import TestCommands
import Testing

/// A machine that gives a process too little, from the beginning or in the middle of a run.
@Suite("Threads and memory")
struct ResourceLimitTests {
    /// Limits of threads do not apply to root, so the process runs under another account.
    private static let canLimitThreads = getuid() == 0 && Shell.hasTool("setpriv") && Shell.hasTool("prlimit")

    private func planned() throws -> ProjectFolder {
        let folder = try ProjectFolder(export: ProjectFolder.export(devices: 300))
        try folder.writeCampaign()
        return folder
    }

    @Test(
        "without enough threads nothing is begun, and it is said how many there are", .enabled(if: canLimitThreads),
        arguments: [1, 2, 7, 11])
    func threads(limit: Int) throws {
        let folder = try planned()
        try Shell.run("cp '\(VolleyBinary.path)' '\(folder.url.path)/volley' && chmod -R a+rwX '\(folder.url.path)'")
        // A separate account for each limit: limits count the processes of an account.
        let account = 64_300 + limit
        func send(_ threads: Int) throws -> VolleyBinary.Result {
            try RunningVolley(
                executable: "/usr/bin/env",
                [
                    "setpriv", "--reuid=\(account)", "--regid=\(account)", "--clear-groups", "prlimit",
                    "--nproc=\(threads)",
                ]
                    + ["./volley", "send", "campaign.yaml", "--yes", "--json"], in: folder.url, environment: [:],
                input: nil
            ).finish(timeout: 60)
        }
        let refused = try send(limit)
        #expect(refused.status == 2 && refused.errors.contains("may start at most \(limit - 1) thread"), "\(refused)")
        #expect(folder.files(in: "runs").isEmpty)
        let sent = try send(40)
        #expect(sent.status == 0, "\(sent)")
        #expect(try sent.json()["outcomes"]?.int("accepted") == 300)
    }

    @Test(
        "with too little memory it ends with a sentence and the right exit code, not by a signal",
        arguments: [120, 160, 200, 250, 300, 400, 600])
    func memory(megabytes: Int) throws {
        let folder = try planned()
        let sent = try VolleyBinary.start(
            ["send", "campaign.yaml", "--yes", "--json"], in: folder.url,
            launcher: ["sh", "-c", "ulimit -v \(megabytes << 10); exec \"$0\" \"$@\""]
        ).finish(timeout: 60)
        // A program that cannot even be loaded ends with 127.
        #expect([0, 2, 3, 127].contains(sent.status) && (sent.status == 0 || !sent.errors.isEmpty), "\(sent)")
        if megabytes < 512 { #expect(sent.status != 0 && sent.status != 3, "\(sent)") }
        if sent.status == 2 { #expect(folder.files(in: "runs").isEmpty) }
        guard sent.status == 3 else { return }
        let report = try folder.volley("report", "last", "--format", "json")
        #expect(try report.json()["outcomes"]?.int("unknown") == 0, "\(report)")
    }

    @Test(
        "where most of the files that may be open are open by now, it ends with a sentence, nothing is lost, and nothing is sent twice",
        arguments: [98, 96, 94, 92, 90, 88, 86, 84, 82, 80, 78, 77, 76, 75, 74, 72])
    func descriptors(inherited: Int) throws {
        let server = try LedgeredServer(devices: 300)
        try server.folder.writeCampaign(delivery: "unknown: skip")
        // At most 3 to 99 can be taken in addition to the standard streams.
        let script =
            "ulimit -n 100; for n in $(seq \(inherited - 3)); do exec {taken}</dev/null; done; exec \"$0\" \"$@\""
        let sent = try VolleyBinary.start(
            ["send", "campaign.yaml", "--yes", "--json"], in: server.folder.url, launcher: ["bash", "-c", script]
        ).finish(timeout: 60)
        // The loader of a program needs files, too.
        #expect([0, 2, 3, 127].contains(sent.status) && (sent.status == 0 || !sent.errors.isEmpty), "\(sent)")
        #expect(!sent.errors.contains("cannot continue: out of memory"), "\(sent)")
        // Libraries keep a file or two open from the start, so the edge is not sharp.
        if (78..<93).contains(inherited) { #expect(sent.errors.contains("files open, and only"), "\(sent)") }
        if inherited <= 72 { #expect(sent.status == 0, "\(sent)") }
        if sent.status == 2 { #expect(try server.accepted().isEmpty, "\(sent)") }
        if sent.status == 3 {
            let resumed = try server.folder.volley("resume", "last", "--json")
            #expect(resumed.status == 0, "\(resumed)")
        }
        guard sent.status == 0 || sent.status == 3 else { return }
        let accepted = try server.accepted()
        #expect(accepted.count == 300 && accepted.allSatisfy { $0.value.count == 1 })
    }

    @Test("a crash says whether anything was sent", arguments: [SIGILL, SIGABRT, SIGSEGV, SIGBUS, SIGTRAP])
    func crash(signal: Int32) throws {
        let server = try LedgeredServer(devices: 2_000)
        try server.folder.writeCampaign(delivery: "pace: 200/s\nunknown: skip")
        let sending = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: server.folder.url)
        while sending.isRunning, server.acceptedSoFar().isEmpty { usleep(20_000) }
        kill(sending.processID, signal)
        let crashed = sending.finish(timeout: 30)
        #expect(crashed.status == 3 && crashed.errors.contains("Sending had begun"), "\(crashed)")
        #expect(crashed.errors.contains("another program cut short a file") == (signal == SIGBUS), "\(crashed)")
        let before = try VolleyBinary.start(
            ["simulate", "--port", "0", "--for", "30", "--json"], in: server.folder.url)
        while before.isRunning, !before.outputSoFar.hasSuffix("}\n") { usleep(20_000) }
        kill(before.processID, signal)
        let ended = before.finish(timeout: 30)
        #expect(ended.status == 2 && ended.errors.contains("Nothing was sent"), "\(ended)")
    }

    @Test(
        "limits that shrink while a run is sent lose nobody, and nobody gets it twice",
        .enabled(if: Shell.hasTool("prlimit")))
    func shrinking() throws {
        let server = try LedgeredServer(devices: 3_000)
        try server.folder.writeCampaign(delivery: "pace: 1500/s\nunknown: skip")
        let sending = try VolleyBinary.start(["send", "campaign.yaml", "--yes", "--json"], in: server.folder.url)
        while sending.isRunning, try started(server.folder) != true { usleep(20_000) }
        try? Shell.run("prlimit --pid \(sending.processID) --as=1000000 --nproc=1")
        let sent = sending.finish(timeout: 60)
        #expect([0, 1, 3].contains(sent.status), "\(sent)")
        if sent.status == 3 {
            #expect(!sent.errors.isEmpty)
            let resumed = try server.folder.volley("resume", "last", "--json")
            #expect([0, 1].contains(resumed.status), "\(resumed)")
        }
        let outcomes = try server.folder.volley("report", "last", "--format", "json").json()["outcomes"]
        #expect(outcomes?.sum == 3_000 && outcomes?.int("unsent") == 0)
        server.stop()
        let accepted = try server.entries().filter { $0.status == 200 }.map(\.token)
        #expect(Set(accepted).count == accepted.count)
        #expect(accepted.count >= outcomes?.int("accepted") ?? 0)
    }

    /// Whether its only run has begun.
    private func started(_ folder: ProjectFolder) throws -> Bool? {
        let runs = try folder.volley("runs", "--json")
        return runs.status == 0 ? runs.output.contains("\"running\"") : nil
    }

    @Test(
        "files that may not grow any more (`ulimit -f`) stop a run as a full disk does, and it goes on without the limit"
    )
    func fileSize() throws {
        let server = try LedgeredServer(devices: 1_000)
        try server.folder.writeCampaign(delivery: "pace: 200/s\nunknown: skip")
        func limited(_ arguments: [String], blocks: Int) throws -> VolleyBinary.Result {
            try VolleyBinary.start(
                arguments, in: server.folder.url, launcher: ["sh", "-c", "ulimit -f \(blocks); exec \"$0\" \"$@\""]
            )
            .finish(timeout: 60)
        }
        let planned = try limited(["plan", "campaign.yaml"], blocks: 100)
        #expect(
            planned.status == 2 && planned.errors.contains("`ulimit -f unlimited`); nothing was sent"), "\(planned)")
        #expect(server.folder.files(in: "runs").filter { $0.hasSuffix(".sqlite") || $0.hasSuffix(".partial") }.isEmpty)
        #expect(try server.folder.volley("plan", "campaign.yaml").status == 0)
        let sent = try limited(["send", "--plan", "last", "--yes", "--json"], blocks: 512)
        #expect(sent.status == 3 && sent.errors.contains("`ulimit -f unlimited`)"), "\(sent)")
        let resumed = try server.folder.volley("resume", "last", "--json")
        #expect([0, 1].contains(resumed.status), "\(resumed)")
        let outcomes = try resumed.json()["outcomes"]
        #expect(outcomes?.sum == 1_000 && outcomes?.int("unsent") == 0)
        let accepted = try server.accepted()
        #expect(accepted.allSatisfy { $0.value.count == 1 } && accepted.count >= outcomes?.int("accepted") ?? 0)
    }

}
