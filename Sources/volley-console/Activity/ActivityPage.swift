import Accounts
import Base
import Campaigns

/// Activities of people, newest first, with filters in the address.
enum ActivityPage {
    static var routes: [Route] { [Route(method: .get, path: path, right: .right(.seeSystem), answer: show)] }

    private static let path = "/activity"
    /// Lines of a page.
    static let pageLength = 50

    /// What one person did.
    static func path(ofPerson id: AccountID) -> String { path + FormFields.query([("person", String(id.number))]) }

    /// The filters in the address, as typed there.
    private struct Choice {
        var person: String, app: String, kind: String
        /// Only lines that are older than the line with this number.
        var before: String

        init(_ query: [String: String]) {
            (person, app, kind, before) = (
                query["person"] ?? "", query["app"] ?? "", query["kind"] ?? "", query["before"] ?? ""
            )
        }

        var isAll: Bool { person.isEmpty && app.isEmpty && kind.isEmpty }

        func path(before: Int64?) -> String {
            ActivityPage.path
                + FormFields.query([
                    ("person", person), ("app", app), ("kind", kind), ("before", before.map { String($0) } ?? ""),
                ])
        }

        /// nil for text that cannot be a line's number.
        func filter(apps: Set<String>?) -> ActivityFilter? {
            var filter = ActivityFilter(apps: apps)
            if !person.isEmpty {
                guard let number = Int64(person) else { return nil }
                filter.account = AccountID(number)
            }
            if !app.isEmpty { filter.app = app }
            if !kind.isEmpty {
                guard let name = ActivityKind.Name(rawValue: kind) else { return nil }
                filter.kind = name
            }
            return filter
        }
    }

    private static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let choice = Choice(visit.query)
        let seesAll = visit.may(.seeSystem, app: nil)
        let apps = try site.project().apps.map(\.name.value).filter { visit.may(.seeSystem, app: $0) }
        let found = try choice.filter(apps: seesAll ? nil : Set(apps)).map {
            try site.accounts.activities($0, before: Int64(choice.before), count: pageLength)
        }
        let people = try site.accounts.accounts()
        let limits: HTML =
            seesAll
            ? ""
            : "<p class=\"note\">You see what concerns the apps that you administer; signing in and accounts concern all apps.</p>"
        let content: HTML = """
            \(Words.head("Activity", "<p>Who did what in the console. Nobody can change or remove a line.</p>"))
            \(form(choice, people, apps))
            \(limits)
            \(damaged(found?.damaged ?? []))
            \(table(found?.activities ?? [], people))
            \(turns(choice, found?.next))
            """
        return .page(Page(title: "Activity", place: .activity, content: content))
    }

    private static func form(_ choice: Choice, _ people: [Account], _ apps: [String]) -> HTML {
        let persons = people.map { (value: String($0.id.number), words: "\($0.displayName.text) (\($0.name.text))") }
        let kinds = ActivityKind.Name.allCases.map { (value: $0.rawValue, words: ActivityWords.name($0)) }
        return """
            <form class="filters" method="get" action="\(path)" role="search">
            \(Form.choice("Person", name: "person", among: persons, chosen: choice.person, none: "All"))
            \(Form.choice("App", name: "app", among: apps.map { ($0, TextFormat.printable($0)) }, chosen: choice.app, none: "All"))
            \(Form.choice("What", name: "kind", among: kinds, chosen: choice.kind, none: "All"))
            <p><button>Show</button></p></form>
            """
    }

    /// Lines of the page that cannot be read; blank without any.
    private static func damaged(_ numbers: [Int64]) -> HTML {
        guard !numbers.isEmpty else { return "" }
        let list = numbers.map { String($0) }.joined(separator: ", ")
        return """
            <p class="stop">\(TextFormat.counted(numbers.count, one: "line")) of this page cannot be read, as the file of accounts is damaged: \(list). \
            A backup of the accounts has them.</p>
            """
    }

    private static func table(_ activities: [Activity], _ people: [Account]) -> HTML {
        guard !activities.isEmpty else { return "<p class=\"lead\">Nothing matches.</p>" }
        let names = Dictionary(people.map { ($0.id, $0.displayName.text) }) { first, _ in first }
        let lines: [HTML] = activities.map { activity in
            """
            <tr><th scope="row">\(person(activity.person, names))</th>
            <td data-name="What">\(ActivityWords.sentence(activity)) \(place(activity))</td>
            <td data-name="When">\(Words.moment(activity.at))</td></tr>
            """
        }
        return """
            <table class="rows"><thead><tr><th scope="col">Person</th><th scope="col">What</th><th scope="col">When</th></tr></thead>
            <tbody>\(lines)</tbody></table>
            """
    }

    /// The app that it concerns, and where it was done.
    private static func place(_ activity: Activity) -> HTML {
        let app: HTML =
            activity.app.map { "<span class=\"chip\" dir=\"auto\">\(TextFormat.printable($0))</span>" } ?? ""
        let address: HTML = activity.address.map { " <span class=\"note\">from \($0.description)</span>" } ?? ""
        return "\(app)\(address)"
    }

    /// A removed person is still listed by their sign-in name.
    private static func person(_ person: Activity.Person, _ names: [AccountID: String]) -> HTML {
        guard let id = person.account else { return "<span class=\"note\">on the server itself</span>" }
        let name = names[id] ?? person.name?.text ?? "removed"
        return "<a href=\"\(path(ofPerson: id))\" dir=\"auto\">\(name)</a>"
    }

    private static func turns(_ choice: Choice, _ next: Int64?) -> HTML {
        let newest: HTML =
            choice.before.isEmpty ? "" : "<a href=\"\(choice.path(before: nil))\" rel=\"first\">Newest</a>"
        let older: HTML = next.map { "<a href=\"\(choice.path(before: $0))\" rel=\"next\">Older</a>" } ?? ""
        guard !newest.markup.isEmpty || !older.markup.isEmpty else { return "" }
        return "<nav class=\"turns\" aria-label=\"Pages\">\(newest) \(older)</nav>"
    }
}
