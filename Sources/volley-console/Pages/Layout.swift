import Base

/// What every page has around its content: one navigation, one style sheet, one script that no page
/// needs.
enum Layout {
    /// The document of a page.
    static func document(_ page: Page, _ visit: Visit, _ site: Site) -> HTML {
        guard let person = visit.person else {
            return document(title: page.title, bar: brand, warning: "", page.content)
        }
        let links: [HTML] = Page.Place.allCases.filter { visit.maySomewhere($0.right) }.map { place in
            let current: HTML = place == page.place ? " aria-current=\"page\"" : ""
            return "<li><a href=\"\(place.path)\"\(current)>\(place.rawValue)</a></li>"
        }
        let bar: HTML = """
            \(brand)
            <nav aria-label="Main"><ul>\(links)</ul></nav>
            <form class="person" method="post" action="/sign-out"><a href="/account" dir="auto">\(person.displayName)</a>\(Form.token(visit))<button>Sign out</button></form>
            """
        let warning: HTML =
            site.isSenderAtWork
            ? ""
            : """
            <p class="stop" role="status"><b>Nothing is sent by itself.</b> No <code>volley schedule</code> is at work: runs do not begin, and scheduled times pass. \
            Tell the people who run Volley.</p>
            """
        let help: HTML = "<p class=\"note\">Help: \((page.help ?? HelpPart(of: page.place)).link)</p>"
        return document(title: page.title, bar: bar, warning: warning, "\(page.content)\n\(help)")
    }

    /// A document without a navigation, where the reader is not known.
    static func document(title: String, _ content: HTML) -> HTML {
        document(title: title, bar: brand, warning: "", content)
    }

    private static let brand: HTML = "<p class=\"brand\"><a href=\"/\">Volley</a></p>"

    private static func document(title: String, bar: HTML, warning: HTML, _ content: HTML) -> HTML {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title) · Volley</title>
        <link rel="icon" href="data:,">
        <link rel="stylesheet" href="\(Asset.style.path)">
        <script src="\(Asset.script.path)" defer></script>
        </head>
        <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header class="bar"><div class="inner">\(bar)</div></header>
        <main id="content" tabindex="-1">
        \(warning)
        \(content)
        </main>
        </body>
        </html>

        """
    }
}

/// Pieces of forms.
enum Form {
    /// The field that protects a form from requests by other sites.
    static func token(_ visit: Visit) -> HTML {
        "<input type=\"hidden\" name=\"\(CSRFProtection.field)\" value=\"\(visit.token)\">"
    }

    /// A field with its label.
    static func text(_ label: HTML, name: String, value: String, attributes: HTML = "") -> HTML {
        "<p class=\"field\"><label for=\"\(name)\">\(label)</label><input id=\"\(name)\" name=\"\(name)\" value=\"\(value)\"\(attributes)></p>"
    }

    /// A button for what cannot be undone: it opens the question, whose button does it. Works
    /// without scripts.
    /// - Parameter does: what the second button says: `Cancel the run for good`.
    static func confirmed(_ label: HTML, does: HTML) -> HTML {
        """
        <details class="confirm"><summary class="button grave">\(label) …</summary>
        <p>This cannot be undone. <button class="grave">\(does)</button></p></details>
        """
    }

    /// A choice of one among several; the first means no choice.
    static func choice(
        _ label: HTML, name: String, among options: [(value: String, words: String)], chosen: String, none: String
    ) -> HTML {
        let items: [HTML] = ([("", none)] + options).map { value, words in
            "<option dir=\"auto\" value=\"\(value)\"\(value == chosen ? " selected" : "" as HTML)>\(words)</option>"
        }
        return
            "<p class=\"field\"><label for=\"\(name)\">\(label)</label><select id=\"\(name)\" name=\"\(name)\">\(items)</select></p>"
    }
}
