import Accounts
import Automation
import Base
import Campaigns
import Foundation
import Testing

@testable import volley_console

/// The composer: its sections, languages, variants, marks and phones.
@Suite("the composer")
struct ComposerTests {
    typealias Office = OrderPageTests.Office

    private static let file = "spring-sale.yaml"
    private static let path = "/campaign/form?file=spring-sale.yaml"
    private static let head = "name: spring-sale\napp: shop\naudience: {devices: devices.csv, everyone: true}\n"

    private static func disk(_ office: Office) throws -> String {
        try String(contentsOfFile: "\(office.folder.path)/\(file)", encoding: .utf8)
    }

    /// Sends the fields of a form; the others are as if the page had not had them.
    private static func save(_ server: TestServer, _ office: Office, _ session: String, _ fields: [String: String])
        throws -> Reply
    {
        let base = ShownFile.digest(of: Array(try disk(office).utf8))
        return try server.form(path, session: session, [("digest", base)] + fields.map { ($0.key, $0.value) })
    }

    private static func edit(_ text: String) throws -> YAMLEdit { try #require(YAMLEdit(text)) }

    // MARK: - The page

    @Test("the page has four sections in order, and says in words what the file has and no section shows")
    func sections() async throws {
        let office = try Office()
        try office.folder.write(
            Self.file,
            Self.head
                + "content: {title: Hi, data: {campaign: {name: spring}}, relevance: 0.8}\nallow: [{warning: short_text, reason: Yes}]\n"
        )
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            let places = try ["who", "what", "when", "how"].map { name in
                try #require(page.range(of: "<h2 id=\"\(name)\">")).lowerBound
            }
            #expect(places == places.sorted())
            let rest = try #require(page.firstMatch(of: #/id="rest"(?s:.*?)<\/section>/#)).output
            #expect(
                rest.contains("<b>What › Data</b>: <span dir=\"auto\">Campaign</span>")
                    && rest.contains("What › Relevance"))
            #expect(
                rest.contains("Allow") && rest.contains("/campaign/edit?file=spring-sale.yaml")
                    && !rest.contains("Title"))
        }
    }

    @Test("emoji are buttons with names, for those that have scripts; all scripts together stay below 60 kB")
    func emoji() {
        let html = EmojiControl.html.markup
        let pattern = #/<button type="button" title="([^"]+)" aria-label="([^"]+)">([^<]+)<\/button>/#
        let buttons = html.matches(of: pattern).map { (title: String($0.1), name: String($0.2), sign: String($0.3)) }
        #expect(buttons.count >= 60 && Set(buttons.map(\.name)).count == buttons.count)
        for button in buttons {
            #expect(
                button.title == button.name && button.sign.count == 1 && button.sign.utf8.count > 1, "\(button.name)")
        }
        #expect(buttons.contains { $0.name == "fallen leaf" && $0.sign == "🍂" })
        #expect(ComposerStyle.sheet.contains(".emoji, .scripted .by-hand { display: none; }"))
        #expect(Asset.script.text.utf8.count < 60_000)
    }

    @Test("a mistake is at its field, which names it, in the words of the form")
    func mistakes() async throws {
        let office = try Office()
        try office.folder.write(Self.file, Self.head + "content: {title: Hi, image: http://example.com/a.jpg}\n")
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            let field = try #require(page.firstMatch(of: #/<p class="field"><label for="content.image">(?s:.*?)<\/p>/#))
                .output
            #expect(
                field.contains("aria-describedby=\"content.image-hint content.image-mistake\" aria-invalid=\"true\""))
            #expect(field.contains("id=\"content.image-mistake\"") && field.contains("“Image” must be a web address"))
            #expect(
                field.contains("For example: https://") && !field.contains("image: https") && !field.contains("Line "))
        }
    }

    @Test(
        "a campaign that is not finished shows its text, and says what is left to do with links to the places, without keys and lines"
    )
    func unfinished() async throws {
        let office = try Office()
        try office.folder.write(
            Self.file,
            "name: spring-sale\napp: shop\naudience: {}\ncontent: {title: Half price}\nschedule: {at: 2099-12-01 09:00}\n"
        )
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            #expect(
                page.contains("<h1 dir=\"auto\">Edit spring-sale</h1>") && page.contains("As it is written")
                    && page.contains("Half price</p>"))
            let problems = try #require(page.firstMatch(of: #/<section class="warnings problems"(?s:.*?)<\/section>/#))
                .output
            #expect(problems.contains("Before it can be planned") && !problems.contains("role=\"alert\""))
            #expect(
                problems.contains("<a href=\"#who\">Who</a>: The audience selects no devices. Choose them under “Who”"))
            #expect(problems.contains("“Time zone” is missing.") && problems.contains("<a href=\"#"))
            for word in ["Line ", "registration_ids", "timezone", "everyone: true"] {
                #expect(!problems.contains(word), "\(word)")
            }
            let campaign = try server.request("GET", "/campaign?file=spring-sale.yaml", session: edith).body
            #expect(
                campaign.contains("3 mistakes") && !campaign.contains(office.folder.path)
                    && campaign.contains("Choose them under “Who”"), "\(campaign)")
        }
    }

    @Test(
        "a form that was refused says at its top what is wrong with it, and nothing about values that are chosen by now"
    )
    func refused() async throws {
        let office = try Office()
        try office.folder.write(
            Self.file, "name: spring-sale\napp: shop\naudience: {devices: devices.csv}\ncontent: {title: Hi}\n")
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let reply = try Self.save(
                server, office, edith,
                [
                    "audience.choice": "everyone", "schedule.way": "time", "schedule.at.date": "2099-12-01",
                    "schedule.at.time": "09:00",
                    "schedule.clock": "own", "schedule.fallback_timezone": "",
                ])
            let problems = try #require(
                reply.body.firstMatch(of: #/<section class="warnings problems"(?s:.*?)<\/section>/#)
            ).output
            #expect(
                reply.status == 422 && problems.contains("There is a problem") && problems.contains("role=\"alert\""))
            #expect(problems.contains("<a href=\"#schedule.fallback_timezone\">"))
            #expect(
                problems.contains("The zone of people whose own is not known is missing.")
                    && !reply.body.contains("selects no devices"))
            #expect(reply.body.contains("id=\"schedule.fallback_timezone\""))
        }
    }

    // MARK: - Languages

    @Test("a language is added, changed and removed, and nothing else of the file changes")
    func languages() throws {
        let source =
            Self.head + "content:   # agreed\n  title: Hi\n  languages:\n    # Anna’s\n    de: {title: Hallo}\n"
        var edit = try Self.edit(source)
        let new = [
            "add.content.languages.tag": "fr", "add.content.languages.title": "Salut",
            "add.content.languages.body": " ",
        ]
        #expect(WhatSection.apply(new, to: &edit).isEmpty)
        #expect(edit.text == source + "    fr:\n      title: Salut\n")
        let changed = [
            "content.languages.de.title": "Guten Tag", "shown.content.languages.de.title": "Hallo",
            "content.languages.fr.body": "Oui",
        ]
        #expect(WhatSection.apply(changed, to: &edit).isEmpty)
        #expect(
            edit.text == source.replacing("Hallo", with: "Guten Tag") + "    fr:\n      title: Salut\n      body: Oui\n"
        )
        #expect(WhatSection.apply(["remove.content.languages.fr": "1"], to: &edit).isEmpty)
        #expect(edit.text == source.replacing("Hallo", with: "Guten Tag"))
        let two = [
            "add.content.languages.tag": "fr", "add.content.languages.title": "Salut",
            "add.content.languages.2.tag": "es",
            "add.content.languages.2.body": "Sí",
        ]
        #expect(WhatSection.apply(two, to: &edit).isEmpty)
        #expect(
            edit.text.hasSuffix("    fr:\n      title: Salut\n    es:\n      body: Sí\n"),
            "several at once: \(edit.text)")
    }

    @Test(
        "a language without a text, twice, or texts without a language are mistakes, and nothing is written",
        arguments: [
            (["add.content.languages.tag": "fr"], "has no text yet"),
            (["add.content.languages.tag": "DE", "add.content.languages.title": "x"], "has this language already"),
            (["add.content.languages.title": "x"], "the language is missing"),
            (["add.content.languages.tag": "<b>", "add.content.languages.title": "x"], "not a language"),
        ])
    func wrongLanguages(form: [String: String], words: String) throws {
        let source = Self.head + "content:\n  title: Hi\n  languages:\n    de: {title: Hallo}\n"
        var edit = try Self.edit(source)
        let mistakes = WhatSection.apply(form, to: &edit)
        #expect(mistakes["add.content.languages"]?.message.contains(words) ?? false, "\(mistakes)")
        #expect(edit.text == source)
    }

    // MARK: - Variants

    @Test("variants and a holdout are made from nothing, with shares as numbers")
    func variants() throws {
        let source = Self.head + "content: {title: Hi}\n"
        var edit = try Self.edit(source)
        let form = [
            "add.variants.0.name": "short", "add.variants.0.share": "45", "add.variants.0.title": "Hey",
            "add.variants.1.name": "long",
            "add.variants.1.share": "45", "variants.holdout.share": "10",
        ]
        #expect(WhatSection.apply(form, to: &edit).isEmpty)
        let campaign = Campaign.draft(text: edit.text, file: "c.yaml", now: .now())
        #expect(campaign.variants.map(\.name.value).sorted() == ["holdout", "long", "short"], "\(edit.text)")
        #expect(edit.text.contains("share: 45\n") && edit.text.contains("share: 10\n") && edit.text.hasPrefix(source))
        #expect(WhatSection.apply(["remove.variants.long": "1", "variants.short.share": "90"], to: &edit).isEmpty)
        #expect(edit.keys(at: ["variants"]).sorted() == ["holdout", "short"])
    }

    @Test(
        "a variant has texts in each language of the campaign, which are written in place, and marks that are confirmed"
    )
    func variantLanguages() async throws {
        let office = try Office()
        let source =
            Self.head + "content:\n  body: Hi\n  languages:\n    de: {body: Hallo}\n    fr: {body: Salut}\nvariants:\n"
            + "  calm:\n    share: 50\n    content:\n      body: Hi there\n      languages:\n        # Anna’s\n        de: {body: Guten Tag}\n"
            + "  loud:\n    share: 50\n    content: {body: HI}\n"
        try office.folder.write(Self.file, source)
        let edith = try office.session("edith", [.editor])
        let german = "variants.calm.content.languages.de", french = "variants.loud.content.languages.fr"
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            #expect(page.contains("name=\"\(german).body\"") && page.contains("Guten Tag</textarea>"))
            #expect(
                page.contains("name=\"\(french).title\"")
                    && page.contains("which read the campaign’s own text, not this variant’s"))
            #expect(!page.contains("id=\"rest\""))
        }
        var edit = try Self.edit(source)
        let own = try Self.edit(
            source.replacing("    fr: {body: Salut}\n", with: "").replacing(
                "body: HI}", with: "body: HI, languages: {fr: {body: YO}}}"))
        for (name, hint) in [(german, "Blank for the campaign’s own in this language."), (french, "")] {
            #expect(VariantsControl.fields(in: own).first { $0.name == "\(name).body" }?.hint == hint, "\(name)")
        }
        let form = [
            "\(german).body": "Moin", "shown.\(german).body": "Guten Tag", "\(french).body": "SALUT",
            "shown.\(french).body": "",
            "variants.loud.content.languages.de.body": "", "shown.variants.loud.content.languages.de.body": "",
        ]
        #expect(WhatSection.apply(form, to: &edit).isEmpty)
        #expect(try edit.value(at: french.split(separator: ".").map(String.init) + ["body"]) == .text("SALUT"))
        #expect(edit.text.contains("        # Anna’s\n        de: {body: Moin}\n") && !edit.text.contains("HALLO"))
        #expect(edit.keys(at: ["variants", "loud", "content", "languages"]) == ["fr"])
        // Of a language that others have marked in the meantime.
        for place in ["variants.calm.content", german] {
            try TranslationMark.add(place.split(separator: ".").map(String.init) + ["body"], to: &edit)
        }
        try office.folder.write(Self.file, edit.text)
        try await TestServer.with(office.site) { server throws in
            let page = try server.request("GET", Self.path, session: edith).body
            #expect(page.contains("name=\"confirm.\(german)\"") && page.contains("to translate"))
        }
        // One that is confirmed leaves the others.
        #expect(WhatSection.apply(["confirm.variants.calm.content": "1"], to: &edit).isEmpty)
        #expect(TranslationMark.all(in: edit).map { $0.path.joined(separator: ".") } == [german])
        #expect(
            WhatSection.apply(["confirm.\(german)": "1"], to: &edit).isEmpty && TranslationMark.all(in: edit).isEmpty)
    }

    @Test("shares that do not add up are a mistake at the variants, unless the person changed nothing of them")
    func shares() throws {
        let source = Self.head + "content: {title: Hi}\nvariants: {a: {share: 50}, b: {share: 40}}\n"
        var edit = try Self.edit(source)
        #expect(WhatSection.apply(["content.title": "Ho", "variants.a.share": "50"], to: &edit).isEmpty)
        let mistakes = WhatSection.apply(["variants.a.share": "55"], to: &edit)
        #expect(mistakes["variants"]?.message == "the shares add up to 95, not to 100")
        #expect(mistakes["variants"]?.remedy == "Raise them by 5 in all.")
    }

    @Test(
        "a share that is no percentage is a mistake of its field, however large it is",
        arguments: ["99999999999999999999", "1e300", "inf", "-1", "nan", "101"])
    func hugeShare(share: String) async throws {
        let office = try Office()
        let source = Self.head + "content: {title: Hi}\nvariants: {a: {share: 50}, b: {share: 50}}\n"
        try office.folder.write(Self.file, source)
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let form = ["variants.a.share": share, "shown.variants.a.share": "50"]
            let reply = try Self.save(server, office, edith, form)
            let field = try #require(reply.body.firstMatch(of: #/<label for="variants.a.share">(?s:.*?)<\/p>/#)).output
            #expect(reply.status == 422 && field.contains("id=\"variants.a.share-mistake\""), "\(field)")
            #expect(!reply.body.contains("he shares add up to"))
            #expect(try Self.phone(server, edith, form).contains("known when this is mended"))
            #expect(try Self.disk(office) == source)
        }
    }

    // MARK: - Texts that stay

    @Test("a text that stays is kept, marked or removed, as the author chose; a mark stays until a person confirms it")
    func marks() async throws {
        let office = try Office()
        let source =
            Self.head + "content:\n  title: Hi\n  languages: {de: {title: Hallo}}\n"
            + "variants: {a: {share: 50, content: {title: Ahoy}}, b: {share: 50}}   # agreed\n"
        try office.folder.write(Self.file, source)
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let form = ["content.title": "Hello", "shown.content.title": "Hi"]
            let asked = try Self.save(server, office, edith, form)
            #expect(
                asked.status == 422 && asked.body.contains("The title of German (de)")
                    && asked.body.contains("The title of variant a"))
            #expect(asked.body.contains("“Ahoy”") && asked.body.contains("name=\"content.title\" value=\"Hello\""))
            let answer = String(try #require(asked.body.firstMatch(of: #/ name="kept" value="(.*?)"/#)).1)
            let answers = ["kept": answer, "kept.text.0": "mark", "kept.text.1": "remove"]
            let back = try Self.save(server, office, edith, form.merging(["kept.back": "1"]) { $1 })
            #expect(
                back.status == 200 && back.body.contains("name=\"content.title\" value=\"Hello\"")
                    && back.body.contains("id=\"composer\""))
            #expect(try Self.disk(office) == source)
            let half = try Self.save(
                server, office, edith, form.merging(answers.filter { $0.key != "kept.text.1" }) { $1 })
            #expect(
                half.status == 422 && half.body.contains("What happens to the other texts?"),
                "a text without an answer is asked about again")
            #expect(try Self.disk(office) == source)
            #expect(try Self.save(server, office, edith, form.merging(answers) { $1 }).status == 303)
            let marked = source.replacing(
                "title: Hi\n", with: "title: Hello\n  # volley: translate content.languages.de (title)\n"
            )
            .replacing("{share: 50, content: {title: Ahoy}}", with: "{share: 50}")
            #expect(try Self.disk(office) == marked)
            let page = try server.request("GET", Self.path, session: edith).body
            #expect(
                page.contains("Title: older than the text that it belongs to.")
                    && page.contains("name=\"confirm.content.languages.de\""))
            #expect(try Self.save(server, office, edith, ["confirm.content.languages.de": "1"]).status == 303)
            #expect(
                try Self.disk(office)
                    == marked.replacing("  # volley: translate content.languages.de (title)\n", with: ""))
        }
    }

    @Test("a marked text that the form has no field for is shown, and can be confirmed")
    func markWithoutField() async throws {
        let office = try Office()
        let source =
            Self.head + "content: {title: Hi, services: {apns: {title: Ho}}}\n"
            + "variants:\n  a: {share: 50, content: {title: Ahoy, languages: {de: {title: Moin}}}}\n  b: {share: 50}\n"
        var edit = try Self.edit(source)
        try TranslationMark.add(["content", "services", "apns", "title"], to: &edit)
        try TranslationMark.add(["variants", "a", "content", "languages", "de", "title"], to: &edit)
        try office.folder.write(Self.file, edit.text)
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let names = ["confirm.content.services.apns", "confirm.variants.a.content.languages.de"]
            let page = try server.request("GET", Self.path, session: edith).body
            for name in names { #expect(page.split(separator: "name=\"\(name)\"").count == 2, "\(name) is there once") }
            #expect(page.contains("Devices of apns</b>: <span dir=\"auto\">Ho</span>"))
            #expect(
                try Self.save(server, office, edith, Dictionary(uniqueKeysWithValues: names.map { ($0, "1") })).status
                    == 303)
            #expect(try Self.disk(office) == source)
        }
    }

    @Test(
        "a text that cannot be removed alone is a refusal, and the mark of a language whose last text is removed goes with it"
    )
    func removedTexts() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor])
        try await TestServer.with(office.site) { server throws in
            let form = ["content.title": "Hello", "shown.content.title": "Hi"]
            func remove() throws -> Reply {
                let asked = try Self.save(server, office, edith, form)
                let answer = String(try #require(asked.body.firstMatch(of: #/ name="kept" value="(.*?)"/#)).1)
                return try Self.save(
                    server, office, edith,
                    form.merging(["kept": answer, "kept.text.0": "remove", "kept.text.1": "remove"]) { $1 })
            }
            let marked = """
                content:
                  title: Hi
                  body: There
                  languages:
                    # volley: translate content.languages.de (title, body)
                    de: {title: Hallo}
                    fr: {body: Oui}

                """
            try office.folder.write(Self.file, Self.head + marked)
            #expect(try remove().status == 303)
            #expect(
                try Self.disk(office) == Self.head
                    + "content:\n  title: Hello\n  body: There\n  languages:\n    fr: {body: Oui}\n")
            // Another language has the same texts, by reference.
            let shared = Self.head + "content: {title: Hi, languages: {de: &d {title: Hallo}, fr: *d}}\n"
            try office.folder.write(Self.file, shared)
            let refused = try remove()
            #expect(refused.status == 422 && refused.body.contains("cannot be changed without changing"))
            #expect(refused.body.contains("Not saved.") && refused.body.contains("value=\"Hello\""))
            #expect(try Self.disk(office) == shared)
            let base = ShownFile.digest(of: Array(shared.utf8)),
                text = shared.replacing("title: Hi", with: "title: Hello")
            func write(_ more: [(String, String)]) throws -> Reply {
                try server.form(
                    "/campaign/save?file=\(Self.file)", session: edith, [("digest", base), ("text", text)] + more)
            }
            let answer = String(try #require(try write([]).body.firstMatch(of: #/ name="kept" value="(.*?)"/#)).1)
            let source = try write([("kept", answer), ("kept.text.0", "remove"), ("kept.text.1", "remove")])
            #expect(source.status == 422 && source.body.contains("cannot be changed without changing"))
            #expect(source.body.contains("title: Hello"))
        }
    }

    @Test("a language that is removed takes its mark along, and a second mark joins the first")
    func joinedMarks() throws {
        var edit = try Self.edit(
            Self.head
                + "content:\n  title: Hi\n  languages:\n    de:\n      title: Hallo\n      body: Du\n    fr: {title: A}\n"
        )
        let source = edit.text
        try TranslationMark.add(["content", "languages", "de", "title"], to: &edit)
        try TranslationMark.add(["content", "languages", "de", "body"], to: &edit)
        #expect(edit.text.contains("    # volley: translate content.languages.de (title, body)\n    de:\n"))
        var one = edit
        try TranslationMark.confirm(["content", "languages", "de"], in: &one, only: "title")
        #expect(TranslationMark.all(in: one).map(\.keys) == [["body"]])
        #expect(WhatSection.apply(["remove.content.languages.de": "1"], to: &edit).isEmpty)
        #expect(edit.text == source.replacing("    de:\n      title: Hallo\n      body: Du\n", with: ""))
    }

    // MARK: - Phones

    /// What the script gets when the devices are counted.
    private static func phone(_ server: TestServer, _ session: String, _ fields: [String: String]) throws -> String {
        for _ in 0..<600 {
            let reply = try server.form(
                "/campaign/form/phone.json?file=spring-sale.yaml", session: session, fields.map { ($0.key, $0.value) })
            guard reply.status != 200 || !reply.body.contains("\"is_live\":true") else {
                Thread.sleep(forTimeInterval: 0.1)
                continue
            }
            return reply.body
        }
        throw Diagnostic("no answer within a minute")
    }

    @Test(
        "phones show what devices of the exports would get of the text that is being typed; nothing is saved, and no token is shown"
    )
    func phones() async throws {
        let office = try Office()
        let rows = [("1", "Anna", "de"), ("2", "", "en"), ("3", "Bartholomew", "en")].map { number, name, language in
            "\(TestFolder.token(Int(number) ?? 0)),\(name),\(language)\n"
        }
        try office.folder.write("devices.csv", "token,first_name,language\n" + rows.joined())
        let source = Self.head + "content: {title: Hi, languages: {de: {title: Hallo}}}\n"
        try office.folder.write(Self.file, source)
        let (edith, vera) = (try office.session("edith", [.editor]), try office.session("vera", [.viewer]))
        try await TestServer.with(office.site) { server throws in
            let form = ["content.title": "Dear {{ first_name | default: 'friend' }}<b>", "shown.content.title": "Hi"]
            let answer = try Self.phone(server, edith, form)
            #expect(
                answer.contains("3 devices") && answer.contains("Dear friend&lt;b&gt;")
                    && answer.contains("Dear Bartholomew"))
            #expect(answer.contains("German (de)") && answer.contains("Hallo") && answer.contains("a blank value"))
            #expect(
                !answer.contains("<b>'") && !answer.contains(TestFolder.token(1))
                    && !answer.contains(TestFolder.token(3)))
            // Devices that were read before are shown with the next text before the exports are
            // read again.
            let next = try server.form(
                "/campaign/form/phone.json?file=spring-sale.yaml", session: edith,
                [("content.title", "Now {{ first_name | default: 'you' }}"), ("shown.content.title", "Hi")])
            #expect(
                next.body.contains("Now Bartholomew") && next.body.contains("Now you")
                    && !next.body.contains(TestFolder.token(3)))
            // Another device by its place; the texts and the number of devices are as before.
            let second = try Self.phone(server, edith, form.merging(["phone": "1"]) { $1 })
            #expect(
                second.contains("device 2 of 3") && second.contains("Dear Bartholomew")
                    && !second.contains("Dear friend"))
            #expect(second.contains("value=\\\"2\\\">Next device") && second.contains("value=\\\"0\\\">Blank values"))
            let first = try Self.phone(server, edith, form.merging(["phone": "3"]) { $1 })
            #expect(first.contains("device 1 of 3") && first.contains("Dear friend") && first.contains("All texts"))
            #expect(
                try Self.phone(server, edith, form.merging(["phone": "longest"]) { $1 }).contains(
                    "longest text · device 2 of 3"))
            let none = try Self.save(server, office, edith, form.merging(["phone": "2"]) { $1 })
            #expect(none.status == 200 && none.body.contains("device 3 of 3"), "without a script, too")
            let wrong = try Self.phone(server, edith, ["content.title": "{{ nope }}", "shown.content.title": "Hi"])
            #expect(wrong.contains("known when this is mended") && wrong.contains("nope"))
            #expect(try Self.disk(office) == source)
            #expect(
                try server.form(
                    "/campaign/form/phone.json?file=spring-sale.yaml", session: vera, [("content.title", "x")]
                ).status == 403)
            // The page has the same of the saved file, and says which languages would be worth
            // adding.
            var page = ""
            for _ in 0..<600 where !page.contains("3 devices</b>") || !page.contains("value=\"first_name\"") {
                page = try server.request("GET", Self.path, session: edith).body
                Thread.sleep(forTimeInterval: 0.1)
            }
            #expect(page.contains("<b data-fill=\"audience\">3 devices</b>"))
            // A column is offered with the share of these devices for which it is blank, also when
            // they get nothing because of that.
            #expect(
                page.contains(
                    "<option value=\"first_name\" data-blank=\"33.3 %\">first_name, blank for 33.3 %</option>"))
            #expect(page.contains("language, never blank") && page.contains("{{ first_name | default: 'there' }}"))
            let needed = try Self.phone(
                server, edith, ["content.title": "{{ first_name }}", "shown.content.title": "Hi"])
            #expect(needed.contains("2 devices") && needed.contains("first_name, blank for 33.3 %"))
            #expect(
                page.contains("2 devices read the text above")
                    && page.contains("Their languages: English (en), 2 devices."))
        }
    }

    @Test("a text cannot name the app of others to read their exports")
    func foreign() async throws {
        let office = try Office()
        let edith = try office.session("edith", [.editor], app: "shop")
        try await TestServer.with(office.site) { server throws in
            let answer = try Self.phone(server, edith, ["app": "news", "shown.app": "shop"])
            #expect(answer.contains("You may not write campaigns of the app") && !answer.contains("class=\\\"phones"))
        }
    }

    @Test("texts that differ in what devices read only go to the same devices")
    func audiences() {
        let text = AudienceText(file: "a.yaml", Self.head + "content: {title: Hi}\ndelivery: {pace: 5/s}\n")
        #expect(
            text == AudienceText(file: "a.yaml", Self.head + "content: {title: Ho, body: x}\ndelivery: {pace: 5/s}\n"))
        #expect(text != AudienceText(file: "b.yaml", Self.head + "content: {title: Hi}\ndelivery: {pace: 5/s}\n"))
        #expect(text != AudienceText(file: "a.yaml", Self.head + "content: {title: Hi}\ndelivery: {pace: 6/s}\n"))
        #expect(text.isKnown && !AudienceText(file: "a.yaml", "- a\n").isKnown)
    }
}
