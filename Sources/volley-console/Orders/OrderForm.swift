import Accounts
import Automation
import Base
import HTTPTypes
import Reports
import Runs
import Synchronization

/// Pieces of forms that order something.
enum OrderForm {
    /// Names of its fields.
    static let nonce = "nonce", digest = "digest", reason = "reason", count = "count"

    /// The hidden fields: against forgery, the key that makes a double click one order, and what
    /// the page shows.
    static func hidden(_ visit: Visit, digest: String = "") -> HTML {
        """
        \(Form.token(visit))<input type="hidden" name="\(nonce)" value="\(Secrets.make())">\
        <input type="hidden" name="\(Self.digest)" value="\(digest)">
        """
    }

    /// The key of a form.
    /// - Throws: `Refusal` for a form without one.
    static func nonce(of visit: Visit) throws(Refusal) -> String {
        let nonce = visit.form[Self.nonce] ?? ""
        guard Secrets.isOne(nonce) else { throw Refusal.unreadable }
        return nonce
    }

    /// Whether a person typed a number as it is shown: blanks, commas, points and apostrophes
    /// between digits do not count.
    static func isTyped(_ text: String, _ count: Int) -> Bool {
        let digits = text.unicodeScalars.filter { !" \u{A0}\u{202F},.'’".unicodeScalars.contains($0) }
        return String(String.UnicodeScalarView(digits)) == String(count)
    }

    /// The number that a person typed: digits, or groups of three with one kind of separator
    /// between them. nil for anything else, as 1.5 is not 15.
    static func number(in text: String) -> Int? {
        let text = text.trimming
        if text.wholeMatch(of: #/[0-9]{1,15}/#) != nil { return Int(text) }
        guard let groups = text.wholeMatch(of: #/[0-9]{1,3}([ \u{A0}\u{202F},.'’])[0-9]{3}(?:\1[0-9]{3}){0,3}/#) else {
            return nil
        }
        return Int(text.replacing(groups.1, with: ""))
    }

    /// The order that a form describes, or what is shown instead of placing it.
    enum Wish {
        case order(Order.Kind, activity: ActivityKind, app: String?, subject: String)
        case instead(Answer)
    }

    /// Hands in the order of a form. Submitting the same form again is the same order, whatever has
    /// changed since.
    /// - Parameters:
    ///   - place: where the person goes then, by the form's key.
    ///   - wish: checks the present state; throws a `Refusal` if the form does not fit it.
    static func submit(_ visit: Visit, _ site: Site, to place: (String) -> String, _ wish: () throws -> Wish) throws
        -> Answer
    {
        guard let person = visit.person else { throw Refusal.notAllowed }
        let nonce = try nonce(of: visit)
        let done = Answer.redirect(place(nonce))
        if let known = try site.orders.order(nonce) {
            guard known.order.by == person.account else { throw Refusal.usedForm }
            return done
        }
        switch try wish() {
        case .instead(let answer): return answer
        case .order(let kind, let activity, let app, let subject):
            let order = Order(nonce: nonce, kind: kind, by: person.account)
            if let refusal = site.rights.refusal(of: order) { throw Refusal.notOrdered(refusal) }
            do { _ = try site.orders.place(order) } catch {
                // The same form may have been sent a moment ago, by this person with other values,
                // or by another one.
                guard let known = try site.orders.order(nonce) else { throw error }
                guard known.order.by == person.account else { throw Refusal.usedForm }
                return done
            }
            try site.note(activity, app: app, subject: subject, visit)
            return done
        }
    }

    /// The results of orders about a run, newest first; blank without any.
    static func list(_ orders: [PlacedOrder], of viewModel: RunOrders.ViewModel, at now: OrderMoment) -> HTML {
        let items: [HTML] = orders.map { placed in
            let state = state(placed, at: now)
            // The reader is on the run's page, and a retry has a link.
            let retry = viewModel.retries.first { $0.id == placed.made }
            let known = [viewModel.run.id, retry?.id].compactMap(\.self)
            let sentence = Words.sentence(
                known.reduce(state.sentence(for: .console)) { $0.replacing(" (\($1))", with: "") })
            let link: HTML = retry.map { " <a href=\"\(Words.path(of: $0.id))\">The retry</a>" } ?? ""
            let look: HTML = state.hasEnded ? "" : " class=\"open\""
            return """
                <li\(look)><p><b dir="auto">\(placed.order.by)</b>: \(placed.order.kind.name.replacing("_", with: " ")), \(Words.moment(placed.order.askedAt))</p>
                <p class="note">\(Prose.html(sentence))\(link)</p></li>
                """
        }
        return items.isEmpty ? "" : "<ul class=\"list\">\(items)</ul>"
    }

    /// Only the next sender records an order as lapsed after its time.
    static func state(_ placed: PlacedOrder, at now: OrderMoment) -> OrderState {
        placed.state == .waiting && placed.order.hasLapsed(at: now) ? .lapsed : placed.state
    }
}

extension Refusal {
    /// The sender would not do it.
    static func notOrdered(_ refusal: OrderRefusal) -> Refusal {
        Refusal(
            status: .forbidden, title: "This cannot be ordered",
            words: "\(Words.sentence(refusal.sentence)) Nothing was ordered.")
    }

    /// A form's key belongs to another person's order, about which nothing is revealed.
    static let usedForm = outdated("This form cannot be used any more. Load its page again, and order it from there.")

    /// The order does not fit the present state.
    static func outdated(_ words: String) -> Refusal {
        Refusal(status: .conflict, title: "This is out of date", words: "\(words) Nothing was ordered.")
    }
}

/// Where the console hands in orders, and looks up their results. The file is made with the first
/// order.
final class OrderSubmission: Sendable {
    private let records: OrderRecords
    /// Open since it was first needed.
    private let store = Mutex<OrderStore?>(nil)

    init(_ records: OrderRecords) { self.records = records }

    /// Writes an order down; the same form a second time is the same order.
    /// - Throws: `Diagnostic`: the record cannot be used, or the form belongs to another order.
    func place(_ order: Order) throws -> PlacedOrder { try opened().place(order) }

    /// Checks that orders can be written down, as far as that shows without one.
    /// - Throws: `Diagnostic`: the record cannot be used.
    func checkUsable() throws { _ = try opened() }

    /// An order by the key of its form; nil for an unknown one.
    func order(_ nonce: String) throws -> PlacedOrder? { records.isThere ? try opened().order(nonce) : nil }

    /// The orders about a run, or that made it, newest first.
    func orders(ofRun run: String) throws -> OrderListing {
        guard records.isThere else { return OrderListing() }
        let listing = try opened().orders(ofRun: run)
        return OrderListing(listing.orders.reversed(), damaged: listing.damaged.reversed())
    }

    private func opened() throws -> OrderStore {
        try store.withLock { store in
            // The file may have been restored from a backup.
            if let open = store, open.isInPlace { return open }
            store?.close()
            store = nil
            let open = try records.open()
            store = open
            return open
        }
    }
}
