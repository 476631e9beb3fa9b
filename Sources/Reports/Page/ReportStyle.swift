import Base

/// What the page of a report has beside `PageStyle`: charts. Outcomes differ by colour and by pattern.
enum ReportStyle {
    static let sheet: HTML = """

        :root { --accepted: #1b7a3d; --invalid: #8a5a00; --rejected: #b3261e; --failed: #7b3fa0; --unknown: #2f5fa8; --unsent: #63636b; }
        @media (prefers-color-scheme: dark) {
          :root { --accepted: #6fd08f; --invalid: #ffc857; --rejected: #ff9a90; --failed: #d9b0f5; --unknown: #93bbff; --unsent: #a5a5ae; }
        }
        .eyebrow .chip { margin-left: .3rem; }
        .lead { color: var(--ink); font-size: 1.125rem; max-width: 44rem; overflow-wrap: anywhere; }
        .lead + .note { margin-top: .5rem; max-width: 44rem; }
        section > p.note, details > p.note { max-width: 44rem; margin-bottom: .7rem; }
        .figures { grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); }
        .figure b { font-size: 1.4rem; overflow-wrap: normal; }
        .warnings p + p { margin-top: .4rem; }
        .warnings { overflow-wrap: anywhere; }
        .chart { margin: 0 0 1.1rem; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; padding: .9rem 1rem; break-inside: avoid; }
        .chart svg { display: block; width: 100%; height: auto; }
        .chart .axis { stroke: var(--soft); stroke-width: 1; }
        .ends { display: flex; justify-content: space-between; gap: 1rem; color: var(--soft); font-size: .8125rem; margin: .2rem 0 .4rem;
          font-variant-numeric: tabular-nums; }
        .patterns { position: absolute; }
        .swatch { display: inline-block; vertical-align: -.12rem; margin-right: .4rem; flex: none; }
        .legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: 0 0 .5rem; padding: 0; font-size: .875rem; }
        .accepted { fill: var(--accepted); } .invalid_token { fill: var(--invalid); } .rejected { fill: url(#rejected); }
        .failed { fill: url(#failed); } .unknown { fill: url(#unknown); } .unsent { fill: url(#unsent); } .answers { fill: var(--bar); }
        .rejected-base { fill: var(--rejected); } .failed-base { fill: var(--failed); } .unknown-base { fill: var(--unknown); }
        .unsent-base { fill: var(--unsent); } .gap { fill: var(--paper); }
        .whole { display: block; width: 100%; height: 1.6rem; border-radius: .4rem; margin-bottom: .8rem; background: var(--track); }
        .scroll { overflow-x: auto; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; padding: .6rem 1rem; margin-top: .4rem; }
        .scroll table { display: table; width: 100%; border: 0; padding: 0; overflow: visible; }
        .scroll tbody { display: table-row-group; }
        .scroll thead th { color: var(--soft); font-size: .8125rem; text-align: right; vertical-align: bottom; overflow-wrap: normal; }
        .scroll thead th:first-child { text-align: left; }
        .scroll th[scope=row] { min-width: 6rem; }
        .scroll td { width: auto; }
        .scroll tr.total > * { border-top: 1px solid var(--line); font-weight: 600; }
        .facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1.2rem; margin: 0; background: var(--paper);
          border: 1px solid var(--line); border-radius: .75rem; padding: .8rem 1rem; }
        .facts dt { color: var(--soft); }
        .facts dd { margin: 0; overflow-wrap: anywhere; }
        @media (max-width: 30rem) { .facts { grid-template-columns: minmax(0, 1fr); } .facts dd + dt { margin-top: .4rem; } }
        @media print {
          :root { --accepted: #1b7a3d; --invalid: #8a5a00; --rejected: #b3261e; --failed: #7b3fa0; --unknown: #2f5fa8; --unsent: #63636b; }
          .chart, .whole, .swatch { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
        }

        """
    /// Devices that were missed are no grey matter.
    static let missed: HTML = """

        :root { --unsent: #9a3412; }
        @media (prefers-color-scheme: dark) { :root { --unsent: #ffab7a; } }
        .lead.missed { border-left: .35rem solid var(--unsent); padding-left: .8rem; }

        """
}
