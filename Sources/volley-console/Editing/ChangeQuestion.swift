import Automation
import Base
import Campaigns
import Runs

/// The question before a change is saved that gives the main content a new text, while languages, variants or services keep the old one.
struct ChangeQuestion {
    /// The buttons that answer it: their value is the digest of the text that the question was about.
    private static let answer = "kept", answerWithSource = "kept.source"

    private let changes: [PartialChange]
    private let digest: String
    /// Devices of the campaign's last run that got texts that stay, and all of them; nil when that is not known.
    private let reach: (kept: Int, all: Int)?

    /// - Parameters:
    ///   - present: the bytes of the file as it is; nil for a new one.
    ///   - text: what it would hold.
    /// - Returns: nil when there is nothing to ask, or the form has the answer.
    init?(from present: [UInt8]?, to text: String, of item: CampaignShelf.Item, _ visit: Visit, _ site: Site) throws {
        digest = ShownFile.digest(of: Array(text.utf8))
        guard let present, visit.form[Self.answer] != digest, visit.form[Self.answerWithSource] != digest else { return nil }
        let project = try site.project()
        func draft(_ bytes: [UInt8]) -> CampaignDraft { CampaignSaving.draft(bytes, file: item.path, project, at: visit.now) }
        changes = PartialChange.all(from: draft(present), to: draft(CampaignSaving.bytes(of: text, like: present)))
        guard !changes.isEmpty else { return nil }
        reach = Self.reach(changes, item, site)
    }

    /// Where an answer leads: to the source, whose other texts may be changed next, or to the campaign.
    static func page(after visit: Visit, _ file: String) -> String {
        visit.form[answerWithSource] == nil
            ? Words.path(ofCampaign: file) + "&saved=1" : "/campaign/edit" + FormFields.query([("file", file)])
    }

    private static func reach(_ changes: [PartialChange], _ item: CampaignShelf.Item, _ site: Site) -> (kept: Int, all: Int)? {
        guard let name = item.name, let app = item.app,
            let run = try? site.catalog.lastStarted(of: name, app: app, limit: 1).first
        else { return nil }
        defer { run.close() }
        guard case .array(let messages)? = run.plan.preview["messages"] else { return nil }
        let kept = messages.filter { message in
            changes.contains { change in message[change.key.rawValue]?.stringValue.map(change.isKept) ?? false }
        }
        let devices = kept.reduce(0) { $0 + Int($1["recipients"]?.integerValue ?? 0) }
        return devices > 0 ? (devices, run.plan.audience) : nil
    }

    var notice: HTML {
        let lines: [HTML] = changes.map { change in
            let old = TextFormat.foreign(change.kept[0].text.value, maximumBytes: 80)
            return "<li dir=\"auto\">You changed the \(change.noun), but not that of \(change.names): “\(old)”.</li>"
        }
        let devices: HTML =
            reach.map {
                "<p>In the last run, \(TextFormat.count($0.kept)) of \(TextFormat.devices($0.all)) got such a text.</p>"
            } ?? ""
        return """
            <div class="stop" role="alert"><p><b>Not saved yet.</b> Some devices would still get the old text:</p><ul>\(lines)</ul>\(devices)
            <p>If that is right, save it anyway. The other texts are in the source.</p></div>
            """
    }

    /// - Parameter linksSource: whether the page is another one than the source's.
    func buttons(linksSource: Bool, _ visit: Visit) -> HTML {
        let source: HTML =
            linksSource
            ? " <button name=\"\(Self.answerWithSource)\" value=\"\(digest)\">Save, then change the others in the source</button>" : ""
        let anyway: HTML = visit.form["anyway"] == nil ? "" : "<input type=\"hidden\" name=\"anyway\" value=\"1\">"
        return " <button name=\"\(Self.answer)\" value=\"\(digest)\">Save anyway</button>\(source)\(anyway)"
    }
}
