import Base
import Testing

@testable import Audience

/// A list of excluded devices that excludes nobody is seldom what was meant.
@Suite struct ExclusionListTests {
    private let folder = TemporaryFolder()

    private func export(_ count: Int) -> AudienceQuery {
        let rows = (0..<count).map { "\(token($0)),reg\($0),user\($0),\($0 % 10 == 0 ? "news" : "sports")\n" }.joined()
        return AudienceQuery(folder.file("devices.csv", "token,registration_id,alias,tags\n" + rows)).with { $0.everyone = true }
    }

    private func lines(_ count: Int, _ line: (Int) -> String) -> String { (0..<count).map { line($0) + "\n" }.joined() }

    /// Scans with lists of excluded devices.
    private func result(_ query: AudienceQuery, _ lists: [String]) throws -> AudienceResult {
        try query.with { $0.excludedDevices = lists }.run(chunkSize: 512).result
    }

    @Test(
        "lists in another form, of another app, or without a line are warned of by name, with how many lines match nobody",
        arguments: [1, 2000])
    func matchesNobody(count: Int) throws {
        let query = export(300)
        let forms = [
            "user1": lines(count) { _ in "user1" }, "<000…00a>": lines(count) { _ in "<\(token(10))>" },
            "a@example.com": lines(count) { _ in "a@example.com" },
            "0000…0300": lines(count) { token($0 + 0x300) },
        ]
        for (number, (shown, text)) in forms.enumerated() {
            let list = folder.file("\(number).txt", text)
            let found = try result(query, [list])
            #expect(found.audience == 300)
            let lines = count == 1 ? "its only line is no device" : "none of its 2,000 lines is a device"
            #expect(found.warnings.map(\.name) == [.exclusionNotFound] && found.warnings.map(\.file) == [list])
            #expect(found.warnings.first?.message == "the list of excluded devices excludes nobody: \(lines) of the exports")
            #expect(found.warnings.first?.remedy?.hasPrefix("Its first one is '\(shown)'.") == true, "\(found.warnings)")
        }
        for empty in [folder.file("a.csv", "token\n"), folder.file("b.csv", "token,note\n\n"), folder.file("c.txt", "# none yet\n")] {
            let found = try result(query, [empty])
            #expect(found.warnings.map(\.message) == ["the list of excluded devices has no entry, so that it excludes nobody"])
        }
    }

    @Test("a list with one device of the exports is not warned of, also where nothing else selects that device", arguments: [3, 2000])
    func matches(count: Int) throws {
        let query = export(count).with { ($0.everyone, $0.anyTags) = (false, ["news"]) }
        let others = lines(50) { token($0 + 0x10000) }
        for (number, entry) in [token(count - 1).uppercased(), token(1), "reg\(count - 1)"].enumerated() {
            let found = try result(query, [folder.file("\(number).txt", others + entry + "\n")])
            #expect(found.warnings.isEmpty, "\(entry)")
        }
        #expect(try result(query, [folder.file("list.txt", others)]).warnings.count == 1)
    }

    @Test("each of several lists is judged by itself")
    func severalLists() throws {
        let good = folder.file("good.txt", "\(token(5))\n"), bad = folder.file("bad.txt", "\(token(900))\n")
        let ids = folder.file("ids.csv", "registration_id\nreg7\n")
        let found = try result(export(100), [bad, good, ids])
        #expect(found.audience == 98 && found.warnings.map(\.file) == [bad])
        #expect(try result(export(100), (0..<70).map { $0 == 3 ? bad : $0 % 2 == 0 ? good : ids }).warnings.map(\.file) == [bad])
    }
}
