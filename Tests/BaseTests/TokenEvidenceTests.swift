import Base
import Testing

/// What refusals say about tokens and settings.
@Suite struct TokenEvidenceTests {
    private func evidence(
        accepted: Int, ambiguous: Int, gone: Int = 0, failed: Int = 0, unsent: Int = 0, leftOut: Int = 0
    ) -> TokenEvidence {
        TokenEvidence(
            outcomes: [
                .accepted: accepted, .invalidToken: ambiguous + gone, .failed: failed, .unsent: unsent + leftOut,
            ],
            reasons: [
                "BadDeviceToken": ambiguous / 2, "DeviceTokenNotForTopic": ambiguous - ambiguous / 2,
                "Unregistered": gone,
                "Expired": unsent,
                "FrequencyCap": leftOut,
            ], blaming: ["BadDeviceToken", "DeviceTokenNotForTopic"])
    }

    @Test("a token that APNs calls gone is suppressed whatever else was answered", arguments: [true, false])
    func gone(hasFinished: Bool) {
        #expect(evidence(accepted: 0, ambiguous: 60, gone: 1).suppresses(status: 410, hasFinished: hasFinished))
    }

    @Test(
        "a doubtful one is when four others were accepted for each, and the run has finished",
        arguments: [1, 2, 3, 15, 60, 100, 1000])
    func enough(ambiguous: Int) {
        #expect(evidence(accepted: 4 * ambiguous, ambiguous: ambiguous).suppresses(status: 400, hasFinished: true))
        #expect(!evidence(accepted: 4 * ambiguous, ambiguous: ambiguous).suppresses(status: 400, hasFinished: false))
        for accepted in [0, 1, ambiguous, 4 * ambiguous - 1] {
            #expect(
                !evidence(accepted: accepted, ambiguous: ambiguous).suppresses(status: 400, hasFinished: true),
                "\(accepted)")
        }
    }

    @Test("settings are to blame for more than half of the answers, however few there are")
    func settings() {
        for ambiguous in [1, 2, 3, 60, 99, 100, 400] {
            #expect(evidence(accepted: 0, ambiguous: ambiguous).pointsAtSettings)
            #expect(evidence(accepted: ambiguous - 1, ambiguous: ambiguous).pointsAtSettings)
            #expect(!evidence(accepted: ambiguous, ambiguous: ambiguous).pointsAtSettings)
            #expect(!evidence(accepted: 0, ambiguous: ambiguous, gone: ambiguous).pointsAtSettings)
            #expect(!evidence(accepted: 0, ambiguous: ambiguous, failed: ambiguous).pointsAtSettings)
        }
        #expect(!TokenEvidence().pointsAtSettings && !TokenEvidence().pointsAtTokens)
    }

    @Test("who got no answer may be like those who were refused; who is gone, or was left out on purpose, is not")
    func unanswered() {
        #expect(evidence(accepted: 400, ambiguous: 1, unsent: 99).pointsAtTokens)
        #expect(!evidence(accepted: 400, ambiguous: 1, unsent: 100).pointsAtTokens)
        #expect(!evidence(accepted: 400, ambiguous: 1, failed: 100).pointsAtTokens)
        #expect(evidence(accepted: 400, ambiguous: 1, gone: 1000, leftOut: 1000).pointsAtTokens)
    }

    @Test("a retry counts with what it retries, and its devices are among those of the first")
    func sum() {
        let first = evidence(accepted: 7, ambiguous: 0, failed: 2)
        let both = evidence(accepted: 1, ambiguous: 1) + first
        #expect(both.accepted == 8 && both.ambiguous == 1 && both.audience == 9 && both.pointsAtTokens)
        #expect(first + TokenEvidence() == first && TokenEvidence() + first == first)
        #expect(
            !(evidence(accepted: 1, ambiguous: 1) + evidence(accepted: 6, ambiguous: 0, failed: 2, unsent: 1))
                .pointsAtTokens)
    }

    @Test("no epoch of a run, and no retry, borrows what another one was accepted")
    func epochs() {
        let (before, whole) = (evidence(accepted: 502, ambiguous: 0), evidence(accepted: 502, ambiguous: 98))
        #expect(
            RunEvidence(whole).settingsEvidence == nil && RunEvidence(whole).suppresses(status: 400, hasFinished: true))
        for run in [
            RunEvidence(whole, before: [before]), RunEvidence(evidence(accepted: 0, ambiguous: 98), retried: before),
        ] {
            #expect(run.settingsEvidence?.ambiguous == 98 && run.settingsEvidence?.accepted == 0)
            #expect(!run.pointsAtTokens && !run.suppresses(status: 400, hasFinished: true))
            #expect(run.suppresses(status: 410, hasFinished: false))
            #expect(
                TargetRefusals(run)
                    == TargetRefusals(refused: 98, answers: 98, isSinceOthersWereAccepted: true, accepted: 502))
        }
        // An epoch without an answer judges nothing: the one before it counts.
        #expect(RunEvidence(whole, before: [before, whole]).settingsEvidence?.ambiguous == 98)
        // The settings of the first epoch may have been wrong, too.
        let first = evidence(accepted: 0, ambiguous: 44)
        let later = RunEvidence(evidence(accepted: 556, ambiguous: 44), before: [first])
        #expect(later.settingsEvidence == nil && !later.suppresses(status: 400, hasFinished: true))
        #expect(
            RunEvidence(evidence(accepted: 556, ambiguous: 2), before: [evidence(accepted: 100, ambiguous: 1)])
                .pointsAtTokens)
    }

    @Test(
        "what was accepted before a pause, or in an earlier wave, says nothing of tokens that were refused afterwards, and does not stop a run"
    )
    func rests() {
        let (before, whole) = (evidence(accepted: 502, ambiguous: 0), evidence(accepted: 502, ambiguous: 35))
        let run = RunEvidence(whole, atRests: [before])
        #expect(run.settingsEvidence == nil && !run.pointsAtTokens && !run.suppresses(status: 400, hasFinished: true))
        #expect(run.suppresses(status: 410, hasFinished: true))
        #expect(RunEvidence(whole, before: [whole], atRests: [whole]).pointsAtTokens)
        let mixed = RunEvidence(
            evidence(accepted: 560, ambiguous: 2), before: [evidence(accepted: 100, ambiguous: 1)], atRests: [before])
        #expect(mixed.pointsAtTokens)
    }
}
