import Base
import Testing

@testable import Reports

@Suite("remedies in the console")
struct RemedyWordsTests {
    /// Every remedy once; a new one does not compile until it is here.
    private static func next(after remedy: Remedy?) -> Remedy? {
        switch remedy {
        case nil: .chooseDevices
        case .chooseDevices: .approve(run: "r")
        case .approve: .send(run: "r")
        case .send: .resume(run: "r")
        case .resume: .cancel(run: "r")
        case .cancel: .cancelThenRetry(run: "r")
        case .cancelThenRetry: .retry(run: "r")
        case .retry: .retryUnsent(run: "r")
        case .retryUnsent: .watch(run: "r")
        case .watch: .readReport(run: "r")
        case .readReport: .wait(run: "r")
        case .wait: .planAgain
        case .planAgain: .newPlanRepeats
        case .newPlanRepeats: .giveAnotherTime
        case .giveAnotherTime: .leaveToSender
        case .leaveToSender: .seeCalendar
        case .seeCalendar: .preview
        case .preview: .explainDevice
        case .explainDevice: .sendTest
        case .sendTest: .seeRuns
        case .seeRuns: .seeProblems
        case .seeProblems: .seeSuppressed
        case .seeSuppressed: .ask(.restoreRun("r"))
        case .ask(let task): next(after: task).map { .ask($0) }
        }
    }

    private static func next(after task: Remedy.Task) -> Remedy.Task? {
        switch task {
        case .restoreRun: .undoChange
        case .undoChange: .nameProject
        case .nameProject: .approveBegun(run: "r")
        case .approveBegun: .resumeCancelled(run: "r")
        case .resumeCancelled: .leaveOutReached(runs: ["r", "s"])
        case .leaveOutReached: .sendNow
        case .sendNow: .startSender
        case .startSender: .giveOwnSender
        case .giveOwnSender: .checkCredentials
        case .checkCredentials: .checkExport
        case .checkExport: .pushToOne
        case .pushToOne: .addTestDevices
        case .addTestDevices: .giveMemory
        case .giveMemory: .tidyRuns
        case .tidyRuns: .mendOrders
        case .mendOrders: .shortenName
        case .shortenName: nil
        }
    }

    @Test("every remedy is a sentence without a command, and no two are the same")
    func sentences() {
        var seen: Set<String> = []
        var remedy = Self.next(after: nil)
        while let one = remedy {
            let sentence = one.sentence
            #expect(sentence.hasSuffix(".") && sentence.first?.isLowercase == false, "\(sentence)")
            #expect(!sentence.contains("`") && !sentence.contains("volley ") && !sentence.contains("--"), "\(sentence)")
            #expect(seen.insert(sentence).inserted, "\(sentence)")
            remedy = Self.next(after: one)
        }
        #expect(seen.count == 39)
    }

    @Test(
        "the console says remedies instead of the terminal’s words, and leaves out paths; without remedies it says the same"
    )
    func faces() {
        var mistake = Diagnostic(
            "it is paused", file: "/srv/runs/r.db", remedy: "`volley resume r` continues it.", [.resume(run: "r")])
        #expect(mistake.inConsole == "it is paused. “Resume” on the page of r lets it go on.")
        #expect(mistake.description == "/srv/runs/r.db: it is paused. `volley resume r` continues it.")
        mistake.plainMessage = "it rests"
        #expect(mistake.inConsole == "it rests. “Resume” on the page of r lets it go on.")
        #expect(Diagnostic("it is full", remedy: "Free some space.").inConsole == "it is full. Free some space.")
        let two = Diagnostics([Diagnostic("a is wrong", remedy: "Mend it."), Diagnostic("b is wrong")])
        #expect(two.inConsole == "A is wrong. Mend it. B is wrong.")
    }
}
