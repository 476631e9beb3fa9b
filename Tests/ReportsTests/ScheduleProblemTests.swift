import Base
import Reports
import Testing

@testable import Runs

@Suite("why a time of a schedule was not sent, in words")
struct ScheduleProblemTests {
    @Test(
        "what an older record kept as a sentence is said as it was",
        arguments: [
            "its file was sent or skipped at this time already, under another name", "nobody had approved it",
            "nobody approved it in time",
            "its plan was ready too late", "the process that planned it was ended, and there was no other in time",
            "its file was changed just before it was planned, and says another time or name",
            "its file has mistakes, or cannot be read",
            "it could not be begun in time", "the file of its run is gone", "sent by hand", "cancelled",
            "there is no file devices.csv",
        ])
    func older(sentence: String) { #expect(ScheduleProblem(older: sentence)?.sentence == sentence) }

    @Test("that a time was cancelled is not said a second time behind its state")
    func cancelled() {
        #expect(ScheduleProblem.stopped(.cancelled).sentence(behind: .cancelled) == nil)
        #expect(ScheduleProblem.stopped(.cancelled).sentence(behind: .skipped) == "cancelled")
        #expect(ScheduleProblem.stopped(.interrupted).sentence(behind: .stopped) == "interrupted")
    }

    @Test(
        "values are in the sentence",
        arguments: [
            (.noticedLate(seconds: 7200), "it was noticed 2 h 0 min after its time, which is later than 'late' allows"),
            (
                .brokenTooLong(seconds: 7200),
                "its file had mistakes until 2 h 0 min after its time, which is later than 'late' allows"
            ),
            (
                .andBefore(times: 1200, .nextHadCome("2026-12-01T09:00")),
                "its next time, 2026-12-01T09:00, had come as well; so had 1,200 times before it"
            ),
            (
                .superseded(by: "2026-12-01T09:00", .unapproved),
                "nobody had approved it; its next time, 2026-12-01T09:00, has come"
            ),
            (.superseded(by: "2026-12-01T09:00", nil), "its next time, 2026-12-01T09:00, has come"),
            (
                .superseded(by: "2026-12-01T09:00", .described("x.csv: there is no such file. Check the name.")),
                "x.csv: there is no such file. Check the name; its next time, 2026-12-01T09:00, has come"
            ),
            (.andBefore(times: 2, .described("The disk is full.")), "The disk is full; so had 2 times before it"),
            (
                .fileChanging("/x.csv", seconds: 10),
                "/x.csv was changed less than 10 seconds ago, and may still be being written; its time waits until it is left alone"
            ),
            (.stopped(.interrupted), "interrupted"),
            (
                .missed(MissedPushes(count: 1, audience: 4, expired: 1, tooLate: 0)),
                "1 of 4 pushes (25.0 %) was never sent, as it expired before its turn came."
            ),
            (
                .missed(MissedPushes(count: 30, audience: 60, expired: 10, tooLate: 20)),
                "30 of 60 pushes (50.0 %) were never sent, as they expired, or it was too late, when their turn came."
            ),
            (
                .notAccepted(20, unanswered: 20, audience: 60),
                "20 of 60 pushes (33.3 %) got no answer, and may or may not have arrived"
            ),
            (.notAccepted(1, unanswered: 0, audience: 1), "1 of 1 push (100.0 %) failed or was rejected"),
            (
                .notAccepted(2000, unanswered: 1500, audience: 4000),
                "2,000 of 4,000 pushes (50.0 %) failed, were rejected or got no answer (1,500 of them)"
            ),
        ] as [(ScheduleProblem, String)])
    func values(problem: ScheduleProblem, sentence: String) { #expect(problem.sentence == sentence) }
}
