import Base
import Reports
import Runs
import Testing

@Suite struct ReportPageTests {
    private func page(_ run: RunFile) throws -> String {
        let page = try ReportPage(
            Report(run, chain: RunChain(of: run), earlier: run.earlierRuns()), madeBy: "Volley 1", madeAt: start)
        return page.html.markup
    }

    /// The sentence that a manager reads.
    private func headline(_ page: String) -> String {
        let text = page.components(between: "id=\"headline\">", and: "</p>").first ?? ""
        var isTag = false
        return unescaped(
            text.filter { character in
                if character == "<" { isTag = true }
                defer { if character == ">" { isTag = false } }
                return !isTag
            })
    }

    private static let evil = "</td><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u{202E}"

    @Test("whatever stands in names, reasons and cells is text, nothing is loaded, and tokens are short")
    func harmless() throws {
        let folder = try TemporaryFolder()
        let recipients = (0..<30).map { id in
            Recipient(
                token: Target(normalized: token(id + 0xABCDE)), registrationID: Self.evil, alias: Self.evil,
                language: Self.evil + "\(id % 2)",
                variant: Self.evil + "\(id % 3)")
        }
        let note = JSONValue.object(pairs: [
            ("reason", .string("not_matched")), ("rows", .integer(1)), ("why", .string(Self.evil)),
        ])
        let run = try makeRun(
            folder, skipped: [.notMatched: 1], isTest: true,
            preview: .object(pairs: [
                ("skipped_why", .array([note])), ("selected_by", .object(pairs: [(Self.evil, .integer(3))])),
            ]),
            settings: settings(.server(host: Self.evil, port: 443, certificateAuthority: nil)), recipients)
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<30, at: start))
        try run.append(
            .settled([
                (0..<30).map {
                    Settlement(
                        recipient: $0, outcome: .rejected, status: 400, reason: Self.evil, attempts: 1, settledAt: start
                    )
                }
            ]))
        try run.append(.state(.stopped, cause: .described(Self.evil), at: start))
        let page = try page(run)
        for markup in ["<script", "<img", "http-equiv=\"refresh", "<link", "@import", "url(h", "<iframe", "<base"] {
            #expect(!page.contains(markup), "\(markup)")
        }
        for tag in page.split(separator: "<").map({ $0.prefix { $0 != ">" } }) {
            for loading in [" src=", " href=", " onerror="] where !tag.contains("data-figure") {
                #expect(!tag.contains(loading), "\(tag)")
            }
        }
        #expect(page.contains("default-src 'none'"))
        #expect(unbalancedElements(page).isEmpty, "\(unbalancedElements(page))")
        for id in 0..<30 { #expect(!page.contains(token(id + 0xABCDE))) }
        #expect(
            page.contains(">share accepted</th>") && page.contains("0.0 % accepted")
                && page.contains("devices it was accepted"))
        #expect(page.contains("0000…bcde"))
    }

    @Test(
        "the headline tells a manager what came of it",
        arguments: [
            (
                RunState.finished,
                "30 devices were never sent to: the push expired before their turn came. Accepted by APNs for 531 of 600 devices. 20 no longer have the app, 13 gave no answer, 5 could not be reached in time and 1 was refused."
            ),
            (
                .running,
                "So far accepted by APNs for 531 of 600 devices. 30 are still to come, 20 no longer have the app, 13 gave no answer, 5 could not be reached in time and 1 was refused."
            ),
            (
                .stopped,
                "Accepted by APNs for 531 of 600 devices. 30 were never sent to, 20 had their tokens refused, 13 gave no answer, 5 could not be reached in time and 1 was refused."
            ),
        ])
    func headlines(state: RunState, sentence: String) throws {
        let folder = try TemporaryFolder()
        let page = try page(mixedRun(folder, ending: state, reason: state == .stopped ? "Because of <this>." : ""))
        #expect(headline(page) == sentence)
        #expect(page.contains("</b> accepted"))
        #expect(page.contains("Because of &lt;this&gt;.") == (state == .stopped))
        let command =
            [RunState.finished: "volley retry", .running: "volley report", .stopped: "volley resume"][state] ?? "?"
        #expect(page.contains("<code>\(command) 20261201-090000-spring-sale-7f3a</code>"))
    }

    @Test(
        "every run has a page: planned, nobody, one device, many languages and variants, long and right-to-left names")
    func kinds() throws {
        let folder = try TemporaryFolder()
        let planned = try page(makeRun(folder, id: "20261201-090000-a-0001", recipients(3)))
        #expect(
            headline(planned) == "Planned for 3 devices, and not sent yet." && planned.contains("volley send --plan"))
        #expect(!planned.contains("Over time"))
        let nobody = try makeRun(folder, id: "20261201-090000-b-0001", skipped: [.notMatched: 1], [])
        try nobody.append(.state(.running, at: start))
        try nobody.append(.state(.finished, at: start))
        #expect(try headline(page(nobody)) == "There was no device in the audience, so nothing was sent.")
        let one = try makeRun(folder, id: "20261201-090000-c-0001", recipients(1))
        try one.append(.state(.running, at: start))
        try one.append(.claimed(0..<1, at: start))
        try one.append(
            .settled([
                [
                    Settlement(
                        recipient: 0, outcome: .accepted, status: 200, attempts: 1, latencyMilliseconds: 0,
                        settledAt: start)
                ]
            ]))
        try one.append(.state(.finished, at: start))
        #expect(try headline(page(one)) == "Accepted by APNs for the one device.")
        let names = (0..<30).map {
            $0 == 7 ? "עברית־שם־ארוך" : $0 == 8 ? String(repeating: "very.long.name.", count: 40) : "l\($0)"
        }
        let many = try makeRun(
            folder, id: "20261201-090000-d-0001",
            (0..<900).map {
                Recipient(
                    token: Target(normalized: token($0)), language: names[$0 % 30],
                    variant: ["a", "b", "c"][$0 % 7 % 3])
            })
        let page = try page(many)
        #expect(names.allSatisfy { page.contains("dir=\"auto\">\($0)<") })
        for page in [planned, page] { #expect(unbalancedElements(page).isEmpty, "\(unbalancedElements(page))") }
    }

    @Test("a run of days is drawn in at most 120 columns, and every device has its place in one")
    func longRun() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(500))
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<500, at: start))
        try run.append(
            .settled([
                (0..<500).map {
                    Settlement(
                        recipient: $0, outcome: .accepted, status: 200, attempts: 1, latencyMilliseconds: 1,
                        settledAt: start.adding(seconds: Double($0 * $0) * 7))
                }
            ]))
        let json = try Report(run).json
        guard case .object(let steps)? = json["timeline"]?["steps"] else { throw Diagnostic("no timeline") }
        #expect((2...120).contains(steps.count))
        #expect(steps.reduce(0) { $0 + ($1.value["accepted"]?.integerValue ?? 0) } == 500)
        #expect(try page(run).contains("Each column is 6 hours"))
    }
}
