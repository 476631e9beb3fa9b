import Base
import PushServices
@testable import Reports
import Runs
import Testing

/// Texts about a service that is not APNs: each word and number is that service's.
@Suite("the words of another service")
struct ServiceWordsTests {
    private func sentence(_ stop: ServiceStop) -> String { StopCause.service("toy", stop).sentence { _ in Toypush() } }

    @Test("an answer that is not the service's is not missed an id that the service never promised")
    func stranger() {
        let words = sentence(.notTheService(status: 410))
        #expect(
            words.hasPrefix(
                "The server answered a push with 410, which Toypush would not: something else answers in its place"))
    }

    @Test("refused targets are called what the service calls them, and the settings by their keys")
    func refusals() {
        #expect(
            sentence(.mostTargetsRefused(lastReason: "unknown_device"))
                == "More than half of the installation ids were refused as unknown_device. That is the wrong environment (live or trial) or the "
                + "wrong app_code, not the installation ids: check the environment and app_code in volley.yaml, and that the export belongs to "
                + "this app.")
        #expect(
            sentence(.mostRejected(lastReason: "too_big")).hasSuffix("and the environment and app_code in volley.yaml.")
        )
        let refusals = TargetRefusals(refused: 1, answers: 1, isSinceOthersWereAccepted: false, accepted: 0)
        #expect(
            sentence(.targetsRefused(reason: "unknown_device", refusals)).contains(
                "The environment (live or trial), the app_code or that installation id may be wrong. The installation id is not suppressed"
            )
        )
    }

    @Test("that an activity's token is refused says nothing of the app, and no device is to be taken out of the export")
    func activities() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(
            folder, settings: settings { $0.pushType = .liveactivity }, [Recipient(token: Target(normalized: token(1)))]
        )
        let report = try Report(run)
        for words in [
            report.meaning(of: "Unregistered", by: APNs()), report.meaning(of: "ExpiredToken", by: APNs()),
            report.guide.meaning(.invalidToken),
        ] {
            #expect(
                words
                    == "The Live Activity is over, or its token has changed. The device itself is not left out of later campaigns."
            )
        }
        #expect(
            report.guide.note(.invalidToken) == "the activity is over"
                && report.guide.title(.invalidToken) == "Activity over")
        #expect(report.guide.title(skipped: .missingToken) == "No token of a Live Activity or its device")
        let other = try Report(
            makeRun(folder, id: "20261201-090000-spring-sale-7f3b", [Recipient(token: Target(normalized: token(1)))]))
        #expect(other.meaning(of: "Unregistered", by: APNs()).contains("Take them out of the next export"))
    }

    @Test("how long a signature is good for is the service's number")
    func signatures() {
        #expect(
            sentence(.tokenExpired(ageSeconds: 600, clockLagSeconds: nil))
                == "Toypush calls the send token expired although it is only 10 min 0 s old, and allows no newer one within a minute. A token is good "
                + "for 2 hours, so this machine's clock seems to be at least 1 h 50 min behind the server's. Set the clock, then resume the run."
        )
        #expect(
            sentence(.tokenExpired(ageSeconds: nil, clockLagSeconds: nil)).contains(
                "although it is younger than a minute"))
        #expect(
            sentence(.refused(reason: "bad_key", status: 401, clockLagSeconds: 7200))
                == "Toypush refused the push with bad_key (401) and would refuse all others. Check signing_key and app_code. This machine's clock "
                + "is 2 h 0 min behind the server's. That alone makes send tokens invalid. Set the clock.")
    }

    @Test(
        "tokens that a service gives out are called what it calls them, and nothing is said of signatures or of the content"
    )
    func fetchedTokens() {
        func sentence(_ stop: ServiceStop) -> String { StopCause.service("fcm", stop).sentence }
        #expect(
            sentence(.tokenRefused(reason: "invalid_grant: Invalid JWT Signature.", status: 400, clockLagSeconds: nil))
                == "No new access token is given out: the server for them answered 400 with 'invalid_grant: Invalid JWT Signature.'. "
                + "Nothing is sent without one. Check that the key of the service account was not deleted or disabled, then resume the run."
        )
        #expect(
            sentence(.tokenRefused(reason: "invalid_grant", status: 400, clockLagSeconds: 7200)).hasSuffix(
                "This machine's clock is 2 h 0 min behind the server's. Set the clock, then resume the run."))
        #expect(
            sentence(.tokenMissing(lastTrouble: "it answered 503", seconds: 3600))
                == "No new access token was given out for 1 h 0 min (the last time: it answered 503), and nothing was sent without one. "
                + "Resume the run later.")
        #expect(
            sentence(.tokenExpired(ageSeconds: 65, clockLagSeconds: nil))
                == "FCM does not accept the access token, only 1 min 5 s after it was given out. Check project and service_account of the app in "
                + "volley.yaml.")
    }

    @Test("a service that is not known any more has no numbers")
    func unknown() {
        let cause = StopCause.service("gone", .tokenExpired(ageSeconds: 600, clockLagSeconds: nil))
        #expect(
            cause.sentence == "gone calls a new signature expired. Check this machine's clock, then resume the run.")
    }

    @Test("outcomes and skipped rows speak of the service's targets, and of its reasons where it has them")
    func outcomes() {
        let guide = OutcomeGuide(service: Toypush(), state: .finished, doubtsTokens: true)
        #expect(guide.note(.invalidToken) == "the installation id was refused")
        #expect(guide.title(.invalidToken) == "Installation id refused")
        #expect(
            guide.meaning(.invalidToken)
                == "Toypush refused the installation id. Wrong settings may have caused this, so no device is left out of later campaigns."
        )
        #expect(guide.title(skipped: .missingToken) == "No installation id")
        #expect(guide.title(skipped: .badToken) == "Not an installation id")
        #expect(guide.note(skipped: "bad_token") == "not an installation id")
        let funnel = Funnel(rows: 2, skipped: [.badToken: 1], audience: 1, target: Toypush().target) { "\($0) \($1)" }
        #expect(funnel.html.markup.contains("not an installation id"))
        let apns = OutcomeGuide(service: APNs(), state: .finished, doubtsTokens: true)
        #expect(
            apns.meaning(.invalidToken).contains("Devices that it calls gone (Unregistered, ExpiredToken) are left out")
        )
    }

    @Test("a reason is explained by the service that gave it, and by no other")
    func reasons() {
        #expect(
            ReasonText.explanation(of: "busy", by: Toypush()) == "Toypush had too much to do until the retries ran out."
        )
        #expect(ReasonText.explanation(of: "Unregistered", by: Toypush()) == nil)
        #expect(ReasonText.explanation(of: "busy", by: APNs()) == nil)
        #expect(ReasonText.outcome(of: "unknown_device", by: Toypush()) == .invalidToken)
    }

    @Test(
        "a badge is loud where pushes reach people, whatever the environment is called",
        arguments: [("live", "production"), ("trial", "sandbox")])
    func badge(name: String, look: String) {
        #expect(
            EnvironmentBadge(name, of: Toypush()).html.markup
                == "<span class=\"badge \(look)\" data-environment=\"\(name)\" dir=\"auto\">\(name)</span>")
        #expect(EnvironmentBadge(name).html.markup.contains("data-environment=\"server\""))
    }
}
