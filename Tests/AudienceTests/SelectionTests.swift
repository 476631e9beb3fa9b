import Base
import Testing

@testable import Audience

/// Which devices are selected, by what, and why the others are not.
@Suite struct SelectionTests {
    private let folder = TemporaryFolder()

    private func export(_ rows: [String], header: String = "registration_id,token,alias,tags,language,last_active")
        -> AudienceQuery
    {
        AudienceQuery(folder.file("devices.csv", ([header] + rows).joined(separator: "\n")))
    }

    private var tagged: AudienceQuery {
        export([
            "r0,\(token(0)),u0,a,en,", "r1,\(token(1)),u1, a ; b ,en,", "r2,\(token(2)),u2,b;c,de,",
            "r3,\(token(3)),u3,,de,",
            "r4,\(token(4)),u4,;;A;,fr,", "r5,\(token(5)),u5,a;a;b;c,,",
        ])
    }

    @Test("any, all and none of the tags form one selector")
    func tagSelector() throws {
        func ids(any: [String] = [], all: [String] = [], none: [String] = []) throws -> [String] {
            try tagged.with { ($0.anyTags, $0.allTags, $0.noneTags) = (any, all, none) }.run().sink.ids
        }
        #expect(try ids(any: ["a", "c"]) == ["r0", "r1", "r2", "r5"])
        #expect(try ids(all: ["a", "b"]) == ["r1", "r5"])
        #expect(try ids(any: ["a"], all: ["b"], none: ["c"]) == ["r1"])
        #expect(try ids(none: ["a"]) == ["r2", "r3", "r4"])
        #expect(try ids(any: ["A"]) == ["r4"])
        #expect(try ids(any: ["", " "]) == [])
    }

    @Test("devices are counted under every selector that names them, in the query's order")
    func selectedBy() throws {
        let (result, _) = try tagged.with {
            ($0.anyTags, $0.allTags) = (["c", "a"], ["b"])
            ($0.aliases, $0.registrationIDs) = (["u3", "u5"], ["r3", "r9"])
        }.run()
        #expect(result.selectedBy.map(\.selector) == ["tag:c", "tag:a", "tag:b", "alias", "registration_id"])
        #expect(result.selectedBy.map(\.recipients) == [2, 2, 3, 2, 1])
        #expect(
            result.firstRecipients[0]?.map(\.selectors) == [
                ["tag:a", "tag:b"], ["tag:c", "tag:b"], ["alias", "registration_id"],
                ["tag:c", "tag:a", "tag:b", "alias"],
            ])
    }

    @Test("devices that only lack tags are counted under 'tags'")
    func noneAlone() throws {
        let (result, _) = try tagged.with { $0.noneTags = ["a"] }.run()
        #expect(result.selectors == ["tags": 3])
        #expect(try tagged.with { ($0.allTags, $0.noneTags) = (["b"], ["a"]) }.run().result.selectors == ["tag:b": 1])
        #expect(try tagged.with { $0.everyone = true }.run().result.selectors == ["everyone": 6])
    }

    @Test("tags, aliases and registration ids are united")
    func union() throws {
        let (result, sink) = try tagged.with {
            ($0.anyTags, $0.aliases, $0.registrationIDs) = (["c"], ["u0", "u2"], ["r3"])
        }.run()
        #expect(sink.ids == ["r0", "r2", "r3", "r5"])
        #expect(result.skipped == [.notMatched: 2])
    }

    @Test("a separator may be longer than a character")
    func longSeparator() throws {
        let query = export(["r0,\(token(0)),,x | y|z,,"]).with { $0.columns.tagSeparator = " | " }
        #expect(try query.with { $0.allTags = ["x", "y|z"] }.run().result.audience == 1)
        #expect(try query.with { ($0.anyTags, $0.allowed) = (["y", "z"], [.tagSeparator]) }.run().result.audience == 0)
    }

    @Test(
        "a tag that holds the separator is one tag in a JSON list, which is refused where a tag of the campaign is in it, unless it is allowed"
    )
    func separatorInsideListElement() throws {
        let path = folder.file("a.jsonl", "{\"token\":\"\(token(1))\",\"tags\":[\"a;b\",\"c\"]}")
        let doubtful = AudienceQuery(path).with { $0.anyTags = ["a"] }
        #expect(doubtful.mistakes().count == 1)
        #expect(try doubtful.with { $0.allowed = [.tagSeparator] }.run().result.audience == 0)
        #expect(try AudienceQuery(path).with { $0.allTags = ["a;b", "c"] }.run().result.audience == 1)
    }

    @Test("languages count recipients, blank ones too")
    func languages() throws {
        #expect(try tagged.with { $0.everyone = true }.run().result.languages == ["en": 2, "de": 2, "fr": 1, "": 1])
    }

    @Test("every row has the first reason that applies")
    func reasons() throws {
        let query = export([
            "r0,short", "r1,,u1,x,en,", "r2,,u2,a,de,", "r3,null,u3,a;bad,en,", "r4,,u4,a,en,", "r5,null,u5,a,en,",
            "r6,\(token(6)),u6,a,en,",
            "r7,\(token(6)),u7,a,en,", "r8,\(token(8)),u8,a,en,", "r9,\(token(9)),u9,a,en,",
        ]).with {
            $0.anyTags = ["a"]
            $0.excludedTags = ["bad"]
            $0.conditions = [condition("language", .oneOf(["en"]))]
        }
        let (result, sink) = try query.run {
            $0.registrationID == "r8" ? .renderError : $0.registrationID == "r9" ? .suppressed : nil
        }
        #expect(
            result.skipped == [
                .badRow: 1, .notMatched: 1, .filtered: 1, .excluded: 1, .missingToken: 1, .badToken: 1,
                .duplicateToken: 1, .renderError: 1,
                .suppressed: 1,
            ])
        #expect(result.isBalanced && result.rows == 10 && result.audience == 1)
        #expect(sink.dropped == [1, 2] && sink.finishedSlots == 3)
    }

    @Test("tags, aliases, registration ids and listed devices are excluded")
    func exclusion() throws {
        let list = folder.file("suppressed.txt", "# complaints\n\(token(0xABC1).uppercased())\nr2\n")
        let query = export([
            "r0,\(token(0xABC0)),u0,out,,", "r1,\(token(0xABC1)),u1,,,", "r2,\(token(2)),u2,,,", "r3,\(token(3)),u3,,,",
            "r4,\(token(4)),u4,,,",
            "r5,\(token(5)),u5,in,,", "r2,,u6,,,",
        ]).with {
            $0.everyone = true
            ($0.excludedTags, $0.excludedAliases, $0.excludedRegistrationIDs, $0.excludedDevices) = (
                ["out"], ["u3"], ["r4"], [list]
            )
        }
        let (result, sink) = try query.run()
        #expect(sink.ids == ["r5"])
        #expect(result.skipped == [.excluded: 6])
    }

    @Test(
        "a list of excluded devices may be an export, or a plain list whatever it is called",
        arguments: [
            ("a.csv", "name,token\nx,TOKEN\n"), ("a.csv", "registration_id,name\nr1,x\n"), ("a.csv", "TOKEN\n"),
            ("a.csv", "id\nr1\n"),
            ("a.jsonl", "{\"token\":\"TOKEN\"}\n"), ("a.json", "[{\"registration_id\":\"r1\"}]"), ("a.txt", "r1"),
            ("a.list", "TOKEN\r\n"),
        ])
    func excludedLists(name: String, text: String) throws {
        let upper = token(0xABCDEF).uppercased()
        let list = folder.file(
            name, text.split(separator: "TOKEN", omittingEmptySubsequences: false).joined(separator: upper))
        let query = export(["r1,\(token(0xABCDEF)),,,,", "r2,\(token(2)),,,,"]).with {
            ($0.everyone, $0.excludedDevices) = (true, [list])
        }
        #expect(try query.run().sink.ids == ["r2"])
    }

    @Test(
        "a list of excluded devices that cannot be read as a whole stops the plan",
        arguments: [
            ("a.csv", "token,x\n1\n", 2), ("a.csv", "name,mail\nx,y\n", nil), ("a.jsonl", "{\"token\":\"x\"}\n{\n", 2),
            ("b.txt", nil, nil),
        ] as [(String, String?, Int?)])
    func unreadableLists(name: String, text: String?, line: Int?) {
        let list = text.map { folder.file(name, $0) } ?? "\(folder.path)/\(name)"
        let mistakes = export(["r2,\(token(2)),,,,"]).with { ($0.everyone, $0.excludedDevices) = (true, [list]) }
            .mistakes()
        #expect(
            mistakes.count == 1 && mistakes.first?.file == list && mistakes.first?.position?.line == line, "\(mistakes)"
        )
    }

    @Test("listed registration ids need a registration_id column in the export")
    func listedIDsNeedColumn() {
        let list = folder.file("a.txt", "191e35f7e07\n")
        let query = export(["\(token(1)),a"], header: "token,tags").with {
            ($0.everyone, $0.excludedDevices) = (true, [list])
        }
        #expect(query.mistakes().first?.message.contains("registration_id") == true)
        let tokens = folder.file("b.txt", "\(token(1))\n")
        #expect(query.with { $0.excludedDevices = [tokens] }.mistakes().isEmpty)
    }

    @Test(
        "the nearest name of a person is another person's, so only a difference of spelling is a suggestion, and not if it is named too"
    )
    func nearestPerson() throws {
        let users = folder.file(
            "users.csv",
            "token,alias\n"
                + ["user0", "user3", "carla"].enumerated().map { "\(token($0.offset)),\($0.element)\n" }.joined())
        let query = AudienceQuery(users).with { $0.everyone = true }
        func remedies(_ names: [String]) throws -> [String?] {
            try query.with { $0.excludedAliases = names }.run().result.warnings.filter { $0.name == .aliasNotFound }
                .map(\.remedy)
        }
        #expect(try remedies(["User3", "user3"]) == ["Rows have 'user3', which you name too: remove this one."])
        #expect(try remedies(["user3"]).isEmpty)
        #expect(try remedies(["user4"]) == ["Check that it is written as in the column of aliases."])
        #expect(try remedies(["karla"]) == ["Check that it is written as in the column of aliases."])
        #expect(try remedies(["User3"]).first??.hasPrefix("Did you mean 'user3'?") == true)
    }

    @Test("a tag, alias or id that no row carries is worth a warning, with the nearest tag")
    func unseenNames() throws {
        let warnings = try tagged.with {
            ($0.anyTags, $0.excludedTags) = (["a"], ["unsubscribd"])
            ($0.aliases, $0.registrationIDs, $0.excludedAliases) = (["u1", "u17"], ["r77"], ["u99"])
        }.run().result.warnings.map(\.message)
        #expect(
            warnings.map { $0.split(separator: "'").dropFirst().first ?? "" } == [
                "unsubscribd", "u17", "u99", "r77", "A",
            ])
        let near = export(["r,\(token(1)),,discount,,"]).with { $0.anyTags = ["discuont"] }
        #expect(try near.run().result.warnings.first?.remedy == "Did you mean 'discount'?")
        let twice = try near.with { $0.anyTags = ["discuont", "discount"] }.run().result.warnings.filter {
            $0.name == .tagNotFound
        }
        #expect(twice.map(\.remedy) == [nil], "one that is named already is no suggestion: \(twice)")
        let many = try tagged.with { $0.aliases = (0..<40).map { "nobody\($0)" } }.run().result.warnings
        #expect(many.count == 11 && many.last?.message == "nor any of 30 more of the campaign's aliases")
    }

    @Test("more unreadable rows than allowed stop the plan and are listed; exactly as many do not")
    func badRowShare() throws {
        let rows = (0..<98).map { "r,\(token($0)),,,," } + ["x", "y"]
        let query = export(rows).with { $0.everyone = true }
        let mistakes = query.mistakes()
        #expect(mistakes.count == 3)
        #expect(
            mistakes.first?.description.contains("2 of 100 rows cannot be read (2 %, at most 1 % are allowed)") == true,
            "\(mistakes)")
        #expect(mistakes.first?.remedy?.contains("max_bad_rows: 2%") == true)
        #expect(mistakes.compactMap(\.position?.line) == [100, 101])
        #expect(query.with { $0.maximumBadRowShare = 0.02 }.mistakes().isEmpty)
        let many = try export(Array(repeating: "x", count: 30)).with { $0.everyone = true }.run().result
        #expect(many.badRows.count == 10 && many.skipped == [.badRow: 30])
    }

    @Test("an unreadable row that swallows many lines is worth a warning")
    func swallowedLines() throws {
        let rows =
            (0..<200).map { "r\($0),\(token($0)),,,," } + ["r,\"\(token(999)),,,,"]
            + (0..<30).map { "r\($0),\(token($0)),,,," }
        let result = try export(rows).with { $0.everyone = true }.run().result
        #expect(result.badRows.map(\.position?.line) == [202])
        #expect(
            result.warnings.map(\.message) == [
                "a quote is never closed, in a row of 31 lines"
            ])
    }

    @Test("a scan that is cancelled throws, and the sink is not finished")
    func cancelled() throws {
        let query = export((0..<3000).map { "r\($0),\(token($0)),,,," }).with { $0.everyone = true }
        let sink = CollectingSink()
        #expect(throws: CancellationError.self) {
            try query.scan(into: sink, limits: ReadingLimits(chunkSize: 64), isCancelled: { true })
        }
        #expect(sink.finishedSlots == nil)
    }

    @Test("progress ends with every byte, row and recipient")
    func progress() throws {
        let query = export((0..<50).map { "r\($0),\(token($0)),,,," }).with { $0.everyone = true }
        var last = ScanProgress(bytesRead: 0, bytesTotal: 0, rows: 0, recipients: 0)
        _ = try query.scan(into: CollectingSink(), progress: { last = $0 })
        #expect(last.bytesRead == last.bytesTotal && last.bytesTotal > 3000 && last.rows == 50 && last.recipients == 50)
    }
}
