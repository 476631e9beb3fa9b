import Base
import PushServices
@testable import Reports
import Runs
import Testing

@Suite struct ReportTextTests {
    private func text(_ run: RunFile, _ folder: TemporaryFolder, width: Int = 100, colour: Bool = false) throws
        -> String
    {
        try Report(run).text(width: width, colour: colour).replacing(folder.path, with: "/runs")
    }

    @Test("a finished run with every outcome")
    func finished() throws {
        let folder = try TemporaryFolder()
        expectSnapshot(try text(mixedRun(folder), folder), "finished")
    }

    @Test("the same on a narrow terminal")
    func narrow() throws {
        let folder = try TemporaryFolder()
        expectSnapshot(try text(mixedRun(folder), folder, width: 60), "finished-narrow")
    }

    @Test("the same in colours")
    func colours() throws {
        let folder = try TemporaryFolder()
        expectSnapshot(
            try text(mixedRun(folder), folder, colour: true).replacing("\u{1B}", with: "<ESC>"), "finished-colour")
    }

    @Test("a run that is still sending")
    func running() throws {
        let folder = try TemporaryFolder()
        expectSnapshot(try text(mixedRun(folder, ending: .running), folder), "running")
    }

    @Test("a run that stopped says why")
    func stopped() throws {
        let folder = try TemporaryFolder()
        let reason =
            "More than half of the device tokens were refused as BadDeviceToken. That is the wrong environment: "
            + "check the environment and topic in volley.yaml, and that the export belongs to this app."
        expectSnapshot(try text(mixedRun(folder, ending: .stopped, reason: reason), folder), "stopped")
    }

    @Test("a plan that was not sent")
    func planned() throws {
        let folder = try TemporaryFolder()
        expectSnapshot(try text(makeRun(folder, recipients(3)), folder), "planned")
    }

    @Test("a run without anyone")
    func empty() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, skipped: [.notMatched: 1], [])
        try run.append(.state(.running, at: start))
        try run.append(.state(.finished, at: start))
        expectSnapshot(try text(run, folder), "empty")
    }

    @Test("a run in which all went well")
    func allAccepted() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, recipients(234))
        try run.append(.state(.running, at: start))
        try run.append(.claimed(0..<234, at: start))
        try run.append(
            .settled([
                (0..<234).map {
                    Settlement(
                        recipient: $0, outcome: .accepted, status: 200, attempts: 1, latencyMilliseconds: 31,
                        settledAt: start)
                }
            ]))
        try run.append(.state(.finished, at: start.adding(seconds: 0.85)))
        expectSnapshot(try text(run, folder), "all-accepted")
    }

    @Test("no line is wider than the terminal, the run file's path aside", arguments: [60, 61, 72, 80, 100, 133])
    func width(columns: Int) throws {
        let folder = try TemporaryFolder()
        let lines = try text(
            mixedRun(folder, ending: .stopped, reason: "a reason of several words that must be broken"), folder,
            width: columns
        )
        .split(separator: "\n")
        for line in lines where !line.hasPrefix("Run file:") { #expect(line.count <= columns, "\(line)") }
    }

    @Test("no token appears in the text")
    func noTokens() throws {
        let folder = try TemporaryFolder()
        let text = try text(mixedRun(folder), folder)
        #expect(!text.contains("00000000"))
    }

    @Test("every reason of APNs and of Volley is explained")
    func explained() {
        let reasons =
            "BadDeviceToken DeviceTokenNotForTopic BadCollapseId BadExpirationDate BadMessageId BadPriority BadTopic DuplicateHeaders "
            + "InvalidPushType MissingDeviceToken MissingTopic PayloadEmpty TopicDisallowed IdleTimeout ExpiredProviderToken InvalidProviderToken "
            + "MissingProviderToken BadCertificate BadCertificateEnvironment BadEnvironmentKeyInToken BadEnvironmentKeyIdInToken "
            + "UnrelatedKeyIdInToken Forbidden BadPath MethodNotAllowed Unregistered ExpiredToken PayloadTooLarge TooManyRequests "
            + "TooManyProviderTokenUpdates InternalServerError ServiceUnavailable Shutdown ConnectionLost NoAnswer Expired Stopped Interrupted "
            + "ProcessEnded AwaitingAnswer NotSentYet"
        for reason in reasons.split(separator: " ") {
            #expect(ReasonText.explanation(of: String(reason), by: APNs()) != nil, "\(reason)")
        }
        #expect(ReasonText.explanation(of: "", by: APNs()) == nil)
    }
}
