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

    var link: HTML { "<a href=\"\(HelpPage.path)#\(Markdown.anchor(rawValue))\">\(rawValue)</a>" }
}

/// docs/console.md as it is installed, as a page.
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

    /// The text below its title: links to its headings, and a section for each of the larger ones.
    static func html(_ text: String) -> HTML {
        var title = "Help", links: [HTML] = [], sections: [[HTML]] = [[]]
        for block in Markdown.blocks(text) {
            if case .heading(let level, let heading) = block {
                if level == 1 {
                    title = heading
                    continue
                }
                if level == 2 { sections.append([]) }
                links.append("<li><a href=\"#\(Markdown.anchor(heading))\">\(Markdown.words(heading))</a></li>")
            }
            sections[sections.count - 1].append(Markdown.html(block))
        }
        let parts: [HTML] = sections.map { "<section class=\"panel guide\">\($0)</section>" }
        return """
            \(Words.head("\(title)"))
            <nav class="guide" aria-label="Parts"><ul>\(links)</ul></nav>\(parts)
            """
    }
}
