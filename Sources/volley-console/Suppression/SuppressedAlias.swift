import Accounts
import Automation
import Base
import Campaigns
import Runs

/// The devices of a customer: which of them are suppressed, and all of them put on the lists or
/// taken off at once: those that the page showed, and no others. A child reads the exports.
enum SuppressedAlias {
    /// Names of the form's fields.
    static let alias = "alias"
    private static let action = "do"

    /// What is done with all devices of the alias.
    private enum Action: String {
        case suppress, remove
    }

    /// A device, with the number of its list among those of the app.
    private typealias Device = (part: Int, target: Target)

    static func answer(_ visit: Visit, _ site: Site) throws -> Answer {
        let (app, parts) = try SuppressionPage.parts(visit, site)
        let name = visit.form[alias]?.trimming ?? ""
        guard !name.isEmpty else {
            return try SuppressionPage.page(visit, site, .refused("Write the alias of a customer."))
        }
        let asked = JSONValue.object(pairs: [("app", .string(app.name.value)), ("alias", .string(name))])
        let question = PlanningJobs.Question(
            kind: .alias, file: site.projectFile, input: asked.text, person: visit.person?.account ?? "",
            stamps: [FileStamp(path: site.projectFile)])
        guard let result = try site.jobs.answer(to: question, for: visit.person?.account) else {
            return try SuppressionPage.page(visit, site, .done(waiting(app, visit)))
        }
        guard !result.hasMistakes else { return try SuppressionPage.page(visit, site, .refused(result.piece)) }
        guard case .array(let items)? = try? JSONValue(parsing: result.output) else {
            return try SuppressionPage.page(visit, site, .refused(PlanningJobs.unreadable))
        }
        let devices: [Device] = items.compactMap { item in
            guard let part = item["service"]?.integerValue.map(Int.init), parts.indices.contains(part),
                let target = item["target"]?.stringValue
            else { return nil }
            return (part, Target(normalized: target))
        }
        guard !devices.isEmpty else {
            return try SuppressionPage.page(
                visit, site, .refused("No device of the exports has the alias “\(TextFormat.printable(name))”."))
        }
        var message: HTML = ""
        if let action = visit.form[action].flatMap(Action.init), visit.form[OrderForm.digest] != digest(of: devices) {
            message = """
                <p class="stop">Nothing was changed: the exports have other devices of this alias than the page showed. Look at the \
                list, and \(action == .suppress ? "suppress them" : "take them off" as HTML) if it is right.</p>
                """
        } else if let action = visit.form[action].flatMap(Action.init) {
            for (number, part) in parts.enumerated() {
                let targets = devices.filter { $0.part == number }.map(\.target)
                if !targets.isEmpty { try carry(out: action, targets, (app.name.value, part), visit, site) }
            }
        }
        return try SuppressionPage.page(visit, site, .done("\(message)\(html(name, devices, (app, parts), visit))"))
    }

    /// The same for the same devices, whatever their order.
    private static func digest(of devices: [Device]) -> String {
        ShownFile.digest(
            of: Array(devices.map { "\($0.part) \($0.target.text)" }.sorted().joined(separator: "\n").utf8))
    }

    private static func carry(
        out action: Action, _ targets: [Target], _ list: (app: String, part: SuppressionPart), _ visit: Visit,
        _ site: Site
    ) throws {
        switch action {
        case .suppress:
            let change = try list.part.list.add(at: visit.now) { entries in
                for target in targets {
                    try entries.add(target, reason: "Added in the console", invalidSince: visit.now)
                }
            }
            let changed = change.added + change.renewed
            if changed > 0 {
                try site.note(.suppressed(devices: changed), app: list.app, subject: list.part.name, visit)
            }
        case .remove:
            let removed = try list.part.list.remove { remove in for target in targets { try remove(target) } }.removed
            if removed > 0 {
                try site.note(.suppressionLifted(devices: removed), app: list.app, subject: list.part.name, visit)
            }
        }
    }

    /// What is sent again until the exports are read.
    private static func waiting(_ app: App, _ visit: Visit) -> HTML {
        let fields: [HTML] = [alias, action, OrderForm.digest].map {
            "<input type=\"hidden\" name=\"\($0)\" value=\"\(visit.form[$0] ?? "")\">"
        }
        return """
            <form method="post" action="\(SuppressionPage.path(of: app, "alias"))" data-again>\(Form.token(visit))\(fields)\
            <p>The exports are being read.</p><p><button>Look again</button></p></form>
            """
    }

    private static func html(
        _ name: String, _ devices: [Device], _ lists: (app: App, parts: [SuppressionPart]), _ visit: Visit
    ) throws
        -> HTML
    {
        var suppressed = 0
        let lines: [HTML] = try devices.map { device in
            guard let entry = try lists.parts[device.part].list.entry(of: device.target) else {
                return "<li><code dir=\"auto\">\(device.target.redacted)</code>: not suppressed</li>"
            }
            suppressed += 1
            return "<li>\(SuppressionPage.words(of: entry))</li>"
        }
        func button(_ action: Action, _ words: HTML) -> HTML {
            """
            <form method="post" action="\(SuppressionPage.path(of: lists.app, "alias"))">\(Form.token(visit))\
            <input type="hidden" name="\(alias)" value="\(name)"><input type="hidden" name="\(Self.action)" value="\(action.rawValue)">\
            <input type="hidden" name="\(OrderForm.digest)" value="\(digest(of: devices))">\
            <p><button>\(words)</button></p></form>
            """
        }
        let count = TextFormat.devices(devices.count)
        return """
            <p><b dir="auto">\(TextFormat.printable(name))</b> has \(count), \(TextFormat.count(suppressed)) of them suppressed.</p><ul>\(lines)</ul>
            \(suppressed < devices.count ? button(.suppress, "Suppress all devices of this customer") : "")
            \(suppressed > 0 ? button(.remove, "Take all devices of this customer off the list") : "")
            """
    }
}
