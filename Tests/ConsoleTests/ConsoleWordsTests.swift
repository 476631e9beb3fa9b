import Accounts
import Automation
import Base
import Foundation
import PushServices
import Reports
import Runs
import Testing
import Workspace

@testable import volley_console

/// What pages say to people without a terminal.
@Suite("words of the console")
struct ConsoleWordsTests {
    private static let id = "20261201-090000-spring-sale-7f3a"

    private static func expectNoCommand(_ page: String, _ what: Comment) {
        let found = page.firstMatch(of: #/(<code>|`)volley (?!schedule<)[^<`]*/#)
        if let found { Issue.record("\(what): \(found.0)") }
        #expect(page.contains("<h1"), what)
    }

    /// For causes that name a command at the terminal, and for one that leaves nothing to resume.
    private static let causes: [StopCause] = [
        .service("apns", .notTheService(status: 200)),
        .service("apns", .refused(reason: "BadTopic", status: 400, clockLagSeconds: nil)),
        .service("apns", .refused(reason: "PayloadEmpty", status: 400, clockLagSeconds: nil)), .interrupted,
        .ledger(.processGone),
    ]

    @Test("Today, the run and its report name buttons and people to ask, whatever stopped it", arguments: causes)
    func stopped(cause: StopCause) async throws {
        let folder = try TestFolder()
        try folder.run(Self.id, .stopped, cause: cause)
        let signIn = FixedSignIn.usual
        let anna = signIn.begin("anna")
        try await TestServer.with(folder.site(signIn)) { server throws in
            for path in ["/", "/runs/\(Self.id)", "/runs/\(Self.id)/report"] {
                Self.expectNoCommand(try server.request("GET", path, session: anna).body, "\(path)")
            }
        }
    }

    /// Each state, stopped for different reasons, and with all or some of five devices claimed; and
    /// a plan that was cancelled.
    private static let endings: [(RunState, StopCause?, Int)] = {
        var endings: [(RunState, StopCause?, Int)] = [(.cancelled, .cancelled, 0)]
        for claimed in [3, 5] {
            for state in RunState.allCases { endings.append((state, nil, claimed)) }
            for cause in causes { endings.append((.stopped, cause, claimed)) }
            for state in [RunState.stopped, .cancelled] {
                endings.append((state, .ledger(.forgotten(entries: 2)), claimed))
            }
        }
        return endings
    }()

    @Test("however a run ended, its pages name no button that its page does not have", arguments: endings)
    func buttons(state: RunState, cause: StopCause?, claimed: Int) async throws {
        let folder = try TestFolder()
        let run = try folder.run(Self.id, app: "news", state, cause: cause, claimed: claimed)
        defer { run.close() }
        let signIn = FixedSignIn.usual
        let anna = signIn.begin("anna")
        try await TestServer.with(folder.site(signIn)) { server throws in
            let page = try server.request("GET", "/runs/\(Self.id)", session: anna).body
            let report = try server.request("GET", "/runs/\(Self.id)/report", session: anna).body
            for text in [page, report] {
                for named in text.matches(of: #/“(Approve|Reject|Send|Pause|Resume|Cancel|Retry)”/#) {
                    let isThere = try page.contains(Regex("<(?:button|summary)[^>]*>\(named.1)(?: …)?</"))
                    #expect(isThere, "“\(named.1)” of a run that is \(state)")
                }
            }
            if state == .cancelled { #expect(!report.contains("Resume”")) }
        }
    }

    @Test("a refused order says on the run’s page what to press", arguments: RunState.allCases)
    func refused(state: RunState) async throws {
        let folder = try TestFolder()
        let run = try folder.run(Self.id, app: "news", state)
        defer { run.close() }
        let words = Diagnostic(
            "it cannot be sent", file: run.path, remedy: "`volley resume \(Self.id)` goes on.", [.resume(run: Self.id)])
        let store = try OrderStore(folder: folder.runs)
        defer { store.close() }
        _ = try store.place(Order(nonce: "n", kind: .send(run: Self.id, digest: "d"), by: "anna"))
        #expect(try store.take("n", epoch: "life", at: .now()))
        #expect(try store.end("n", as: .refused(.described(words.inConsole)), epoch: "life", at: .now()))
        let signIn = FixedSignIn.usual
        let anna = signIn.begin("anna")
        try await TestServer.with(folder.site(signIn)) { server throws in
            let page = try server.request("GET", "/runs/\(Self.id)", session: anna).body
            #expect(page.contains("Not done: it cannot be sent. “Resume” on the page of \(Self.id) lets it go on."))
            #expect(!page.contains(folder.path))
            Self.expectNoCommand(page, "\(state)")
        }
    }

    /// Warnings as the terminal shows them in other tests, and one of each kind that names keys, a
    /// path and a command.
    private static func allWarnings() throws -> [Diagnostic] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Snapshots/mistakes")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let lines = try files.filter { $0.pathExtension == "txt" }.flatMap {
            try String(contentsOf: $0, encoding: .utf8).split(separator: "\n")
        }
        let shown = lines.compactMap { line in
            line.wholeMatch(of: #/([^ ]+?):(\d+):(\d+): warning: (.+?)(?:\. (.+))? \[([a-z-]+)\]/#).map { found in
                Diagnostic.warning(
                    WarningName(String(found.6), from: []), message: String(found.4),
                    at: SourcePosition(file: "/srv/\(found.1)", line: Int(found.2) ?? 0, column: Int(found.3) ?? 0),
                    remedy: found.5.map { String($0) })
            }
        }
        #expect(shown.count > 100, "the snapshots moved")
        let places = SourcePosition(file: "/srv/exports/devices.csv", line: 7, column: 1)
        let made = WarningName.own.map { name in
            Diagnostic.warning(
                name,
                message: "in 'last_active' 48 rows hold {\(name.rawValue)}; the first is /srv/exports/devices.csv:124",
                at: places, remedy: "Write languages: {ja: {body: \"…\"}} in spring-sale.yaml, or `volley check`.")
        }
        return shown + made
    }

    /// What a page shows before anything is unfolded, and the sentences of a kind.
    private static func visible(_ page: String) -> String {
        page.replacing(
            #/<details><summary>(?:In the source|For the people who [^<]*)<\/summary>(?s:.*?)<\/details>/#, with: "")
    }

    @Test("no warning of any kind says a key, a path, a place or a code before its terminal's words are unfolded")
    func plainWarnings() throws {
        let codes = WarningName.own.map(\.rawValue).filter { $0.contains("-") }
        for warning in try Self.allWarnings() {
            for words in [WarningWords(warning), WarningWords(warning.json)] {
                let item = HTML(WarningWords.items([words], form: "/campaign/form?file=a")).markup
                let seen = Self.visible(item).replacing(#/<[^>]*>/#, with: "")
                #expect(
                    !seen.contains(#/[{}`\[\]]|&#39;|'|&quot;|&#34;|\.csv|\.yaml|\/srv|_active|\bline [0-9]/#),
                    "\(seen)")
                #expect(!codes.contains { seen.contains($0) }, "\(seen)")
                #expect(!item.contains("/srv/") && item.contains("[\(warning.name?.rawValue ?? "")]"), "\(item)")
            }
        }
        for name in WarningName.own {
            #expect(WarningWords.kinds[name.rawValue] != nil, "\(name.rawValue) has no sentence")
        }
    }

    @Test("ten rows that cannot be read are one sentence, with the places for the people who prepare the exports")
    func groupedWarnings() {
        let rows = (1...10).map { line in
            WarningWords(
                .warning(
                    .badRow, message: "the row has 7 fields instead of 11",
                    at: SourcePosition(file: "/srv/exports/devices.csv", line: line, column: 1)))
        }
        let items = WarningWords.items(rows, form: nil)
        #expect(items.count == 1)
        let item = items.first?.markup ?? ""
        #expect(item.components(separatedBy: "A row of the export cannot be read").count == 2)
        #expect(item.contains("devices.csv, line 10: the row has 7 fields instead of 11. [bad-row]"))
        #expect(!item.contains("more of this kind"))
    }

    @Test("a warning about a text links to the section of the form for those that may edit, and keeps its facts")
    func linkedWarnings() {
        let words = WarningWords(
            .warning(
                .tagNotFound, message: "no row in the exports has the tag 'dayly'",
                at: SourcePosition(file: "a.yaml", line: 4, column: 10), remedy: "Did you mean 'daily'?"))
        #expect(
            words.sentence("/campaign/form?file=a.yaml").markup
                == "No row in the exports has the tag “dayly”. Did you mean “daily”? "
                + "Change it under <a href=\"/campaign/form?file=a.yaml#who\">“Who”</a>.")
        #expect(!words.sentence(nil).markup.contains("<a"))
        let german = Diagnostic.warning(
            .variantNotTranslated,
            message: "the variant 'loud' has no 'body' for de, so its devices read the same as in every other variant",
            at: SourcePosition(file: "a.yaml", line: 9, column: 3),
            remedy: "Add it to the variant's content: languages: {de: {body: \"…\"}}.")
        #expect(
            FieldWords.text(german).markup
                == "The variant “loud” has no “Text” for de, so its devices read the same as in every other variant.",
            "in the form it is at the field")
    }

    @Test("a warning that a plan keeps in the terminal’s words is told by its name")
    func plannedWarnings() throws {
        for name in ["audience-empty", "audience-changed", "last-run-unfinished", "sent-recently", "schedule-past"] {
            let remedies = try #require(WarningWords.remedies(ofWarning: name), "\(name)")
            #expect(!remedies.isEmpty)
        }
        #expect(WarningWords.remedies(ofWarning: "curly-quotes") == nil)
    }
}
