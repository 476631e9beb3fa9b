import Foundation
import TestCommands
import Testing

/// The rules of campaign-language.md were written a second time from that text alone. They are
/// compared with what the commands say about random dirty exports of every form: counts of
/// `preview` and `plan`, recipients of the report. `make oracle` runs a thousand.
@Suite("the audience: commands against rules that were written a second time")
struct AudienceCompareTests {
    /// How many exports are compared: `VOLLEY_EXPORTS`.
    private static let exports = ProcessInfo.processInfo.environment["VOLLEY_EXPORTS"].flatMap { Int($0) } ?? 12

    @Test("random dirty exports of every form select the same devices", .enabled(if: hasPython), arguments: 0..<4)
    func dirtyExports(part: Int) throws {
        let script =
            #filePath.split(separator: "/").dropLast(2).reduce("") { $0 + "/" + $1 } + "/Fixtures/audience_compare.py"
        let folder = try ProjectFolder()
        let seeds = (part * Self.exports / 4 + 1, (part + 1) * Self.exports / 4)
        let compared = try RunningVolley(
            executable: "/usr/bin/python3", [script, VolleyBinary.path, "\(seeds.0)", "\(seeds.1)"], in: folder.url,
            environment: ["TMPDIR": folder.url.path, "PYTHONDONTWRITEBYTECODE": "1"], input: nil
        ).finish()
        #expect(compared.status == 0, "\(compared.output)\(compared.errors)")
        #expect(compared.output.contains(" 0 differ"), "\(compared.output)")
    }
}
