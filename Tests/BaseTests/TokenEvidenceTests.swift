import Base
import Testing

/// What refusals say of tokens and of settings.
@Suite struct TokenEvidenceTests {
    private func evidence(accepted: Int, doubtful: Int, gone: Int = 0, failed: Int = 0, unsent: Int = 0, leftOut: Int = 0) -> TokenEvidence
    {
        TokenEvidence(
            outcomes: [.accepted: accepted, .invalidToken: doubtful + gone, .failed: failed, .unsent: unsent + leftOut],
            reasons: [
                "BadDeviceToken": doubtful / 2, "DeviceTokenNotForTopic": doubtful - doubtful / 2, "Unregistered": gone, "Expired": unsent,
                "FrequencyCap": leftOut,
            ])
    }

    @Test("a token that APNs calls gone is suppressed whatever else was answered", arguments: [true, false])
    func gone(hasFinished: Bool) {
        #expect(evidence(accepted: 0, doubtful: 60, gone: 1).suppresses(status: 410, hasFinished: hasFinished))
    }

    @Test("a doubtful one is when four others were accepted for each, and the run has finished", arguments: [1, 2, 3, 15, 60, 100, 1000])
    func enough(doubtful: Int) {
        #expect(evidence(accepted: 4 * doubtful, doubtful: doubtful).suppresses(status: 400, hasFinished: true))
        #expect(!evidence(accepted: 4 * doubtful, doubtful: doubtful).suppresses(status: 400, hasFinished: false))
        for accepted in [0, 1, doubtful, 4 * doubtful - 1] {
            #expect(!evidence(accepted: accepted, doubtful: doubtful).suppresses(status: 400, hasFinished: true), "\(accepted)")
        }
    }

    @Test("settings are to blame for more than half of the answers, however few there are")
    func settings() {
        for doubtful in [1, 2, 3, 60, 99, 100, 400] {
            #expect(evidence(accepted: 0, doubtful: doubtful).blamesSettings)
            #expect(evidence(accepted: doubtful - 1, doubtful: doubtful).blamesSettings)
            #expect(!evidence(accepted: doubtful, doubtful: doubtful).blamesSettings)
            #expect(!evidence(accepted: 0, doubtful: doubtful, gone: doubtful).blamesSettings)
            #expect(!evidence(accepted: 0, doubtful: doubtful, failed: doubtful).blamesSettings)
        }
        #expect(!TokenEvidence().blamesSettings && !TokenEvidence().blamesTokens)
    }

    @Test("who got no answer may be like those who were refused; who is gone, or was left out on purpose, is not")
    func unanswered() {
        #expect(evidence(accepted: 400, doubtful: 1, unsent: 99).blamesTokens)
        #expect(!evidence(accepted: 400, doubtful: 1, unsent: 100).blamesTokens)
        #expect(!evidence(accepted: 400, doubtful: 1, failed: 100).blamesTokens)
        #expect(evidence(accepted: 400, doubtful: 1, gone: 1000, leftOut: 1000).blamesTokens)
    }

    @Test("a retry counts with what it retries, and its devices are among those of the first")
    func sum() {
        let first = evidence(accepted: 7, doubtful: 0, failed: 2)
        let both = evidence(accepted: 1, doubtful: 1) + first
        #expect(both.accepted == 8 && both.doubtful == 1 && both.audience == 9 && both.blamesTokens)
        #expect(first + TokenEvidence() == first && TokenEvidence() + first == first)
        #expect(!(evidence(accepted: 1, doubtful: 1) + evidence(accepted: 6, doubtful: 0, failed: 2, unsent: 1)).blamesTokens)
    }

    @Test("no life of a run, and no retry, borrows what another one was accepted")
    func lives() {
        let (before, whole) = (evidence(accepted: 502, doubtful: 0), evidence(accepted: 502, doubtful: 98))
        #expect(RunEvidence(whole).blamed == nil && RunEvidence(whole).suppresses(status: 400, hasFinished: true))
        for run in [RunEvidence(whole, before: [before]), RunEvidence(evidence(accepted: 0, doubtful: 98), retried: before)] {
            #expect(run.blamed?.doubtful == 98 && run.blamed?.accepted == 0)
            #expect(!run.blamesTokens && !run.suppresses(status: 400, hasFinished: true))
            #expect(run.suppresses(status: 410, hasFinished: false))
            let text = StopReason.tooManyBadTokens("BadDeviceToken", run)
            #expect(text.hasPrefix("APNs refused the tokens of all 98 devices that were pushed to since others were accepted,"), "\(text)")
            #expect(text.hasSuffix("The 502 devices that got this push would get it again."))
        }
        // A life that gets no answer judges nothing: it is the one before that counts.
        #expect(RunEvidence(whole, before: [before, whole]).blamed?.doubtful == 98)
        // Those of the first life may have been wrong, too.
        let first = evidence(accepted: 0, doubtful: 44)
        let later = RunEvidence(evidence(accepted: 556, doubtful: 44), before: [first])
        #expect(later.blamed == nil && !later.suppresses(status: 400, hasFinished: true))
        #expect(RunEvidence(evidence(accepted: 556, doubtful: 2), before: [evidence(accepted: 100, doubtful: 1)]).blamesTokens)
    }

    @Test(
        "what was accepted before a pause, or in an earlier wave, says nothing of tokens that were refused afterwards, and does not stop a run"
    )
    func rests() {
        let (before, whole) = (evidence(accepted: 502, doubtful: 0), evidence(accepted: 502, doubtful: 35))
        let run = RunEvidence(whole, atRests: [before])
        #expect(run.blamed == nil && !run.blamesTokens && !run.suppresses(status: 400, hasFinished: true))
        #expect(run.suppresses(status: 410, hasFinished: true))
        #expect(RunEvidence(whole, before: [whole], atRests: [whole]).blamesTokens)
        let mixed = RunEvidence(evidence(accepted: 560, doubtful: 2), before: [evidence(accepted: 100, doubtful: 1)], atRests: [before])
        #expect(mixed.blamesTokens)
    }

    @Test(
        "why a run stops reads well for one device, all and some",
        arguments: [
            (0, 1, "APNs refused the token of the one device that was pushed to, as BadDeviceToken."),
            (0, 60, "APNs refused the tokens of all 60 devices that were pushed to, as BadDeviceToken."),
            (1, 1234, "APNs refused the tokens of 1,234 of the 1,235 devices that were pushed to, as BadDeviceToken."),
        ])
    func words(accepted: Int, doubtful: Int, sentence: String) {
        let text = StopReason.tooManyBadTokens("BadDeviceToken", RunEvidence(evidence(accepted: accepted, doubtful: doubtful)))
        #expect(text.hasPrefix(sentence) && text.contains("plan the campaign again"), "\(text)")
        #expect(text.hasSuffix(accepted == 1 ? "The device that got this push would get it again." : "that it was planned with."))
        #expect(text.contains(doubtful == 1 ? "or that token is; it is not suppressed" : "not the tokens, which are not suppressed"))
    }
}
