import Accounts
import Base
import Planning
import PushServices
import Reports
import Runs

/// Why one device gets a campaign or not, and what its result in a run was.
enum DeviceExplanation {
    /// The field of the form. A device's token must not be in an address.
    static let device = "device"
    private static let again = "again"

    static var routes: [Route] {
        [
            Route(
                method: .post, path: "/runs/:run/why", right: .right(.readReports), subject: .run, changes: true,
                answer: inRun)
        ]
    }

    static func form(action: String, _ visit: Visit) -> HTML {
        Words.panel(
            "Why this device?", id: "why",
            """
            <form method="post" action="\(action)">\(Form.token(visit))
            \(Form.text("Token, alias or registration id", name: device, value: "", attributes: " autocomplete=\"off\" required"))
            <p><button>Explain</button></p></form>
            """)
    }

    /// The answer, as it is at this moment: suppression lists and exports change without the
    /// campaign. A page that waits for it requests it with the field `again`.
    static func answer(to question: PlanningJobs.Question, action: String, _ visit: Visit, _ site: Site) throws -> HTML
    {
        var question = question
        question.person = visit.person?.account ?? ""
        if visit.form[again] == nil { site.jobs.forget(question) }
        let result = try site.jobs.answer(to: question, for: visit.person?.account)
        let hidden: HTML =
            "\(Form.token(visit))<input type=\"hidden\" name=\"\(device)\" value=\"\(visit.form[device] ?? "")\">"
        guard let result else {
            return """
                <form method="post" action="\(action)" class="panel" data-again>\(hidden)<input type="hidden" name="\(again)" value="1">
                <h2>The device is being looked for</h2><p>This takes as long as a preview.</p><p><button>Look again</button></p></form>
                """
        }
        // A whole token stays in no page that people keep open.
        let repeated: HTML =
            SecretText.holdsToken(visit.form[device] ?? "") ? "" : "\(hidden)<button>Ask again</button>"
        return """
            <form method="post" action="\(action)" class="turns"><span class="note">As of \(Words.moment(result.at)).</span>\
            \(repeated)</form>
            \(result.piece)\(form(action: action, visit))
            """
    }

    // MARK: - In a run

    /// The form on the page of a run; blank where its recipients are not known.
    static func form(of run: RunSummary, _ visit: Visit) -> HTML {
        run.startedAt == nil || run.isPruned ? "" : form(action: "\(Words.path(of: run.id))/why", visit)
    }

    private static func inRun(_ visit: Visit, _ site: Site) throws -> Answer {
        let run = try RunPage.run(visit, site)
        guard !run.isPruned else { throw Refusal.notFound }
        let asked = JSONValue.object(pairs: [
            ("run", .string(run.id)), ("device", .string(visit.form[device]?.trimming ?? "")),
        ])
        let question = PlanningJobs.Question(kind: .recipient, file: site.projectFile, input: asked.text, stamps: [])
        let path = Words.path(of: run.id)
        let piece = try answer(to: question, action: "\(path)/why", visit, site)
        let campaign: HTML =
            try RunPage.campaign(of: run, visit, site).map {
                """
                <p>Which devices were left out is not recorded one by one. <a href="/campaign/preview\(FormFields.query([("file", $0.file)]))#why">\
                Why this device?</a> explains the campaign as it is now.</p>
                """
            } ?? ""
        return .page(
            Page(
                title: "Why this device?", place: .runs,
                content: """
                    \(Words.head("Why this device?", "<p>\(run.campaign) <code>\(run.id)</code></p>"))\(piece)\(campaign)\
                    <p class="note"><a href="\(path)">Back to the run</a></p>
                    """))
    }

    /// The results of devices in a run.
    static func html(_ answer: (who: String, found: [RecipientResult])) -> HTML {
        guard !answer.found.isEmpty else {
            return """
                <p class="lead"><b dir="auto">\(UntrustedText.shown(answer.who))</b> was not in this run: it was left out when the run was planned, or the exports did \
                not hold it then.</p>
                """
        }
        let items: [HTML] = answer.found.map { found in
            let names = [found.alias, found.variant.isEmpty ? "" : "variant \(found.variant)"].filter { !$0.isEmpty }
            let known = names.isEmpty ? "" : UntrustedText.shown(" (\(names.joined(separator: ", ")))")
            let at: HTML = found.settledAt.map { ", \(Words.moment($0))" } ?? ""
            let why: HTML =
                found.reason.isEmpty
                ? ""
                : ReasonText.explanation(of: found.reason, by: found.service, for: .console).map {
                    "<p class=\"note\">\(Prose.html($0))</p>"
                } ?? "<p class=\"note\">The service gave the reason \(found.reason).</p>"
            return """
                <li><p><b dir="auto">\(found.target)</b>\(known) was in this run: \(words(found))\(at).</p>\(why)</li>
                """
        }
        return "<ul class=\"list\">\(items)</ul>"
    }

    private static func words(_ found: RecipientResult) -> String {
        switch found.outcome {
        case .accepted: "\(found.service.displayName) accepted the push"
        case .invalidToken: "the app is no longer on the device"
        case .rejected: "\(found.service.displayName) refused the push"
        case .failed: "the push failed"
        case .unknown: "the push may have arrived, as no answer is recorded"
        case .unsent: "nothing was sent to it"
        }
    }
}
