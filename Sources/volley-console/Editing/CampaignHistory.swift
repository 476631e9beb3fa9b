import Accounts
import Automation
import Base
import Campaigns

/// The versions of a campaign file, and what each of them changed.
enum CampaignHistory {
    /// How many are listed.
    private static let most = 100

    static var routes: [Route] {
        [Route(method: .get, path: "/campaign/history", right: .right(.seeCampaigns), subject: .campaign, answer: show)]
    }

    private static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let item = try CampaignsPage.item(visit, site)
        // A file of this name may have been another app's.
        let versions = try site.accounts.versions(of: item.file, count: most).filter {
            visit.may(.seeCampaigns, app: $0.app)
        }
        let damaged = try site.accounts.damagedVersions(of: item.file, count: most)
        let bytes = try FilePaths.read(item.path, atMost: Route.campaignBodyLimit)
        let present = CampaignSaving.text(of: bytes)
        let chosen = visit.query["version"].flatMap(Int64.init) ?? versions.first?.number
        let mayEdit = visit.may(.edit, app: item.app)
        let now = ShownFile.digest(of: Array(present.utf8))
        let lines: [HTML] = versions.map { version in
            let who: HTML =
                version.person.name.map { "<b dir=\"auto\">\($0.text)</b>" }
                ?? "found as it is, written outside of the console"
            let mark: HTML = version.digest == now ? " <span class=\"chip\">as it is now</span>" : ""
            let link = "/campaign/history" + FormFields.query([("file", item.file), ("version", "\(version.number)")])
            let current: HTML = version.number == chosen ? " aria-current=\"true\"" : ""
            return
                "<li><a href=\"\(link)#difference\"\(current)>Version \(TextFormat.count(Int(version.number)))</a>, \(Words.moment(version.at)), \(who)\(mark)</li>"
        }
        let list: HTML =
            versions.isEmpty
            ? damaged.isEmpty ? "<p class=\"note\">Nobody has saved this campaign in the console yet.</p>" : ""
            : "<ul class=\"list\">\(lines)</ul>"
        if let chosen, !versions.contains(where: { $0.number == chosen }) { throw Refusal.notFound }
        let change = try chosen.map { number in
            let earlier = (versions.map { ($0.number, false) } + damaged.map { ($0, true) }).filter { $0.0 < number }
                .sorted { $0.0 > $1.0 }
            return try Change(number: number, earlier: earlier, file: item.file, present: present, site).panel(
                mayEdit: mayEdit)
        }
        let content: HTML = """
            \(Words.head("History", "<p><a href=\"\(Words.path(ofCampaign: item.file))\" dir=\"auto\">\(item.name ?? item.file)</a></p>"))
            \(Words.panel("Versions", id: "versions", "\(unreadable(damaged))\(list)"))
            \(change ?? "")
            """
        return .page(Page(title: "History of \(item.name ?? item.file)", place: .campaigns, content: content))
    }

    /// Which versions cannot be read; blank without any.
    private static func unreadable(_ numbers: [Int64]) -> HTML {
        guard !numbers.isEmpty else { return "" }
        return
            "<p class=\"stop\">\(names(of: numbers)) cannot be read, as the file of accounts is damaged. A backup of the accounts may have \(numbers.count == 1 ? "it" : "them").</p>"
    }

    /// `Versions 4 and 2`
    private static func names(of numbers: [Int64]) -> String {
        let list = numbers.map { TextFormat.count(Int($0)) }
        return list.count == 1
            ? "Version \(list[0])" : "Versions \(list.dropLast().joined(separator: ", ")) and \(list[list.count - 1])"
    }

    /// What a version changed, and how the present text differs from it.
    private struct Change {
        let number: Int64
        let file: String
        /// nil for one that is damaged.
        let text: String?
        let present: String
        /// The newest of those before it that can be read; nil without one.
        let before: (number: Int64, text: String)?
        /// Versions between the two that cannot be read.
        let skipped: [Int64]

        /// - Parameter earlier: versions before it, the newest first.
        init(number: Int64, earlier: [(number: Int64, isDamaged: Bool)], file: String, present: String, _ site: Site)
            throws
        {
            /// - Returns: nil for a text that is damaged.
            func read(_ number: Int64) throws -> String? {
                do { return try site.accounts.text(ofVersion: number, of: file) } catch is Diagnostic { return nil }
            }
            (self.number, self.file, self.present) = (number, file, present)
            text = try read(number)
            var skipped: [Int64] = [], before: (number: Int64, text: String)?
            for (number, isDamaged) in earlier where before == nil {
                if !isDamaged, let text = try read(number) { before = (number, text) } else { skipped.append(number) }
            }
            (self.before, self.skipped) = (before, skipped)
        }

        func panel(mayEdit: Bool) -> HTML {
            let title: HTML = "What version \(TextFormat.count(Int(number))) changed"
            guard let text else { return Words.panel(title, id: "difference", CampaignHistory.unreadable([number])) }
            let query = FormFields.query([("file", file), ("version", "\(number)")])
            let edit: HTML = """
                <p><a href="/campaign/edit\(query)">Go back to this version</a> \
                <span class="note">opens it in the editor; nothing changes before you save</span></p>
                """
            let since: HTML =
                text == present
                ? "" : "<h3>From this version to the file as it is now</h3>\(LineDiff.html(from: text, to: present))"
            let gap: HTML =
                skipped.isEmpty
                ? ""
                : "<p class=\"stop\">\(CampaignHistory.names(of: skipped)) before it cannot be read, as the file of accounts is damaged.</p>"
            let first: HTML = skipped.isEmpty ? "<p class=\"note\">It is the first.</p>" : ""
            let base: HTML =
                skipped.isEmpty
                ? ""
                : before.map { "<p class=\"note\">Compared with version \(TextFormat.count(Int($0.number))):</p>" }
                    ?? ""
            let what = before.map { "\(base)\(LineDiff.html(from: $0.text, to: text))" as HTML } ?? first
            return Words.panel(title, id: "difference", "\(gap)\(what)\(since)\(mayEdit ? edit : "")")
        }
    }
}

/// The people that saved a file since a form of it was made. Your own saves do not count, unless
/// there are no others.
struct LaterSaves {
    let people: HTML
    let sentence: HTML

    /// - Parameters:
    ///   - base: the digest of the file that the form was made from.
    ///   - present: the file as it is.
    init(of item: CampaignCache.Item, since base: String, now present: YAMLEdit, _ visit: Visit, _ site: Site) {
        let versions = (try? site.accounts.versions(of: item.file, count: 500)) ?? []
        let later =
            versions.contains { $0.digest == base }
            ? Array(versions.prefix { $0.digest != base }) : Array(versions.prefix(1))
        let isKnown = versions.first?.digest == ShownFile.digest(of: Array(present.text.utf8))
        let own = visit.person?.id
        let others = later.filter { $0.person.account != own }.reversed().map { $0.person.name?.text ?? "" }
        var names = others.filter { !$0.isEmpty }.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            .map { "<b dir=\"auto\">\($0)</b>" as HTML }
        if !isKnown || others.contains("") { names.append(names.isEmpty ? "Another person" : "another person") }
        let last = names.popLast() ?? "You"
        people =
            names.isEmpty
            ? last
            : "\(HTML(joined: names.enumerated().map { $0.offset == 0 ? $0.element : ", \($0.element)" })) and \(last)"
        sentence = "\(people) saved this campaign after you opened this form."
    }
}
