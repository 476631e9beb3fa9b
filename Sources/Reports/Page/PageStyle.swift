public import Base

/// The look of Volley's pages: previews, reports and the console. A part's style is in its own
/// file. The browser draws everything: no fonts, images or scripts are loaded. Text has a contrast
/// of at least 4.5 to its background, in both themes (WCAG 2.2, 1.4.3).
public enum PageStyle {
    /// A whole page, which loads nothing else and runs no script.
    /// - Parameters:
    ///   - style: extra rules, after those of every page.
    ///   - body: the content of `main`.
    public static func document(title: HTML, style: HTML, _ body: HTML) -> HTML {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
        <title>\(title)</title>
        <style>\(sheet)\(style)</style>
        </head>
        <body>
        <main>
        \(body)
        </main>
        </body>
        </html>

        """
    }

    /// The rules of every page, for servers that send them as a separate file. No page has a style
    /// in its markup, so that a server can forbid them (Content-Security-Policy).
    public static let sheet: HTML = "\(colours)\(layout)\(parts)"

    private static let parts = HTML([
        EnvironmentBadge.style, PushCard.style, BarList.style, Funnel.style, DataTable.style, TextMatrix.style,
        FoldedSection.style,
    ])

    private static let colours: HTML = """

        :root { --ink: #1c1c1e; --soft: #5f5f68; --line: #dfdfe5; --ground: #f4f4f7; --paper: #ffffff; --bar: #3d6fd9; --warn: #8a5a00;
          --warn-ground: #fff5dd; --track: #e8e8ee; --link: #2b58b5; --live: #14532d; --on-live: #ffffff; --lost: #b4532a;
          --accepted: #1b7a3d; --invalid: #8a5a00; --rejected: #b3261e; --failed: #7b3fa0; --unknown: #2f5fa8; --unsent: #63636b; }
        @media (prefers-color-scheme: dark) {
          :root { --ink: #f2f2f5; --soft: #a9a9b3; --line: #38383f; --ground: #121215; --paper: #1d1d21; --bar: #7ea2f5; --warn: #ffd27a;
            --warn-ground: #33290f; --track: #323238; --link: #9dbbff; --live: #7fdc9f; --on-live: #06260f; --lost: #f2976b;
            --accepted: #6fd08f; --invalid: #ffc857; --rejected: #ff9a90; --failed: #d9b0f5; --unknown: #93bbff; --unsent: #a5a5ae; }
        }
        @media print {
          :root { --ink: #000; --soft: #444; --line: #bbb; --ground: #fff; --paper: #fff; --bar: #555; --warn: #000; --warn-ground: #fff;
            --track: #e6e6e6; --link: #000; --live: #000; --on-live: #fff; --lost: #777;
            --accepted: #1b7a3d; --invalid: #8a5a00; --rejected: #b3261e; --failed: #7b3fa0; --unknown: #2f5fa8; --unsent: #63636b; }
        }

        """

    private static let layout: HTML = """

        * { box-sizing: border-box; }
        body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
          -webkit-text-size-adjust: 100%; overflow-wrap: anywhere; }
        main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
        h1 { font-size: 2rem; line-height: 1.15; letter-spacing: -.01em; margin: .3rem 0 .3rem; overflow-wrap: anywhere; }
        h2 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 .2rem; }
        h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
        h2, h3, h2 + .note, h3 + .note { break-after: avoid; }
        p { margin: 0; }
        header { margin-bottom: 1.2rem; }
        .eyebrow, .note, footer { color: var(--soft); font-size: .875rem; }
        .eyebrow { display: flex; flex-wrap: wrap; gap: .3rem .5rem; align-items: center; }
        .note { overflow-wrap: anywhere; }
        .lead { font-size: 1.0625rem; max-width: 46rem; overflow-wrap: anywhere; }
        .about { color: var(--soft); max-width: 46rem; overflow-wrap: anywhere; }
        .code { color: var(--soft); font-size: .8125rem; font-weight: normal; white-space: nowrap; }
        .panel { background: var(--paper); border: 1px solid var(--line); border-radius: .9rem; padding: 1.1rem 1.3rem; margin-top: 1rem; }
        .panel > h2 + .note { margin-bottom: .7rem; max-width: 46rem; }
        .hero { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 22rem); gap: 1.2rem 2rem; align-items: start; }
        .hero .big { font-size: 1.125rem; }
        .hero .big b { font-size: 2.75rem; line-height: 1.1; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
        .hero aside .note { margin-top: .5rem; }
        .warnings { background: var(--warn-ground); border: 1px solid var(--line); border-radius: .9rem; padding: .9rem 1.3rem; margin-top: 1rem;
          overflow-wrap: anywhere; break-inside: avoid; }
        .warnings h2 { margin: 0 0 .3rem; color: var(--warn); font-size: 1.0625rem; }
        .warnings ul { margin: 0; padding-left: 1.1rem; }
        .warnings li { overflow-wrap: anywhere; margin: .25rem 0; }
        .warnings p + p { margin-top: .4rem; }
        code, pre { font: .8125rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
        code { overflow-wrap: anywhere; }
        .chip { display: inline-block; border: 1px solid currentColor; border-radius: 1rem; padding: 0 .5rem; font-size: .75rem; overflow-wrap: anywhere; }
        pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0 0; }
        .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 0 2.5rem; align-items: start; }
        .facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .25rem 1.1rem; margin: 0; font-size: .9375rem; }
        .facts dt { color: var(--soft); }
        .facts dd { margin: 0; overflow-wrap: anywhere; grid-column: 2; }
        .hero .facts { margin-top: 1.1rem; }
        footer { margin-top: 2rem; border-top: 1px solid var(--line); padding-top: .8rem; overflow-wrap: anywhere; }
        @media (max-width: 52rem) { .hero { grid-template-columns: minmax(0, 1fr); } }
        @media (max-width: 30rem) {
          main { padding: 1rem .75rem 2rem; }
          h1 { font-size: 1.6rem; }
          .panel, .warnings { padding: .9rem .9rem; }
          .facts { grid-template-columns: minmax(0, 1fr); gap: 0; }
          .facts dd { grid-column: 1; margin-bottom: .45rem; }
        }
        @media print {
          @page { margin: 14mm; }
          :root { font-size: 12px; }
          body { font-size: 1rem; line-height: 1.4; }
          main { max-width: none; padding: 0; }
          .panel { border: 0; border-top: 1px solid var(--line); border-radius: 0; padding: .4rem 0 0; margin-top: .4rem; }
          .hero { grid-template-columns: minmax(0, 1fr) minmax(0, 16rem); }
          .panel.short { break-inside: avoid; }
          .panel.folds:not(:has(details[open])) { display: none; }
          p { orphans: 3; widows: 3; }
        }

        """
}
