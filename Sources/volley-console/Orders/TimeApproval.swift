import Accounts
import Automation
import Base
import HTTPTypes
import Planning
import Reports
import Runs
import Workspace

/// Approving a time of a schedule before it comes, bound to the campaign as it is shown and to a
/// largest audience; and withdrawing the approval.
enum TimeApproval {
    private static let path = "/campaign/ahead"
    private static let time = "time"

    static var routes: [Route] {
        [
            Route(method: .get, path: path, right: .right(.approve), subject: .campaign, answer: show),
            Route(
                method: .post, path: path, right: .right(.approve), subject: .campaign, changes: true, answer: approve),
            Route(
                method: .post, path: path + "/ask", right: .right(.askForApproval), subject: .campaign, changes: true,
                answer: ask),
            Route(
                method: .post, path: path + "/withdraw", right: .right(.approve), subject: .campaign, changes: true,
                answer: withdraw),
        ]
    }

    private static func address(_ file: String, _ occurrence: String, _ suffix: String = "") -> String {
        path + suffix + FormFields.query([("file", file), (time, occurrence)])
    }

    /// Next to a coming time: the actions of approvers; blank for others.
    static func offer(_ time: ScheduleList.Time, _ visit: Visit) -> HTML {
        guard time.begins > visit.now, visit.may(.approve, app: time.app),
            let file = time.file?.split(separator: "/").last
        else {
            return ""
        }
        let target = address(String(file), time.occurrence)
        // A list has many such links: the text of each names its target.
        let about: HTML = " aria-label=\"\(time.campaign), \(DateWords.time(time.occurrence)): "
        return switch time.approval {
        case .none: ""
        case .missing, .outdated: "<p><a href=\"\(target)\"\(about)approve ahead\">Approve ahead</a></p>"
        case .given: "<p><a href=\"\(target)\"\(about)the approval\">The approval</a></p>"
        }
    }

    /// Whether a time is still to be approved before it comes.
    private static func isMissing(_ time: ScheduleList.Time, at now: Timestamp) -> Bool {
        guard time.state == nil, time.begins > now else { return false }
        return switch time.approval {
        case .none, .given: false
        case .missing, .outdated: true
        }
    }

    /// The last request to approve a time.
    private static func request(for time: ScheduleList.Time, _ site: Site) throws -> Activity? {
        try site.rights.timeRequests(ofCampaign: time.campaign, app: time.app).first {
            $0.kind == .timeApprovalAsked(time.occurrence)
        }
    }

    static func isRequested(_ time: ScheduleList.Time, _ site: Site) -> Bool {
        (try? request(for: time, site)) != nil
    }

    /// Next to a coming time on the page of its campaign: the button of authors, or the request
    /// that there is; blank where nothing is missing.
    static func request(_ time: ScheduleList.Time, _ visit: Visit, _ site: Site) -> HTML {
        guard isMissing(time, at: visit.now), let file = time.file?.split(separator: "/").last else { return "" }
        if let last = try? request(for: time, site) { return "<p class=\"note\">\(words(last)).</p>" }
        guard visit.may(.askForApproval, app: time.app) else { return "" }
        return """
            <form method="post" action="\(address(String(file), time.occurrence, "/ask"))">\(Form.token(visit))\
            <p><button>Ask for approval ahead</button></p></form>
            """
    }

    private static func words(_ request: Activity) -> HTML {
        "<b dir=\"auto\">\(request.person.name?.text ?? "An author")</b> asked for its approval ahead, \(Words.moment(request.at))"
    }

    /// Coming times whose approval was requested, a line each for Today.
    /// - Returns: those that this person may approve, and those that wait for another one.
    static func waiting(_ times: [ScheduleList.Time], _ visit: Visit, _ site: Site) -> (own: [HTML], others: [HTML]) {
        var (own, others): ([HTML], [HTML]) = ([], [])
        // A time can be asked for as soon as it is listed.
        let start = visit.now.adding(seconds: -2 * ScheduleList.daysAhead * 86_400)
        let requests = Dictionary(grouping: (try? site.rights.timeRequests(since: start)) ?? []) { $0.subject }
        for time in times where isMissing(time, at: visit.now) {
            guard let file = time.file?.split(separator: "/").last.map(String.init),
                let request = requests[time.campaign]?.first(where: {
                    $0.app == time.app && $0.kind == .timeApprovalAsked(time.occurrence)
                })
            else {
                continue
            }
            let mayApprove = visit.may(.approve, app: time.app) && request.person.account != visit.person?.id
            let target = mayApprove ? address(file, time.occurrence) : Words.path(ofCampaign: file)
            let line: HTML = """
                <li><p><a href="\(target)" dir="auto">\(time.campaign)</a>, \(DateWords.time(time.occurrence))</p><p class="note">\(words(request))</p></li>
                """
            if mayApprove { own.append(line) } else { others.append(line) }
        }
        return (own, others)
    }

    // MARK: - The page

    /// A coming time of a campaign that needs approval.
    private struct ViewModel {
        var item: CampaignCache.Item
        var time: ScheduleList.Time
        var source: CampaignSource
    }

    private static func viewModel(_ visit: Visit, _ site: Site) throws -> ViewModel {
        let item = try CampaignsPage.item(visit, site)
        let occurrence = visit.query[time] ?? ""
        let times = try site.campaigns.schedule(project: site.project(), now: visit.now).times
        guard let name = item.name,
            let time = times.first(where: { $0.campaign == name && $0.occurrence == occurrence }),
            time.state == nil, time.begins > visit.now, time.approval != .none
        else {
            throw Refusal.outdated(
                "The campaign has no such time to come that is to be approved. Look at the calendar again.")
        }
        let source = try CampaignSource(CampaignFile(item.path, in: site.campaigns.choice), now: visit.now)
        return ViewModel(item: item, time: time, source: source)
    }

    private static func show(_ visit: Visit, _ site: Site) throws -> Answer { .page(try page(visit, site)) }

    /// - Parameter mistake: why what was typed was not ordered.
    private static func page(
        _ visit: Visit, _ site: Site, status: HTTPResponse.Status = .ok, typed: String = "", mistake: HTML? = nil
    ) throws -> Page {
        let viewModel = try viewModel(visit, site)
        let known = try site.rights.facts(ofCampaign: viewModel.source.campaign, at: viewModel.time.occurrence)
        let person = try visit.signedIn().account
        let eyes: OrderRefusal?
        do { eyes = try known.flatMap { try site.rights.fourEyes($0, approver: person) } } catch {
            // A damaged record may say that this person wrote it.
            eyes = .described(Diagnostics(explaining: error).inConsole)
        }
        let when: HTML = """
            <p><b>\(DateWords.time(viewModel.time.occurrence))</b> \(CalendarPage.clock(viewModel.time)) · \(Words.moment(viewModel.time.begins))</p>
            """
        let content: HTML = """
            \(Words.head("Approve \(viewModel.source.campaign) ahead", when))
            <p class="note"><a href="\(Words.path(ofCampaign: viewModel.item.file))">The campaign</a> · <a href="/calendar">Calendar</a></p>
            \(present(viewModel, visit, today: try CampaignPreview.audience(viewModel.item, visit, site)))
            \(form(viewModel, known, eyes, visit, (typed, mistake)))
            \(known.map(comparison) ?? "")
            \(try CampaignPreview.piece(viewModel.item, visit, site))
            """
        return Page(
            status: status, title: "Approve \(viewModel.source.campaign) ahead", place: .calendar, content: content)
    }

    /// The approval that there is.
    /// - Parameter today: how many devices the exports of today have for it; nil while that is not
    ///   known.
    private static func present(_ viewModel: ViewModel, _ visit: Visit, today: Int?) -> HTML {
        let given: AdvanceApproval, words: HTML
        switch viewModel.time.approval {
        case .none, .missing: return ""
        case .given(let approval):
            given = approval
            words = """
                <p><b dir="auto">\(given.name)</b> approved this time for at most \(TextFormat.devices(given.mostDevices)), \
                \(Words.moment(given.approvedAt)).</p>\(tooMany(given, today: today))
                """
        case .outdated(let approval):
            given = approval
            words = """
                <p class="stop"><b dir="auto">\(given.name)</b> approved this time, \(Words.moment(given.approvedAt)), but \
                \(AdvanceApproval.Flaw.sourceDiffers.sentence). It is not sent without another approval.</p>
                """
        }
        let target = address(viewModel.item.file, viewModel.time.occurrence, "/withdraw")
        return Words.panel(
            "The approval", id: "approval",
            "\(words)<form method=\"post\" action=\"\(target)\">\(OrderForm.hidden(visit))<p><button class=\"grave\">Withdraw it</button></p></form>"
        )
    }

    /// A note that it would wait if its time were now; blank if not. So a wrong number is noticed
    /// in time.
    private static func tooMany(_ given: AdvanceApproval, today: Int?) -> HTML {
        guard let today, today > given.mostDevices else { return "" }
        return """
            <p class="stop">With the exports of today it would go to \(TextFormat.devices(today)), and wait for another approval. \
            To approve more devices, withdraw this approval first.</p>
            """
    }

    /// - Parameter eyes: why this person may not approve it; nil if they may.
    private static func form(
        _ viewModel: ViewModel, _ known: AccountRights.CampaignFacts?, _ eyes: OrderRefusal?, _ visit: Visit,
        _ typed: (text: String, mistake: HTML?)
    ) -> HTML {
        if case .given = viewModel.time.approval { return "" }
        let title: HTML = "Approve this time"
        func refused(_ refusal: OrderRefusal) -> HTML {
            Words.panel(title, id: "approve", "<p>\(Words.sentence(refusal.sentence))</p>")
        }
        guard viewModel.source.hasOwnDevices else { return refused(.devicesUnknown) }
        if let eyes { return refused(eyes) }
        let alert: HTML = typed.mistake.map { "<p class=\"stop\" role=\"alert\">\($0)</p>" } ?? ""
        let last: HTML =
            known?.last.map {
                "<span class=\"note\">It had \(TextFormat.devices($0.audience)) when it was sent last.</span>"
            } ?? ""
        return Words.panel(
            title, id: "approve",
            """
            \(alert)<form class="action" method="post" action="\(address(viewModel.item.file, viewModel.time.occurrence))">
            <p>When the time comes, the audience is planned from the exports of that moment; below is that of today. If the campaign and the \
            settings of its app are still those of this page, and no more devices are planned than you say here, it is sent without asking \
            again. Otherwise it waits on <a href="/">Today</a> for an approval.</p>
            \(OrderForm.hidden(visit, digest: viewModel.source.digest))
            <p class="field short"><label for="most">Devices at most</label>\
            <input id="most" name="\(OrderForm.count)" value="\(typed.text)" inputmode="numeric" autocomplete="off" required>\(last)</p>
            <p><button class="main">Approve</button></p></form>
            """)
    }

    /// Its writers, and the differences from what was sent last.
    private static func comparison(_ known: AccountRights.CampaignFacts) -> HTML {
        let change: HTML =
            known.last.map {
                """
                <h3>Since it was sent last</h3><p><a href="\(Words.path(of: $0.id))">\($0.id)</a></p>\
                \(LineDiff.html(from: $0.campaignSource, to: known.text))
                """
            } ?? "<p class=\"note\">This campaign was not sent before.</p>"
        return Words.panel("The campaign", id: "campaign", "\(PlanPart.written(by: known.writers))\(change)")
    }

    // MARK: - Ordering

    private static func approve(_ visit: Visit, _ site: Site) throws -> Answer {
        try OrderForm.submit(visit, site, to: OrderPage.path) {
            let viewModel = try viewModel(visit, site)
            guard visit.form[OrderForm.digest] == viewModel.source.digest else {
                throw Refusal.outdated(
                    "The campaign, or the settings of its app, are not those that the page showed. Load the page again, and look at it."
                )
            }
            let typed = visit.form[OrderForm.count] ?? ""
            guard let most = OrderForm.number(in: typed), most > 0 else {
                let mistake: HTML =
                    "Type the largest number of devices that this approval holds for, such as 10,000. Nothing was ordered."
                return .instead(
                    .page(try page(visit, site, status: .unprocessableContent, typed: typed, mistake: mistake)))
            }
            let (campaign, occurrence) = (viewModel.time.campaign, viewModel.time.occurrence)
            return .order(
                .approveTime(
                    campaign: campaign, occurrence: occurrence, digest: viewModel.source.digest, mostDevices: most),
                activity: .timeApproved(occurrence, mostDevices: most, digest: viewModel.source.digest),
                app: viewModel.time.app,
                subject: campaign)
        }
    }

    /// Twice is once.
    private static func ask(_ visit: Visit, _ site: Site) throws -> Answer {
        let viewModel = try viewModel(visit, site)
        if isMissing(viewModel.time, at: visit.now), try request(for: viewModel.time, site) == nil {
            try site.note(
                .timeApprovalAsked(viewModel.time.occurrence), app: viewModel.time.app,
                subject: viewModel.time.campaign, visit)
        }
        return .redirect(Words.path(ofCampaign: viewModel.item.file) + "#actions")
    }

    private static func withdraw(_ visit: Visit, _ site: Site) throws -> Answer {
        try OrderForm.submit(visit, site, to: OrderPage.path) {
            let viewModel = try viewModel(visit, site)
            let (campaign, occurrence) = (viewModel.time.campaign, viewModel.time.occurrence)
            return .order(
                .withdrawApproval(campaign: campaign, occurrence: occurrence), activity: .approvalWithdrawn(occurrence),
                app: viewModel.time.app, subject: campaign)
        }
    }
}
