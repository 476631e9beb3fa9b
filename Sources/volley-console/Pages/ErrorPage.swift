import Accounts
import Base
import HTTPTypes

/// What is shown instead of a page.
enum ErrorPage {
    /// Why a request was refused.
    static func page(_ refusal: Refusal) -> Page {
        let content: HTML =
            "\(Words.head("\(refusal.title)"))<p class=\"lead\">\(refusal.words)</p>\(written(refusal.written))<p><a href=\"/\">To the first page</a></p>"
        return Page(status: refusal.status, title: refusal.title, content: content)
    }

    /// What a person had written; blank for nothing.
    private static func written(_ text: String) -> HTML {
        guard !text.isEmpty else { return "" }
        return """
            <section class="panel" aria-labelledby="written"><h2 id="written">What you had written</h2><p>It was not saved. Copy it from here.</p>\
            <pre class="plan" dir="auto" tabindex="0">\(UntrustedText.shown(text))</pre></section>
            """
    }

    /// A form could not be done.
    /// - Parameter visit: of the reader; nil if the reader is not known.
    static func page(failed refusal: Refusal, _ visit: Visit?) -> Page {
        let reason = visit?.may(.seeSystem, app: nil) == true ? refusal.mistakes.map { words($0, visit) } : nil
        let why = reason ?? "<p>The people who run Volley find the reason in the log of <code>volley serve</code>.</p>"
        let content: HTML = """
            \(Words.head("\(refusal.title)"))<p class="lead">\(refusal.words)</p>\(why)\(written(refusal.written))
            <p><a href="/">To the first page</a></p>
            """
        return Page(status: refusal.status, title: refusal.title, content: content)
    }

    /// Something is wrong with the files that a page is made from.
    /// - Parameter visit: of the reader; nil if the reader is not known.
    static func page(_ mistakes: Diagnostics, _ visit: Visit?) -> Page {
        let title = "This page cannot be shown"
        let content: HTML = """
            \(Words.head("\(title)"))
            <p class="lead">Something on the server cannot be read or written.</p>
            \(words(mistakes, visit))
            <p><a href="/">To the first page</a></p>
            """
        return Page(status: .internalServerError, title: title, content: content)
    }

    /// What is wrong, for people with a right to see the state of all apps: a mistake may name
    /// files, runs and apps. For other people, where to find the reason.
    static func words(_ mistakes: Diagnostics, _ visit: Visit?) -> HTML {
        guard visit?.may(.seeSystem, app: nil) == true else {
            return "<p>An administrator of all apps sees the reason on this page.</p>"
        }
        return HTML(mistakes.all.prefix(10).map(Words.warning))
    }
}
