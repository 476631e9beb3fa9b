import Base
import Glibc

/// The part of docs/console.md that a page belongs to, by its heading.
enum HelpPart: String, CaseIterable, Sendable {
    case users = "For users"
    case composer = "The composer"
    case roles = "Roles"
    case oneHand = "Accounts in one hand"
    case operators = "For operators"
    case kept = "What it keeps"

    /// Of the pages of an entry of the navigation.
    init(of place: Page.Place?) {
        self =
            switch place {
            case .today, .campaigns, .calendar, .runs, nil: .users
            case .suppression, .activity: .kept
            case .users: .roles
            case .system: .operators
            }
    }

    var link: HTML { "<a href=\"\(HelpPage.path)#\(HelpPage.anchor(rawValue))\">\(rawValue)</a>" }
}

/// docs/console.md as it is installed, with an anchor for each heading.
enum HelpPage {
    static let path = "/help"
    private static let limit = 1 << 20

    static func show(_ visit: Visit, _ site: Site) throws -> Answer {
        let content: HTML
        if let bytes = places.lazy.compactMap({ try? FilePaths.read($0, atMost: limit) }).first {
            content = html(String(decoding: bytes, as: UTF8.self))
        } else {
            content =
                "\(Words.head("Help"))<p>The documentation is not installed on this machine. It is docs/console.md of Volley.</p>"
        }
        return .page(Page(title: "Help", content: content))
    }

    /// Where packages install it, and where it is in a checkout, seen from the program.
    private static var places: [String] {
        guard let program = realpath("/proc/self/exe", nil) else { return [] }
        defer { free(program) }
        var folder = FilePaths.folder(of: String(cString: program)), places: [String] = []
        while folder.count > 1 {
            places += ["share/doc/volley/docs", "docs"].map { FilePaths.join(folder, name: "\($0)/console.md") }
            folder = FilePaths.folder(of: folder)
        }
        return places
    }

    /// The text by its headings, as it is written; pictures are left out.
    static func html(_ text: String) -> HTML {
        var sections: [(heading: String, lines: [Substring])] = []
        var isCode = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) where !line.hasPrefix("![") {
            if line.hasPrefix("```") { isCode.toggle() }
            if !isCode, line.hasPrefix("#") {
                sections.append((String(line.drop { $0 == "#" }.dropFirst()), []))
            } else if !sections.isEmpty {
                sections[sections.count - 1].lines.append(line)
            }
        }
        let links: [HTML] = sections.dropFirst().map { "<li><a href=\"#\(anchor($0.heading))\">\($0.heading)</a></li>" }
        let parts: [HTML] = sections.map { heading, lines in
            """
            <section aria-labelledby="\(anchor(heading))"><h2 id="\(anchor(heading))">\(heading)</h2>\
            <pre class="said">\(lines.joined(separator: "\n").trimming)</pre></section>
            """
        }
        return "\(Words.head("Help"))<nav aria-label=\"Parts\"><ul class=\"list\">\(links)</ul></nav>\(parts)"
    }

    /// As links to headings are written in Markdown: `the-composer`.
    static func anchor(_ heading: String) -> String {
        heading.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }.replacing(" ", with: "-")
    }
}
