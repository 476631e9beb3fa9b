import Accounts
import Automation
import Base
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

    @Test("each warning of a plan has its file and line, without the server's path")
    func placedWarnings() {
        func place(_ warning: Diagnostic) -> String { PlanPart.place(of: warning.json) }
        let row = SourcePosition(file: "/srv/exports/devices.csv", line: 7, column: 1)
        #expect(place(Diagnostic("the row has 7 fields instead of 11", at: row)) == "devices.csv, line 7: ")
        #expect(
            place(Diagnostic("it is old", file: "/srv/exports/devices.csv")).isEmpty
                && place(Diagnostic("it is empty")).isEmpty)
    }

    @Test("a warning that a plan keeps in the terminal’s words is told by its name")
    func plannedWarnings() throws {
        for name in ["audience-empty", "audience-changed", "last-run-unfinished", "sent-recently", "schedule-past"] {
            let remedies = try #require(PlanPart.remedies(ofWarning: name), "\(name)")
            #expect(!remedies.isEmpty)
        }
        #expect(PlanPart.remedies(ofWarning: "curly-quotes") == nil)
    }
}
