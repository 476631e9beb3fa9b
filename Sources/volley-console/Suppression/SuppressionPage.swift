import Accounts
import Base
import Campaigns
import HTTPTypes
import PushServices
import Runs
import Workspace

/// Devices that get no more pushes: how many of which app, and why.
enum SuppressionPage {
    /// How many entries of a list are shown.
    private static let shownEntries = 5

    /// All apps whose lists the person may see.
    static func overview(_ visit: Visit, _ site: Site) throws -> Answer {
        let project = try site.project()
        let lines: [HTML] = project.apps.filter { visit.may(.manageSuppression, app: $0.name.value) }.flatMap {
            app -> [HTML] in
            let link: HTML = "<a href=\"\(path(of: app))\" dir=\"auto\">\(TextFormat.printable(app.name.value))</a>"
            do {
                return try SuppressionPart.all(of: app, in: project, site).map { part in
                    """
                    <tr><th scope="row">\(link)</th><td data-name="List" dir="auto">\(part.name)</td>
                    <td data-name="Devices" class="number">\(TextFormat.count(try part.list.count()))</td></tr>
                    """
                }
            } catch {
                let mistakes = Diagnostics(explaining: error).all.map { Words.text($0) }
                return [
                    "<tr><th scope=\"row\">\(link)</th><td data-name=\"List\" dir=\"auto\">\(mistakes)</td><td data-name=\"Devices\">–</td></tr>"
                ]
            }
        }
        let content: HTML = """
            \(Words.head("Suppression", "<p>These devices are left out of every plan: the app is gone from them, or a person put them on the list.</p>"))
            <table class="rows"><thead><tr><th scope="col">App</th><th scope="col">List</th><th scope="col" class="number">Devices</th></tr></thead>
            <tbody>\(lines)</tbody></table>
            """
        return .page(Page(title: "Suppression", place: .suppression, content: content))
    }

    /// One app.
    static func show(_ visit: Visit, _ site: Site) throws -> Answer { try page(visit, site) }

    /// The result of a form of the page, or why it failed.
    struct Result {
        var message: HTML
        /// nil if it was done.
        var refusal: HTTPResponse.Status?

        /// It was done.
        static func done(_ message: HTML) -> Result { Result(message: message, refusal: nil) }

        /// It was not done, because of a typed value.
        static func refused(_ message: HTML) -> Result { Result(message: message, refusal: .unprocessableContent) }
    }

    static func page(_ visit: Visit, _ site: Site, _ result: Result? = nil) throws -> Answer {
        let (app, parts) = try parts(visit, site)
        let project = try site.project()
        let settings = try RunSettings(app, projectFile: project.file, pushType: .alert)
        let away: [HTML] = [project.exchangeLists(of: app.name.value, settings, in: site.catalog)].compactMap(\.self)
            .map {
                "<p class=\"note\">\(Words.text($0))</p>"
            }
        let message: HTML =
            result.map { result in
                result.refusal == nil
                    ? "<div class=\"done\" role=\"status\">\(result.message)</div>" : AccountWords.alert(result.message)
            } ?? ""
        let lists: [HTML] = try parts.enumerated().map { number, part in
            Words.panel("\(Words.capitalized(part.name))", id: "list-\(number + 1)", try summary(of: part))
        }
        let content: HTML = """
            \(Words.head("Suppressed devices of \(TextFormat.printable(app.name.value))"))
            \(message)
            \(away)
            \(lists)
            \(Words.panel("What you can do", id: "actions", HTML(try SuppressionForms.all(app, parts, visit))))
            <p class="note"><a href="/suppression">All apps</a></p>
            """
        return .page(
            Page(status: result?.refusal ?? .ok, title: "Suppressed devices", place: .suppression, content: content))
    }

    /// The app that the query names, with its lists. `Gate` has checked the right.
    static func parts(_ visit: Visit, _ site: Site) throws -> (app: App, parts: [SuppressionPart]) {
        let project = try site.project()
        guard let app = project.app(named: visit.query["app"] ?? "") else { throw Refusal.notFound }
        return (app, try SuppressionPart.all(of: app, in: project, site))
    }

    /// The page of an app.
    static func path(of app: App, _ action: String = "app") -> String {
        "/suppression/\(action)" + FormFields.query([("app", app.name.value)])
    }

    private static func summary(of part: SuppressionPart) throws -> HTML {
        let reasons = try part.list.reasons()
        guard !reasons.isEmpty else { return "<p class=\"note\">No device is suppressed.</p>" }
        let count = reasons.reduce(0) { $0 + $1.devices }
        let lines: [HTML] = reasons.map { reason, devices in
            """
            <tr><th scope="row" dir="auto">\(shown(reason))</th><td data-name="Devices" class="number">\(TextFormat.count(devices))</td></tr>
            """
        }
        let newest: [HTML] = try part.list.newest(shownEntries).map { "<li>\(words(of: $0))</li>" }
        return """
            <p><b>\(TextFormat.devices(count))</b> \(TextFormat.plural(count, one: "is", many: "are")) suppressed.</p>
            <table class="rows"><thead><tr><th scope="col">Reason</th><th scope="col" class="number">Devices</th></tr></thead>
            <tbody>\(lines)</tbody></table>
            <h3>Newest</h3><ul>\(newest)</ul>
            """
    }

    /// An entry. Its token is cut, as on every page.
    static func words(of device: SuppressedDevice) -> HTML {
        let run: HTML =
            device.run.isEmpty ? "" : ", found by <a href=\"\(Words.path(of: device.run))\">\(device.run)</a>"
        return """
            <code dir="auto">\(device.token.redacted)</code>: <span dir="auto">\(shown(device.reason))</span>, since \(Words.moment(device.invalidSince))\(run)
            """
    }

    /// A person's file may have tokens in any column.
    private static func shown(_ reason: String) -> String {
        reason.isEmpty ? "no reason given" : TextFormat.printable(TargetRedaction.withoutTargets(reason))
    }
}
