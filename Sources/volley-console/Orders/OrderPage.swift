import Base
import Reports
import Runs

/// One order, for the person that placed it: it links to the run that it made, once that exists.
enum OrderPage {
    static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let placed = try placed(visit, site)
        let state = OrderForm.state(placed, at: .now())
        if case .done(let result) = state, let run = result.run { return .redirect(Words.path(of: run)) }
        let path = path(of: placed.order.nonce)
        let live: HTML = state.hasEnded ? "" : " data-live=\"\(path)/live.json\" data-mark=\"\(mark(placed, state))\""
        let refresh: HTML =
            state.hasEnded ? "" : "<p class=\"note\" data-without-script><a href=\"\(path)\">Refresh</a></p>"
        let content: HTML = """
            \(Words.head("What you ordered", "<p dir=\"auto\">\(words(placed))</p>"))
            <section class="panel" aria-labelledby="state"\(live)><h2 id="state">How far it is</h2>
            <p class="lead" data-fill="state" aria-live="polite">\(sentence(state))</p>\(refresh)</section>
            \(placed.made.map { "<p><a href=\"\(Words.path(of: $0))\">The run that it made</a></p>" } ?? "" as HTML)
            \(back(placed, site))
            """
        return .page(Page(title: "What you ordered", content: content))
    }

    /// Where an order is shown, by the key of its form.
    static func path(of nonce: String) -> String { "/orders/" + FormFields.encode(nonce) }

    static func live(_ visit: Visit, _ site: Site) throws -> Answer {
        let placed = try placed(visit, site)
        let state = OrderForm.state(placed, at: .now())
        return .json(
            .object(pairs: [
                ("is_live", .bool(!state.hasEnded)), ("mark", .string(mark(placed, state))),
                ("pieces", .object(pairs: [("state", .string(sentence(state).markup))])),
            ]))
    }

    private static func placed(_ visit: Visit, _ site: Site) throws -> PlacedOrder {
        guard let placed = try site.orders.order(visit.parameters["nonce"] ?? ""),
            placed.order.by == visit.person?.account
        else {
            throw Refusal.notFound
        }
        return placed
    }

    private static func mark(_ placed: PlacedOrder, _ state: OrderState) -> String {
        "\(state.name) \(placed.made ?? "")"
    }

    private static func sentence(_ state: OrderState) -> HTML {
        Prose.html(Words.sentence(state.sentence(for: .console)))
    }

    private static func words(_ placed: PlacedOrder) -> HTML {
        let kind = placed.order.kind
        if case .file(let file) = kind.subject { return "A \(kind.name) of \(name(of: file))" }
        return switch kind {
        case .skip(let campaign, let occurrence): "Leave out \(campaign) at \(DateWords.time(occurrence))"
        case .approveTime(let campaign, let occurrence, _, let most):
            "Approve \(campaign) at \(DateWords.time(occurrence)) for at most \(TextFormat.devices(most))"
        case .withdrawApproval(let campaign, let occurrence):
            "Withdraw the approval of \(campaign) at \(DateWords.time(occurrence))"
        default: "\(kind.words)"
        }
    }

    private static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    private static func back(_ placed: PlacedOrder, _ site: Site) -> HTML {
        let (path, name) =
            switch placed.order.kind.subject {
            case .run(let run): (Words.path(of: run), "run")
            case .file(let file): (Words.path(ofCampaign: self.name(of: file)), "campaign")
            case .campaign: ("/calendar", "calendar")
            }
        return "<p class=\"note\"><a href=\"\(path)\">Back to the \(name)</a></p>"
    }
}
