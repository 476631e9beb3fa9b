import Accounts
import Automation
import Base
import Campaigns
import Foundation
import Runs
import Testing

@testable import volley_console

/// The controls of a campaign's form: dates, zones, repeats and tags.
@Suite("controls of the form")
struct FormControlTests {
    typealias Office = OrderPageTests.Office

    private static let file = "spring-sale.yaml"
    private static let path = "/campaign/form?file=spring-sale.yaml"

    private static func disk(_ office: Office) throws -> String {
        try String(contentsOfFile: "\(office.folder.path)/\(file)", encoding: .utf8)
    }

    private static func write(_ office: Office, schedule: String) throws {
        try office.folder.write(
            file,
            "name: spring-sale\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hi}\n\(schedule)"
        )
    }

    /// The form data that a browser sends for a page: each field with the value that the page gave
    /// it.
    private static func fields(_ page: String) -> [String: String] {
        func decoded(_ text: Substring) -> String {
            [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")].reduce(String(text)) {
                $0.replacing($1.0, with: $1.1)
            }
        }
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
            fields[decoded(select.1)] =
                select.2.firstMatch(of: #/value="([^"]*)" selected/#).map { decoded($0.1) } ?? ""
        }
        fields["token"] = nil
        return fields
    }

    /// Opens the form, changes fields (nil unchecks), and sends it.
    private static func save(_ server: TestServer, _ session: String, _ changes: [String: String?]) throws -> Reply {
        var fields = fields(try server.request("GET", path, session: session).body)
        for (name, value) in changes { fields[name] = value }
        return try server.form(path, session: session, fields.map { ($0.key, $0.value) })
    }

    // MARK: - Date and time

    @Test("a date and a time are chosen in the browser's fields, written as one value, and blank again removes it")
    func moment() async throws {
        let office = try Office()
        try Self.write(office, schedule: "")
        let edith = try office.session("edith", [.editor, .approver])
        try await TestServer.with(office.site) { server throws in
            let zone = "schedule.timezone", date = "schedule.at.date", time = "schedule.at.time", way = "schedule.way"
            #expect(
                try Self.save(server, edith, [way: "time", date: "2099-12-01", time: "09:00", zone: "Europe/Berlin"])
                    .status == 303)
            let written = try Self.disk(office)
            #expect(written.hasSuffix("schedule:\n  at: \"2099-12-01 09:00\"\n  timezone: Europe/Berlin\n"))
            let page = try server.request("GET", Self.path, session: edith).body
            #expect(
                page.contains("value=\"2099-12-01\" autocomplete=\"off\" type=\"date\"")
                    && page.contains("value=\"09:00\""))
            #expect(
                page.contains("<b>Tuesday, 1 December 2099, 09:00</b> in Europe/Berlin")
                    && page.contains("Tuesday, 1 December 2099, 08:00 UTC"))
            #expect(try Self.save(server, edith, [way: "hand"]).status == 303)
            #expect(try !Self.disk(office).contains("schedule"))
        }
    }

    @Test("a date without a time, or a time without a date, is a mistake at its field, and what was chosen stays")
    func half() async throws {
        let office = try Office()
        try Self.write(office, schedule: "schedule: {at: 2099-12-01 09:00, timezone: UTC}\n")
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let before = try Self.disk(office)
            for (name, other, words) in [
                ("schedule.at.time", "value=\"2099-12-01\"", "The date has no time. Choose a time too"),
                ("schedule.at.date", "value=\"09:00\"", "The time has no date. Choose a date too"),
            ] {
                let reply = try Self.save(server, edith, [name: ""])
                #expect(
                    reply.status == 422 && reply.body.contains("Nothing was saved.")
                        && reply.body.contains("<a href=\"#schedule.at\">"),
                    "\(name)")
                let group = try #require(
                    reply.body.firstMatch(of: #/<fieldset[^>]*id="schedule.at"(?s:.*?)<\/fieldset>/#)
                ).output
                #expect(
                    group.contains(other) && group.contains(words) && group.contains("<span class=\"stop\">")
                        && !group.contains("role=\"alert\""), "\(name)")
            }
            #expect(try Self.disk(office) == before)
        }
    }

    @Test(
        "what nobody touched stays as it is written, also in a form that the fields cannot show",
        arguments: [
            "schedule: {at: 2099-12-01T09:00, timezone: UTC}   # agreed\n",
            "schedule: {at: \"2099-12-01 09:00:00\", timezone: UTC}\n",
            "schedule: {at: 01.12.2099 9:00, timezone: UTC}\n", "schedule: {at: 2099-12-01, timezone: UTC}\n",
            "schedule: {repeat: \"0 9 * * 1-5\", timezone: UTC}\n",
            "schedule: {repeat: \"0  9 1,15 * *\", timezone: recipient, fallback_timezone: UTC}\n",
            "schedule: {repeat: \"@daily\", timezone: europe/berlin}\n",
            "schedule: {at: {a: 1}, repeat: [x], timezone: UTC}\n",
        ])
    func untouched(schedule: String) async throws {
        let office = try Office()
        try Self.write(office, schedule: schedule)
        let edith = try office.session("edith", [.editor, .approver])
        try await TestServer.with(office.site) { server throws in
            let before = try Self.disk(office)
            let reply = try Self.save(server, edith, ["content.title": "Hello", "anyway": "1"])
            #expect(reply.status == 303, "\(reply.body)")
            #expect(try Self.disk(office) == before.replacing("Hi", with: "Hello"))
        }
    }

    @Test("a value that the fields of dates cannot show is a field of text with that value")
    func otherForm() async throws {
        let office = try Office()
        try Self.write(office, schedule: "schedule: {at: 01.12.2099 9:00, timezone: UTC}\n")
        let edith = try office.session("edith", [.editor, .approver])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            #expect(
                page.contains("name=\"schedule.at\" value=\"01.12.2099 9:00\"") && !page.contains("schedule.at.date"))
            #expect(try Self.save(server, edith, ["schedule.at": "2099-12-01 09:00"]).status == 303)
            #expect(try Self.disk(office).contains("{at: \"2099-12-01 09:00\", timezone: UTC}"))
        }
    }

    // MARK: - Repeats

    @Test("repeats are chosen without cron, written as an ordinary rule, and read back into the choice")
    func repeats() async throws {
        let office = try Office()
        try Self.write(office, schedule: "schedule: {timezone: Europe/Berlin, quiet_hours: 21:00-08:00}\n")
        let edith = try office.session("edith", [.editor, .approver])
        try await TestServer.with(office.site) { server throws in
            let choice = "schedule.repeat.choice", time = "schedule.repeat.time"
            func rule(_ changes: [String: String?]) throws -> String {
                let reply = try Self.save(server, edith, changes)
                #expect(reply.status == 303, "\(changes) \(reply.body)")
                return try Self.disk(office).firstMatch(of: #/repeat: (?:"([^"]*)"|([^,}\n]*))/#).map {
                    String($0.1 ?? $0.2 ?? "")
                } ?? ""
            }
            #expect(try rule(["schedule.way": "time", choice: "daily", time: "09:05"]) == "5 9 * * *")
            #expect(try rule([choice: "workdays"]) == "5 9 * * mon-fri")
            #expect(
                try rule([choice: "weekly", "schedule.repeat.thu": "1", "schedule.repeat.mon": "1"])
                    == "5 9 * * mon,thu")
            let weekly = try server.request("GET", Self.path, session: edith).body
            #expect(weekly.contains("<option value=\"weekly\" selected>"))
            #expect(
                weekly.contains("name=\"schedule.repeat.thu\" value=\"1\" checked")
                    && !weekly.contains("name=\"schedule.repeat.tue\" value=\"1\" checked"))
            #expect(try rule(["schedule.repeat.mon": nil]) == "5 9 * * thu")
            #expect(try rule([choice: "monthly", "schedule.repeat.day": "15", time: "18:30"]) == "30 18 15 * *")
            #expect(try rule([choice: "other", "schedule.repeat.rule": "0 9 1,15 * *"]) == "0 9 1,15 * *")
            let other = try server.request("GET", Self.path, session: edith).body
            #expect(other.contains("<option value=\"other\" selected>") && other.contains("value=\"0 9 1,15 * *\""))
            #expect(try rule(["schedule.way": "hand"]) == "")
            #expect(try Self.disk(office).hasSuffix("schedule: {timezone: Europe/Berlin, quiet_hours: 21:00-08:00}\n"))
        }
    }

    @Test(
        "what a choice needs and lacks is a mistake at its field, and nothing is saved",
        arguments: [
            (["schedule.repeat.choice": "daily"], "no time of day"),
            (["schedule.repeat.choice": "weekly", "schedule.repeat.time": "09:00"], "No day of the week is chosen"),
            (
                ["schedule.repeat.choice": "monthly", "schedule.repeat.time": "09:00"],
                "The day of the month is missing"
            ),
            (
                ["schedule.repeat.choice": "monthly", "schedule.repeat.time": "09:00", "schedule.repeat.day": "32"],
                "The day of the month is missing"
            ),
            (["schedule.repeat.choice": "other"], "The rule is missing"),
            (["schedule.repeat.choice": "daily", "schedule.repeat.time": "9 o'clock"], "is not a time of day"),
        ])
    func incomplete(changes: [String: String], words: String) async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor, .approver])
        try await TestServer.with(office.site) { server throws in
            let before = try Self.disk(office)
            let reply = try Self.save(server, edith, changes.merging(["schedule.way": "time"]) { $1 })
            let group = try #require(reply.body.firstMatch(of: #/id="schedule.repeat"(?s:.*?)id="schedule.timezone"/#))
                .output
            #expect(
                reply.status == 422 && group.contains(words) && group.contains("<span class=\"stop\">")
                    && !group.contains("role=\"alert\"")
            )
            let choice = try #require(changes["schedule.repeat.choice"])
            #expect(reply.body.contains("<option value=\"\(choice)\" selected>"), "what was chosen stays")
            #expect(try Self.disk(office) == before)
        }
    }

    @Test(
        "the form shows the next three times that the calendar has, without those that a person left out, with what clocks skip"
    )
    func nextTimes() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        let item = { try CampaignsPage.item(Self.visit(Self.file), office.site) }
        try Self.write(office, schedule: "schedule: {repeat: \"30 2 * * *\", timezone: Europe/Berlin}\n")
        // Three days before Berlin's clocks skip 02:30.
        let now = Timestamp(epochSeconds: 4_078_080_000 + 2 * 86_400)
        let project = try office.site.project()
        let times = try office.site.campaigns.nextTimes(of: item(), count: 3, project: project, now: now)
        let calendar = try office.site.campaigns.schedule(project: project, now: now).times.filter { $0.ends > now }
        #expect(times.map(\.occurrence) == ["27", "28", "29"].map { "2099-03-\($0)T02:30" })
        #expect(
            calendar.prefix(3).map(\.occurrence) == times.map(\.occurrence)
                && calendar.prefix(3).map(\.notes) == times.map(\.notes))
        #expect(times[2].notes.contains("clocks skip this time: sent at 03:00"))
        let store = try ScheduleStore(folder: office.folder.runs)
        let leftOut = ScheduledRun(
            key: .init(campaign: "spring-sale", occurrence: times[1].occurrence), file: times[1].file ?? "", run: nil,
            state: .skipped,
            begins: times[1].begins, ends: times[1].ends, changedAt: now)
        _ = try store.save([leftOut], [])
        store.close()
        #expect(
            try office.site.campaigns.nextTimes(of: item(), count: 3, project: project, now: now).map(\.occurrence)
                == ["27", "29", "30"].map { "2099-03-\($0)T02:30" })
        // Beyond the calendar's days.
        try Self.write(office, schedule: "schedule: {repeat: \"0 9 29 2 *\", timezone: UTC}\n")
        #expect(
            try office.site.campaigns.nextTimes(of: item(), count: 3, project: project, now: now).map(\.occurrence) == [
                "2104-02-29T09:00", "2108-02-29T09:00", "2112-02-29T09:00",
            ], "2100 is no leap year")
        try await TestServer.with(office.site) { server throws in
            #expect(try server.request("GET", Self.path, session: edith).body.contains("Tuesday, 29 February 2028"))
            try Self.write(office, schedule: "")
            #expect(try server.request("GET", Self.path, session: edith).body.contains("It is sent by hand."))
            try Self.write(office, schedule: "schedule: {at: 2001-01-01 09:00, timezone: UTC}\n")
            #expect(try server.request("GET", Self.path, session: edith).body.contains("its times have passed"))
        }
    }

    private static func visit(_ file: String) -> Visit {
        Visit(
            parameters: [:], query: ["file": file],
            requestOrigin: HostRules.RequestOrigin(client: nil, isSecure: false, origin: ""),
            now: .now())
    }

    // MARK: - What must not pass in silence

    @Test(
        "tags that are taken away never become everyone: that must be chosen",
        arguments: ["", " ", ",", "，、", ";", "\u{200B}", "\u{2060},\u{FEFF}"])
    func blankTags(blank: String) async throws {
        let office = try Office()
        try office.folder.write(
            Self.file,
            "name: spring-sale\napp: shop\naudience: {devices: devices.csv, tags: [vip]}\ncontent: {title: Hi}\n")
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let before = try Self.disk(office)
            for anyway in [nil, "1"] {
                let changes: [String: String?] = [
                    "audience.tags.box.vip": nil, "audience.tags.more": blank, "content.title": "Hello",
                    "anyway": anyway,
                ]
                let reply = try Self.save(server, edith, changes)
                #expect(reply.status == 422 && reply.body.contains("No tag is chosen, and everyone is not"))
                #expect(reply.body.contains("name=\"content.title\" value=\"Hello\""), "what was typed stays")
            }
            #expect(try Self.disk(office) == before)
            #expect(try Self.save(server, edith, ["audience.choice": "everyone"]).status == 303)
            #expect(try Self.disk(office).contains("everyone: true"))
        }
    }

    @Test(
        "a text that changes while languages and variants keep theirs is saved only after a second yes, and nothing typed is lost"
    )
    func keptTexts() async throws {
        let office = try Office()
        let source = """
            name: spring-sale
            app: shop
            audience: {devices: devices.csv, everyone: true}
            content:
              title: Hi
              languages: {de: {title: Hallo}}
            variants: {a: {share: 50, content: {title: Ahoy}}, b: {share: 50}}

            """
        try office.folder.write(Self.file, source)
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            #expect(try Self.save(server, edith, ["description": "For Anna"]).status == 303)
            let before = try Self.disk(office)
            let asked = try Self.save(server, edith, ["content.title": "Hello", "description": "For Bea"])
            #expect(
                asked.status == 422 && asked.body.contains("Not saved yet.")
                    && asked.body.contains("What happens to the other texts?"))
            #expect(
                asked.body.contains("not that of German (de); variant a."), "\(asked.body)")
            #expect(asked.body.contains("name=\"content.title\" value=\"Hello\"") && asked.body.contains("For Bea"))
            #expect(try Self.disk(office) == before)
            let answer = try #require(asked.body.firstMatch(of: #/ name="kept" value="([^"]*)"/#)).1
            let answers = [
                "content.title": "Hello", "description": "For Bea", "kept.text.0": "keep", "kept.text.1": "keep",
            ]
            // An answer is about one text.
            #expect(try Self.save(server, edith, ["content.title": "Howdy", "kept": String(answer)]).status == 422)
            let saved = try Self.save(server, edith, answers.merging(["kept": String(answer)]) { $1 })
            #expect(saved.status == 303)
            #expect(
                try Self.disk(office)
                    == before.replacing("title: Hi", with: "title: Hello").replacing("Anna", with: "Bea"))
            // The page of the source asks the same.
            let text = try Self.disk(office), base = ShownFile.digest(of: Array(text.utf8))
            func write(_ more: [(String, String)]) throws -> Reply {
                let fields =
                    [("digest", base), ("text", text.replacing("title: Hello", with: "title: Welcome"))] + more
                return try server.form("/campaign/save?file=spring-sale.yaml", session: edith, fields)
            }
            let again = try write([])
            #expect(
                again.status == 422 && again.body.contains("Not saved yet.") && again.body.contains("title: Welcome"))
            let second = try #require(again.body.firstMatch(of: #/ name="kept" value="([^"]*)"/#)).1
            #expect(
                try write([("kept", String(second)), ("kept.text.0", "keep"), ("kept.text.1", "keep")]).status == 303)
        }
    }

    @Test(
        "a text that is cleared in the form is a mistake at the title, unless the push is meant to be silent or variants have texts",
        arguments: [
            ("content: {title: Hi, body: There, sound: default}\n", ["content.title": "", "content.body": " "], true),
            ("content: {title: Hi, link: shop://sale}\n", ["content.title": ""], true),
            ("content: {title: Hi}\n", ["content.title": ""], true),
            ("content: {sound: default}\n", ["content.sound": "", "content.badge": "1"], true),
            ("content: {title: Hi, body: There}\n", ["content.title": ""], false),
            ("content: {title: Hi}\n", ["content.title": "", "content.silent": "true"], false),
            (
                "content: {title: Hi, sound: default}\nvariants: {a: {share: 100, content: {title: A}}}\n",
                ["content.title": ""], false
            ),
            ("content: {sound: default}\n", ["content.sound": "ding.caf"], false),
        ])
    func clearedText(source: String, form: [String: String], isRefused: Bool) throws {
        var edit = try #require(YAMLEdit("name: x\n" + source))
        let mistakes = WhatSection.apply(form, to: &edit)
        #expect((mistakes["content.title"]?.message == "there is no text") == isRefused, "\(mistakes) \(edit.text)")
    }

    @Test("a tag for devices that do not want pushes is warned of at its field")
    func optOut() async throws {
        let office = try Office()
        try office.folder.write(
            Self.file,
            "name: spring-sale\napp: shop\naudience: {devices: devices.csv, tags: [unsubscribed]}\ncontent: {title: Hi}\n"
        )
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            let group = try #require(page.firstMatch(of: #/id="audience.tags"(?s:.*?)<\/fieldset>/#)).output
            #expect(group.contains("seems to mark devices that do not want pushes"))
        }
    }

    // MARK: - Zones

    @Test(
        "zones of the machine are offered, as far as a campaign may name them, and one that does not exist is refused at its field"
    )
    func zones() async throws {
        let office = try Office()
        try Self.write(office, schedule: "schedule: {at: 2099-12-01 09:00, timezone: Asia/Kolkata}\n")
        let edith = try office.session("edith", [.editor, .approver])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            #expect(
                page.contains("list=\"schedule.timezone-list\"") && page.contains("<option value=\"Europe/Berlin\">"))
            #expect(
                page.contains("name=\"schedule.clock\" value=\"one\" checked") && page.contains("Each person’s clock"))
            for name in ["EST", "Etc/GMT+5", "posix/Europe/Berlin", "localtime"] {
                #expect(!page.contains("<option value=\"\(name)\">"), "\(name)")
            }
            #expect(
                page.firstMatch(
                    of: #/Clocks there show \d\d:\d\d now, [A-Z][a-z]+day, \d+ [A-Z][a-z]+ \d{4}: UTC\+05:30\./#) != nil
            )
            for (zone, words) in [
                ("europe/berlin", "Did you mean"), ("<b>'\"", "There is no time zone"),
                ("recipient", "There is no time zone"),
                ("", "It is not chosen whose clock counts"),
            ] {
                let reply = try Self.save(server, edith, ["schedule.timezone": zone])
                let group = try #require(reply.body.firstMatch(of: #/id="schedule.timezone"(?s:.*?)<\/p>/#)).output
                #expect(reply.status == 422 && group.contains(words) && !group.contains("<b>'"), "\(zone)")
            }
            #expect(
                try Self.save(server, edith, ["schedule.clock": "own", "schedule.fallback_timezone": "Europe/Berlin"])
                    .status
                    == 303)
            let written = try Self.disk(office)
            #expect(written.contains("timezone: recipient, fallback_timezone: Europe/Berlin}"))
            #expect(try server.request("GET", Self.path, session: edith).body.contains("on each person’s clock"))
        }
    }

    // MARK: - Tags

    /// The form when the tags are counted.
    private static func counted(_ server: TestServer, _ session: String) throws -> String {
        for _ in 0..<600 {
            let page = try server.request("GET", path, session: session).body
            guard page.contains("data-keep") else { return page }
            Thread.sleep(forTimeInterval: 0.1)
        }
        throw Diagnostic("no count within a minute")
    }

    private static func tagged(_ office: Office, _ tags: String) throws {
        try office.folder.write(
            file,
            "name: spring-sale\napp: shop\naudience:\n  devices: devices.csv\n  tags: \(tags)   # only these\ncontent: {title: Hi}\n"
        )
    }

    @Test(
        "tags of the exports are offered with their devices, the most frequent first; one that no device has is marked")
    func tags() async throws {
        let office = try Office()
        let evil = "<b>'& x"
        try office.folder.write(
            "devices.csv",
            "token,tags\n\(TestFolder.token(1)),vip;\(evil)\n\(TestFolder.token(2)),vip;daily\n\(TestFolder.token(3)),daily;vip\n\(TestFolder.token(4)),\(TestFolder.token(9))\n"
        )
        try Self.tagged(office, "[vip, gone]")
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let first = try server.request("GET", Self.path, session: edith).body
            #expect(
                first.contains("being counted") && first.contains("name=\"audience.tags.box.gone\" value=\"1\" checked")
            )
            #expect(first.contains("data-without-script><a href=\"\(Self.path)\">Refresh</a>"))
            let page = try Self.counted(server, edith)
            let group = try #require(page.firstMatch(of: #/id="audience.tags"(?s:.*?)<\/fieldset>/#)).output
            #expect(
                group.contains(
                    "<span dir=\"auto\">vip</span> <span class=\"note\" data-fill=\"audience.tags-0\">3 devices</span>")
            )
            #expect(group.contains("data-fill=\"audience.tags-1\"><b class=\"doubt\">no device has it now</b>"))
            let daily = try #require(group.range(of: "name=\"audience.tags.box.daily\" value=\"2\">"))
            let other = try #require(group.range(of: "name=\"audience.tags.box.&lt;b&gt;&#39;&amp; x\" value=\"3\">"))
            #expect(daily.lowerBound < other.lowerBound && !group.contains("<b>'"))
            #expect(!page.contains(TestFolder.token(9)), "no page shows a token")
            #expect(
                try Self.save(server, edith, ["audience.tags.box.\(evil)": "3", "audience.tags.box.gone": nil]).status
                    == 303)
            #expect(try Self.disk(office).contains("  tags: [vip, \"\(evil)\"]   # only these\n"))
            #expect(try Self.save(server, edith, ["audience.tags.more": "new york, daily,vip"]).status == 303)
            #expect(try Self.disk(office).contains("  tags: [vip, \"\(evil)\", new york, daily]   # only these\n"))
            let text = try Self.disk(office)
            #expect(try Self.save(server, edith, [:]).status == 303)
            #expect(try Self.disk(office) == text)
        }
    }

    @Test(
        "tags are typed as people write lists: with separators of any script, and in quotes",
        arguments: [
            ("news; sports", ["news", "sports"]),
            ("news；sports，vip、new\nlast", ["news", "sports", "vip", "new", "last"]),
            ("\"news\"", ["news"]), ("'news', „sport“; «vip»", ["news", "sport", "vip"]), ("“a; b”, c", ["a; b", "c"]),
            (" ;; , \u{200B}", []), ("rock 'n' roll", ["rock 'n' roll"]), ("'tis", ["'tis"]),
            ("\"a\" b, c", ["\"a\" b", "c"]),
            ("\"\"", []),
        ])
    func typedTags(text: String, tags: [String]) {
        #expect(TagsControl.typed(text) == tags)
        let form = ["audience.tags.boxes": "1", "audience.tags.more": text]
        #expect(TagsControl.text("audience.tags", form, shown: "") == tags.joined(separator: "\n"))
        let plain = ["audience.tags": "a; b\n\(text)"]
        #expect(TagsControl.text("audience.tags", plain, shown: "a; b") == (["a; b"] + tags).joined(separator: "\n"))
    }

    @Test("a tag that the form would turn into another one, as white space stands around it, is not offered")
    func blanks() async throws {
        let office = try Office()
        let rows = ["\u{A0}vip\u{A0}", "\u{2028}new", "new york"].enumerated().map {
            "\(TestFolder.token($0 + 1)),\($1)\n"
        }
        try office.folder.write("devices.csv", "token,tags\n" + rows.joined())
        try Self.tagged(office, "[vip]")
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try Self.counted(server, edith)
            let offered = page.matches(of: #/name="audience\.tags\.box\.([^"]*)"/#).map { String($0.1) }
            #expect(offered == ["vip", "new york"])
            #expect(page.contains("no device has it now"), "a tag with white space around it is not vip")
        }
    }

    @Test("the script asks for the numbers alone, so that an open form keeps what was done in it")
    func live() async throws {
        let office = try Office()
        try office.folder.write("devices.csv", "token,tags\n\(TestFolder.token(1)),vip;<i>\n")
        try Self.tagged(office, "vip")
        let edith = try office.session("edith", [.editor]), vera = try office.session("vera", [.viewer])
        try await TestServer.with(office.site) { server throws in
            let live = "/campaign/form/live.json?file=spring-sale.yaml"
            #expect(try server.request("GET", live, session: vera).status == 403)
            _ = try Self.counted(server, edith)
            let reply = try server.request("GET", live, session: edith)
            let value = try JSONValue(parsing: reply.body)
            #expect(value["is_live"] == .bool(false) && value["pieces"]?["audience.tags-0"] == .string("1 device"))
            let more = try #require(value["pieces"]?["audience.tags-suggestions"]?.stringValue)
            #expect(more.contains("&lt;i&gt;") && !more.contains("<i>") && !more.contains("box.vip"))
        }
    }

    @Test("exports outside of the console's roots are not read for their tags, even by a campaign with mistakes")
    func roots() async throws {
        let office = try Office()
        try office.folder.write(
            Self.file,
            "name: spring-sale\napp: shop\naudience: {devices: /etc/passwd, tags: [x]}\ncontent: {titel: x}\n")
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try Self.counted(server, edith)
            #expect(
                page.contains("Which tags the devices have is not known")
                    && page.contains("The console may not use the file"))
            #expect(!page.contains("root:"), "nothing of the file")
        }
    }

    // MARK: - Check

    @Test(
        "Check, the form and the campaign's page find the same: what is wrong with the text, and with the columns of the exports"
    )
    func check() async throws {
        let office = try Office()
        let text =
            "name: spring-sale\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: \"Hi {{ first_nam }}\"}\n"
        try office.folder.write("devices.csv", "token,first_name\n\(TestFolder.token(1)),Ada\n")
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let words = "has no column &#39;first_nam&#39;"
            let checked = try server.form(
                "/campaign/save?file=spring-sale.yaml", session: edith,
                [("text", text), ("digest", "0"), ("check", "1")]
            ).body
            #expect(checked.contains("Line 4, column") && checked.contains(words) && checked.contains("first_name"))
            try office.folder.write(Self.file, text)
            for path in [Self.path, "/campaign?file=spring-sale.yaml", "/campaign/edit?file=spring-sale.yaml"] {
                #expect(try server.request("GET", path, session: edith).body.contains(words), "\(path)")
            }
            // Only the text decides whether it is saved without a question: an export may be
            // corrected later.
            #expect(try Self.save(server, edith, ["description": "Half price"]).status == 303)
            let strange = try server.form(
                "/campaign/save?file=spring-sale.yaml", session: edith,
                [("text", text.replacing("devices.csv", with: "/etc/passwd")), ("digest", "0"), ("check", "1")]
            ).body
            #expect(strange.contains("may not use the file") && !strange.contains("no column"))
            // A new one is checked at its future place, and only on request.
            let blank = try server.request("GET", "/campaigns/new?source=1", session: edith).body
            #expect(!blank.contains("No mistakes") && !blank.contains("Checked:"))
            let fresh = try server.form(
                "/campaigns/new", session: edith,
                [
                    ("text", text.replacing("spring-sale", with: "autumn").replacing("nam ", with: "name ")),
                    ("check", "1"),
                ]
            ).body
            #expect(
                fresh.contains("No mistakes.")
                    && fresh.contains("Checked: the text, the settings of its app, and the columns of the exports"))
            // The unsaved text has a mistake.
            let twin = try server.form(
                "/campaigns/new", session: edith, [("text", text.replacing("nam ", with: "name "))])
            #expect(twin.status == 422 && twin.body.contains("Not saved") && !twin.body.contains("No mistakes"))
        }
    }
}
