import Base
import PushServices
import Testing

@testable import Audience

/// A device's newest row decides everything about it.
@Suite("The newest row of a device decides") struct NewestRowTests {
    private let folder = TemporaryFolder()

    /// Rows of `token,alias,tags,country,language,last_active`, the token as a number.
    private func export(_ rows: [String], _ name: String = "devices.csv") -> String {
        let lines = rows.map { row in
            let cells = row.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
            return "\(token(Int(cells[0]) ?? 0)),\(cells[1])"
        }
        return folder.file(name, (["token,alias,tags,country,language,last_active"] + lines).joined(separator: "\n"))
    }

    private func run(
        _ rows: [String], _ change: (inout AudienceQuery) -> Void
    ) throws -> (result: AudienceResult, sink: CollectingSink) {
        // If the dates of two rows differ, it does not matter which is read first.
        let (reversed, _) = try AudienceQuery(export(rows.reversed(), "reversed.csv")).with(change).run()
        let (result, sink) = try AudienceQuery(export(rows)).with(change).run()
        #expect(result.audience == reversed.audience && result.skipped == reversed.skipped)
        return (result, sink)
    }

    @Test("whose newest row says US is not reached by `country: DE` through last month's row")
    func movedAway() throws {
        let (result, _) = try run(["1,,,DE,de,2026-10-01", "1,,,US,en,2026-11-01"]) {
            $0.everyone = true
            $0.conditions = [condition("country", .oneOf(["DE"]))]
        }
        #expect(result.audience == 0 && result.skipped == [.filtered: 1, .duplicateToken: 1])
    }

    private static let unreadableDates = [
        "20/11/2026", "20 Nov 2026", "46346.5", "2026/11/20", "1.20E+09", "1795341600.120", "11/20/2026", "20.11.2026",
        "Nov 20 2026",
    ]

    private func excludingOut(
        _ rows: [String], allowed: Set<WarningName> = [], unites: ExportColumns.Rows = .newest
    ) throws -> AudienceResult {
        try AudienceQuery(export(rows)).with {
            ($0.everyone, $0.excludedTags, $0.excludedAliases) = (true, ["out"], unites == .merge ? ["lost"] : [])
            ($0.allowed, $0.columns.rows) = (allowed, unites)
        }.run().result
    }

    @Test(
        "dates of `last_active` that cannot be read are shown where a device has several rows, and no row is said to be one for each tag",
        arguments: unreadableDates)
    func unreadDates(newest: String) throws {
        let older = newest.replacing("20", with: "19").replacing("46346", with: "46300")
        let rows = (1...3).flatMap { ["\($0),,news,,,\(older)", "\($0),,out,,,\(newest)"] }
        let found = try excludingOut(rows).warnings
        #expect(found.map(\.name) == [.cellsNotCompared])
        #expect(
            found.first?.message.hasPrefix("in 'last_active' 6 rows hold something other than a date") == true,
            "\(found)")
        #expect(found.first?.message.contains("'\(older)', '\(newest)'") == true, "\(found)")
        #expect(try excludingOut(["1,,out,,,\(newest)", "2,,news,,,\(older)"]).warnings.isEmpty)
        #expect(
            try excludingOut(["1,,out,,,-", "1,,news,,,"]).warnings.map(\.name) == [.rowForEachTag, .exclusionNotFound])
    }

    @Test(
        "where no date can be read, a device that `exclude` names in a row that loses stops the plan, unless the campaign allows it",
        arguments: unreadableDates)
    func noReadableDate(date: String) throws {
        let rows = [
            "1,,news;out,,,\(date)", "1,,news,,,\(date)", "2,,news,,,", "3,,out,,,\(date)", "3,,news,,,\(date)",
            "3,,out,,,",
        ]
        let mistake = try #require(#expect(throws: Diagnostics.self) { try excludingOut(rows) }?.all.first)
        #expect(mistake.severity == .error && mistake.name == nil)
        #expect(
            mistake.message.hasSuffix(
                "and none holds one, so the row that is read last would decide, and 1 device that 'exclude' names in another row "
                    + "would get the push: '\(date)'"), "\(mistake)")
        #expect(mistake.remedy?.contains("as 2026-11-30") == true)
        #expect(mistake.remedy?.contains("`allow: [{warning: exclusion-not-found, reason: \"…\"}]`") == true)

        let allowed = try excludingOut(rows, allowed: [.exclusionNotFound])
        #expect(allowed.audience == 2 && allowed.warnings.contains { $0.name == .exclusionNotFound })
        // One date that can be read makes it a warning: other rows have no reason to look
        // different.
        #expect(try excludingOut(rows + ["9,,news,,,2026-11-01"]).warnings.contains { $0.name == .exclusionNotFound })
        // United tags leave the device out; what only the newest row decides may also be lost.
        #expect(try excludingOut(rows, unites: .merge).audience == 1)
        #expect(throws: Diagnostics.self) {
            try excludingOut(["1,lost,,,,\(date)", "1,anna,,,,\(date)"], unites: .merge)
        }
    }

    @Test(
        "a date more than a day ahead does not make its row the newest, and is shown",
        arguments: [ExportColumns.Rows.newest, .merge])
    func dateAhead(rows: ExportColumns.Rows) throws {
        let ahead = noon.adding(seconds: 86_401).description
        let change: (inout AudienceQuery) -> Void = {
            ($0.everyone, $0.columns.rows) = (true, rows)
            $0.conditions = [condition("country", .oneOf(["DE"]))]
        }
        let cells = ["1,,,DE,de,\(ahead)", "1,,,US,en,2026-11-01"]
        let (result, _) = try run(cells, change)
        #expect(result.audience == 0 && result.skipped == [.filtered: 1, .duplicateToken: 1])
        #expect(result.warnings.map(\.name) == [.cellsNotCompared])
        let warning = result.warnings.first?.message ?? ""
        #expect(
            warning.hasPrefix(
                "in 'last_active' 1 row holds something other than a date in the past, and counts as older"),
            "\(warning)"
        )
        let traced = try AudienceQuery(export(cells, "traced.csv")).with(change).trace(TraceSubject(token(1))).rows
        #expect(traced.map(\.verdict) == [.duplicateToken, .filtered])

        // A clock that is ahead by a time zone does not count.
        let (today, _) = try run(["1,,,DE,de,\(noon.adding(seconds: 86_399))", "1,,,US,en,2026-11-01"], change)
        #expect(today.audience == 1 && today.warnings.isEmpty)
    }

    @Test("signs for nothing are blank in what is kept of a device, too")
    func blankSigns() throws {
        let (result, sink) = try AudienceQuery(export(["1,NULL,,,N/A,", #"2,\N,,,NULL,"#, "3,-,,,,", "4,anna,,,de,"]))
            .with {
                $0.everyone = true
            }.run()
        #expect(result.languages == ["": 3, "de": 1])
        #expect(sink.recipients.map { [$0.alias, $0.language] } == [["", ""], ["", ""], ["", ""], ["anna", "de"]])
    }

    @Test("an alias does not reach the device of another person, to whom it belongs now")
    func handedOn() throws {
        let rows = ["1,anna,,,,2026-10-01", "1,bert,,,,2026-11-01", "2,anna,,,,2026-11-02"]
        let (result, sink) = try run(rows) { $0.aliases = ["anna"] }
        #expect(sink.recipients.map(\.token.text) == [token(2)])
        #expect(result.skipped == [.notMatched: 1, .duplicateToken: 1])
        let (both, bothSink) = try run(rows) { ($0.aliases, $0.aliasLimit) = (["anna", "bert"], 1) }
        #expect(bothSink.recipients.map(\.alias).sorted() == ["anna", "bert"])
        #expect(both.skipped == [.duplicateToken: 1], "the device takes no place of her to whom it belonged")
    }

    @Test("`tags: {any: [news], none: [unsubscribed]}` does not reach who unsubscribed since")
    func unsubscribedByNone() throws {
        let (result, _) = try run(["1,,news,,,2026-10-01", "1,,news;unsubscribed,,,2026-11-01"]) {
            ($0.anyTags, $0.noneTags) = (["news"], ["unsubscribed"])
        }
        #expect(result.audience == 0 && result.skipped == [.notMatched: 1, .duplicateToken: 1])
    }

    @Test("`older than 90 days` does not reach who was active yesterday")
    func activeYesterday() throws {
        let (result, _) = try run(["1,,,,,2026-01-01", "1,,,,,2026-11-19"]) {
            $0.everyone = true
            $0.conditions = [condition("last_active", .olderThan(seconds: 90 * 86_400))]
        }
        #expect(result.audience == 0 && result.skipped == [.filtered: 1, .duplicateToken: 1])
    }

    @Test("with equal dates, or without any, the last of the files counts", arguments: ["2026-11-01", ""])
    func lastFile(date: String) throws {
        let files = [
            export(["1,,old,,de,\(date)"], "2026-11-01.csv"), export(["1,,new,,en,\(date)"], "2026-11-02.csv"),
        ]
        let (result, sink) = try AudienceQuery(files[0], files[1]).with { $0.anyTags = ["old", "new"] }.run()
        #expect(result.selectors == ["tag:old": 0, "tag:new": 1] && sink.recipients.map(\.language) == ["en"])
        #expect(try AudienceQuery(files[0], files[1]).with { $0.anyTags = ["old"] }.run().result.audience == 0)
        #expect(try AudienceQuery(files[1], files[0]).with { $0.anyTags = ["old"] }.run().result.audience == 1)
    }

    @Test("who unsubscribed since is not reached through an older row")
    func unsubscribedSince() throws {
        let (result, _) = try run(["1,,news,,,2026-01-01", "1,,unsubscribed,,,2026-05-01"]) {
            ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"])
        }
        #expect(result.audience == 0 && result.skipped == [.excluded: 1, .duplicateToken: 1])
    }

    @Test("who subscribed again is reached")
    func subscribedAgain() throws {
        let (result, _) = try run(["1,,news,,,2026-05-01", "1,,unsubscribed,,,2026-01-01"]) {
            ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"])
        }
        #expect(result.audience == 1 && result.skipped == [.duplicateToken: 1])
    }

    @Test("of two equally new rows the one that is read last decides, also about exclusion")
    func equallyNew() throws {
        func audience(_ rows: [String]) throws -> Int {
            try AudienceQuery(export(rows)).with { ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"]) }.run()
                .result.audience
        }
        #expect(try audience(["1,,news,,,", "1,,unsubscribed,,,"]) == 0)
        #expect(try audience(["1,,unsubscribed,,,", "1,,news,,,"]) == 1)
        #expect(try audience(["1,,news,,,2026-01-01", "1,,unsubscribed,,,never", "1,,unsubscribed,,,"]) == 1)
    }

    @Test(
        "a row without a past date that is excluded and loses to another one is warned of, whichever is read first",
        arguments: ["", "never", "2062-11-10"])
    func undatedExclusion(date: String) throws {
        // An opt-out counts with the campaign's tags or without them.
        for tags in ["unsubscribed", "news;unsubscribed"] { try undatedExclusion(tags, date) }
    }

    private func undatedExclusion(_ tags: String, _ date: String) throws {
        let rows = [
            "1,,news,,,2026-01-01", "1,,\(tags),,,\(date)", "2,,news,,,2026-01-01", "2,,unsubscribed,,,2025-01-01",
            "3,,news,,,",
        ]
        let (result, _) = try run(rows) { ($0.anyTags, $0.excludedTags) = (["news"], ["unsubscribed"]) }
        #expect(result.audience == 3)
        let warnings = result.warnings.filter { $0.name == .exclusionNotFound }
        #expect(
            warnings.map(\.message) == [
                "1 device has a row that 'exclude' names, without a past date in 'last_active', so another of its rows decides, "
                    + "which 'exclude' does not name: it gets the push"
            ])
        // Of rows without a date, too: the last one of device 4 decides for it, and is excluded.
        let none = [
            "4,,unsubscribed,,,", "4,,news,,,", "4,,unsubscribed,,,", "5,,unsubscribed,,,\(date)", "5,,news,,,",
        ]
        let undated = try AudienceQuery(export(rows + none, "undated.csv")).with {
            ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"])
        }.run().result
        let said = undated.warnings.first { $0.name == .exclusionNotFound }
        #expect(
            said?.message.hasPrefix("2 devices have rows that 'exclude' names, without") == true, "\(undated.warnings)")
        let path = folder.file("none.csv", "token,tags\n\(token(1)),unsubscribed\n\(token(1)),news\n")
        let noColumn = try AudienceQuery(path).with { ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"]) }.run()
            .result
        #expect(
            !noColumn.warnings.contains { $0.name == .exclusionNotFound },
            "without the column the order of the rows is all there is")
        let (dated, _) = try run([rows[1], "1,,unsubscribed,,,2026-01-01"]) {
            ($0.everyone, $0.excludedTags) = (true, ["unsubscribed"])
        }
        #expect(dated.audience == 0 && !dated.warnings.contains { $0.name == .exclusionNotFound })
        let traced = try AudienceQuery(export(rows)).with { $0.anyTags = ["news"] }.trace(TraceSubject(token(1))).rows
        #expect(traced.map(\.lacksDate) == [false, true] && traced.map(\.verdict) == [nil, .duplicateToken])
    }

    @Test("so is one that 'where' leaves out by another word than it wants", arguments: ["", "never", "2062-11-10"])
    func undatedWord(date: String) throws {
        let header = "token,last_active,push,tags\n"
        func result(_ rows: [String], merges: Bool = false, _ change: (inout AudienceQuery) -> Void = { _ in }) throws
            -> AudienceResult
        {
            let query = AudienceQuery(folder.file("words.csv", header + rows.joined(separator: "\n"))).with {
                $0.everyone = true
                $0.conditions = [condition("push", .oneOf(["yes"]))]
                if merges { $0.columns.rows = .merge }
                change(&$0)
            }
            return try query.run().result
        }
        let no = "\(token(1)),\(date),no,", yes = "\(token(1)),2026-01-01,yes,"
        for merges in [false, true] {
            for rows in [[no, yes], [yes, no]] {
                let found = try result(rows, merges: merges)
                #expect(found.audience == 1)
                #expect(
                    found.warnings.filter { $0.name == .exclusionNotFound }.map(\.message) == [
                        "1 device has a row that 'where' leaves out, without a past date in 'last_active', so another of its rows decides, "
                            + "which 'where' does not leave out: it gets the push"
                    ])
                let both = try result(rows, merges: merges) { $0.excludedTags = ["x"] }
                #expect(
                    both.warnings.contains {
                        $0.message.contains("a row that 'exclude' names or 'where' leaves out, without")
                    })
            }
            // A blank cell says nothing, and an older row has lost.
            for rows in [
                ["\(token(1)),\(date),,", yes], ["\(token(1)),2025-01-01,no,", yes],
                [no, "\(token(1)),2026-01-01,no,"],
            ] {
                #expect(try !result(rows, merges: merges).warnings.contains { $0.name == .exclusionNotFound })
            }
        }
    }

    private static let forms: [@Sendable (String) -> String] = [
        { "<\($0)>" }, { "'\($0)" }, { "0x\($0)" }, { "\u{A0}\($0)" }, { "\($0)\u{A0}" }, { "\"\($0)\"" },
        { "\" \($0)\"" }, { "\t\($0)" },
        { "\($0.prefix(32)) \($0.suffix(32))" }, { $0.uppercased() }, { "\u{200B}\($0)" }, { "\u{FEFF}\($0)" },
        { "<0X\($0.uppercased())>" },
        { token in
            let digits = Array(token)
            return "<"
                + stride(from: 0, to: digits.count, by: 8).map { String(digits[$0..<$0 + 8]) }.joined(separator: " ")
                + ">"
        },
    ]

    @Test(
        "a row decides for its device however programs have decorated its token, also in lists and for --why",
        arguments: forms.indices)
    func decorated(number: Int) throws {
        let written = Self.forms[number](token(0xAB))
        let cell = "\"" + written.replacing("\"", with: "\"\"") + "\""
        let header = "token,tags,last_active\n", older = "\(token(0xAB)),news,2026-01-01\n",
            other = "\(token(1)),news,2026-01-01\n"
        let newer = "\(cell),news;unsubscribed,2026-02-01\n"
        let one = folder.file("one.csv", header + older + other + newer)
        let json = JSONValue.object(pairs: [
            ("token", .string(written)), ("tags", .string("news;unsubscribed")), ("last_active", .string("2026-02-01")),
        ])
        let two = [folder.file("1.csv", header + older + other), folder.file("2.jsonl", json.text + "\n")]
        for files in [[one], two] {
            for rows in [ExportColumns.Rows.newest, .merge] {
                let query = AudienceQuery(files: files, columns: ExportColumns(), now: noon).with {
                    ($0.anyTags, $0.excludedTags, $0.columns.rows) = (["news"], ["unsubscribed"], rows)
                }
                let (result, sink) = try query.run()
                #expect(sink.recipients.map(\.token.text) == [token(1)], "\(written)")
                #expect(
                    result.skipped == [.excluded: 1, .duplicateToken: 1] && result.warnings.isEmpty, "\(result.skipped)"
                )
                for subject in [token(0xAB), written] {
                    #expect(
                        try query.trace(TraceSubject(subject)).rows.map(\.verdict) == [.duplicateToken, .excluded],
                        "\(subject)")
                }
            }
        }
        let everyone = AudienceQuery(two[0]).with { $0.everyone = true }
        for list in [folder.file("list.txt", "\(written)\n"), folder.file("list.csv", "token,why\n\(cell),x\n")] {
            #expect(
                try everyone.with { $0.excludedDevices = [list] }.run().sink.recipients.map(\.token.text) == [token(1)],
                "\(list)")
            var imported: [String] = []
            try TokenList.read(list, columns: ExportColumns()) { imported.append($0.token.text) }
            #expect(imported == [token(0xAB)])
        }
    }

    @Test("the same of a service whose targets are kept as they are written", arguments: ["'", "\u{A0}", "\u{FEFF}"])
    func decoratedText(mark: String) throws {
        let (fcm, target) = (
            try #require(PushServices.named("fcm")),
            "dPx3c9Qk2Lm0aBcDeFgHiJ:APA91b" + String(repeating: "a", count: 101)
        )
        let path = folder.file(
            "a.csv", "token,tags,last_active\n\(target),news,2026-01-01\n\(mark)\(target),news;out,2026-02-01\n")
        for services in [[fcm], [fcm, PushServices.standard]] {
            var columns = ExportColumns()
            columns.targets[fcm.target.column] = services.count > 1 ? place("token") : nil
            let query = AudienceQuery(path, columns: columns).with {
                ($0.services, $0.anyTags, $0.excludedTags) = (services, ["news"], ["out"])
            }
            let result = try query.run().result
            #expect(result.skipped == [.excluded: 1, .duplicateToken: 1], "\(result.skipped)")
        }
    }

    @Test("a row whose token cannot be read is bad_token whatever its tags, and one that is excluded is warned of")
    func unreadable() throws {
        let rows = [
            "\(token(2)),news", "\(token(2))x,news;unsubscribed", "\(token(2)) \(token(3)),sports", "NULL,sports",
            "NULL,news",
            ",unsubscribed",
        ]
        let path = folder.file("bad.csv", "token,tags\n" + rows.joined(separator: "\n"))
        for unites in [ExportColumns.Rows.newest, .merge] {
            let query = AudienceQuery(path).with {
                ($0.anyTags, $0.excludedTags, $0.columns.rows) = (["news"], ["unsubscribed"], unites)
            }
            let result = try query.run().result
            #expect(result.skipped == [.badToken: 3, .notMatched: 2] && result.audience == 1, "\(result.skipped)")
            #expect(
                result.warnings.map(\.message) == [
                    "1 row that 'exclude' names has something other than a token, so it excludes no device: other rows may select the same devices"
                ])
        }
    }

    @Test("older rows count as duplicate_token and for nothing else, also where nothing selects the device")
    func counts() throws {
        let rows = [
            "1,,,,,2026-01-01", "1,,,,,2026-01-02", "1,,news,,,2026-01-03", "2,,,,,2026-01-01", "2,,,,,2026-01-02",
            "3,,news,,,",
        ]
        let (result, _) = try run(rows) { $0.anyTags = ["news"] }
        #expect(result.skipped == [.notMatched: 1, .duplicateToken: 3] && result.audience == 2 && result.isBalanced)
    }

    @Test("a row that is selected later than a newer one of its device takes no recipient's place")
    func slots() throws {
        let rows = [
            "1,,,,en,2026-05-01", "2,,news,,de,2026-01-01", "1,,news,,fr,2026-01-01", "3,,news,,es,2026-01-01",
            "2,,news,,it,2026-02-01",
        ]
        let (result, sink) = try AudienceQuery(export(rows)).with { $0.anyTags = ["news"] }.run()
        #expect(sink.recipients.map(\.language) == ["it", "es"] && sink.finishedSlots == 3 && sink.dropped == [1])
        #expect(result.firstRecipients[0]?.map(\.slot) == [0, 2])
    }

    // MARK: - A row for each tag

    private func merging(_ rows: [String], _ change: (inout AudienceQuery) -> Void) throws -> (
        AudienceResult, CollectingSink
    ) {
        try run(rows) {
            $0.columns.rows = .merge
            change(&$0)
        }
    }

    @Test("with `rows: merge` the tags of a device's rows are united")
    func unitedTags() throws {
        let rows = ["1,,news,,,2026-01-01", "1,,beta,,,2026-01-02", "2,,news,,,2026-01-01", "3,,,,,2026-01-01"]
        let (result, sink) = try merging(rows) { $0.allTags = ["news", "beta"] }
        #expect(sink.recipients.map(\.token.text) == [token(1)] && result.selectors == ["tag:news": 1, "tag:beta": 1])
        #expect(result.skipped == [.notMatched: 2, .duplicateToken: 1])
        #expect(
            try merging(rows) { ($0.anyTags, $0.noneTags) = (["news"], ["beta"]) }.1.recipients.map(\.token.text) == [
                token(2)
            ])
        let (excluded, _) = try merging(rows) { ($0.everyone, $0.excludedTags) = (true, ["news"]) }
        #expect(excluded.audience == 1 && excluded.skipped == [.excluded: 2, .duplicateToken: 1])
    }

    @Test("with `rows: merge` the newest row decides all but the tags, also one that carries none of them")
    func mergedRest() throws {
        let rows = ["1,anna,news,DE,de,2026-01-01", "1,bert,,US,en,2026-01-02"]
        let (_, sink) = try merging(rows) { $0.anyTags = ["news"] }
        #expect(sink.recipients.map(\.alias) == ["bert"] && sink.recipients.map(\.language) == ["en"])
        let german: (inout AudienceQuery) -> Void = {
            $0.anyTags = ["news"]
            $0.conditions = [condition("country", .oneOf(["DE"]))]
        }
        #expect(try merging(rows, german).0.skipped == [.filtered: 1, .duplicateToken: 1])
        #expect(try merging(rows) { $0.aliases = ["anna"] }.0.skipped == [.notMatched: 1, .duplicateToken: 1])
        #expect(try merging(rows) { ($0.everyone, $0.excludedAliases) = (true, ["anna"]) }.0.audience == 1)
        #expect(
            try merging(rows) { ($0.everyone, $0.excludedAliases) = (true, ["bert"]) }.0.skipped == [
                .excluded: 1, .duplicateToken: 1,
            ])
    }

    @Test("an export that looks as if it had a row for each tag is warned of by name")
    func rowForEachTag() throws {
        func warnings(_ rows: [String], _ change: (inout AudienceQuery) -> Void = { $0.anyTags = ["news", "beta"] })
            throws -> [Diagnostic]
        {
            try AudienceQuery(export(rows)).with(change).run().result.warnings.filter { $0.name == .rowForEachTag }
        }
        let rows = ["1,,news,,,2026-01-01", "2,,beta,,,2026-01-01", "1,,beta,,,2026-01-01"]
        let found = try warnings(rows)
        #expect(
            found.map(\.message) == [
                "the export seems to have a row for each tag: rows of the device 0000…0001 differ in their tags and not in last_active, "
                    + "and only the last row counts"
            ])
        #expect(found.first?.remedy?.contains("`columns: {rows: merge}`") == true)
        #expect(try warnings(rows) { ($0.anyTags, $0.columns.rows) = (["news", "beta"], .merge) }.isEmpty)
        #expect(try warnings(rows) { $0.everyone = true }.isEmpty, "nothing asks for tags")
        #expect(try warnings(["1,,news,,,2026-01-01", "1,,news,,,2026-01-01"]).isEmpty)
        #expect(try warnings(["1,,news,,,2026-01-01", "1,,beta,,,2026-01-02"]).isEmpty)
        let files = [export(["1,,news,,,"], "a.csv"), export(["1,,beta,,,"], "b.csv")]
        let daily = try AudienceQuery(files[0], files[1]).with { $0.anyTags = ["news", "beta"] }.run().result
        #expect(
            !daily.warnings.contains { $0.name == .rowForEachTag }, "another day's export is no row for another tag")
    }
}
