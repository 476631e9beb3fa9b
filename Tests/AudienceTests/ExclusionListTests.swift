import Base
import Testing

@testable import Audience

/// A list of excluded devices that excludes none is seldom intended.
@Suite struct ExclusionListTests {
    private let folder = TemporaryFolder()

    private func export(_ count: Int) -> AudienceQuery {
        let rows = (0..<count).map { "\(token($0)),reg\($0),user\($0),\($0 % 10 == 0 ? "news" : "sports")\n" }.joined()
        return AudienceQuery(folder.file("devices.csv", "token,registration_id,alias,tags\n" + rows)).with {
            $0.everyone = true
        }
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
            "user1": lines(count) { _ in "user1" }, "0000…0300": lines(count) { token($0 + 0x300) },
        ]
        for (number, (shown, text)) in forms.enumerated() {
            let list = folder.file("\(number).txt", text)
            let found = try result(query, [list])
            #expect(found.audience == 300)
            let lines = count == 1 ? "its only line is not a device" : "none of its 2,000 lines is a device"
            #expect(
                found.warnings.map(\.name) == [.exclusionNotFound] && found.warnings.map(\.position?.file) == [list])
            #expect(
                found.warnings.first?.message
                    == "the list of excluded devices excludes no device: \(lines) of the exports")
            #expect(found.warnings.first?.remedy?.hasPrefix("Its first is '\(shown)'.") == true, "\(found.warnings)")
        }
        for empty in [
            folder.file("a.csv", "token\n"), folder.file("b.csv", "token,note\n\n"),
            folder.file("c.txt", "# none yet\n"),
        ] {
            let found = try result(query, [empty])
            #expect(
                found.warnings.map(\.message) == ["the list of excluded devices has no entry, so it excludes no device"]
            )
        }
    }

    @Test(
        "lines that are meant as tokens and are none, and e-mail addresses, are refused with their lines",
        arguments: [
            ("{\(token(10))}", "it is in brackets"),
            (String(token(10).dropFirst()), "its 63 digits are no even number"),
            ("0000…000a", "it is shortened"), ("a@example.com", "it is an e-mail address"),
            ("00000000 0000000a 00000000", "it has blanks"),
            ("0x" + token(10).suffix(24), "it begins with 0x"),
            ("7.28E+15", "a spreadsheet has turned it into a number"),
        ])
    func flawedLines(line: String, words: String) throws {
        let query = export(20)
        for (name, text, place) in [
            ("a.txt", "\(token(1))\n\(line)\n", 2), ("b.csv", "token,note\n\(token(1)),x\n\(line),x\n", 3),
        ] {
            let list = folder.file(name, text)
            let mistakes = query.with { $0.excludedDevices = [list] }.mistakes()
            #expect(
                mistakes.count == 1 && mistakes.first?.position?.line == place
                    && mistakes.first?.message.contains(words) == true,
                "\(mistakes)")
            #expect(mistakes.first?.message.contains(token(10)) == false)
        }
    }

    @Test(
        "a token behind a '#' excludes no device, and is warned of; another comment is not",
        arguments: ["", "\(token(1))\n"])
    func hashed(others: String) throws {
        let list = folder.file("a.txt", "# complaints\n#\(token(2))\n\(others)# <\(token(3))>\n## none\n")
        let warnings = try result(export(20), [list]).warnings
        #expect(warnings.count == (others.isEmpty ? 2 : 1) && warnings.first?.name == .exclusionNotFound)
        #expect(
            warnings.first?.description.replacing(folder.path + "/", with: "")
                == "a.txt:2:1: warning: 2 lines begin with '#' before tokens, and so are comments and exclude no device. "
                + "Remove the '#' to leave the devices out, or else the whole lines. [exclusion-not-found]")
    }

    @Test(
        "what each part of exclude leaves out of the audience is counted, also when it is nothing",
        arguments: [ExportColumns.Rows.newest, .merge])
    func counts(rows: ExportColumns.Rows) throws {
        let first = folder.file("a.txt", "\(token(0))\n\(token(1))\n\(token(0x900))\n"),
            second = folder.file("b.csv", "registration_id\nreg1\nreg2\n")
        let none = folder.file("c.txt", "\(token(0x901))\n")
        let query = export(30).with {
            $0.columns.rows = rows
            ($0.excludedTags, $0.excludedAliases, $0.excludedDevices) = (
                ["news"], ["user3", "user99"], [first, second, none]
            )
        }
        let result = try query.run(chunkSize: 256).result
        #expect(result.skipped[.excluded] == 6)
        #expect(
            result.exclusions.map(\.devices) == [3, 1, 2, 2, 0] && result.exclusions.map(\.entries) == [1, 2, 3, 2, 1])
        #expect(result.exclusions.compactMap(\.list) == [first, second, none])
        let many = try export(30).with { $0.excludedDevices = [first, first, first, first, second, none, second] }.run()
            .result
        #expect(
            many.exclusions.map(\.devices) == [2, 2, 2, 2, 2] && many.exclusions.last?.list == nil
                && many.exclusions.last?.entries == 5)
    }

    @Test(
        "a list with one device of the exports is not warned of, also where nothing else selects that device",
        arguments: [3, 2000])
    func matches(count: Int) throws {
        let query = export(count).with { ($0.everyone, $0.anyTags) = (false, ["news"]) }
        let others = lines(50) { token($0 + 0x10000) }
        for (number, entry) in [token(count - 1).uppercased(), token(1), "reg\(count - 1)"].enumerated() {
            let found = try result(query, [folder.file("\(number).txt", others + entry + "\n")])
            #expect(found.warnings.isEmpty, "\(entry)")
        }
        #expect(try result(query, [folder.file("list.txt", others)]).warnings.count == 1)
    }

    @Test(
        "the first line of a plain list that is called .csv counts, unless it is the header of tokens",
        arguments: [1, 2, 40])
    func plainTable(count: Int) throws {
        let ids = folder.file("ids.csv", lines(count) { "reg\($0)" }),
            tokens = folder.file("tokens.csv", lines(count) { token($0) })
        for list in [ids, tokens, folder.file("named.csv", "gone\n" + lines(count) { token($0) })] {
            let found = try result(export(100), [list])
            #expect(found.audience == 100 - count && found.warnings.isEmpty, "\(list) \(found.warnings)")
        }
        let withoutIDs = AudienceQuery(folder.file("a.csv", "token\n" + lines(100) { token($0) })).with {
            $0.everyone = true
        }
        #expect(
            try result(withoutIDs, [folder.file("named.csv", "gone\n" + lines(count) { token($0) })]).audience == 100
                - count)
    }

    @Test("a plain list that is called .csv and excludes no device is named with its first line")
    func uselessPlainTable() throws {
        let found = try result(export(100), [folder.file("people.csv", "user1\nuser2\n")]).warnings
        #expect(
            found.map(\.position?.line) == [1] && found.first?.remedy?.hasPrefix("Its first is 'user1'.") == true,
            "\(found)")
    }

    @Test("a list of JSON whose elements are no objects is refused with what to write")
    func plainJSON() {
        for (name, text) in [
            ("a.json", "[\"reg1\", \"reg2\"]"), ("b.jsonl", "\"reg1\"\n\"reg2\"\n"),
            ("c.json", "[{\"token\": \"\(token(1))\"}, \"reg2\"]"),
        ] {
            let list = folder.file(name, text)
            let mistakes = export(10).with { $0.excludedDevices = [list] }.mistakes()
            #expect(mistakes.map(\.remedy) == [JSONArrayReader.objects], "\(mistakes)")
        }
    }

    @Test("each of several lists is judged by itself")
    func severalLists() throws {
        let good = folder.file("good.txt", "\(token(5))\n"), bad = folder.file("bad.txt", "\(token(900))\n")
        let ids = folder.file("ids.csv", "registration_id\nreg7\n")
        let found = try result(export(100), [bad, good, ids])
        #expect(found.audience == 98 && found.warnings.map(\.file) == [bad])
        #expect(
            try result(export(100), (0..<70).map { $0 == 3 ? bad : $0 % 2 == 0 ? good : ids }).warnings.map(\.file) == [
                bad
            ])
    }

    @Test(
        "a list with Volley's own names, and a run's report, exclude the same devices whatever the exports call their columns",
        arguments: [
            ["token": "apns_token"], ["token": "apns_token", "registration_id": "uid"],
            ["token": "registration_id", "registration_id": "uid"],
            ["token": "apns_token", "registration_id": "outcome"], ["token": "registration_id"], [:],
        ])
    func otherNames(names: [String: String]) throws {
        let columns = ExportColumns(
            names: Dictionary(
                uniqueKeysWithValues: names.map { (ExportColumns.Standard(rawValue: $0.key) ?? .tags, place($0.value)) }
            ))
        let (tokens, registrations) = (columns.candidates(for: .token)[0], columns.candidates(for: .registrationID)[0])
        // Half of the devices have a registration id, unless it is the token.
        let ids = (0..<20).map { $0 % 2 == 0 ? "reg\($0)" : "" }
        let rows = (0..<20).map { tokens == registrations ? "\(token($0))\n" : "\(token($0)),\(ids[$0])\n" }.joined()
        let export = folder.file(
            "devices.csv", tokens + (tokens == registrations ? "\n" : ",\(registrations)\n") + rows)
        let query = AudienceQuery(export, columns: columns).with { $0.everyone = true }
        let report =
            "device_token,registration_id,alias,language,variant,outcome,status,reason,attempts,apns_id,latency_ms,settled_at\n"
            + (0..<15).map { "\(token($0)),\(ids[$0]),,en,,accepted,200,,1,id\($0),7,2026-11-20T12:00:00Z\n" }.joined()
        // In lists that are not reports, a column with the name of the exports' tokens contains
        // tokens.
        let beside = tokens == "registration_id" ? "id" : "registration_id"
        let lists = [
            report, "device_token,\(beside),note\n" + (0..<15).map { "\(token($0)),\(ids[$0]),x\n" }.joined(),
            "note,token\n" + (0..<15).map { "x,\(token($0))\n" }.joined(),
            "\(tokens),note\n" + (0..<15).map { "\(token($0)),x\n" }.joined(),
        ]
        for (number, list) in lists.enumerated() {
            let found = try result(query, [folder.file("\(number).csv", list)])
            #expect(found.audience == 5 && found.warnings.isEmpty, "\(list.prefix(60)): \(found.warnings)")
        }
        let lines = (0..<15).map { "{\"device_token\": \"\(token($0))\", \"\(beside)\": \"\(ids[$0])\"}\n" }.joined()
        #expect(try result(query, [folder.file("list.jsonl", lines)]).audience == 5)
    }

    @Test(
        "a report leaves out those that got a push by their tokens alone: others of the same person, or without an id of their own, stay"
    )
    func reportByTokens() throws {
        let rows = (0..<20).map { "\(token($0)),\($0 % 2 == 0 ? "person\($0 / 4)" : "0")\n" }.joined()
        let export = folder.file("devices.csv", "token,registration_id\n" + rows)
        let query = AudienceQuery(export).with { $0.everyone = true }
        let report =
            "device_token,registration_id,alias,language,variant,outcome,status,reason,attempts,apns_id,latency_ms,settled_at\n"
            + (0..<9).map {
                "\(token($0)),\($0 % 2 == 0 ? "person\($0 / 4)" : "0"),,en,,accepted,200,,1,id\($0),7,2026-11-20T12:00:00Z\n"
            }
            .joined()
        let found = try result(query, [folder.file("reached.csv", report)])
        #expect(found.audience == 11 && found.warnings.isEmpty, "\(found.warnings)")
    }

    @Test(
        "a list with rows of which none says which device is meant is refused with what it lacks", arguments: [1, 2000])
    func nothingListed(count: Int) throws {
        let mapped = AudienceQuery(
            folder.file("devices.csv", "apns_token,uid\n\(token(1)),reg1\n"),
            columns: ExportColumns(
                names: [.token: place("apns_token"), .registrationID: place("uid")])
        ).with { $0.everyone = true }
        for (name, list, words) in [
            ("a.csv", "push,uid\n" + lines(count) { token($0) + "," }, "'uid'"),
            ("b.csv", "token,note\n" + lines(count) { ",\($0)" }, "'token'"),
            ("c.jsonl", lines(count) { "{\"push\": \"\(token($0))\", \"uid\": \"\"}" }, "'uid'"),
        ] {
            let mistakes = #expect(throws: Diagnostics.self) { try self.result(mapped, [self.folder.file(name, list)]) }
            let mistake = mistakes?.all.first
            #expect(mistakes?.all.count == 1 && mistake?.file?.hasSuffix(name) == true)
            let rows = count == 1 ? "the only row" : "none of the 2,000 rows"
            #expect(
                mistake?.message.contains(rows) == true && mistake?.message.contains(words) == true,
                "\(mistake?.message ?? "")")
            #expect(mistake?.remedy?.contains("'apns_token' or 'device_token'") == true, "\(mistake?.remedy ?? "")")
        }
        let nameless = #expect(throws: Diagnostics.self) {
            try self.result(
                mapped,
                [self.folder.file("d.csv", "push,registration_id\n" + self.lines(count) { "\(token($0)),reg\($0)" })])
        }
        #expect(
            nameless?.all.first?.message.contains("no column of tokens or registration ids") == true,
            "\(nameless?.all ?? [])")
        #expect(
            nameless?.all.first?.remedy?.contains(
                "'apns_token' or 'device_token', or the column of its registration ids 'uid'") == true)
    }

    @Test(
        "a token with something beside it is refused with its line",
        arguments: [
            "T,T", "T;", "T # Anna", "2) T", "- T", "token=T", "1、T", "（T）", "T，", "T <a@b.de>", "T|Anna", "=\"T\"",
            "T;T", "; T", "• T",
            "[T]", "T T", "{\"token\":\"T\"}",
        ])
    func besideTokens(form: String) throws {
        let line = form.replacing("T", with: "aa" + token(10).dropFirst(2))
        // A byte order mark at the beginning of a line is no part of it.
        let list = folder.file("a.txt", "\(token(1))\n\(line)\n")
        let mistakes = export(20).with { $0.excludedDevices = [list] }.mistakes()
        #expect(mistakes.map(\.position?.line) == [2], "\(mistakes)")
        #expect(
            mistakes.first?.message.contains("is neither a device token nor a registration id") == true, "\(mistakes)")
        #expect(mistakes.first?.message.contains("aa" + token(10).dropFirst(2)) == false)
    }

    @Test(
        "lines that could be registration ids, and are none of the exports, are counted and warned of",
        arguments: [
            ("user1", "'user1'"), ("ios:T", "'ios:aa00…000a'"), ("T.", "'aa00…000a.'"), ("rid:reg1", "'rid:reg1'"),
            ("reg1,", "'reg1,'"),
        ])
    func unknownForms(form: String, shown: String) throws {
        let line = form.replacing("T", with: "aa" + token(10).dropFirst(2))
        for beside in [[token(0)], [token(0), "reg2"]] where beside.count == 1 || form != "user1" {
            let list = folder.file("a.txt", (beside + [line]).joined(separator: "\n"))
            let found = try result(export(20), [list])
            #expect(found.audience == 20 - beside.count)
            #expect(
                found.warnings.map(\.name) == [.exclusionNotFound]
                    && found.warnings.first?.position?.line == beside.count + 1)
            #expect(
                found.warnings.first?.message
                    == "1 of its \(beside.count + 1) lines is neither a device token nor a registration id of the exports, and so excludes none: \(shown)",
                "\(found.warnings)")
            #expect(found.exclusions.map(\.unmatched) == [1])
        }
        let ids = folder.file("ids.txt", "reg1\nreg2\nreg900\n\(token(0x777))\n")
        let silent = try result(export(20), [ids])
        #expect(silent.warnings.isEmpty && silent.exclusions.map(\.unmatched) == [2], "\(silent.warnings)")
    }

    @Test("rows that name no device, or only with a sign for nothing, are counted and warned of")
    func blankRows() throws {
        let tables = [
            ("a.csv", "device_token,alias\n\(token(0)),user0\n,user1\n,user2\n", 2, 3),
            ("b.csv", "alias,token\nuser0,\(token(0))\nuser1,NULL\nx,N/A\ny,-\nz,none\n", 4, 5),
            ("c.csv", "device_token,id\n\(token(0)),\n,reg1\n", 1, 2),
            (
                "d.jsonl",
                "{\"device_token\":\"\(token(0))\"}\n{\"token\":\"\(token(1))\"}\n{\"deviceToken\":\"\(token(2))\"}\n",
                2, 3
            ),
            ("e.txt", "\(token(0))\nNULL\nn/a\n", 2, 3),
        ]
        for (name, text, blanks, lines) in tables {
            let found = try result(export(20), [folder.file(name, text)])
            #expect(
                found.audience == 19 && found.exclusions.map(\.unmatched) == [blanks]
                    && found.exclusions.map(\.entries) == [lines],
                "\(name)")
            #expect(found.warnings.map(\.name) == [.exclusionNotFound])
            #expect(
                found.warnings.first?.message.hasPrefix(
                    "\(blanks) of its \(lines) lines name\(blanks == 1 ? "s" : "") no device") == true,
                "\(found.warnings)")
        }
        let report = "device_token,registration_id,note\n\(token(0)),,x\n,reg1,x\n\(token(0x900)),reg2,x\n"
        let found = try result(export(20), [folder.file("f.csv", report)])
        #expect(
            found.warnings.isEmpty && found.exclusions.map(\.unmatched) == [0] && found.audience == 17,
            "\(found.warnings)")
    }
}
