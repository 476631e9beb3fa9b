import Base
import Foundation
import TestCommands
import Testing

/// What commands do next to a damaged file. `make fuzz-files` damages thousands.
@Suite("commands next to a damaged file", .enabled(if: hasPython, "needs Python to edit a run file"))
struct DamagedFileCommandTests {
    private static let damage = [
        "update run set audience = '0f'", "update run set state = x'00'",
        "update claim set last_id = 9223372036854775807",
        "update outcome_block set slots = 'x'",
    ]

    @Test("a damaged run is named once, and keeps no command from what does not concern it", arguments: damage)
    func others(edit: String) throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign("first.yaml", name: "first")
        try folder.writeCampaign("second.yaml", name: "second")
        #expect(try folder.volley("send", "first.yaml", "--yes", "--quiet").status == 0)
        let run = try #require(folder.files(in: "runs").first { $0.contains("-first-") && $0.hasSuffix(".sqlite") })
        try folder.editRun("pragma ignore_check_constraints = 1", "delete from figures", edit)

        let listed = try folder.volley("runs", "--json")
        guard case .array(let broken)? = try listed.json()["broken"] else { throw CommandFailure(what: listed.output) }
        #expect(listed.status == 0 && broken.count == 1, "\(listed.output)\(listed.errors)")
        #expect(broken.first?["file"]?.stringValue?.hasSuffix(run) == true)
        #expect(broken.first?["message"]?.stringValue?.hasPrefix("the run file is damaged: ") == true)

        let checked = try folder.volley("doctor")
        #expect(
            checked.status == 2 && checked.output.contains("\(run): the run file is damaged: "),
            "\(checked.output)\(checked.errors)")

        for arguments in [
            ["send", "second.yaml", "--yes"], ["prune", "--keep", "0d", "--dry-run"], ["support-bundle", "."],
            ["report", "last"],
        ] {
            let result = try VolleyBinary.run(arguments, in: folder.url)
            #expect(result.status == 0, "\(arguments): \(result.output)\(result.errors)")
            #expect(
                !result.errors.contains("Fatal error")
                    && !(result.output + result.errors).contains(ProjectFolder.token(1)))
        }
        let own = try folder.volley("report", String(run.dropLast(7)), "--format", "csv")
        #expect(own.status == 2 && own.errors.contains("the run file is damaged: "), "\(own.output)\(own.errors)")
    }

    /// Overwrites the page of a run's file that holds a device's token, in place, and returns what
    /// the file was.
    private func damagePage(ofRun run: URL, with token: String) throws -> Data {
        let whole = try Data(contentsOf: run)
        var bytes = [UInt8](whole)
        // Bytes 16 and 17 of the header are the size of a page.
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        let page = try #require(whole.range(of: Data(token.utf8))?.lowerBound) / size * size
        for index in page..<page + size { bytes[index] = UInt8(truncatingIfNeeded: index * 167 + 14) }
        try Data(bytes).write(to: run)
        return whole
    }

    private func runFile(_ folder: ProjectFolder) throws -> URL {
        let name = try #require(folder.files(in: "runs").first { $0.hasPrefix("20") && $0.hasSuffix(".sqlite") })
        return folder.url.appendingPathComponent("runs").appendingPathComponent(name)
    }

    @Test(
        "damage in the middle of a finished run is found by backup, doctor, prune and retry, and putting the file back is the remedy"
    )
    func pages() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        let run = try runFile(folder), name = run.lastPathComponent
        let whole = try damagePage(ofRun: run, with: ProjectFolder.token(1))
        #expect(try folder.volley("runs").status == 0)

        let backup = try folder.volley("backup", "backups")
        #expect(
            backup.status == 1 && backup.errors.contains("\(name): the file is damaged: "),
            "\(backup.output)\(backup.errors)")
        #expect(backup.output.contains("Left out, as they could not be copied:"), "\(backup.output)")
        let checked = try folder.volley("doctor")
        #expect(
            checked.status == 2 && checked.output.contains("\(name): the run file is damaged: "), "\(checked.output)")
        let pruned = try folder.volley("prune", "--keep", "0d", "--yes")
        #expect(
            pruned.output.contains("\(name.dropLast(7))  its file is damaged: restore it from a backup"),
            "\(pruned.output)")
        let retried = try folder.volley("retry", "last", "--outcome", "unknown", "--yes")
        #expect(retried.status == 2 && retried.errors.contains("Restore it from a backup."), "\(retried.errors)")
        #expect(!retried.errors.contains("Undo") && !retried.errors.contains("volley report"), "\(retried.errors)")

        try whole.write(to: run)
        #expect(try !folder.volley("doctor").output.contains("damaged"))
        #expect(try folder.volley("backup", "backups").status == 0)
        #expect(try folder.volley("report", "last", "--format", "csv").status == 0)
    }

    @Test("a stopped run whose pages are damaged is resumed once its file is put back")
    func pagesOfStopped() throws {
        let server = try LedgeredServer(app: "pace: 1500/s", devices: 3000)
        try server.folder.writeCampaign(delivery: "unknown: skip")
        let running = try server.startSending()
        running.interrupt()
        #expect(running.finish().status == 130)
        let run = try runFile(server.folder)
        let whole = try damagePage(ofRun: run, with: ProjectFolder.token(2000))
        let refused = try server.folder.volley("resume", "last")
        #expect(refused.status == 2 && refused.errors.contains("Restore it from a backup."), "\(refused.errors)")
        #expect(!refused.errors.contains("Undo"), "\(refused.errors)")
        try whole.write(to: run)
        #expect(try server.folder.volley("resume", "last").status == 0)
        #expect(try server.accepted().allSatisfy { $0.value.count == 1 })
    }
}
