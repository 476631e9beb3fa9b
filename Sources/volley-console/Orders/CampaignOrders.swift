import Accounts
import Automation
import Base
import Campaigns
import Planning
import Reports
import Runs

/// The orders for a campaign file: a plan and a test. And for a time of its schedule: to skip it.
enum CampaignOrders {
    /// An action of a campaign's page.
    private enum Action: String, CaseIterable {
        case plan, test

        /// - Parameter choice: of a test (`TestChoice`).
        func order(_ path: String, digest: String, choice: String = "") -> Order.Kind {
            self == .plan ? .plan(file: path, digest: digest) : .test(file: path, digest: digest, choice: choice)
        }

        var right: Right { order("", digest: "").right }
    }

    static var routes: [Route] {
        Action.allCases.map { action in
            Route(
                method: .post, path: "/campaign/\(action.rawValue)", right: .right(action.right), subject: .campaign,
                changes: true,
                answer: { try place(action, $0, $1) })
        } + [
            Route(
                method: .post, path: "/calendar/skip",
                right: .right(Order.Kind.skip(campaign: "", occurrence: "").right), changes: true,
                answer: skip)
        ]
    }

    /// The panel on the page of a campaign without mistakes.
    /// - Parameter bytes: the file as the page shows it.
    static func panel(_ item: CampaignCache.Item, _ bytes: [UInt8], _ visit: Visit, _ site: Site) throws -> HTML {
        guard let app = try item.app.flatMap({ try site.project().app(named: $0) }) else { return "" }
        let digest = ShownFile.digest(of: bytes)
        func form(_ action: Action, _ button: HTML, _ meaning: HTML) -> HTML {
            guard visit.may(action.right, app: app.name.value) else { return "" }
            return """
                <form class="action" method="post" action="/campaign/\(action.rawValue)\(FormFields.query([("file", item.file)]))">
                <h3>\(button)</h3>\(meaning)\(OrderForm.hidden(visit, digest: digest))<p><button>\(button)</button></p></form>
                """
        }
        let devices = app.testDevices.count
        let test =
            devices > 0
            ? form(.test, "Send a test", TestForm.html(try offer(item, bytes, app, visit, site), app))
            : !visit.may(Action.test.right, app: app.name.value)
                ? ""
                : """
                <h3>Send a test</h3><p>\(app.name.value) has no test devices. \(Remedy.ask(.addTestDevices).sentence)</p>
                """
        let plan =
            item.isScheduled
            ? ""
            : form(
                .plan, app.needsApproval ? "Plan and ask for approval" : "Plan",
                """
                <p>Audience and texts are frozen as they are now, and you see which devices the campaign reaches. Nothing is sent. \
                \(app.needsApproval ? "Another person approves the plan before it can be sent." : "" as HTML)</p>
                """)
        let times: HTML =
            item.isScheduled && hasNoTimeLeft(item, visit, site)
            ? """
            <p><b>No time of this campaign is left:</b> nothing more of it is planned. \(Remedy.giveAnotherTime.sentence) Without times, it is planned \
            and sent by hand.</p>
            """
            : """
            <p>This campaign has times (<a href="/calendar">calendar</a>): when one comes, its audience is planned by itself\(app.needsApproval
                ? ", and the plan waits on <a href=\"/\">Today</a> for an approval. It is sent once that is given, or at once if its time was approved ahead." : " and the campaign is sent." as HTML)</p>
            \(item.isScheduled && app.needsApproval ? nextTimes(item, visit, site) : "")
            """
        let forms: [HTML] = [item.isScheduled ? times : "", test, plan].filter { !$0.markup.isEmpty }
        return forms.isEmpty ? "" : Words.panel("What you can do", id: "actions", "\(forms)")
    }

    /// What a test of a file can send.
    private static func offer(_ item: CampaignCache.Item, _ bytes: [UInt8], _ app: App, _ visit: Visit, _ site: Site)
        throws
        -> TestForm.Offer
    {
        let draft = CampaignSaving.draft(bytes, file: item.path, try site.project(), at: visit.now)
        return TestForm.Offer(app, draft.campaign)
    }

    /// Whether each time of a campaign with times was sent, skipped or cancelled; false if that
    /// cannot be read.
    private static func hasNoTimeLeft(_ item: CampaignCache.Item, _ visit: Visit, _ site: Site) -> Bool {
        guard let project = try? site.project(),
            let listed = try? site.campaigns.schedule(project: project, now: visit.now).times,
            let next = try? site.campaigns.nextTimes(of: item, count: 1, project: project, now: visit.now)
        else { return false }
        // One that has just come may not be planned yet.
        return next.isEmpty && !listed.contains { $0.campaign == item.name && $0.state == nil }
    }

    /// The next times, each with its approval; blank without any.
    private static func nextTimes(_ item: CampaignCache.Item, _ visit: Visit, _ site: Site) -> HTML {
        // The campaign can still be planned and changed.
        guard let schedule = try? site.campaigns.schedule(project: site.project(), now: visit.now) else {
            return CalendarPage.unknown
        }
        let times = schedule.times.filter {
            $0.campaign == item.name && $0.state == nil && $0.begins > visit.now
        }
        let lines: [HTML] = times.prefix(5).map { time in
            """
            <li><p>\(DateWords.time(time.occurrence)) \(CalendarPage.clock(time)) <span class="note" dir="auto">\(CalendarPage.notes(time))</span></p>\
            \(TimeApproval.offer(time, visit))\(TimeApproval.request(time, visit, site))</li>
            """
        }
        return lines.isEmpty ? "" : "<ul class=\"list\">\(lines)</ul>"
    }

    private static func place(_ action: Action, _ visit: Visit, _ site: Site) throws -> Answer {
        try OrderForm.submit(visit, site, to: OrderPage.path) {
            let item = try CampaignsPage.item(visit, site)
            let digest = visit.form[OrderForm.digest] ?? ""
            let bytes = try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)
            guard ShownFile.digest(of: bytes) == digest else {
                throw Refusal.outdated(
                    "The campaign is not the one that the page showed: it was changed since. Load the page again, and look at it."
                )
            }
            if action == .plan, item.isScheduled {
                throw Refusal.outdated("The campaign has times by now: each is planned by itself when it comes.")
            }
            let app = try item.app.flatMap { try site.project().app(named: $0) }
            let choice =
                try action == .test
                ? app.map { try TestForm.choice(visit.form, offer(item, bytes, $0, visit, site)) } : nil
            return .order(
                action.order(FilePaths.absolute(item.path), digest: digest, choice: choice?.text ?? ""),
                activity: action == .plan ? .approvalAsked(digest: digest) : .testSent(digest: digest), app: item.app,
                subject: item.file)
        }
    }

    // MARK: - Times

    /// The form next to a coming time; blank without the right to skip it, and where nothing can be
    /// skipped.
    static func skipForm(_ time: ScheduleList.Time, _ visit: Visit) -> HTML {
        guard time.state == nil, time.run == nil, time.begins > visit.now, visit.may(.controlSending, app: time.app)
        else { return "" }
        return """
            <form method="post" action="/calendar/skip">\(OrderForm.hidden(visit))\
            <input type="hidden" name="campaign" value="\(time.campaign)"><input type="hidden" name="occurrence" value="\(time.occurrence)">\
            \(Form.confirmed("Leave out", does: "Yes, leave it out"))</form>
            """
    }

    private static func skip(_ visit: Visit, _ site: Site) throws -> Answer {
        try OrderForm.submit(visit, site, to: OrderPage.path) {
            let (campaign, occurrence) = (visit.form["campaign"] ?? "", visit.form["occurrence"] ?? "")
            let times = try site.campaigns.schedule(project: site.project(), now: visit.now).times
            guard let time = times.first(where: { $0.campaign == campaign && $0.occurrence == occurrence }) else {
                throw Refusal.outdated("The campaign has no such time to come. Load the calendar again.")
            }
            return .order(
                .skip(campaign: campaign, occurrence: occurrence), activity: .timeSkipped(occurrence), app: time.app,
                subject: campaign)
        }
    }
}
