import Base
import Testing

@testable import Audience

/// Columns are checked before the scan, each mistake at its place.
@Suite struct ColumnTests {
    private let folder = TemporaryFolder()

    private func query(_ header: String, columns: ExportColumns = ExportColumns()) -> AudienceQuery {
        let row = header.split(separator: ",").map { _ in token(1) }.joined(separator: ",")
        return AudienceQuery(folder.file("devices.csv", "\(header)\n\(row)\n"), columns: columns).with {
            $0.everyone = true
        }
    }

    @Test("the token stands under token or device_token, or where volley.yaml says")
    func tokenColumn() throws {
        #expect(try query("device_token").run().result.audience == 1)
        let named = ExportColumns(names: [.token: place("push")])
        #expect(try query("push,token", columns: named).run().result.audience == 1)
        let both = AudienceQuery(folder.file("b.csv", "device_token,token\nnull,\(token(1))\n")).with {
            $0.everyone = true
        }
        #expect(try both.run().result.audience == 1, "token goes before device_token")
    }

    @Test("a column that volley.yaml names and the export lacks is answered with what to do")
    func missingNamed() {
        let mistake = query("a,b", columns: ExportColumns(names: [.token: place("push")])).mistakes().first
        #expect(
            mistake?.message.contains("has no column 'push': its columns are 'a', 'b'") == true,
            "\(String(describing: mistake))")
        #expect(mistake?.remedy == "Write the name of one of these columns there, or export the column.")
    }

    @Test("a missing token column names the columns there are and how to say where it is")
    func missingToken() {
        let mistake = query("device_tokens,alias").mistakes().first
        #expect(
            mistake?.message
                == "the export has no column 'token' or 'device_token': its columns are 'device_tokens', 'alias'")
        #expect(mistake?.remedy == "Name the column in volley.yaml: `columns: {token: device_tokens}`.")
        for (header, written) in [("device_token:", "\"device_token:\""), ("# token", "\"# token\"")] {
            let remedy = query("\(header),alias").mistakes().first?.remedy
            #expect(remedy == "Name the column in volley.yaml: `columns: {token: \(written)}`.", "\(remedy ?? "")")
        }
        let named = query("device_token", columns: ExportColumns(names: [.token: place("device_tokn", line: 9)]))
            .mistakes().first
        #expect(named?.position?.line == 9 && named?.remedy == "Did you mean 'device_token'?")
    }

    @Test("an export without a header row is said to have none, and shows no token")
    func noHeaderRow() {
        let mistake = query("\(token(7)),user1").mistakes().first
        #expect(mistake?.message == "the export has no header row: its first line holds a device token")
        let list = folder.file("list.csv", "\(token(8)),user1\n")
        let listed = query("token").with { $0.excludedDevices = [list] }.mistakes().first
        #expect(listed?.message.contains("'0000…0008', 'user1'") == true, "\(listed?.message ?? "")")
    }

    @Test(
        "a column whose name only looks like the wanted one is named with the character that differs and its place",
        arguments: [
            ("\u{200B}token", 1, "an invisible character (U+200B) at position 1"),
            ("alias,token\u{A0}", 2, "(U+00A0) at position 6"),
            ("tok\u{AD}en", 1, "(U+00AD) at position 4"),
            ("t\u{43E}ken", 1, "U+043E, which looks like 'o', at position 2"),
            ("ｔoken", 1, "U+FF54, which looks like 't', at position 1"),
            ("a,\"\u{FEFF}token\"", 2, "(U+FEFF) at position 1"),
            ("\u{202A}device_token\u{202C}", 1, "(U+202A) at position 1"),
        ])
    func disguised(header: String, column: Int, how: String) throws {
        let mistake = try #require(query(header).mistakes().first)
        let remedy = try #require(mistake.remedy)
        #expect(remedy.hasPrefix("The name of column \(column) looks like '") && remedy.contains(how), "\(remedy)")
        for scalar in header.unicodeScalars where scalar.value > 0x7F && Blank.isInvisible(scalar) {
            #expect(mistake.message.contains("<\(TextFormat.codePoint(scalar))>"), "\(mistake.message)")
        }
    }

    @Test("a name in a text that looks like a column's, and holds a letter of another script, is named with it")
    func disguisedPlaceholder() {
        let mistakes = query("token,first_name").with { $0.fields = [place("first_n\u{430}me", line: 20, column: 8)] }
            .mistakes()
        #expect(
            mistakes.map(\.remedy) == [
                "It looks like 'first_name', but it holds U+0430, which looks like 'a', at position 8. Type it again where you name it: first_name."
            ], "\(mistakes)")
    }

    @Test("selecting and excluding need their columns")
    func neededColumns() {
        let changes: [(String, (inout AudienceQuery) -> Void)] = [
            ("'tags'", { $0.anyTags = ["a"] }), ("'tags'", { $0.excludedTags = ["a"] }),
            ("'alias'", { $0.aliases = ["a"] }),
            ("'alias'", { $0.excludedAliases = ["a"] }), ("'registration_id'", { $0.registrationIDs = ["a"] }),
            ("'registration_id'", { $0.excludedRegistrationIDs = ["a"] }),
        ]
        for (name, change) in changes {
            #expect(query("token,language").with(change).mistakes().first?.message.contains(name) == true)
        }
    }

    @Test("unknown columns of where and of templates are errors at their places, all at once")
    func unknownColumns() {
        let mistakes = query("token,first_name,city").with {
            $0.fields = [place("frist_name", line: 20, column: 8), place("city")]
            $0.conditions = [condition("language", .present)]
        }.mistakes()
        #expect(mistakes.map(\.position?.line) == [7, 20])
        #expect(mistakes.last?.message == "\(folder.path)/devices.csv has no column 'frist_name'")
        #expect(mistakes.last?.remedy == "Did you mean 'first_name'?")
    }

    @Test(
        "a column whose name a text cannot hold is to be renamed",
        arguments: ["first name", "“first_name”", "first:name"])
    func unnameableColumns(column: String) {
        let mistakes = query("token,\(column)").with { $0.fields = [place("first_name")] }.mistakes()
        #expect(
            mistakes.first?.remedy
                == "Did you mean '\(column)'? A text cannot name it: rename it to 'first_name' in the export.")
    }

    @Test("in a condition any name can be written, and a standard one can be given in volley.yaml; both are followed")
    func unnameableInCondition() throws {
        let path = folder.file("active.csv", "token,Last Active\n\(token(1)),2026-11-01\n")
        func query(_ column: String, _ columns: ExportColumns = ExportColumns()) -> AudienceQuery {
            AudienceQuery(path, columns: columns).with {
                ($0.everyone, $0.conditions) = (true, [condition(column, .present)])
            }
        }
        #expect(
            query("last_active").mistakes().first?.remedy
                == "Did you mean 'Last Active'? Write `Last Active: …` there, or in volley.yaml: `columns: {last_active: Last Active}`."
        )
        #expect(try query("Last Active").run().result.audience == 1)
        #expect(
            try query("last_active", ExportColumns(names: [.lastActive: place("Last Active")])).run().result.audience
                == 1)
    }

    @Test("an export whose rows are in quotes as a whole is told so, and can be read without them")
    func quotedRows() throws {
        let quoted = folder.file("quoted.csv", "\"token,alias\"\n\"\(token(1)),user1\"\n")
        let mistakes = AudienceQuery(quoted).with { ($0.everyone, $0.excludedAliases) = (true, ["user1"]) }.mistakes()
        #expect(
            mistakes.map(\.message) == ["each row of the export is a single cell in quotes, which holds the whole row"])
        #expect(mistakes.first?.remedy == "Export it again without quotes around whole rows: token,alias.")
        let plain = folder.file("plain.csv", "token,alias\n\(token(1)),user1\n")
        #expect(try AudienceQuery(plain).with { $0.everyone = true }.run().result.audience == 1)
    }

    @Test("templates get their cells in their order, by header or standard name, trimmed")
    func fields() throws {
        let path = folder.file("a.csv", "token,name,lang\n\(token(1)),\" Anna, B. \",de\n")
        let query = AudienceQuery(path, columns: ExportColumns(names: [.language: place("lang")])).with {
            ($0.everyone, $0.fields) = (true, [place("language"), place("name"), place("lang"), place("name")])
        }
        let recipient = try query.run().sink.recipients.first
        #expect(recipient?.fields == ["de", "Anna, B.", "de", "Anna, B."])
        #expect(recipient?.language == "de" && recipient?.alias == "" && recipient?.registrationID == "")
    }

    @Test("nothing is scanned when any of several files lacks a column, which is said once")
    func severalFiles() throws {
        let files = (0..<3).map {
            folder.file("\($0).csv", $0 == 0 ? "token,city\n\(token(0)),x\n" : "token\n\(token($0))\n")
        }
        let sink = CollectingSink()
        let query = AudienceQuery(files: files, columns: ExportColumns(), now: noon).with {
            ($0.everyone, $0.fields) = (true, [place("city")])
        }
        let error = #expect(throws: Diagnostics.self) { try query.scan(into: sink) }
        #expect(error?.all.count == 1 && error?.all.first?.message.contains("1.csv") == true)
        #expect(sink.putCount == 0)
    }

    @Test("files with different headers are read each by its own")
    func differentHeaders() throws {
        let first = folder.file("1.csv", "token,city,registration_id\n\(token(1)),Berlin,r1\n")
        let second = folder.file("2.csv", "city,device_token\nLyon,\(token(2))\n")
        let (_, sink) = try AudienceQuery(first, second).with { ($0.everyone, $0.fields) = (true, [place("city")]) }
            .run()
        #expect(sink.recipients.map(\.fields) == [["Berlin"], ["Lyon"]])
        #expect(sink.ids == ["r1", ""])
    }

    @Test("a header that is there twice counts once, with a warning")
    func duplicateHeader() throws {
        let path = folder.file("a.csv", "token,city,city,\n\(token(1)),Berlin,Lyon,\n")
        let (result, sink) = try AudienceQuery(path).with { ($0.everyone, $0.fields) = (true, [place("city")]) }.run()
        #expect(sink.recipients.map(\.fields) == [["Berlin"]])
        #expect(result.warnings.map(\.message) == ["the header names the column 'city' twice; the first one is used"])
    }

    @Test("JSON's columns are the keys of all of its objects, as far as they are asked for")
    func jsonColumns() throws {
        let plain = "{\"token\":\"\(token(1))\"}\n"
        let special = "{\"token\":\"\(token(2))\",\"city\":\"Lyon\"}\n"
        let seen = AudienceQuery(folder.file("a.jsonl", String(repeating: plain, count: 999) + special))
        #expect(seen.with { ($0.everyone, $0.fields) = (true, [place("city")]) }.mistakes().isEmpty)
        let unseen = AudienceQuery(folder.file("b.jsonl", String(repeating: plain, count: 1000) + special))
        #expect(
            try unseen.with { ($0.everyone, $0.fields) = (true, [place("city")]) }.run().sink.recipients.map(\.fields)
                == [[""], ["Lyon"]])
        #expect(unseen.with { ($0.everyone, $0.fields) = (true, [place("town")]) }.mistakes().count == 1)
        #expect(AudienceQuery(folder.file("c.json", "[]")).with { $0.everyone = true }.mistakes().isEmpty)
        let broken = AudienceQuery(folder.file("d.jsonl", "\n{\n")).with { $0.everyone = true }.mistakes()
        #expect(broken.first?.position?.line == 2)
    }

    @Test("a name of volley.yaml that the export lacks is an error when needed, a warning when only useful")
    func absentNames() throws {
        let columns = ExportColumns(names: [.lastActive: place("last_seen", line: 12)])
        let warnings = try query("token,last_sen", columns: columns).run().result.warnings
        #expect(warnings.map(\.position?.line) == [12] && warnings.first?.remedy == "Did you mean 'last_sen'?")
    }

    @Test(
        "a column that is not read because of an invisible character, another script or capitals is named with its file",
        arguments: [
            ("Language", "it has no column 'language', but it has 'Language'", "columns: {language: Language}"),
            (
                "lang\u{200B}uage", "looks like 'language', but it holds an invisible character (U+200B) at position 5",
                "Type it again"
            ),
            (
                "l\u{430}st_active", "looks like 'last_active', but it holds U+0430, which looks like 'a'",
                "Type it again"
            ),
            ("T\u{430}gs", "looks like 'tags'", "Type it again"),
            ("\u{A0}timezone", "looks like 'timezone'", "Type it again"),
            ("registered_\u{430}t", "looks like 'registered_at'", "Type it again"),
            ("\u{430}lias", "looks like 'alias'", "Type it again"),
            ("registration\u{2060}_id", "looks like 'registration_id'", "Type it again"),
        ])
    func disguisedNames(name: String, words: String, remedy: String) throws {
        let warnings = try query("token,\(name)").run().result.warnings
        #expect(
            warnings.map(\.name) == [.columnNotFound] && warnings.first?.message.contains(words) == true, "\(warnings)")
        #expect(warnings.first?.remedy?.contains(remedy) == true, "\(warnings)")
        let known = try query("token,\(name),language,last_active,tags,timezone,registered_at,alias,registration_id")
            .run().result.warnings
        #expect(known.count == (name == "Language" ? 0 : 1), "\(known)")
        #expect(try query("token,Tags,Alias,Timezone,sprache,city").run().result.warnings.isEmpty)
    }

    @Test("SipHash gives the values that its authors publish")
    func sipHash() {
        func hash(_ count: UInt8) -> UInt64 {
            Array(0..<count).withUnsafeBufferPointer {
                KeyedHash(key: (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908))($0)
            }
        }
        #expect(hash(0) == 0x726f_db47_dd0e_0e31)
        #expect(hash(1) == 0x74f8_39c5_93dc_67fd)
        #expect(hash(63) == 0x958a_324c_eb06_4572)
    }
}
