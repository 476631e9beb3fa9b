import Base
import Testing

@testable import Audience

/// How many devices have which tags.
@Suite struct TagCountTests {
    private let folder = TemporaryFolder()

    private func counts(
        _ rows: [String], header: String = "token,tags,last_active", most: Int = 10, named: [String] = [],
        where isWanted: (String) -> Bool = { _ in true }, change: (inout AudienceQuery) -> Void = { _ in }
    ) throws -> TagCounts {
        let query = AudienceQuery(folder.file("devices.csv", ([header] + rows).joined(separator: "\n"))).with(change)
        return try query.tagCounts(most: most, named: named, where: isWanted)
    }

    private static func pairs(_ counts: TagCounts) -> [String] { counts.tags.map { "\($0.name) \($0.devices)" } }

    @Test("devices are counted, not rows: the newest row of a device decides, and a row without a token has none")
    func devices() throws {
        let rows = [
            "\(token(1)),a;b,2026-01-01", "\(token(1)),b;c,2026-02-01", "\(token(2)),b; b ,",
            "\(token(3)),\"[\"\"b\"\", \"\"d,e\"\"]\",",
            ",a;b,", "\(token(4)),,",
        ]
        let found = try counts(rows)
        #expect(Self.pairs(found) == ["b 3", "c 1", "d,e 1", "a 0"])
        #expect(!found.hasMore)
    }

    @Test("each number is that of a campaign to the tag alone, whatever else the query selects and excludes")
    func likeCampaign() throws {
        let rows = (0..<300).map { "\(token($0 % 200)),t\($0 % 7);t\($0 % 11);u\($0 % 3)," }
        let found = try counts(rows, most: 100, change: { (query: inout AudienceQuery) in query.excludedTags = ["t1"] })
        #expect(found.tags.count == 14)
        let query = AudienceQuery("\(folder.path)/devices.csv")
        for tag in found.tags {
            #expect(try query.with { $0.anyTags = [tag.name] }.run().result.audience == tag.devices, "\(tag.name)")
        }
    }

    @Test("of more tags than are asked for, the most frequent are counted, besides those that are named")
    func most() throws {
        let rows = (0..<60).map { "\(token($0)),\($0 < 40 ? "often" : "seldom\($0)");\($0 < 20 ? "sometimes" : "")," }
        let found = try counts(rows, most: 2, named: ["seldom41", "never"])
        #expect(Self.pairs(found) == ["often 40", "sometimes 20", "seldom41 1", "never 0"])
        #expect(found.hasMore)
    }

    @Test("exports without a column of tags have none, and tags that are not wanted are not named")
    func without() throws {
        let none = try counts(["\(token(1)),x"], header: "token,colour", named: ["a"])
        #expect(none.tags.isEmpty && !none.hasMore)
        #expect(
            try Self.pairs(counts(["\(token(1)),a;secret,"], where: { (tag: String) in tag != "secret" })) == ["a 1"])
        #expect(throws: (any Error).self) { try counts(["x"], header: "nothing") }
    }

    @Test("however many different tags there are, memory is bounded, and a frequent one is not forgotten")
    func bounded() {
        var tags = FrequentTags()
        for number in 0..<3 * FrequentTags.limit {
            tags.add(Array("once \(number)".utf8))
            if number % 3 == 0 { tags.add(Array("often".utf8)) }
        }
        #expect(tags.isFull && tags.names.count <= FrequentTags.limit)
        #expect(tags.names.first == "often")
        var long = FrequentTags()
        long.add(Array(repeating: 0x61, count: FrequentTags.longestTag + 1))
        #expect(long.names.isEmpty)
    }

    @Test(
        "the columns of the exports come with what their cells hold and their most frequent values; targets, aliases and tags do not"
    )
    func facts() throws {
        let rows = (0..<400).map { number in
            "\(token(number)),a\(number),t,\(number % 3 == 0 ? "gold" : "silver"),2026-01-0\(number % 9 + 1),\(number),3.1.\(number % 2),name \(number),"
        }
        let header = "token,alias,tags,level,seen,points,app_version,name,blank"
        let facts = try AudienceQuery(folder.file("devices.csv", ([header] + rows).joined(separator: "\n")))
            .columnFacts()
        #expect(facts.map(\.name) == ["level", "seen", "points", "app_version", "name", "blank"])
        #expect(facts.map(\.kind) == [.text, .date, .number, .version, .text, .text])
        #expect(facts[0].values == ["silver", "gold"] && facts[3].values == ["3.1.0", "3.1.1"])
        #expect(facts[4].values.isEmpty, "a column with very many values lists none")
        #expect(facts[5].values.isEmpty)
    }

    @Test("only columns that all exports have are named, and no value that may be a target")
    func commonFacts() throws {
        let first = folder.file("a.csv", "token,level,code\n\(token(1)),gold,\(token(7))\n")
        let second = folder.file("b.csv", "token,code,city\n\(token(2)),x,Lyon\n")
        let facts = try AudienceQuery(files: [first, second], columns: ExportColumns(), now: .now()).columnFacts()
        #expect(facts.map(\.name) == ["code"] && facts[0].values.isEmpty)
    }
}
