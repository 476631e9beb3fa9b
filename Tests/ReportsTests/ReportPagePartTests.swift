import Base
import Runs
import Testing

@testable import Reports

/// The promises of a report's page, part by part.
@Suite struct ReportPagePartTests {
    private func page(_ run: RunFile) throws -> String {
        try ReportPage(
            Report(run, chain: RunChain(of: run), earlier: run.earlierRuns()), madeBy: "Volley 1", madeAt: start
        ).html.markup
    }

    /// A section by its heading, up to its end.
    private func section(_ page: String, _ heading: String) -> String {
        page.components(between: "<h2>\(heading)</h2>", and: "</section>").first ?? ""
    }

    private func plainText(_ markup: String) -> String {
        var isTag = false
        return unescaped(
            markup.filter { character in
                if character == "<" { isTag = true }
                defer { if character == ">" { isTag = false } }
                return !isTag
            })
    }

    // MARK: - Where

    @Test(
        "where it went stands in the title, above the name, beside the app, among the facts and beside each earlier run",
        arguments: [
            (FrozenEnvironment.production, "production", "production", "production"),
            (.sandbox, "sandbox", "sandbox", "sandbox"),
            (.simulator, "simulator", "simulator", "simulator, for practice"),
            (
                .server(host: "push.example", port: 8443, certificateAuthority: nil), "server", "push.example:8443",
                "push.example:8443"
            ),
        ])
    func badge(environment: FrozenEnvironment, kind: String, name: String, words: String) throws {
        let folder = try TemporaryFolder()
        let earlier = try makeRun(
            folder, id: "20261101-090000-spring-sale-0001", plannedAt: start.adding(seconds: -2_592_000),
            settings: settings(.sandbox), recipients(4))
        for state in [RunState.running, .cancelled] {
            try earlier.append(.state(state, at: start.adding(seconds: -2_592_000)))
        }
        let run = try makeRun(folder, settings: settings(environment), recipients(3))
        try run.append(.state(.running, at: start))
        let page = try page(run)
        let badge = "<span class=\"badge \(kind)\" data-environment=\"\(kind)\" dir=\"auto\">\(words)</span>"
        #expect(page.contains("<title>Report of spring-sale, \(name)</title>"))
        #expect(page.components(between: "<header>", and: "</header>")[0].contains(badge))
        #expect(page.contains("<dt>Where</dt><dd dir=\"auto\">shop \(badge)</dd>"))
        #expect(page.contains("<dt>Sent to</dt><dd dir=\"auto\">\(badge)</dd>"))
        let others = section(page, "Other runs")
        #expect(
            others.contains(badge) && others.contains("data-environment=\"sandbox\"")
                && others.contains(">accepted</th>"))
        #expect(page.contains("no device got anything") == (kind == "simulator"))
        let comparison = try ReportComparison(before: Report(earlier), after: Report(run)).page(
            madeBy: "Volley 1", madeAt: start
        ).markup
        #expect(comparison.contains(badge) && comparison.contains("data-environment=\"sandbox\""))
    }

    // MARK: - Content and audience

    private static func text(_ variant: String, _ language: String, _ recipients: Int, _ body: String) -> JSONValue {
        .object(pairs: [
            ("variant", .string(variant)), ("language", .string(language)), ("recipients", .integer(Int64(recipients))),
            ("title", .string("T")), ("body", .string(body)),
        ])
    }

    @Test("the first screen has the text as a card, the audience in words, the time, and one next step")
    func firstScreen() throws {
        let folder = try TemporaryFolder()
        let sample = JSONValue.object(pairs: [
            ("payload", try JSONValue(parsing: #"{"aps":{"alert":{"title":"Hi Ada","body":"<b>20 %</b>"}}}"#))
        ])
        let run = try makeRun(
            folder,
            preview: .object(pairs: [
                ("samples", .array([sample])), ("messages", .array([Self.text("", "", 3, "{{ first_name }}")])),
                ("description", .string("For <you>")),
                ("in_words", .object(pairs: [("audience", .string("Devices with the tag <x>."))])),
            ]), recipients(3))
        try run.append(.state(.running, at: start))
        try run.append(.state(.cancelled, at: start.adding(seconds: 61)))
        let page = try page(run)
        let hero = page.components(between: "aria-label=\"The run at a glance\">", and: "</section>")[0]
        #expect(
            hero.contains(
                "<p class=\"title\" dir=\"auto\">Hi Ada</p><p class=\"body\" dir=\"auto\">&lt;b&gt;20 %&lt;/b&gt;</p>"
                    .replacing(
                        "</p><p", with: "</p>\n<p")))
        #expect(hero.contains("Devices with the tag &lt;x&gt;.") && page.contains("For &lt;you&gt;"))
        #expect(hero.contains("2026-12-01 09:00:00 – 09:01:01 UTC, 1 min 1 s from the first push to the last answer"))
        #expect(page.components(between: "id=\"next\"", and: "</section>").count == 1)
        #expect(!page.contains("What it said"))
        // Without samples, as after pruning, the text is as in the campaign.
        try run.prune(at: start.adding(seconds: 90))
        let pruned = try RunFile(path: run.path, readOnly: true)
        #expect(try self.page(pruned).contains("<p class=\"body\" dir=\"auto\">{{ first_name }}</p>"))
    }

    @Test(
        "of fourteen texts the card is the one that most devices read, and all stand in a matrix of languages and variants"
    )
    func manyTexts() throws {
        let folder = try TemporaryFolder()
        let languages = ["", "de", "fr", "ja", "zh-Hans", "es", "pt-BR"]
        let texts = ["short", "long"].flatMap { variant in
            languages.enumerated().map {
                Self.text(variant, $1, $1 == "fr" && variant == "long" ? 900 : $0, "\(variant) \($1)")
            }
        }
        let run = try makeRun(folder, preview: .object(pairs: [("messages", .array(texts))]), recipients(3))
        let page = try page(run)
        let hero = page.components(between: "aria-label=\"The run at a glance\">", and: "</section>")[0]
        #expect(
            hero.contains("long fr") && hero.contains("What most devices read: French, variant long. One of 14 texts"))
        let matrix = section(page, "What it said")
        #expect(matrix.components(between: "<tr>", and: "</tr>").count == 8)
        for (place, row) in matrix.components(between: "<tr><th scope=\"row\">", and: "</tr>").enumerated() {
            #expect(row.contains(">short \(languages[place])<") && row.contains(">long \(languages[place])<"))
        }
        #expect(
            matrix.contains("Chinese (Simplified) <span class=\"code\">zh-Hans</span>")
                && matrix.contains("900 devices"))
        #expect(matrix.contains("no device gets it") && matrix.hasPrefix("\n<details>"))
    }

    @Test("every state has a next step, and what is done says so")
    func nextSteps() throws {
        for (state, words) in [
            (RunState.planned, "volley send --plan"), (.running, "volley report"), (.paused, "volley resume"),
            (.stopped, "volley resume"),
            (.cancelled, "volley resume"), (.finished, "volley retry"),
        ] {
            let folder = try TemporaryFolder()
            let run =
                state == .planned
                ? try makeRun(folder, recipients(3)) : try mixedRun(folder, ending: state, reason: "x")
            #expect(
                try page(run).components(between: "id=\"next\"", and: "</section>").first?.contains(words) ?? false,
                "\(state)")
        }
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(1))
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<1, at: start))
        try run.append(
            .settled([[Settlement(recipient: 0, outcome: .accepted, status: 200, attempts: 1, settledAt: start)]]))
        try run.append(.state(.finished, at: start))
        let page = try page(run)
        #expect(page.contains("<b>Next step.</b> Nothing is left to do.") && page.contains("<h2>Nothing was lost</h2>"))
    }

    // MARK: - Losses

    @Test("losses come the largest first, each with its cause, and say what the JSON says")
    func losses() throws {
        let folder = try TemporaryFolder()
        let run = try mixedRun(folder)
        let page = try page(run)
        let losses = section(page, "What was lost, and why").components(between: "<ul class=\"bars\">", and: "</ul>")[0]
        let items = losses.components(between: "<li>", and: "</li>")
        let json = figures(of: try Report(run).json)
        let heads = items.compactMap { figures(ofPage: $0).first }
        #expect(
            heads.map(\.path) == [
                "skipped/render_error", "outcomes/unsent", "outcomes/invalid_token", "outcomes/unknown",
                "outcomes/failed",
                "outcomes/rejected",
            ])
        #expect(
            heads.map(\.value) == heads.map { json[$0.path] }
                && heads.compactMap(\.value) == heads.compactMap(\.value).sorted(by: >))
        #expect(items.allSatisfy { $0.contains("<p class=\"note\">") })
        let invalid = plainText(items[2])
        #expect(
            invalid.contains("14 Unregistered The app was removed") && invalid.contains("6 BadDeviceToken"),
            "\(invalid)")
        // Of 30, one expired, and 29 were never claimed.
        #expect(plainText(items[1]).contains("29 Stopped The run stopped before their turn came."))
    }

    @Test("a reason that may have led to another outcome is not given as its cause")
    func uncertainReasons() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(2))
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<2, at: start))
        try run.append(
            .settled([
                [
                    Settlement(
                        recipient: 0, outcome: .unknown, status: 503, reason: "ServiceUnavailable", attempts: 1,
                        settledAt: start),
                    Settlement(
                        recipient: 1, outcome: .unknown, status: 0, reason: "NoAnswer", attempts: 1, settledAt: start),
                ]
            ]))
        try run.append(.state(.finished, at: start))
        let page = try page(run)
        let losses = section(page, "What was lost, and why").components(between: "<ul class=\"bars\">", and: "</ul>")[0]
        #expect(!losses.contains("ServiceUnavailable") && losses.contains("no answer came"))
        #expect(page.contains("data-figure=\"reasons/ServiceUnavailable\""))
    }

    @Test("a run that stopped gives its reason where devices were never sent to")
    func stopped() throws {
        let folder = try TemporaryFolder()
        let page = try page(mixedRun(folder, ending: .stopped, reason: "Look at `volley doctor` <now>."))
        #expect(
            section(page, "What was lost, and why").contains(
                "The run stopped: Look at <code>volley doctor</code> &lt;now&gt;."))
    }

    // MARK: - Funnel

    @Test(
        "each step of the funnel is the step before without what left it, from all rows to those for which it was accepted"
    )
    func funnel() throws {
        let folder = try TemporaryFolder()
        let skipped: [SkipReason: Int] = [
            .badRow: 2, .notMatched: 400, .filtered: 30, .excluded: 7, .missingToken: 5, .duplicateToken: 12,
            .holdout: 60, .renderError: 9,
        ]
        let run = try makeRun(folder, skipped: skipped, recipients(100))
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<100, at: start))
        try run.append(
            .settled([
                (0..<90).map {
                    Settlement(recipient: $0, outcome: .accepted, status: 200, attempts: 1, settledAt: start)
                }
            ]))
        try run.append(.state(.finished, at: start))
        let part = section(try page(run), "From the export to the devices").components(
            between: "<ul class=\"bars\">", and: "</ul>")[0]
        let steps = part.components(between: "<li>", and: "</li>")
        #expect(
            steps.map { plainText($0.components(between: "<span class=\"name\">", and: "<span class=\"number\">")[0]) }
                == [
                    "Rows of the export", "Named by the campaign", "Conditions met", "Not excluded", "Audience",
                    "Accepted",
                ])
        func number(_ text: String) -> Int { Int(text.filter(\.isNumber)) ?? -1 }
        var before: Int?
        var reasons: [String: Int] = [:]
        for step in steps {
            let count = number(plainText(step.components(between: "<b>", and: "</b>")[0]))
            let drops = figures(ofPage: step).filter { $0.path.hasPrefix("skipped/") }
            for drop in drops { reasons[drop.path, default: 0] += drop.value ?? -1 }
            let others = step.components(between: "<span class=\"drop\">", and: " for the reasons above").map {
                number(plainText($0))
            }
            if let before {
                #expect(count == before - drops.reduce(0) { $0 + ($1.value ?? -1) } - others.reduce(0, +), "\(step)")
            }
            before = count
        }
        #expect(before == 90)
        #expect(reasons == Dictionary(uniqueKeysWithValues: skipped.map { ("skipped/\($0.key.rawValue)", $0.value) }))
    }

    @Test("steps at which nobody is lost are left out, and each reason belongs to one step")
    func shortFunnel() {
        let plain = Funnel(rows: 5, skipped: [:], audience: 5) { "\($0) \($1)" }
        #expect(plain.steps.map(\.count) == [5, 5])
        let all = Dictionary(uniqueKeysWithValues: SkipReason.allCases.map { ($0, 1) })
        let full = Funnel(rows: SkipReason.allCases.count + 4, skipped: all, audience: 4) { "\($0) \($1)" }
        #expect(Set(full.steps.flatMap(\.drops).map(\.reason)).count == SkipReason.allCases.count)
        #expect(full.steps.flatMap(\.drops).count == SkipReason.allCases.count)
    }

    // MARK: - Charts, languages, folded parts

    @Test("the value axis begins at 0, ends at a round number that no column exceeds, and is the only one")
    func axis() throws {
        #expect(
            [0, 1, 2, 3, 5, 9, 10, 11, 1000, 1455, 61_234].map(Chart.scale) == [
                2, 2, 2, 4, 6, 10, 10, 20, 1000, 2000, 100_000,
            ])
        let folder = try TemporaryFolder()
        let time = section(try page(mixedRun(folder)), "Over time")
        #expect(time.components(between: "<figure", and: "</figure>").count == 1)
        let ticks = time.components(between: "<div class=\"ticks\" aria-hidden=\"true\">", and: "</div>")[0]
        let numbers = ticks.components(between: "<span>", and: "</span>").compactMap { Int($0.filter(\.isNumber)) }
        #expect(numbers.count == 3 && numbers[2] == 0 && numbers[0] == 2 * numbers[1])
        let tops = time.components(between: " y=\"", and: "\"").compactMap { Double($0) }
        #expect(tops.count > 10 && tops.allSatisfy { $0 >= 0 })
        #expect(time.contains("Devices in each step of 2 seconds") && time.contains("class=\"invalid_token\""))
    }

    @Test("languages stand by their names, with bars on one scale, and the holdout beside the variants")
    func groups() throws {
        let folder = try TemporaryFolder()
        let run = try ReportAgreementTests.richRun(folder)
        try run.append(.state(.finished, at: start.adding(seconds: 300)))
        let page = try page(run)
        let languages = section(page, "Languages")
        for name in ["English <", "German <", "Chinese (Simplified) <", "Portuguese (Brazil) <"] {
            #expect(languages.contains(">\(name)span class=\"code\">"), "\(name)")
        }
        let bars = languages.components(between: "<ul class=\"bars\">", and: "</ul>")[0].components(
            between: "<li>", and: "</li>")
        let widths = bars.map {
            $0.components(between: " width=\"", and: "\"").compactMap { Double($0) }.reduce(0, +) / 10
        }
        let counts = bars.compactMap { figures(ofPage: $0).first?.value }
        for (width, count) in zip(widths, counts) {
            #expect(abs(width - Double(count) / Double(counts[0]) * 100) < 0.5)
        }
        let variants = section(page, "Variants, and the holdout").components(
            between: "<div class=\"groups\">", and: "<details>")[0]
        #expect(variants.components(between: "<div class=\"group", and: "</div>").count == 3)
        #expect(
            figures(ofPage: variants).map(\.path) == [
                "variants/long/audience", "variants/short/audience", "skipped/holdout",
            ])
    }

    @Test(
        "a language's name is that of its tag, however it is written; an unknown part leaves the tag alone",
        arguments: [
            ("de", "German"), ("pt-BR", "Portuguese (Brazil)"), ("zh_Hans_CN", "Chinese (Simplified, China)"),
            ("iw", "Hebrew"),
            ("es-419", "Spanish (Latin America)"), ("en_GB.UTF-8", "English (United Kingdom)"), ("xx", nil),
            ("de-x", nil), ("<b>", nil),
        ] as [(String, String?)])
    func names(tag: String, name: String?) {
        #expect(LanguageName.english(tag) == name)
        #expect(
            LanguageName.words("de-x") == "German (de-x)"
                && LanguageName.words("zh-Hant-TW") == "Chinese, Traditional, Taiwan (zh-Hant-TW)"
        )
        #expect(LanguageName.words("xx") == "xx")
        #expect(LanguageName.html("<b>").markup == "<span dir=\"auto\">&lt;b&gt;</span>")
    }

    @Test("tables of every figure are folded, and nothing is open from the start")
    func folded() throws {
        let folder = try TemporaryFolder()
        let run = try ReportAgreementTests.richRun(folder)
        try run.append(.state(.finished, at: start.adding(seconds: 300)))
        let page = try page(run)
        #expect(!page.contains("<details open"))
        let shown = page.replacing(/<details>[\s\S]*?<\/details>/, with: "")
        #expect(!shown.contains("<table") && page.contains("<table class=\"data\">"))
        let titles = page.components(between: "<summary>", and: "</summary>")
        #expect(titles.count > 8 && titles.allSatisfy { !$0.isEmpty })
        #expect(
            page.contains("folded sections are not printed") && page.contains("details:not([open]) { display: none; }"))
    }
}
