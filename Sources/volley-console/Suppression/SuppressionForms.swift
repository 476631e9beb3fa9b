import Accounts
import Audience
import Base
import Campaigns
import Glibc
import PushServices
import Runs
import Workspace

/// Actions on suppressed devices: look one up, add some, remove one or all of them. Tokens come in
/// forms only, never in addresses, which logs and histories keep; none is shown again.
enum SuppressionForms {
    static var routes: [Route] {
        let right = RouteRight.right(.manageSuppression)
        return [
            Route(method: .get, path: "/suppression", right: right, answer: SuppressionPage.overview),
            Route(method: .get, path: "/suppression/app", right: right, subject: .app, answer: SuppressionPage.show),
            Route(
                method: .post, path: "/suppression/alias", right: right, subject: .app, changes: true,
                answer: SuppressedAlias.answer),
            Route(method: .post, path: "/suppression/find", right: right, subject: .app, changes: true, answer: find),
            Route(
                method: .post, path: "/suppression/add", right: right, subject: .app, changes: true,
                bodyLimit: Route.deviceListBodyLimit,
                answer: add),
            Route(
                method: .post, path: "/suppression/remove", right: right, subject: .app, changes: true, answer: remove),
            Route(
                method: .post, path: "/suppression/remove-all", right: right, subject: .app, changes: true,
                answer: removeAll),
        ]
    }

    /// The forms of an app's page.
    static func all(_ app: App, _ parts: [SuppressionPart], _ visit: Visit) throws -> [HTML] {
        let nouns = parts.map(\.list.targets)
        let noun = Set(nouns.map(\.noun)).count == 1 ? nouns[0].noun : "device token"
        func form(_ action: String, _ title: HTML, _ meaning: HTML, button: HTML, fields: HTML, isGrave: Bool = false)
            -> HTML
        {
            """
            <form class="action" method="post" action="\(SuppressionPage.path(of: app, action))"><h3>\(title)</h3><p>\(meaning)</p>
            \(Form.token(visit))\(fields)<p><button\(isGrave ? " class=\"grave\"" : "" as HTML)>\(button)</button></p></form>
            """
        }
        func token(_ id: String) -> HTML {
            """
            <p class="field"><label for="\(id)">The whole \(noun)</label>\
            <input id="\(id)" name="device" autocomplete="off" autocapitalize="none" spellcheck="false" dir="ltr" required></p>
            """
        }
        let adding: HTML = """
            \(choice(parts, id: "add-list"))
            <p class="field"><label for="devices">One \(noun) a line, or a table with a column <code>token</code> and perhaps <code>reason</code> \
            and <code>invalid_since</code></label>\
            <textarea id="devices" name="devices" rows="6" spellcheck="false" autocomplete="off" dir="ltr" required></textarea></p>
            \(Form.text("Reason, where the table has none", name: "reason", value: "", attributes: " maxlength=\"200\" dir=\"auto\""))
            <p><label><input type="checkbox" name="all" value="yes"> The table has other columns, too, and I mean every device in it</label></p>
            """
        var forms = [
            form(
                "find", "Look up a device", "Is it suppressed, and why?", button: "Look up",
                fields: token("find-device")),
            form(
                "alias", "Look up a customer",
                "The devices of an alias in the app’s exports. Each can be suppressed, or taken off the list.",
                button: "Look up the customer",
                fields: Form.text(
                    "Alias", name: SuppressedAlias.alias, value: "",
                    attributes: " autocomplete=\"off\" dir=\"auto\" required")),
            form(
                "add", "Suppress devices",
                "They are left out of every plan from now on. Plans that exist already are sent as they are. Nothing is added if a line cannot be read.",
                button: "Suppress them", fields: adding),
            form(
                "remove", "Take a device off the list", "The next plan may include it again.", button: "Take it off",
                fields: token("remove-device")),
        ]
        for (number, part) in parts.enumerated() {
            let count = try part.list.count()
            guard count > 0 else { continue }
            let id = "count-\(number + 1)"
            forms.append(
                form(
                    "remove-all", "Take all off the list \(part.name)",
                    "The next plan may include all of them again, also those whose app is gone.",
                    button: "Take all off",
                    fields: """
                        <input type="hidden" name="list" value="\(part.list.environment)">
                        <p class="field short"><label for="\(id)">To go on, type the number of devices: \(TextFormat.count(count))</label>\
                        <input id="\(id)" name="count" inputmode="numeric" autocomplete="off" required></p>
                        """, isGrave: true))
        }
        return forms
    }

    private static func choice(_ parts: [SuppressionPart], id: String) -> HTML {
        guard parts.count > 1 else {
            return "<input type=\"hidden\" name=\"list\" value=\"\(parts[0].list.environment)\">"
        }
        let options: [HTML] = parts.map { "<option dir=\"auto\" value=\"\($0.list.environment)\">\($0.name)</option>" }
        return
            "<p class=\"field\"><label for=\"\(id)\">List</label><select id=\"\(id)\" name=\"list\">\(options)</select></p>"
    }

    // MARK: - What they do

    private static func find(_ visit: Visit, _ site: Site) throws -> Answer {
        let parts = try SuppressionPage.parts(visit, site).parts
        let text = visit.form["device"]?.trimming ?? ""
        let asked = parts.compactMap { part in part.list.targets.target(text).map { (part, $0) } }
        guard !asked.isEmpty else { return try SuppressionPage.page(visit, site, flaw(of: text, parts)) }
        let lines: [HTML] = try asked.map { part, token in
            guard let device = try part.list.entry(of: token) else {
                return "<p><code dir=\"auto\">\(token.redacted)</code> is not on the list \(part.name).</p>"
            }
            return "<p>On the list \(part.name): \(SuppressionPage.words(of: device))</p>"
        }
        return try SuppressionPage.page(visit, site, .done(HTML(lines)))
    }

    private static func add(_ visit: Visit, _ site: Site) throws -> Answer {
        let (app, parts) = try SuppressionPage.parts(visit, site)
        let part = try chosen(visit, parts)
        let list = PastedDevices(text: visit.form["devices"] ?? "", isWholeExport: visit.form["all"] != nil)
        let result: PastedDevices.Result
        do {
            result = try list.suppress(
                in: part, reason: visit.form["reason"]?.trimming ?? "", beside: site.catalog.place, at: visit.now)
        } catch let mistakes as Diagnostics {
            let items: [HTML] = mistakes.all.map { "<span dir=\"auto\">\(Words.text($0))</span><br>" }
            return try SuppressionPage.page(
                visit, site, .refused("Nothing was added. Go back to mend what you pasted.<br>\(items)"))
        }
        let changed = result.added + result.renewed
        if changed > 0 { try site.note(.suppressed(devices: changed), app: app.name.value, subject: part.name, visit) }
        var words: HTML = "\(TextFormat.devices(result.added)) added"
        if result.renewed > 0 {
            words = "\(words), \(TextFormat.count(result.renewed)) now known to be gone more recently"
        }
        let rest = result.read - changed
        if rest > 0 { words = "\(words), \(TextFormat.count(rest)) known before" }
        return try SuppressionPage.page(visit, site, .done("<p>\(words).</p>"))
    }

    private static func remove(_ visit: Visit, _ site: Site) throws -> Answer {
        let (app, parts) = try SuppressionPage.parts(visit, site)
        let text = visit.form["device"]?.trimming ?? ""
        let asked = parts.compactMap { part in part.list.targets.target(text).map { (part, $0) } }
        guard !asked.isEmpty else { return try SuppressionPage.page(visit, site, flaw(of: text, parts)) }
        let found = try asked.filter { part, token in try part.list.entry(of: token) != nil }
        for (part, token) in found where try part.list.remove({ try $0(token) }).removed > 0 {
            try site.note(.suppressionLifted(devices: 1), app: app.name.value, subject: part.name, visit)
        }
        let shown: HTML = "<code dir=\"auto\">\(Target.redact(text))</code>"
        guard !found.isEmpty else {
            return try SuppressionPage.page(
                visit, site, .refused("\(shown) is not on a list of this app. Nothing was changed."))
        }
        return try SuppressionPage.page(visit, site, .done("<p>\(shown) is not suppressed any more.</p>"))
    }

    private static func removeAll(_ visit: Visit, _ site: Site) throws -> Answer {
        let (app, parts) = try SuppressionPage.parts(visit, site)
        let part = try chosen(visit, parts)
        let count = try part.list.count()
        guard OrderForm.isTyped(visit.form["count"] ?? "", count) else {
            return try SuppressionPage.page(
                visit, site,
                .refused(
                    "That is not the number of devices, which is \(TextFormat.count(count)). Nothing was changed; type the number if you mean it."
                ))
        }
        let removed = try part.list.removeAll()
        if removed > 0 {
            try site.note(.suppressionLifted(devices: removed), app: app.name.value, subject: part.name, visit)
        }
        return try SuppressionPage.page(visit, site, .done("<p>\(TextFormat.devices(removed)) taken off the list.</p>"))
    }

    private static func chosen(_ visit: Visit, _ parts: [SuppressionPart]) throws -> SuppressionPart {
        guard let part = parts.first(where: { $0.list.environment == visit.form["list"] }) else {
            throw Refusal.unreadable
        }
        return part
    }

    private static func flaw(of text: String, _ parts: [SuppressionPart]) -> SuppressionPage.Result {
        let targets = parts[0].list.targets
        let flaw = targets.flaw(of: text) ?? "this is not \(targets.aNoun)"
        return .refused(Words.text(Diagnostic(flaw, remedy: targets.remedy)))
    }
}

/// One suppression list of an app: an app has one for each of its services, for the environment
/// that volley.yaml gives it.
struct SuppressionPart: Sendable {
    let list: SuppressionList
    /// The environment: `production`; of an app with several services, after the name of the
    /// service.
    let name: String
    /// Where the app's exports keep things.
    let columns: ExportColumns

    /// The lists of an app.
    /// - Throws: `Diagnostic`: the settings of the app have a mistake.
    static func all(of app: App, in project: Project, _ site: Site) throws -> [SuppressionPart] {
        let services = try RunSettings(app, projectFile: project.file, pushType: .alert).services
        return services.map { settings in
            let environment = settings.environment.name
            return SuppressionPart(
                list: site.catalog.suppression(
                    app: app.name.value, service: settings.service, environment: settings.listName),
                name: services.count == 1 ? environment : "\(settings.service.displayName), \(environment)",
                columns: app.columns)
        }
    }
}

/// Devices that a person pasted into a form, one a line or as a table, in the form that
/// `volley suppression import` takes from a file.
struct PastedDevices {
    let text: String
    /// Whether the table may have the columns of an export.
    let isWholeExport: Bool

    /// How far another machine's clock, or its time zone, may be ahead.
    private static let clockErrorSeconds = 86_400.0

    /// What happened to the devices that were read.
    struct Result {
        var read: Int, added: Int, renewed: Int
    }

    /// Adds them to a list, all of them or none.
    /// - Parameters:
    ///   - reason: for devices without one in the table; blank for the usual one.
    ///   - runs: the folder of runs.
    /// - Throws: `Diagnostics` with the lines that cannot be read; a `Diagnostic` if the list or
    ///   the disk does not work.
    func suppress(in part: SuppressionPart, reason: String, beside runs: String, at now: Timestamp) throws -> Result {
        // Readers need a file. This one is in the folder that only its owner may enter, as long as
        // it is read.
        let path = FilePaths.join(
            FilePaths.join(runs, name: "console"), name: "pasted-\(Secrets.make().prefix(16)).\(ending(part))")
        try FilePaths.create(path, bytes: Array(text.utf8), mode: 0o600)
        defer { unlink(path) }
        let reason = reason.isEmpty ? "Added in the console" : reason
        var read = 0
        let change = try part.list.add(at: now) { entries in
            try TokenList.read(
                path, targets: part.list.targets, columns: part.columns,
                latest: now.adding(seconds: Self.clockErrorSeconds),
                allowsExport: isWholeExport, meaningAll: "tick the box"
            ) { entry in
                read += 1
                try entries.add(
                    entry.token, reason: entry.reason.isEmpty ? reason : entry.reason,
                    invalidSince: entry.invalidSince ?? now)
            }
        }
        return Result(read: read, added: change.added, renewed: change.renewed)
    }

    /// The name for a file with this text: the reader recognizes tables by their endings.
    private func ending(_ part: SuppressionPart) -> String {
        let first =
            text.split(whereSeparator: \.isNewline).lazy.map { String($0).trimming }.first {
                !$0.isEmpty && !$0.hasPrefix("#")
            } ?? ""
        if first.contains("\t") { return "tsv" }
        if first.contains(",") || first.contains(";") { return "csv" }
        // A table of one column has the name of the column first.
        let names = ["token", "device_token", part.list.targets.column]
        return names.contains(first.trimmingQuotes.lowercased()) ? "csv" : "txt"
    }
}

extension String {
    /// Without double quotes around it.
    fileprivate var trimmingQuotes: String {
        count > 1 && hasPrefix("\"") && hasSuffix("\"") ? String(dropFirst().dropLast()) : self
    }
}
