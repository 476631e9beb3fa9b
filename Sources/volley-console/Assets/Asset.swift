import Base
import Cryptography
import Reports

/// A style sheet or script. Its path holds a hash of its content, so that browsers may keep it for ever.
struct Asset: Sendable {
    let path: String
    let type: String
    let text: String

    private init(name: String, ending: String, type: String, _ text: String) {
        path = "/assets/\(name)-\(SHA256.hex(SHA256.digest(of: Array(text.utf8))).prefix(16)).\(ending)"
        self.type = type
        self.text = text
    }

    /// The style of pages, and of reports inside of them.
    static let style = Asset(
        name: "console", ending: "css", type: "text/css; charset=utf-8",
        "\(PageStyle.sheet.markup)\(ReportPage.style.markup)\(ConsoleStyle.sheet)")

    /// What pages do where scripts run.
    static let script = Asset(name: "console", ending: "js", type: "text/javascript; charset=utf-8", ConsoleScript.text)
}
