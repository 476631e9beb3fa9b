import Base
import Foundation
import TestCommands
import Testing

/// What commands do next to a damaged file. `make fuzz-files` damages thousands.
@Suite("commands next to a damaged file", .enabled(if: hasPython, "needs Python to edit a run file"))
struct DamagedFileCommandTests {
    private static let damage = [
        "update run set audience = '0f'", "update run set state = x'00'", "update claim set last_id = 9223372036854775807",
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
        #expect(checked.status == 2 && checked.output.contains("\(run): the run file is damaged: "), "\(checked.output)\(checked.errors)")

        for arguments in [
            ["send", "second.yaml", "--yes"], ["prune", "--keep", "0d", "--dry-run"], ["support-bundle", "."], ["report", "last"],
        ] {
            let result = try VolleyBinary.run(arguments, in: folder.url)
            #expect(result.status == 0, "\(arguments): \(result.output)\(result.errors)")
            #expect(!result.errors.contains("Fatal error") && !(result.output + result.errors).contains(ProjectFolder.token(1)))
        }
        let own = try folder.volley("report", String(run.dropLast(7)), "--format", "csv")
        #expect(own.status == 2 && own.errors.contains("the run file is damaged: "), "\(own.output)\(own.errors)")
    }
}
