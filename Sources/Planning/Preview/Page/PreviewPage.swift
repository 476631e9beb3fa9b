import Audience
public import Base
import PushServices
public import Reports

/// A preview as a page: one file that needs no network and no script, for a phone, a large screen or paper.
///
/// The first screen says how many devices get what, when, where and under which rules. Then follow warnings, every text, and who gets it
/// and who does not.
public struct PreviewPage: Sendable {
    let preview: Preview
    let madeAt: Timestamp
    /// Who reads it.
    let face: Face

    /// - Parameter madeAt: the time shown in the footer.
    public init(preview: Preview, madeAt: Timestamp, for face: Face = .terminal) {
        self.preview = preview
        self.madeAt = madeAt
        self.face = face
    }

    var badge: EnvironmentBadge { EnvironmentBadge(preview.destination, of: preview.service) }

    /// The page as one HTML file.
    public var html: HTML {
        PageStyle.document(title: "Preview of \(preview.campaign), \(preview.destination)", style: "", content)
    }

    /// What the page shows, to stand in a page of others that has `PageStyle.sheet`.
    public var content: HTML { parts.withoutTokens }

    private var parts: HTML {
        """
        \(head)
        \(summary)
        \(warnings)
        \(texts)
        \(audience)
        \(groups)
        \(schedule)
        \(comparison)
        <footer>Plan hash \(String(preview.planHash.prefix(16))) · made by Volley \(volleyVersion) at \(moment(madeAt)) \(preview.calls == nil ? " · \(preview.service.target.nouns) are shortened" : "")\
        <span class="when-printed"> · folded sections are not printed</span></footer>
        """
    }

    private var head: HTML {
        let about: HTML = preview.words.description.map { "<p class=\"about\" dir=\"auto\">\($0)</p>" } ?? ""
        return """
            <header>
            <p class="eyebrow"><span>Preview · nothing was sent</span> \(badge.html)</p>
            <h1>\(preview.campaign)</h1>
            \(about)
            </header>
            """
    }

    // MARK: - Pieces

    /// `2026-12-01 09:00 UTC`
    func moment(_ moment: Timestamp) -> String {
        moment.description.prefix(16).replacing("T", with: " ") + " UTC"
    }

    /// A number that `preview --json` also holds, under the path of members that leads to it, joined by slashes.
    func figure(_ path: String, number: Int) -> HTML {
        "<span data-figure=\"\(path)\" data-value=\"\(number)\">\(TextFormat.count(number))</span>"
    }

    /// Names with their numbers, on one scale.
    func bars(_ rows: [(name: HTML, number: HTML, count: Int)], of total: Int) -> HTML {
        let items = rows.map { name, number, count in
            BarList.Item(
                name, number, share: TextFormat.percent(total == 0 ? 0 : Double(count) / Double(total)), parts: [.init(count)])
        }
        return BarList(items, whole: total).html
    }
}
