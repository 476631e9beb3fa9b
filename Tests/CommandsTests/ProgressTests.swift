import Base
import Delivery
import PushServices
import Testing

@testable import Commands
@testable import Sending

/// The progress of a run and what it waits for, as a person reads it.
@Suite("progress in words")
struct ProgressTests {
    private let pace = Pace(pushes: 500, intervalSeconds: 1)

    @Test("a progress line ends before the word that the terminal would cut")
    func wholeWords() {
        let line = "sending  45.2 %  9,040 of 20,000  500/s  22 s left"
        #expect(
            (1...line.count).allSatisfy { width in
                let shown = Console.whole(line, columns: width)
                return shown.count <= width
                    && (shown.isEmpty || line == shown || line.dropFirst(shown.count).first == " "
                        || shown.count == width)
            })
        #expect(Console.whole(line, columns: 30) == "sending  45.2 %  9,040 of")
        #expect(Console.whole(line, columns: 100) == line)
    }

    @Test("a line of usage fits 80 columns, and no option is parted from its value")
    func usage() {
        let usage =
            "USAGE: volley suppression list [--app <app>] [--service <service>] [--json] [--config <config>] [--runs <runs>] [--quiet]"
        #expect(
            UsageText.wrapped("OVERVIEW: x\n\n\(usage)\n") == """
                OVERVIEW: x

                USAGE: volley suppression list [--app <app>] [--service <service>] [--json]
                                               [--config <config>] [--runs <runs>] [--quiet]

                """)
    }

    @Test(
        "each thing that a run waits for has its words",
        arguments: [
            (.delivery(.connection), "waiting for a connection to APNs"),
            (.delivery(.store), "waiting: the database that this run is shared through does not answer"),
            (.delivery(.outage(seconds: 75)), "APNs has taken no push for 1 min; trying again"),
            (.delivery(.credential(seconds: 3)), "waiting for a new token for APNs"),
            (.delivery(.credential(seconds: 75)), "waiting for a new token for APNs, for 1 min now"),
            (
                .delivery(.credential(seconds: 75, trouble: "there is no connection: timed out")),
                "waiting for a new token for APNs, for 1 min now (there is no connection: timed out)"
            ),
            (.delivery(.canary(answers: 12)), "first pushes sent: waiting for 12 answers"),
            (.delivery(.last(answers: 1, again: 0)), "waiting for the last 1 answer"),
            (.delivery(.last(answers: 0, again: 3)), "APNs refused the last 3 for now; trying again"),
            (.delivery(.last(answers: 1200, again: 3)), "waiting for the last 1,200 answers; 3 are tried again"),
            (.delivery(.throttle(perSecond: 1234.4)), "slower, as APNs takes no more than 1,234/s now"),
            (.delivery(.server), "as fast as APNs answers"), (.delivery(.pace), "at the pace of 500/s"),
            (.runFile, "waiting for the disk, or a lock on the run file"),
        ] as [(ProgressWait, String)])
    func words(wait: ProgressWait, words: String) {
        #expect(wait.words(pace: pace) == words)
    }

    @Test("devices whose answers are lost are called unknown only where no other machine sends to them again")
    func unrecorded() {
        for others in [nil, UnknownPolicy.skip] {
            let text = RunTerminal.unrecordedText(5, byOthers: others)
            #expect(text == "5 answers could not be recorded; the report counts their devices as unknown.")
        }
        let text = RunTerminal.unrecordedText(1, byOthers: .resend)
        #expect(text.hasPrefix("1 answer could not be recorded, so another machine may send"))
        #expect(text.contains("report does not count") && !text.contains("as unknown"), "\(text)")
    }

    @Test("a quota says when it goes on, by this machine's clock")
    func quota() throws {
        let wait = ProgressWait.delivery(.quota(until: Timestamp(epochSeconds: 1_795_614_720)))
        #expect(wait.words(pace: nil, service: "FCM", zone: .utc) == "FCM continues at 13:52")
        let tokyo = try ZoneDatabase.system.zone(named: "Asia/Tokyo")
        #expect(wait.words(pace: nil, zone: tokyo) == "APNs continues at 22:52")
        #expect(wait.isTrouble)
    }

    @Test("where several services receive pushes, none of them stands for all")
    func several() {
        #expect(
            ProgressWait.delivery(.server).words(pace: nil, service: "FCM", isOneOfSeveral: true)
                == "as fast as the services answer")
        #expect(
            ProgressWait.delivery(.pace).words(pace: pace, service: "FCM", isOneOfSeveral: true)
                == "at the pace of 500/s for FCM")
    }

    @Test("what it waits for stands before the outcomes, which a narrow terminal cuts")
    func line() {
        let progress = SendProgress(total: 20_000, settled: [.accepted: 9_000])
        progress.add([Settlement(recipient: 1, outcome: .invalidToken, attempts: 1, settledAt: .now())])
        #expect(progress.doneHere == 1)
        var reached = RunProgress(
            outcomes: progress.outcomes, total: progress.total, rate: 500, wait: .delivery(.pace), pace: pace,
            seconds: 18)
        #expect(
            reached.line
                == "sending  45.0 %  9,001 of 20,000  500/s  22 s left  at the pace of 500/s  9,000 accepted, 1 invalid_token"
        )
        (reached.rate, reached.wait) = (0.4, nil)
        #expect(reached.line == "sending  45.0 %  9,001 of 20,000  0/s  9,000 accepted, 1 invalid_token")
    }

    /// The seconds at which a line is due, checked once a second.
    private func due(until end: Int, _ wait: (Int) -> ProgressWait?) -> [Int] {
        var sparse = SparseProgress()
        return (0...end).filter { sparse.isDue(wait($0), at: Double($0)) }
    }

    @Test("where lines stay there is one a minute, and one in ten minutes later")
    func sparse() {
        #expect(due(until: 59) { _ in .delivery(.pace) }.isEmpty)
        #expect(due(until: 2400) { _ in nil } == Array(stride(from: 60, through: 600, by: 60)) + [1200, 1800, 2400])
    }

    @Test("what holds everything up is told after ten seconds, and when it is over; what passes sooner is not")
    func trouble() {
        #expect(due(until: 59) { (20..<40).contains($0) ? .delivery(.outage(seconds: 1)) : nil } == [30, 40])
        #expect(due(until: 59) { (20..<29).contains($0) ? .delivery(.connection) : .delivery(.pace) }.isEmpty)
        #expect(due(until: 100) { $0 >= 55 ? .runFile : nil } == [60, 65])
    }

    @Test("a service that takes nothing is told of after four seconds and when it is back; the next time, later")
    func silence() {
        var watch = SilenceWatch()
        func looks(_ seconds: ClosedRange<Int>, answered: Int, isWaiting: Bool = true) -> [SilenceWatch.News] {
            seconds.compactMap { watch.look(answered: answered, isWaiting: isWaiting, at: Double($0)) }
        }
        #expect(looks(0...3, answered: 0).isEmpty)
        #expect(looks(4...60, answered: 0) == [.silent(seconds: 4)])
        #expect(looks(61...62, answered: 5) == [.answersAgain])
        #expect(looks(63...70, answered: 5) == [.silent(seconds: 8)])
        // At the pace, or while the disk is full, the line names no wait.
        #expect(looks(71...71, answered: 6) == [.answersAgain])
        #expect(looks(72...200, answered: 6, isWaiting: false).isEmpty)
        #expect(looks(201...230, answered: 6) == [.silent(seconds: 16)])
    }

    @Test("what it says names the service, its address, how long, and how many wait")
    func silenceWords() {
        var silent = SilentService(
            service: PushServices.standard, endpoint: "localhost:1", isConnected: false, seconds: 4, waiting: 60)
        let remedy = " Volley keeps trying; `volley doctor` shows what is wrong with the connection."
        #expect(
            silent.sentence == "There has been no connection to APNs (localhost:1) for 4 s; 60 devices wait.\(remedy)")
        (silent.isConnected, silent.waiting) = (true, 1)
        #expect(silent.sentence == "APNs (localhost:1) has taken no push for 4 s; 1 device waits.\(remedy)")
    }

    @Test("answers that the run file does not take are noticed after two seconds in which it took none")
    func recording() {
        var watch = RecordingWatch()
        let looks: [(answered: Int, recorded: Int, seconds: Double)] = [
            (0, 0, 0), (10, 0, 1), (20, 0, 2.9), (20, 0, 3), (30, 20, 3.2), (30, 20, 5.1), (30, 20, 5.25), (30, 30, 9),
        ]
        let stuck = looks.map { watch.isStuck(answered: $0.answered, recorded: $0.recorded, at: $0.seconds) }
        #expect(stuck == [false, false, false, true, false, false, true, false])
    }
}
