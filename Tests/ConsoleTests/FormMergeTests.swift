import Accounts
import Automation
import Base
import Campaigns
import Foundation
import Testing

@testable import volley_console

/// Two people with one campaign in their forms, and forms that are older than the file: drafts.
@Suite("forms of earlier files")
struct FormMergeTests {
    typealias Office = OrderPageTests.Office

    private static let file = "spring-sale.yaml"
    private static let path = "/campaign/form?file=spring-sale.yaml"
    private static let keep = "/draft/save?page=form&file=spring-sale.yaml"

    /// With a value, a mark or a row for each kind of control.
    private static let full = """
        name: spring-sale
        app: shop
        description: For customers
        audience:
          devices: devices.csv
          tags: {any: [vip, new], all: [app]}
          exclude: {tags: [out], aliases: [a]}
          where: {language: de, age: ">= 18"}
        content:
          title: Hi
          body: Text
          silent: false
          languages:
            # volley: translate content.languages.de (title)
            de: {title: Hallo, body: Text}
        variants:
          a: {share: 40}
          # volley: translate variants.b.content (body)
          b: {share: 50, content: {body: Short}}
          holdout: {share: 10}
        schedule:
          at: 2099-12-01 09:00
          repeat: 0 9 * * mon
          timezone: Europe/Berlin
          quiet_hours: 21:00-08:00
        delivery: {pace: 100/s, frequency: at most 2 per 7 days}

        """

    private static func disk(_ office: Office) throws -> String {
        try String(contentsOfFile: "\(office.folder.path)/\(file)", encoding: .utf8)
    }

    /// What a browser sends for a page on which a person changes controls; nil unchecks a box.
    private static func filled(_ page: String, _ changes: [String: String?] = [:]) -> [(String, String)] {
        var fields = FormControls(page).values
        for (name, value) in changes { fields[name] = value }
        fields["token"] = nil
        return fields.map { ($0.key, $0.value) }
    }

    // MARK: - All controls

    /// A control that a person can change, and another value for it; nil unchecks a box.
    private struct Change {
        var name: String, value: String?
    }

    /// Each control of a page, changed.
    private static func changes(_ page: String) throws -> [Change] {
        let form = try #require(page.firstMatch(of: #/<form class="panel editor"(?s:.*?)<\/form>/#)).output
        let values = FormControls(String(form)).values
        func attribute(_ name: String, _ tag: Substring) -> String? {
            tag.range(of: " \(name)=\"").map { String(tag[$0.upperBound...].prefix { $0 != "\"" }) }
        }
        var changes: [String: String?] = [:]
        for tag in form.matches(of: #/<(input|textarea) (?s:.*?)>/#).map(\.output.0) {
            guard let name = attribute("name", tag), attribute("type", tag) != "hidden" else { continue }
            let value = values[name]
            switch attribute("type", tag) {
            case "checkbox": changes.updateValue(value == nil ? attribute("value", tag) : nil, forKey: name)
            case "radio": if attribute("value", tag) != value { changes[name] = attribute("value", tag) }
            case "date": changes[name] = "2098-11-11"
            case "time": changes[name] = "10:10"
            case "number": changes[name] = "17"
            default: changes[name] = attribute("inputmode", tag) == nil ? "\(value ?? "")x" : value == "7" ? "8" : "7"
            }
        }
        for list in form.matches(of: #/<select [^>]*name="([^"]*)"[^>]*>((?s:.*?))<\/select>/#) {
            let options = list.2.matches(of: #/value="([^"]*)"/#).map { String($0.1) }
            if let other = options.first(where: { $0 != values[String(list.1)] }) { changes[String(list.1)] = other }
        }
        return changes.sorted { $0.key < $1.key }.map { Change(name: $0.key, value: $0.value) }
    }

    /// Controls that make up one value with a control: the parts of a date, the row of a condition,
    /// a new language.
    private static func unit(_ name: String, _ parts: [String: String]) -> String {
        let isOne = name.hasPrefix("add.") || name.hasPrefix("where.")
        return parts[name] ?? (isOne ? name.split(separator: ".").dropLast().joined(separator: ".") : name)
    }

    @Test(
        "whatever control a colleague changed, a form that changed every other one keeps it; and where both changed it, both values are there"
    )
    func everyControl() async throws {
        let office = try Office()
        try office.folder.write(Self.file, Self.full)
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            let changes = try Self.changes(page), shown = FormControls(page)
            let parts = CampaignForm.parts(in: try #require(YAMLEdit(Self.full)))
            #expect(changes.count > 80, "\(changes.count) controls")
            for theirs in changes {
                let unit = Self.unit(theirs.name, parts)
                var present = shown, sent = shown.values
                present.values[theirs.name] = theirs.value
                let mine = changes.filter { Self.unit($0.name, parts) != unit }
                for change in mine { sent[change.name] = change.value }
                let merged = FormMerge(sent, onto: present, parts: parts)
                #expect(merged.fields[theirs.name] == theirs.value, "\(theirs.name) is not as the colleague saved it")
                for change in mine {
                    #expect(
                        merged.fields[change.name] == change.value,
                        "\(change.name) is lost where \(theirs.name) changed")
                }
                // A box has two values, so two people that change it agree.
                guard theirs.value != nil, shown.values[theirs.name] != nil else { continue }
                sent = shown.values
                sent[theirs.name] = "of mine"
                let both = FormMerge(sent, onto: present, parts: parts)
                #expect(
                    both.fields[theirs.name] == "of mine" && both.others.count == 1,
                    "\(theirs.name), \(theirs.value ?? "no value"): \(both.others) \(both.lost)")
            }
        }
    }

    @Test("if the file was changed, the page shows every control as its person changed it, and the file's new digest")
    func everyChange() async throws {
        let office = try Office()
        try office.folder.write(Self.file, Self.full)
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            let changes = try Self.changes(page)
            try office.folder.write(Self.file, Self.full + "# by hand\n")
            let sent = Self.filled(page, Dictionary(uniqueKeysWithValues: changes.map { ($0.name, $0.value) }))
            let reply = try server.form(Self.path, session: edith, sent)
            let now = FormControls(reply.body).values
            #expect(
                reply.status == 409 && now["digest"] == ShownFile.digest(of: Array((Self.full + "# by hand\n").utf8)))
            #expect(reply.body.contains("Another person saved this campaign after you opened this form"))
            for change in changes {
                // What is typed into the field for further tags is a box now.
                guard change.name.hasSuffix(".more") else {
                    #expect(now[change.name] == change.value, "\(change.name)")
                    continue
                }
                #expect(now[change.name.replacing(".more", with: ".box.x")] != nil, "\(change.name)")
            }
            #expect(try Self.disk(office) == Self.full + "# by hand\n")
        }
    }

    @Test(
        "a value of several lines stays as it is where a page shows it in one line, which browsers send without line breaks"
    )
    func oneLine() throws {
        #expect(FormControls("<input name=\"a\" value=\"Two\nlines\">").values["a"] == "Twolines")
        let source = "name: spring-sale\ncontent:\n  title: \"Two\\nlines\"\n  body: |\n    More\n    lines\n"
        var edit = try #require(YAMLEdit(source))
        #expect(CampaignForm.apply(["content.title": "Twolines", "content.body": "More\nlines\n"], to: &edit).isEmpty)
        #expect(edit.text == source)
    }

    // MARK: - Two people

    @Test(
        "a colleague's choices of devices and of a time stay where the person that saves second changed another field")
    func choices() async throws {
        let office = try Office()
        let (marta, edith) = (
            try office.session("marta", [.editor, .approver]), try office.session("edith", [.editor, .approver])
        )
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: marta).body
            let theirs: [String: String] = [
                "audience.choice": "tags", "audience.tags.more": "beta", "schedule.way": "time",
                "schedule.at.date": "2099-12-05",
                "schedule.at.time": "10:00", "schedule.timezone": "Europe/Berlin",
            ]
            #expect(try server.form(Self.path, session: edith, Self.filled(page, theirs)).status == 303)
            let conflict = try server.form(
                Self.path, session: marta, Self.filled(page, ["description": "For beta testers"]))
            #expect(conflict.status == 409 && conflict.body.contains("<b dir=\"auto\">edith</b> saved this campaign"))
            let shown = FormControls(conflict.body).values
            #expect(
                shown["audience.choice"] == "tags" && shown["schedule.way"] == "time"
                    && shown["schedule.at.date"] == "2099-12-05")
            #expect(!conflict.body.contains("saved here"))
            #expect(try server.form(Self.path, session: marta, Self.filled(conflict.body)).status == 303)
            let text = try Self.disk(office)
            #expect(
                text.contains("tags: [beta]") && !text.contains("everyone") && text.contains("2099-12-05 10:00"),
                "\(text)")
            #expect(text.contains("For beta testers"))
        }
    }

    @Test("where two people changed one field or one choice, the field has the own value and names the other one")
    func both() async throws {
        let office = try Office()
        let (marta, edith) = (
            try office.session("marta", [.editor, .approver]), try office.session("edith", [.editor, .approver])
        )
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: marta).body
            let theirs = ["content.title": "Hers <b>", "audience.choice": "list", "audience.aliases": "a7"]
            #expect(try server.form(Self.path, session: edith, Self.filled(page, theirs)).status == 303)
            let mine = ["content.title": "Mine", "audience.choice": "tags", "audience.tags.more": "vip"]
            let conflict = try server.form(Self.path, session: marta, Self.filled(page, mine)).body
            let shown = FormControls(conflict).values
            #expect(
                shown["content.title"] == "Mine" && shown["audience.choice"] == "tags"
                    && shown["audience.tags.box.vip"] != nil)
            func note(_ name: String) throws -> Substring {
                conflict[try #require(conflict.range(of: "id=\"\(name)-mistake\">")).upperBound...].prefix(300)
            }
            #expect(
                try note("content.title").contains("edith</b> saved here: “<span dir=\"auto\">Hers &lt;b&gt;</span>”"))
            #expect(try note("audience.everyone").contains("A list of customers or devices; a7"))
        }
    }

    @Test("conditions are merged by their columns, and a text whose variant was removed is named")
    func rows() throws {
        func form(_ rows: [(String, String)], _ more: [String: String] = [:]) -> [String: String] {
            var form = ["where.rows": "\(rows.count + 1)"]
            for (place, row) in (rows + [("", "")]).enumerated() {
                form["where.\(place).shown"] = "\(row.0)\nis\n\(row.1)"
                (form["where.\(place).column"], form["where.\(place).test"], form["where.\(place).value"]) = (
                    row.0, "is", row.1
                )
            }
            return form.merging(more) { $1 }
        }
        var page = FormControls(""), present = FormControls("")
        page.values = form([("language", "de"), ("city", "Rome")], ["variants.a.content.title": "A"])
        var sent = page.values.merging(["shown": FormMerge.written(page)]) { $1 }
        sent["where.1.value"] = "Oslo"
        (sent["where.2.column"], sent["where.2.value"]) = ("age", "7")
        sent["variants.a.content.title"] = "B"
        present.values = form([("plan", "gold"), ("language", "fr"), ("city", "Bonn")])
        let merged = FormMerge(sent, onto: present, parts: [:])
        let rows = (0..<4).map { place in ["column", "value"].map { merged.fields["where.\(place).\($0)"] ?? "" } }
        #expect(merged.fields["where.rows"] == "4")
        #expect(rows == [["plan", "gold"], ["language", "fr"], ["city", "Oslo"], ["age", "7"]])
        #expect(merged.fields["where.2.shown"] == "city\nis\nBonn" && merged.fields["where.3.shown"] == "\nis\n")
        #expect(merged.others == ["where.2": "city is Bonn"], "\(merged.others)")
        #expect(merged.lost.count == 1 && merged.lost[0].hasSuffix(": B"))
    }

    private static func text(_ title: String, _ aliases: [String]) -> String {
        "name: spring-sale\napp: shop\naudience:\n  aliases: [\(aliases.joined(separator: ", "))]\ncontent: {title: \(title)}\n"
    }

    @Test("a long list is in its page once, and is merged as any other value")
    func long() async throws {
        let list = (0..<500).map { "customer-\($0)" }
        let office = try Office()
        try office.folder.write(Self.file, Self.text("Hi", list))
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            #expect(page.components(separatedBy: "customer-499").count == 2)
            /// What the form holds after a colleague saved another title, and perhaps another list.
            func merged(_ typed: [String: String?], theirs: [String]) throws -> (status: Int, values: [String: String])
            {
                try office.folder.write(Self.file, Self.text("Theirs", theirs))
                let reply = try server.form(Self.path, session: edith, Self.filled(page, typed))
                return (reply.status, FormControls(reply.body).values)
            }
            let others = list + ["other"], name = "audience.aliases"
            let untouched = try merged(["content.body": "Mine"], theirs: others)
            #expect(untouched.status == 409 && untouched.values["content.title"] == "Theirs")
            #expect(untouched.values[name] == others.joined(separator: "\n"))
            let own = (list + ["mine"]).joined(separator: "\n")
            #expect(try merged([name: own], theirs: list).values[name] == own)
        }
    }

    // MARK: - Drafts

    @Test(
        "a draft of an earlier file opens as the form of the present one, and names the people that saved it; an own save is no colleague's"
    )
    func draft() async throws {
        let office = try Office()
        let (marta, edith) = (
            try office.session("marta", [.editor, .approver]), try office.session("edith", [.editor, .approver])
        )
        try await TestServer.with(office.site) { server throws in
            func open(_ id: Int64) throws -> Reply {
                let reply = try server.request("GET", "/draft?id=\(id)", session: marta)
                return try server.request("GET", try #require(reply["location"]), session: marta)
            }
            let page = try server.request("GET", Self.path, session: marta).body
            let account = try #require(try office.site.accounts.account(named: AccountName("marta"))).id
            // Of another window.
            let typed = Self.filled(page, ["content.title": "Mine"]).filter {
                !["digest", "draft", "draft.page"].contains($0.0)
            }
            let id = try office.site.accounts.keep(
                draft: Dictionary(uniqueKeysWithValues: typed), .form, of: Self.file,
                base: FormControls(page).values["digest"] ?? "",
                for: account, at: Timestamp.now().adding(seconds: -3_600))
            #expect(
                try server.form(Self.path, session: marta, Self.filled(page, ["content.body": "Own"])).status == 303)
            let first = try open(id)
            #expect(first.status == 200 && first.body.contains("You saved this campaign after you opened this form"))
            #expect(!first.body.contains("name=\"text\""), "no source")
            var shown = FormControls(first.body).values
            #expect(shown["content.title"] == "Mine" && shown["content.body"] == "Own" && shown["draft"] == "\(id)")
            let now = try server.request("GET", Self.path, session: edith).body
            #expect(
                try server.form(Self.path, session: edith, Self.filled(now, ["content.title": "Hers"])).status == 303)
            let second = try open(id).body
            shown = FormControls(second).values
            #expect(
                shown["content.title"] == "Mine" && second.contains("<b dir=\"auto\">edith</b> saved this campaign"))
            #expect(second.contains("saved here: “<span dir=\"auto\">Hers</span>”"))
            #expect(try server.form(Self.path, session: marta, Self.filled(second)).status == 303)
            #expect(try Self.disk(office).contains("title: Mine") && Self.disk(office).contains("body: Own"))
            #expect(try office.site.accounts.drafts(of: account).isEmpty)
        }
    }

    @Test("a form that is refused belongs to the draft that was kept on its way, and stays one draft")
    func refused() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        let account = try #require(try office.site.accounts.account(named: AccountName("edith"))).id
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            let half = Self.filled(page, ["schedule.at.date": "2099-12-01", "schedule.way": "time"])
            #expect(try server.form(Self.keep + "&script=1", session: edith, half).status == 200)
            let refused = try server.form(Self.path, session: edith, half)
            #expect(refused.status == 422)
            let next = Self.filled(refused.body, ["content.title": "Ho"])
            #expect(try server.form(Self.keep + "&script=1", session: edith, next).status == 200)
            #expect(try office.site.accounts.drafts(of: account).count == 1)
            // Another window does not share it.
            let other = Self.filled(
                try server.request("GET", Self.path, session: edith).body,
                ["schedule.at.date": "2099-12-02", "schedule.way": "time"])
            let alone = try server.form(Self.path, session: edith, other)
            #expect(alone.status == 422 && FormControls(alone.body).values["draft"] == "")
        }
    }
}
