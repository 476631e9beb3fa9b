import Accounts
import Automation
import Base
import Campaigns
import Foundation
import Runs
import Testing

@testable import volley_console

/// Who and When of the composer: what each control shows, and that it writes what a person changed
/// and nothing else.
@Suite("who and when in the composer")
struct AudienceFormTests {
    typealias Office = OrderPageTests.Office

    private static let file = "spring-sale.yaml"
    private static func path(_ file: String) -> String { "/campaign/form?file=\(file)" }
    private static let content = "content: {title: Hi}\n"

    private static func disk(_ office: Office, _ file: String = file) throws -> String {
        try String(contentsOfFile: "\(office.folder.path)/\(file)", encoding: .utf8)
    }

    private static func write(_ office: Office, _ audience: String, _ rest: String = "") throws {
        try office.folder.write(file, "name: spring-sale\napp: shop\naudience: \(audience)\n\(content)\(rest)")
    }

    private static func decoded(_ text: Substring) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")].reduce(String(text)) {
            $0.replacing($1.0, with: $1.1)
        }
    }

    /// What a browser sends for a page of which nothing was touched.
    private static func untouched(_ page: String) -> [String: String] {
        guard let form = page.firstMatch(of: #/<form class="panel editor"(?s:.*?)<\/form>/#)?.output else { return [:] }
        var fields: [String: String] = [:]
        for input in form.matches(of: #/<input (?s:.*?)>/#).map(\.output) {
            guard let name = input.firstMatch(of: #/ name="([^"]*)"/#)?.1 else { continue }
            if input.contains(#/type="(checkbox|radio)"/#), !input.contains(" checked") { continue }
            fields[decoded(name)] = input.firstMatch(of: #/ value="([^"]*)"/#).map { decoded($0.1) } ?? ""
        }
        for area in form.matches(of: #/<textarea [^>]*name="([^"]*)"[^>]*>\n((?s:.*?))<\/textarea>/#) {
            fields[decoded(area.1)] = decoded(area.2)
        }
        for select in form.matches(of: #/<select [^>]*name="([^"]*)"[^>]*>((?s:.*?))<\/select>/#) {
            let chosen =
                select.2.firstMatch(of: #/value="([^"]*)" selected/#) ?? select.2.firstMatch(of: #/value="([^"]*)"/#)
            fields[decoded(select.1)] = chosen.map { decoded($0.1) } ?? ""
        }
        fields["token"] = nil
        return fields
    }

    /// Opens the form, changes fields (nil unchecks), and sends it.
    @discardableResult
    private static func save(
        _ server: TestServer, _ session: String, _ changes: [String: String?] = [:], file: String = file
    ) throws -> Reply {
        var fields = untouched(try server.request("GET", path(file), session: session).body)
        for (name, value) in changes { fields[name] = value }
        return try server.form(path(file), session: session, fields.map { ($0.key, $0.value) })
    }

    /// What a form makes of a source.
    private static func applied(_ form: [String: String], _ source: String) throws -> (
        text: String, mistakes: [String: Mistake]
    ) {
        var edit = try #require(YAMLEdit(source))
        let mistakes = CampaignForm.apply(form, to: &edit)
        return (edit.text, mistakes)
    }

    // MARK: - The whole form

    @Test("a page that is saved untouched changes no byte of any campaign that comes with Volley")
    func roundTrip() async throws {
        let campaigns = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../campaigns")
            .standardizedFileURL
        let office = try Office()
        for name in try FileManager.default.subpathsOfDirectory(atPath: campaigns.path) where !name.hasPrefix("runs") {
            let target = "\(office.folder.path)/\(name)"
            try FileManager.default.createDirectory(
                atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            guard name.contains("."), FileManager.default.isReadableFile(atPath: campaigns.appending(path: name).path)
            else { continue }
            try? FileManager.default.removeItem(atPath: target)
            try FileManager.default.copyItem(atPath: campaigns.appending(path: name).path, toPath: target)
        }
        let edith = try office.session("edith", [.editor, .approver])
        let files = try FileManager.default.contentsOfDirectory(atPath: campaigns.path)
            .filter { $0.hasSuffix(".yaml") && $0 != "volley.yaml" }
        #expect(files.count > 8)
        try await TestServer.with(office.site) { server throws in
            for file in files.sorted() {
                let before = try Self.disk(office, file)
                let reply = try Self.save(server, edith, file: file)
                #expect(
                    reply.status == 303, "\(file) \(reply.body.firstMatch(of: #/class="stop"(?s:.*?)</#)?.output ?? "")"
                )
                #expect(try Self.disk(office, file) == before, "\(file)")
            }
        }
    }

    // MARK: - Who

    @Test(
        "the choice shows what the source says",
        arguments: [
            ("{everyone: true}", "everyone"), ("{tags: [vip]}", "tags"), ("{tags: {all: [vip], none: [x]}}", "tags"),
            ("{aliases: [a]}", "list"), ("{registration_ids: {file: ids.txt}}", "list"),
            ("{everyone: true, where: {language: de}}", "conditions"), ("{tags: [vip], where: {language: de}}", "tags"),
            ("{tags: [vip], aliases: [a]}", "several"),
        ])
    func choice(audience: String, choice: String) async throws {
        let office = try Office()
        try Self.write(office, audience)
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path(Self.file), session: edith).body
            let checked = page.matches(of: #/name="audience.choice" value="([a-z]+)" checked/#).map { String($0.1) }
            #expect(checked == [choice])
            #expect(
                page.contains("value=\"several\"") == (choice == "several"), "it is offered where the source says so")
        }
    }

    @Test(
        "a field for a list in a file is there only where the campaign names one",
        arguments: ["aliases", "registration_ids"])
    func listFiles(key: String) async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            for (list, isThere) in [("[a]", false), ("{file: vip.txt}", true)] {
                try Self.write(office, "{\(key): \(list)}")
                let page = try server.request("GET", Self.path(Self.file), session: edith).body
                #expect(page.contains("name=\"audience.\(key)\"") || isThere)
                #expect(page.contains("name=\"audience.\(key).file\"") == isThere, "\(list)")
            }
        }
    }

    @Test(
        "another choice writes what it needs, and removes what no longer chooses devices",
        arguments: [
            ("{tags: [vip], devices: a.csv}", ["audience.choice": "everyone"], "{devices: a.csv, everyone: true}"),
            (
                "{devices: a.csv, tags: {any: [vip], none: [lost]}}", ["audience.choice": "everyone"],
                "{devices: a.csv, everyone: true, exclude: {tags: [lost]}}"
            ),
            ("{everyone: true}", ["audience.choice": "tags", "audience.tags": "vip\nnew"], "{tags: [vip, new]}"),
            ("{everyone: true}", ["audience.choice": "list", "audience.aliases": "a\nb"], "{aliases: [a, b]}"),
            (
                "{tags: [vip]}", ["audience.choice": "list", "audience.registration_ids.file": "ids.txt"],
                "{registration_ids: {file: ids.txt}}"
            ),
            (
                "{aliases: [a]}",
                ["audience.choice": "list", "audience.aliases": "", "audience.aliases.file": "vip.txt"],
                "{aliases: {file: vip.txt}}"
            ),
            (
                "{aliases: {file: vip.txt}}",
                ["audience.choice": "list", "audience.aliases": "a", "audience.aliases.file": ""],
                "{aliases: [a]}"
            ),
            (
                "{tags: [vip]}", ["audience.choice": "tags", "audience.tags.all": "new"],
                "{tags: {any: [vip], all: [new]}}"
            ),
            (
                "{tags: [vip]}",
                [
                    "audience.choice": "tags", "audience.tags": "", "audience.tags.all": "new",
                    "shown.audience.tags": "vip",
                ],
                "{tags: {all: [new]}}"
            ),
        ])
    func otherChoice(audience: String, form: [String: String], result: String) throws {
        let source = "name: a\naudience: \(audience)   # for Anna\n\(Self.content)"
        let (text, mistakes) = try Self.applied(form, source)
        #expect(mistakes.isEmpty, "\(mistakes)")
        #expect(text == source.replacing(audience, with: result))
    }

    @Test(
        "what a choice needs and lacks is a mistake, and nothing of the choice is written",
        arguments: [
            (
                "{tags: [vip], where: {language: de}}", ["audience.choice": "everyone"],
                "everyone is chosen, and there are conditions"
            ),
            ("{tags: [vip]}", ["audience.choice": "conditions"], "no condition is filled in"),
            (
                "{everyone: true}", ["audience.choice": "tags", "audience.tags": ""],
                "no tag is chosen, and everyone is not"
            ),
            ("{everyone: true}", ["audience.choice": "list", "audience.aliases": " "], "the list is blank"),
            (
                "{everyone: true}",
                ["audience.choice": "list", "audience.aliases": "a", "audience.aliases.file": "b.txt"],
                "there are both aliases and a file of them"
            ),
            ("{}", ["audience.tags": ""], "it is not chosen which devices get it"),
            ("{everyone: false}", ["audience.tags": ""], "it is not chosen which devices get it"),
            ("{everyone: , where: {language: de}}", ["audience.tags": ""], "it is not chosen which devices get it"),
        ])
    func lacking(audience: String, form: [String: String], words: String) throws {
        let source = "name: a\naudience: \(audience)\n\(Self.content)"
        let (text, mistakes) = try Self.applied(form, source)
        #expect(mistakes["audience.everyone"]?.message == words)
        #expect(text == source)
    }

    @Test(
        "an audience that says not to everyone never becomes everyone by saving another field: the form asks",
        arguments: ["everyone: false", "everyone: \"true\"", "everyone:"])
    func notEveryone(line: String) async throws {
        let office = try Office()
        let source = "name: spring-sale\napp: shop\naudience:\n  devices: devices.csv\n  \(line)\n\(Self.content)"
        try office.folder.write(Self.file, source)
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path(Self.file), session: edith).body
            #expect(!page.contains(#/name="audience.choice" value="[a-z]+" checked/#))
            let reply = try Self.save(server, edith, ["description": "x"])
            #expect(reply.status == 422 && reply.body.contains("t is not chosen which devices get it"))
            #expect(try Self.disk(office) == source)
            #expect(try Self.save(server, edith, ["audience.choice": "everyone"]).status == 303)
            #expect(try Self.disk(office).contains("\n  everyone: true\n"))
        }
    }

    @Test("another field of a broadcast is changed without choosing devices, and choosing them takes its channel away")
    func channel() throws {
        let source = "name: a\naudience: {channel: dHN0LXNyY2gtY2hubA==}\n\(Self.content)"
        let form = [
            "audience.tags.boxes": "1", "audience.aliases": "", "content.title": "Ho", "shown.content.title": "Hi",
        ]
        let (text, mistakes) = try Self.applied(form, source)
        #expect(mistakes.isEmpty, "\(mistakes)")
        #expect(text == source.replacing("Hi", with: "Ho"))
        let chosen = try Self.applied(["audience.choice": "everyone"], source)
        #expect(chosen.mistakes.isEmpty && chosen.text.contains("audience: {everyone: true}"), "\(chosen)")
    }

    @Test(
        "tags of devices that want no pushes are offered where devices are left out, first of all, and never to choose devices"
    )
    func optOuts() async throws {
        let office = try Office()
        let rows = (1...3).map { "\(TestFolder.token($0)),vip\n" } + ["\(TestFolder.token(9)),vip;unsubscribed\n"]
        try office.folder.write("devices.csv", "token,tags\n" + rows.joined())
        try Self.write(office, "{devices: devices.csv, tags: [vip]}")
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try Self.counted(server, edith)
            let offered = page.matches(of: #/name="(audience[a-z.]*)\.box\.unsubscribed"/#).map { String($0.1) }
            #expect(offered == ["audience.exclude.tags"])
            let group = try #require(page.firstMatch(of: #/id="audience.exclude.tags"(?s:.*?)<\/fieldset>/#)).output
            let boxes = group.matches(of: #/\.box\.([a-z]+)"/#).map { String($0.1) }
            #expect(boxes == ["unsubscribed", "vip"])
            #expect(try Self.save(server, edith, ["audience.exclude.tags.box.unsubscribed": "0"]).status == 303)
            #expect(
                try Self.disk(office).contains("{devices: devices.csv, tags: [vip], exclude: {tags: [unsubscribed]}}"))
        }
    }

    /// The form when the exports are counted.
    private static func counted(_ server: TestServer, _ session: String) throws -> String {
        for _ in 0..<600 {
            let page = try server.request("GET", path(file), session: session).body
            guard page.contains("data-keep") else { return page }
            Thread.sleep(forTimeInterval: 0.1)
        }
        throw Diagnostic("no count within a minute")
    }

    // MARK: - Conditions

    @Test("each condition of the language is a row, and is written back as it was when it is not touched")
    func conditionRows() throws {
        let rows: [(String, ConditionsControl.Test, String)] = [
            ("[en, de]", .oneOf, "en, de"), ("[\"a, b\", c]", .oneOf, "\"a, b\", c"),
            ("\">= 3.2.0\"", .atLeast, "3.2.0"),
            ("\"> 5\"", .greater, "5"), ("\"<= 5\"", .atMost, "5"), ("\"< 2026-01-01\"", .less, "2026-01-01"),
            ("\"!= gold\"", .notEqual, "gold"),
            ("within 30 days", .within, "30"), ("older than 4h", .olderThan, "4h"), ("present", .present, ""),
            ("missing", .missing, ""),
            ("gold", .equal, "gold"), ("true", .equal, "true"),
        ]
        for (written, test, value) in rows {
            let edit = try #require(YAMLEdit("audience: {everyone: true, where: {c: \(written)}}\n"))
            let row = try #require(ConditionsControl.rows(edit).first?.row, "\(written)")
            #expect(row == ConditionsControl.Row(column: "c", test: test, value: value), "\(written)")
            #expect(ConditionsControl.Row(kept: row.kept) == row)
        }
        let odd = try #require(YAMLEdit("audience: {everyone: true, where: {c: \"~ x\", d: {e: f}}}\n"))
        #expect(
            ConditionsControl.rows(odd).map(\.column) == ["c", "d"]
                && ConditionsControl.rows(odd).allSatisfy { $0.row == nil })
    }

    /// A form with rows: column, comparison, value, and what the source held.
    private static func conditions(_ rows: [(String, String, String, kept: ConditionsControl.Row)]) -> [String: String]
    {
        var form = ["where.rows": "\(rows.count)"]
        for (place, row) in rows.enumerated() {
            form["where.\(place).column"] = row.0
            form["where.\(place).test"] = row.1
            form["where.\(place).value"] = row.2
            form["where.\(place).shown"] = row.kept.kept
        }
        return form
    }

    @Test("rows are added, changed and removed one by one; the others keep their text")
    func writtenConditions() throws {
        let source = """
            audience:
              tags: [vip]
              where:
                language: [en, de]   # both
                app_version: ">= 3.2.0"
                level: {odd: true}
            name: a

            """
        let language = ConditionsControl.Row(column: "language", test: .oneOf, value: "en, de")
        let version = ConditionsControl.Row(column: "app_version", test: .atLeast, value: "3.2.0"),
            blank = ConditionsControl.Row()
        let (text, mistakes) = try Self.applied(
            Self.conditions([
                ("language", "oneOf", "en, de", language), ("app_version", "ge", "4", version),
                ("last_active", "within", "1", blank),
                ("", "is", "", blank), ("city", "not", "Lyon, Nord", blank), ("word", "is", "present", blank),
            ]), source)
        #expect(mistakes.isEmpty, "\(mistakes)")
        #expect(
            text == """
                audience:
                  tags: [vip]
                  where:
                    language: [en, de]   # both
                    app_version: ">= 4"
                    level: {odd: true}
                    last_active: within 1 day
                    city: "!= 'Lyon, Nord'"
                    word: [present]
                name: a

                """)
        let gone = try Self.applied(
            Self.conditions([("", "oneOf", "", language), ("version", "ge", "3.2.0", version)]), source)
        #expect(gone.mistakes.isEmpty && !gone.text.contains("language") && !gone.text.contains("app_version"))
        #expect(gone.text.contains("    version: \">= 3.2.0\"\n") && gone.text.contains("level: {odd: true}"))
    }

    @Test("of hundreds of conditions each can be changed") func manyConditions() throws {
        let columns = (0..<300).map { "c\($0)" }
        let source = "audience:\n  tags: [vip]\n  where:\n" + columns.map { "    \($0): x\n" }.joined()
        let rows = columns.map {
            ($0, "is", $0 == "c299" ? "z" : "x", kept: ConditionsControl.Row(column: $0, value: "x"))
        }
        let (text, mistakes) = try Self.applied(Self.conditions(rows), source)
        #expect(mistakes.isEmpty && text == source.replacing("c299: x", with: "c299: z"), "\(mistakes)")
    }

    @Test("a row without a value or with a column that has another condition is a mistake at that row")
    func wrongConditions() async throws {
        let office = try Office()
        try Self.write(office, "{devices: devices.csv, everyone: true, where: {token: present}}")
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let before = try Self.disk(office)
            for (changes, words) in [
                (["where.1.column": "city", "where.1.value": ""], "The condition on city has no value"),
                (["where.1.column": "token", "where.1.value": "x"], "The column token has two conditions"),
                (["where.1.value": "x"], "has no column"),
            ] {
                let reply = try Self.save(server, edith, changes)
                let row = try #require(reply.body.firstMatch(of: #/aria-label="Condition 2"(?s:.*?)<\/div>/#)).output
                #expect(
                    reply.status == 422 && row.contains(words) && row.contains("aria-describedby=\"where.1-mistake\""),
                    "\(words)")
                #expect(row.contains("id=\"where.1-mistake\""))
            }
            #expect(try Self.disk(office) == before)
        }
    }

    @Test(
        "a column of the exports comes with the comparisons that fit it and its most frequent values; names, tokens and tags do not"
    )
    func columns() async throws {
        let office = try Office()
        let rows = (1...5).map { number in
            "\(TestFolder.token(number)),person\(number),vip,\(number < 4 ? "gold" : "silver"),2026-0\(number)-01,\(number),3.\(number).0\n"
        }
        try office.folder.write("devices.csv", "token,alias,tags,level,birthday,points,app_version\n" + rows.joined())
        try Self.write(
            office, "{devices: devices.csv, everyone: true, where: {birthday: \">= 2026-02-01\", level: gold}}")
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try Self.counted(server, edith)
            let kinds = page.matches(of: #/<option value="([a-z_]+)" data-kind="([a-z]+)">/#).map { "\($0.1) \($0.2)" }
            #expect(kinds == ["level text", "birthday date", "points number", "app_version version"])
            #expect(
                page.contains(
                    "<datalist id=\"values-of-level\"><option value=\"gold\"></option><option value=\"silver\"></option></datalist>"
                ))
            let first = try #require(page.firstMatch(of: #/aria-label="Condition 1"(?s:.*?)<\/div>/#)).output
            #expect(first.contains("type=\"date\"") && first.contains("is on or after") && !first.contains("is one of"))
            let second = try #require(page.firstMatch(of: #/aria-label="Condition 2"(?s:.*?)<\/div>/#)).output
            #expect(
                second.contains("is one of") && !second.contains("is at least")
                    && second.contains("list=\"values-of-level\""))
        }
    }

    // MARK: - The count

    /// The pieces of the page that the script fills in for the fields of a form.
    private static func pieces(_ server: TestServer, _ session: String, _ fields: [String: String]) throws -> JSONValue
    {
        for _ in 0..<600 {
            let reply = try server.form(
                "/campaign/form/phone.json?file=\(file)", session: session, fields.map { ($0.key, $0.value) })
            let value = try JSONValue(parsing: reply.body)
            if value["is_live"] == .bool(false), let pieces = value["pieces"] { return pieces }
            Thread.sleep(forTimeInterval: 0.1)
        }
        throw Diagnostic("no count within a minute")
    }

    @Test(
        "devices that got a run are left out by a box: their list is made when the campaign is saved or counted, once, and holds devices only"
    )
    func runs() async throws {
        let office = try Office()
        try office.folder.write("devices.csv", "token\n" + (0..<5).map { TestFolder.token($0) + "\n" }.joined())
        try Self.write(office, "{devices: devices.csv, everyone: true, exclude: {devices: other.csv}}")
        try office.folder.write("other.csv", "token\n\(TestFolder.token(4))\n")
        let sent = "20261201-090000-spring-sale-7f3a", foreign = "20261201-100000-news-7f3b",
            planned = "20261201-110000-spring-sale-7f3c"
        try office.folder.run(sent)
        try office.folder.run(foreign, campaign: "news", app: "news")
        try office.folder.run(planned, .planned)
        let edith = try office.session("edith", [.editor]), list = "\(office.folder.path)/reached/\(sent).csv"
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path(Self.file), session: edith).body
            #expect(
                page.contains("name=\"exclude.runs.\(sent)\"")
                    && page.contains("Not to devices that got one of these runs"))
            #expect(!page.contains("exclude.runs.\(foreign)") && !page.contains("exclude.runs.\(planned)"))
            var fields = Self.untouched(page)
            fields["exclude.runs.\(sent)"] = "1"
            // What is typed writes nothing, nor does another device: only the other list counts.
            let note = "The devices of these runs are not left out of the count yet"
            let typed = try Self.pieces(server, edith, fields)
            #expect(
                typed["audience"] == .string("At most 4 devices")
                    && typed["skipped"]?.stringValue?.contains(note) == true)
            func press(_ button: String) throws -> String {
                try server.form(
                    Self.path(Self.file), session: edith, fields.map { ($0.key, $0.value) } + [(button, "1")]
                ).body
            }
            #expect(try press("phone").contains(note))
            #expect(!FileManager.default.fileExists(atPath: list))
            // Two got it.
            #expect(try !press("count").contains(note))
            let counted = try Self.pieces(server, edith, fields)
            #expect(
                counted["audience"] == .string("2 devices") && counted["skipped"]?.stringValue?.contains(note) == false)
            let lines = "device_token,registration_id\n\(TestFolder.token(0)),r\n\(TestFolder.token(1)),r\n"
            #expect(try String(contentsOfFile: list, encoding: .utf8) == lines)
            #expect(try FileManager.default.attributesOfItem(atPath: list)[.posixPermissions] as? Int == 0o600)
            // Once for each end of the run, whatever the clock says.
            func file() throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: list)[.systemFileNumber] as? Int
            }
            let first = try file()
            _ = try press("count")
            #expect(try file() == first)
            try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: list)
            #expect(try press("phone").contains(note))
            _ = try press("count")
            #expect(try file() != first)
            try FileManager.default.removeItem(atPath: list)
            #expect(try Self.save(server, edith, ["exclude.runs.\(sent)": "1"]).status == 303)
            #expect(FileManager.default.fileExists(atPath: list))
            #expect(try Self.disk(office).contains("exclude: {devices: [other.csv, reached/\(sent).csv]}"))
            #expect(try Self.save(server, edith).status == 303)
            #expect(try Self.disk(office).contains("reached/\(sent).csv"), "a box that is not touched stays checked")
            // The field of files says it, too.
            for files in ["other.csv", "other.csv\nreached/\(sent).csv"] {
                #expect(try Self.save(server, edith, ["audience.exclude.devices": files]).status == 303)
                #expect(try Self.disk(office).contains("reached/") == files.contains("reached/"), "\(files)")
            }
            #expect(try Self.save(server, edith, ["exclude.runs.\(sent)": nil]).status == 303)
            #expect(try !Self.disk(office).contains("reached/") && Self.disk(office).contains("other.csv"))
            // No list is made of a run of another app, even if the file names it.
            try Self.write(office, "{devices: devices.csv, everyone: true, exclude: {devices: reached/\(foreign).csv}}")
            _ = try Self.save(server, edith, ["content.title": "Ho"])
            #expect(!FileManager.default.fileExists(atPath: "\(office.folder.path)/reached/\(foreign).csv"))
        }
    }

    @Test(
        "what the fields describe is counted with its most frequent skip reasons and its duration, with and without a script; nothing is saved"
    )
    func count() async throws {
        let office = try Office()
        let rows = (1...30).map { "\(TestFolder.token($0)),\($0 <= 20 ? "vip" : "new"),\($0 % 2 == 0 ? "de" : "en")\n" }
        try office.folder.write("devices.csv", "token,tags,language\n" + rows.joined())
        try Self.write(office, "{devices: devices.csv, tags: [vip]}")
        let edith = try office.session("edith", [.editor]), vera = try office.session("vera", [.viewer])
        try await TestServer.with(office.site) { server throws in
            let before = try Self.disk(office)
            var fields = Self.untouched(try server.request("GET", Self.path(Self.file), session: edith).body)
            fields.merge([
                "where.0.column": "language", "where.0.test": "is", "where.0.value": "de", "delivery.pace.number": "1",
            ]) { $1 }
            fields["delivery.pace.unit"] = "s"
            let pieces = try Self.pieces(server, edith, fields)
            #expect(pieces["audience"] == .string("10 devices"))
            let skipped = try #require(pieces["skipped"]?.stringValue)
            #expect(
                skipped.contains("<b>10</b> are not chosen") && skipped.contains("<b>10</b> do not meet the conditions")
            )
            #expect(pieces["duration"] == .string("10 devices take 10 s."))
            fields["audience.choice"] = "list"
            #expect(
                try Self.pieces(server, edith, fields)["skipped"]?.stringValue?.contains("Fields with mistakes")
                    ?? false)
            fields["audience.choice"] = "tags"
            var isCounted = false
            for _ in 0..<600 {
                let page = try server.form(
                    Self.path(Self.file), session: edith, fields.map { ($0.key, $0.value) } + [("count", "1")])
                #expect(
                    page.status == 200 && page.body.contains("name=\"where.0.value\" value=\"de\""),
                    "what was typed stays")
                isCounted = page.body.contains("<b data-fill=\"audience\">10 devices</b>")
                if isCounted { break }
                Thread.sleep(forTimeInterval: 0.1)
            }
            #expect(isCounted, "without a script")
            #expect(try Self.disk(office) == before)
            #expect(try server.form("/campaign/form/phone.json?file=\(Self.file)", session: vera).status == 403)
        }
    }

    @Test("a newer text of the same person and campaign ends the count of the one before; that of a colleague goes on")
    func newestText() throws {
        let office = try Office()
        func ask(_ text: String, _ person: String) throws {
            let file = office.folder.path + "/spring-sale.yaml"
            _ = try office.site.jobs.answer(to: .init(kind: .draft, file: file, input: text, stamps: []), for: person)
        }
        try ask("name: a\n", "vera")
        // One person may have six questions at a time.
        for number in 0..<8 { try ask("name: a\(number)\n", "edith") }
        #expect(throws: Never.self) { try ask("name: b\n", "vera") }
    }

    // MARK: - When

    @Test("each person's clock is a choice with the zone of the others; one zone takes both back")
    func clocks() throws {
        let source = "name: a\nschedule: {at: 2099-12-01 09:00, timezone: Asia/Tokyo}   # agreed\n"
        let own = ["schedule.way": "time", "schedule.clock": "own", "schedule.fallback_timezone": "Europe/Berlin"]
        let (text, mistakes) = try Self.applied(own, source)
        #expect(mistakes.isEmpty)
        #expect(text == source.replacing("Asia/Tokyo", with: "recipient, fallback_timezone: Europe/Berlin"))
        let one = ["schedule.way": "time", "schedule.clock": "one", "schedule.timezone": "Asia/Tokyo"]
        #expect(try Self.applied(one, text).text == source)
        #expect(
            try Self.applied(own.merging(["schedule.fallback_timezone": ""]) { $1 }, source).mistakes[
                "schedule.fallback_timezone"] != nil)
    }

    @Test("by hand takes the times away, and keeps quiet hours; a time that is typed under By hand is a mistake")
    func byHand() throws {
        let timed = "name: a\nschedule: {repeat: \"0 9 * * *\", timezone: UTC, quiet_hours: 21:00-08:00, late: send}\n"
        let form = [
            "schedule.way": "hand", "schedule.clock": "one", "schedule.timezone": "UTC",
            "schedule.quiet_hours": "21:00-08:00",
            "shown.schedule.quiet_hours": "21:00-08:00",
        ]
        #expect(try Self.applied(form, timed).text == "name: a\nschedule: {timezone: UTC, quiet_hours: 21:00-08:00}\n")
        #expect(
            try Self.applied(form.merging(["schedule.quiet_hours": ""]) { $1 }, timed).text == "name: a\n",
            "a zone alone says nothing")
        let typed = ["schedule.way": "hand", "schedule.at.date": "2099-12-01", "schedule.at.time": "09:00"]
        #expect(
            try Self.applied(typed, "name: a\n").mistakes["schedule.way"]?.message
                == "a time is filled in, and By hand is chosen")
        #expect(
            try Self.applied(
                ["schedule.way": "time", "schedule.clock": "one", "schedule.timezone": "UTC"], "name: a\n"
            ).mistakes[
                "schedule.at"] != nil)
    }

    @Test("a time at night where it counts is flagged at its field, and so is one that has passed")
    func night() async throws {
        #expect(
            WhenSection.doubts(at: "2099-12-01 22:30", rule: "", zone: "Asia/Tokyo").first?.hasPrefix(
                "22:30 is at night in Asia/Tokyo")
                ?? false)
        #expect(
            WhenSection.doubts(at: "2099-12-01 06:59", rule: "", zone: "").first?.contains("on each person’s clock")
                ?? false)
        #expect(WhenSection.doubts(at: "2099-12-01 07:00", rule: "59 21 * * *", zone: "UTC").isEmpty)
        #expect(
            WhenSection.doubts(at: "", rule: "0 3 * * mon", zone: "UTC").first?.hasPrefix("03:00 is at night") ?? false)
        #expect(
            WhenSection.doubts(at: "", rule: "0 */6 * * *", zone: "UTC").first?.hasPrefix("2 of the repeated times are")
                ?? false)
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            for (schedule, words) in [
                ("{at: 2099-12-01 23:00, timezone: UTC}", "23:00 is at night in UTC"),
                ("{at: 2001-12-01 09:00, timezone: UTC}", "has passed"),
                ("{at: 2001-12-01 09:00, timezone: UTC, late: send}", "would be sent at once"),
            ] {
                try Self.write(office, "{devices: devices.csv, everyone: true}", "schedule: \(schedule)\n")
                let page = try server.request("GET", Self.path(Self.file), session: edith).body
                let group = try #require(page.firstMatch(of: #/<fieldset[^>]*id="schedule.at"(?s:.*?)<\/fieldset>/#))
                    .output
                #expect(
                    group.contains(words) && group.contains("aria-describedby")
                        && group.contains("id=\"schedule.at-mistake\""), "\(words)")
            }
        }
    }
}
