import Accounts
import Automation
import Base
import Campaigns
import HTTPTypes
import Reports
import Runs

/// What can be ordered for a run: the panel on its page, and what its forms do.
enum RunOrders {
    /// How many orders are shown.
    private static let most = 10

    /// The routes, one for each action: each has a right of its own.
    static var routes: [Route] {
        RunAction.allCases.map { action in
            Route(
                method: .post, path: "/runs/:run/\(action.rawValue)", right: .right(action.right), subject: .run,
                changes: true,
                answer: { try place(action, $0, $1) })
        }
    }

    // MARK: - The panel

    /// The state of a run and of its orders: all that an open page requests, every two seconds.
    struct LiveState {
        var run: RunSummary
        /// Newest first.
        var orders: [PlacedOrder]
        var damaged: [DamagedOrder]

        init(_ run: RunSummary, _ site: Site) throws {
            self.run = run
            let listing = try site.orders.orders(ofRun: run.id)
            (orders, damaged) = (listing.orders, listing.damaged)
        }

        /// Whether something waits for the sender, or is being done.
        var isOpen: Bool { orders.contains { !OrderForm.state($0, at: .now()).hasEnded } }

        /// Changes when the buttons or the orders may be others.
        var mark: String {
            "\(run.state.rawValue) \(run.isApproved) \(run.restored != nil) \(run.orderToPassOn != nil) "
                + orders.map { "\($0.number)\($0.state.name)" }.joined(separator: " ")
                + damaged.map { " \($0.number)damaged" }.joined()
        }
    }

    /// What a run's page needs to show what can be ordered.
    struct ViewModel {
        var liveState: LiveState
        /// Of the plan; blank where nothing about a plan can be ordered.
        var digest: String
        var needsApproval: Bool
        /// Why this person may not approve it; nil if they may, or no approval is needed.
        var eyes: OrderRefusal?
        /// The runs that reached devices that it missed, newest first.
        var retries: [RunSummary]
        var run: RunSummary { liveState.run }
        /// The retries that sent, or may still: all but those that were cancelled before they
        /// began.
        var standingRetries: [RunSummary] { retries.filter { $0.state != .cancelled || $0.startedAt != nil } }
        /// How many devices they took over.
        var takenOver: Int { standingRetries.reduce(0) { $0 + $1.audience } }
        /// Whether that is every device that a retry could reach.
        var isTakenOver: Bool { takenOver > 0 && takenOver >= Outcome.retriable.reduce(0) { $0 + run.count($1) } }
    }

    /// Looks at a run for a person.
    static func viewModel(of run: RunSummary, _ visit: Visit, _ site: Site) throws -> ViewModel {
        let needsApproval = try needsApproval(run, site)
        let retries = try site.archive.listing().runs.filter { $0.retryOf == run.id }
        var viewModel = ViewModel(
            liveState: try LiveState(run, site), digest: "", needsApproval: needsApproval, retries: retries)
        guard run.state == .planned else { return viewModel }
        viewModel.digest = try digest(of: run.id, site)
        if RunAction.approve.isOffered(for: run, needsApproval: needsApproval), visit.may(.approve, app: run.app),
            let person = visit.person
        {
            do {
                viewModel.eyes = try site.rights.fourEyes(
                    run: run.id, approver: person.account,
                    after: Set(site.archive.begun(before: run).map(\.sourceDigest)))
            } catch {
                // A damaged record may say that this person planned it.
                viewModel.eyes = .described(Diagnostics(explaining: error).inConsole)
            }
        }
        return viewModel
    }

    private static func needsApproval(_ run: RunSummary, _ site: Site) throws -> Bool {
        try site.project().app(named: run.app)?.needsApproval ?? false
    }

    private static func digest(of id: String, _ site: Site) throws -> String {
        try site.catalog.withRun(id) { $0.planDigest }
    }

    /// The panel: every action that the person may order now, with what it will do; blank without
    /// any.
    static func panel(_ viewModel: ViewModel, _ visit: Visit, typed: (action: RunAction, message: HTML)? = nil) -> HTML
    {
        let run = viewModel.run
        let actions = offered(viewModel, visit)
        let isRetried = viewModel.isTakenOver && actions.contains { [.retry, .retryUnsent].contains($0) }
        let forms: [HTML] = actions.filter { !isRetried || ![.retry, .retryUnsent].contains($0) }.map { action in
            if action == .approve, let eyes = viewModel.eyes {
                return """
                    <div class="action"><h3>\(action.button)</h3><p>\(Words.sentence(eyes.sentence))</p>\
                    <p class="note"><a href="/account">Your account</a></p></div>
                    """
            }
            return form(action, viewModel, visit, message: typed?.action == action ? typed?.message : nil)
        }
        let isForNobody = run.state == .planned && run.audience == 0
        let waits = RunAction.approve.isOffered(for: run, needsApproval: viewModel.needsApproval)
        let note: HTML =
            isForNobody
            ? "<p><b>Nobody would get it:</b> no device is in the audience of this plan. Change the campaign or its exports, and plan it again.</p>"
            : waits && !visit.may(.approve, app: run.app)
                ? "<p>This plan waits for the approval of a person with the role of an approver. Nothing is sent before.</p>"
                : isRetried ? "<p>\(retried(viewModel))</p>" : ""
        guard !forms.isEmpty || !note.markup.isEmpty else { return "" }
        return Words.panel("What you can do", id: "actions", "\(note)\(forms)")
    }

    private static func offered(_ viewModel: ViewModel, _ visit: Visit) -> [RunAction] {
        let run = viewModel.run
        let offered = RunAction.allCases.filter {
            visit.may($0.right, app: run.app) && $0.isOffered(for: run, needsApproval: viewModel.needsApproval)
        }
        // One way to put a plan away is enough.
        return offered.contains(.reject) || offered.contains(.cancel) ? offered.filter { $0 != .withdraw } : offered
    }

    /// On a phone, the decision about a plan stays in sight while one reads: the same buttons, or
    /// the way to the form that needs more than a tap. Blank where nothing can be decided.
    static func shortcuts(_ viewModel: ViewModel, _ visit: Visit) -> HTML {
        let buttons: [HTML] = offered(viewModel, visit).compactMap { action in
            switch action {
            case .approve where viewModel.eyes == nil:
                "<button\(action.look) form=\"order-\(action.rawValue)\">\(action.button)</button>"
            case .reject, .send: "<a class=\"button\" href=\"#order-\(action.rawValue)\">\(action.button) …</a>"
            default: nil
            }
        }
        return buttons.isEmpty ? "" : "<p class=\"shortcuts\">\(buttons)</p>"
    }

    /// Which retries took over devices of the run, and how far they are.
    private static func retried(_ viewModel: ViewModel) -> HTML {
        let links = viewModel.standingRetries.map { retry -> HTML in
            "<a href=\"\(Words.path(of: retry.id))\">\(retry.id)</a> (\(Words.state(retry.state)))"
        }
        let count = viewModel.standingRetries.count
        return """
            \(count == 1 ? "A retry" : "Retries") took over \(TextFormat.devices(viewModel.takenOver)): \
            \(HTML(joined: links.enumerated().map { $0 == 0 ? $1 : ", \($1)" })).
            """
    }

    private static func form(_ action: RunAction, _ viewModel: ViewModel, _ visit: Visit, message: HTML?) -> HTML {
        let run = viewModel.run
        let alert: HTML = message.map { "<p class=\"stop\" role=\"alert\">\($0)</p>" } ?? ""
        var fields: HTML = ""
        if action.order("", digest: "", reason: "").values.reason != nil {
            fields =
                "<p class=\"field\"><label for=\"reason\">Why</label><textarea id=\"reason\" name=\"\(OrderForm.reason)\" rows=\"2\" maxlength=\"1000\" dir=\"auto\" required></textarea></p>"
        }
        if let count = action.countToType(for: run) {
            let id = "count-\(action.rawValue)"
            fields = """
                <p class="field short"><label for="\(id)">To go on, type the number of devices: \(TextFormat.count(count))</label>\
                <input id="\(id)" name="\(OrderForm.count)" inputmode="numeric" autocomplete="off" required></p>
                """
        }
        let before: HTML =
            viewModel.takenOver > 0 && [.retry, .retryUnsent].contains(action) ? " <b>\(retried(viewModel))</b>" : ""
        return """
            <form class="action" id="order-\(action.rawValue)" method="post" action="\(Words.path(of: run.id))/\(action.rawValue)">
            <h3>\(action.button)</h3>\(alert)<p>\(action.meaning(for: run, at: visit.now))\(before)</p>
            \(OrderForm.hidden(visit, digest: viewModel.digest))\(fields)
            \(action.confirmation.map { Form.confirmed("\(action.button)", does: "\($0)") } ?? "<p><button\(action.look)>\(action.button)</button></p>")</form>
            """
    }

    /// What was ordered for the run, newest first; blank without any.
    static func history(_ viewModel: ViewModel) -> HTML {
        let liveState = viewModel.liveState
        let damaged: [HTML] = liveState.damaged.prefix(most).map {
            "<p class=\"stop\">\(Words.sentence($0.mistake.inConsole))</p>"
        }
        let list: HTML =
            "\(damaged)\(OrderForm.list(Array(liveState.orders.prefix(most)), of: viewModel, at: .now()))"
        return list.markup.isEmpty ? "" : Words.panel("What was ordered", id: "orders", list)
    }

    // MARK: - Ordering

    private static func place(_ action: RunAction, _ visit: Visit, _ site: Site) throws -> Answer {
        let run = try RunPage.run(visit, site)
        return try OrderForm.submit(visit, site, to: { _ in Words.path(of: run.id) + "#orders" }) {
            guard action.isOffered(for: run, needsApproval: try needsApproval(run, site)) else {
                if let restored = run.restored, action.isRefused(for: restored) {
                    throw Refusal.outdated("Nothing was ordered: \(restored.sentence).")
                }
                throw Refusal.outdated(
                    run.state == .planned && run.audience == 0
                        ? "Nobody would get this plan: no device is in its audience. Change the campaign or its exports, and plan it again."
                        : "The run is \(Words.state(run.state)) by now. Load its page again, and see what can be done.")
            }
            let digest = visit.form[OrderForm.digest] ?? "", reason = visit.form[OrderForm.reason] ?? ""
            if action == .reject, Blank.isText(reason) {
                let message: HTML = "Say why: the author reads it. Nothing was ordered."
                return .instead(try RunPage.page(visit, site, status: .unprocessableContent, typed: (action, message)))
            }
            let order = action.order(run.id, digest: digest, reason: reason)
            if order.values.digest != nil, try digest != self.digest(of: run.id, site) {
                throw Refusal.outdated(
                    "The plan is not the one that the page showed. Load it again, and look at it once more.")
            }
            if let count = action.countToType(for: run), !OrderForm.isTyped(visit.form[OrderForm.count] ?? "", count) {
                let message: HTML =
                    "That is not the number of devices, which is \(TextFormat.count(count)). Nothing was ordered; type the number if you mean it."
                return .instead(try RunPage.page(visit, site, status: .unprocessableContent, typed: (action, message)))
            }
            return .order(
                order, activity: action.activity(digest: digest, reason: reason), app: run.app, subject: run.id)
        }
    }
}
