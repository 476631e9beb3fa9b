public import Base

/// How Volley's pages look, a preview as well as a report. Everything is drawn by the browser: no fonts, images or scripts are loaded.
/// Text has a contrast of at least 4.5 to what it stands on, in both themes (WCAG 2.2, 1.4.3).
public enum PageStyle {
    /// A whole page, which loads nothing from anywhere and runs no script.
    /// - Parameters:
    ///   - style: rules of its own, behind those of every page.
    ///   - body: what stands in `main`.
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

    private static let sheet: HTML = """

        :root { --ink: #1c1c1e; --soft: #63636b; --line: #d9d9de; --ground: #f4f4f7; --paper: #ffffff; --bar: #3d6fd9; --warn: #8a5a00;
          --warn-ground: #fff5dd; --track: #e6e6eb; }
        @media (prefers-color-scheme: dark) {
          :root { --ink: #f2f2f5; --soft: #a5a5ae; --line: #3a3a40; --ground: #121215; --paper: #1d1d21; --bar: #7ea2f5; --warn: #ffd27a;
            --warn-ground: #33290f; --track: #34343a; }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
          -webkit-text-size-adjust: 100%; overflow-wrap: anywhere; }
        main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
        h1 { font-size: 1.9rem; line-height: 1.2; margin: .1rem 0 .4rem; overflow-wrap: anywhere; }
        h2 { font-size: 1.2rem; margin: 2.2rem 0 .8rem; }
        h3 { font-size: 1rem; margin: 0 0 .6rem; }
        h2, h3 { break-after: avoid; }
        p { margin: 0; }
        .eyebrow, .note, caption, footer { color: var(--soft); font-size: .875rem; }
        .note { font-weight: normal; overflow-wrap: anywhere; }
        .lead { color: var(--soft); }
        .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .75rem; margin-top: 1.4rem; }
        .figure, .warnings, table, .silenced { background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; padding: .8rem 1rem; }
        .figure b { font-size: 1.6rem; font-variant-numeric: tabular-nums; }
        .warnings { background: var(--warn-ground); margin-top: 1.2rem; }
        .warnings h2 { margin: 0 0 .4rem; color: var(--warn); font-size: 1rem; }
        .silenced { margin-top: .75rem; }
        .warnings ul, .silenced ul { margin: 0; padding-left: 1.1rem; }
        .warnings li, .silenced li { overflow-wrap: anywhere; margin: .25rem 0; }
        code, pre { font: .8125rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
        .chip { display: inline-block; border: 1px solid currentColor; border-radius: 1rem; padding: 0 .5rem; font-size: .75rem; overflow-wrap: anywhere; }
        .chips { list-style: none; display: flex; flex-wrap: wrap; gap: .35rem; margin: .65rem 0 0; padding: 0; font-size: .8125rem; }
        .chips li { border: 1px solid var(--line); border-radius: .5rem; padding: .05rem .5rem; overflow-wrap: anywhere; min-width: 0; }
        .chips b { font-weight: 600; }
        .chips .own { border-style: dashed; }
        summary { cursor: pointer; color: var(--soft); font-size: .875rem; margin-top: .4rem; }
        pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0 0; }
        .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1rem; align-items: start; }
        table { width: 100%; border-spacing: 0; font-size: .9375rem; display: block; overflow-x: auto; break-inside: avoid; }
        tbody { display: table; width: 100%; }
        caption { display: block; text-align: left; padding-bottom: .3rem; }
        th { text-align: left; font-weight: normal; overflow-wrap: anywhere; }
        th, td { padding: .2rem .6rem .2rem 0; vertical-align: top; }
        td { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; width: 1%; }
        td.share { color: var(--soft); }
        td.bar { width: 30%; padding-right: 0; vertical-align: middle; }
        td.bar div { height: .55rem; border-radius: .3rem; background: var(--bar); min-width: 0; }
        .why td { color: var(--soft); font-size: .875rem; text-align: left; white-space: normal; padding: 0 0 .5rem; overflow-wrap: anywhere; }
        .why.trouble td { color: var(--warn); }
        footer { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: .8rem; overflow-wrap: anywhere; }
        @media (max-width: 30rem) { td.bar { display: none; } main { padding-top: 1rem; } }
        @media print {
          :root { --ink: #000; --soft: #444; --line: #bbb; --ground: #fff; --paper: #fff; --bar: #555; --warn: #000; --warn-ground: #fff;
            --track: #eee; }
          body { font-size: 11pt; }
          main { max-width: none; padding: 0; }
          td.bar div { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
          details:not([open]) { display: none; }
        }

        """
}
