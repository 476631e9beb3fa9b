import Base
import HTTPTypes

/// What is shown instead of a page.
enum ErrorPage {
    /// Why a request was refused.
    static func page(_ refusal: Refusal) -> Page {
        let written: HTML =
            refusal.written.isEmpty
            ? ""
            : """
            <section class="panel" aria-labelledby="written"><h2 id="written">What you had written</h2><p>It was not saved. Copy it from here.</p>\
            <pre class="plan" dir="auto" tabindex="0">\(Hostile.shown(refusal.written))</pre></section>
            """
        let content: HTML =
            "\(Words.head("\(refusal.title)"))<p class=\"lead\">\(refusal.words)</p>\(written)<p><a href=\"/\">To the first page</a></p>"
        return Page(status: refusal.status, title: refusal.title, content: content)
    }

    /// What is wrong with the files that a page is made from.
    static func page(_ mistakes: Diagnostics) -> Page {
        let title = "This page cannot be shown"
        let content: HTML = """
            \(Words.head("\(title)"))
            <p class="lead">Something on the server cannot be read. Sending is not affected by this page.</p>
            \(mistakes.all.prefix(10).map(Words.warning))
            <p><a href="/">To the first page</a></p>
            """
        return Page(status: .internalServerError, title: title, content: content)
    }
}
