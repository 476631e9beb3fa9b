/// The rules of the console's pages, in addition to those that they share with previews and
/// reports.
enum ConsoleStyle {
    static let sheet = """

        a { color: var(--link); }
        :focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: .2rem; }
        main:focus { outline: 0; }
        [hidden] { display: none !important; }
        .skip { position: absolute; left: -100rem; top: .5rem; background: var(--paper); padding: .5rem 1rem; z-index: 1; }
        .skip:focus { left: .5rem; }
        .bar { background: var(--paper); border-bottom: 1px solid var(--line); margin: 0; }
        .bar .inner { max-width: 68rem; margin: 0 auto; padding: .6rem 1rem; display: flex; flex-wrap: wrap; align-items: center; gap: .4rem 1.2rem; }
        .brand { font-weight: 700; font-size: 1.0625rem; }
        .brand a { color: inherit; text-decoration: none; }
        .bar nav { flex: 1 1 auto; min-width: 0; }
        .bar ul { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem .3rem; margin: 0; padding: 0; }
        .bar nav a { display: block; padding: .35rem .7rem; border-radius: .5rem; text-decoration: none; }
        .bar nav a:hover { background: var(--track); }
        .bar nav a[aria-current] { background: var(--track); color: var(--ink); font-weight: 600; }
        .person { display: flex; align-items: center; gap: .7rem; min-width: 0; font-size: .875rem; color: var(--soft); }
        .person a { overflow-wrap: anywhere; }
        button, select, input { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: .5rem;
          padding: .4rem .8rem; min-height: 2.5rem; max-width: 100%; }
        button { cursor: pointer; }
        .button { display: inline-block; border: 1px solid var(--soft); border-radius: .5rem; padding: .4rem 1rem; text-decoration: none; }
        button:hover, .button:hover { background: var(--track); }
        button.main, .button.main { background: var(--link); border-color: var(--link); color: var(--paper); font-weight: 600; padding: .4rem 1.4rem; }
        .field label { display: block; font-size: .875rem; margin-bottom: .15rem; }
        .field input, .field select { width: 100%; }
        .filters { display: flex; flex-wrap: wrap; gap: .7rem 1rem; align-items: flex-end; margin-bottom: .8rem; }
        .filters .field { flex: 1 1 11rem; max-width: 22rem; }
        .sign-in { max-width: 26rem; }
        .sign-in > * + * { margin-top: 1rem; }
        .stop { border-left: .35rem solid var(--rejected); background: var(--paper); border-radius: .4rem; padding: .7rem 1rem; margin: 0 0 1rem; }
        .stack { margin-top: .6rem; }
        .stack > * + * { margin-top: .8rem; }
        .panel p + .rows, .rows + .facts { margin-top: .6rem; }
        .done { border-left: .35rem solid var(--accepted); background: var(--paper); border-radius: .4rem; padding: .7rem 1rem; margin: 0 0 1rem; }
        .secret { background: var(--track); border-radius: .5rem; padding: .6rem 1rem; margin: .6rem 0; }
        .qr { display: block; width: 15rem; max-width: 100%; margin: .6rem 0; }
        .codes { columns: 16rem; padding-left: 3rem; }
        input[type="checkbox"] { width: 1.3rem; height: 1.3rem; min-height: 0; padding: 0; vertical-align: middle; }
        textarea { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: .5rem; padding: .4rem .8rem;
          width: 100%; }
        .editor { max-width: 60rem; } .editor > * + * { margin-top: .9rem; }
        .editor .note, .field .stop { display: block; }
        .field .stop { margin: .3rem 0 0; padding: .3rem .7rem; }
        .controls { border: 1px solid var(--line); border-radius: .5rem; margin: .9rem 0 0; padding: .4rem .9rem .8rem; min-width: 0; }
        .controls > legend { font-size: .875rem; padding: 0 .4rem; margin-left: -.4rem; }
        .controls > * + * { margin-top: .6rem; }
        .controls > legend + * { margin-top: 0; }
        .parts { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: flex-end; }
        .part { flex: 1 1 11rem; max-width: 22rem; min-width: 0; display: block; }
        .weekly { border: 0; margin: .6rem 0 0; padding: 0; min-width: 0; }
        .parts .part input, .parts .part select { height: 2.6rem; }
        .controls .part label, .weekly legend { color: var(--soft); font-size: .8125rem; padding: 0; }
        .boxes { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(11rem, 100%), 1fr)); gap: .4rem 1rem; margin-top: .3rem; }
        .weekly .boxes { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; }
        .boxes + .note, .boxes + details, details + .note { margin-top: .6rem; }
        .field .box { display: flex; gap: .5rem; align-items: start; overflow-wrap: anywhere; margin: 0; font-size: 1rem; min-height: 2rem; }
        .field .box input { width: 1.3rem; flex: none; }
        .doubt { color: var(--warn); font-weight: normal; }
        .many { max-height: 22rem; overflow: auto; padding: .3rem; }
        .controls summary { cursor: pointer; margin-top: .5rem; }
        .editor + .note { margin-top: .9rem; }
        .next li + li { margin-top: .3rem; }
        .next ul { margin: .3rem 0 0; padding-left: 1.2rem; }
        .next h2 { margin: 0; font-size: 1rem; }
        @supports selector(:has(a)) {
          .repeat:has(option[value="never"]:checked) .timed, .repeat:has(option[value="other"]:checked) .timed,
          .repeat:not(:has(option[value="weekly"]:checked)) .weekly, .repeat:not(:has(option[value="monthly"]:checked)) .monthly,
          .repeat:not(:has(option[value="other"]:checked)) .other { display: none; }
        }
        textarea.code { font: .875rem/1.5 ui-monospace, monospace; white-space: pre; overflow: auto; resize: vertical; }
        button.grave { border-color: var(--rejected); color: var(--rejected); }
        .action { border-top: 1px solid var(--line); padding: .8rem 0; }
        .action:first-of-type { border-top: 0; }
        .action > * + * { margin-top: .5rem; }
        .action h3 { margin-top: 0; }
        .said { white-space: pre-wrap; overflow-wrap: anywhere; }
        .guide > * + * { margin-top: .7rem; } .guide > h3 { margin-top: 1.4rem; } .guide > p, .guide > ul { max-width: 46rem; }
        .guide ul { margin-bottom: 0; padding-left: 1.3rem; } .guide li + li { margin-top: .35rem; }
        .shortcuts { display: none; }
        .confirm summary { cursor: pointer; list-style: none; } .confirm p { margin-top: .6rem; }
        summary.grave { border-color: var(--rejected); color: var(--rejected); }
        .texts { display: flex; flex-wrap: wrap; gap: 1rem; margin: .8rem 0; }
        .texts .text { flex: 0 1 22rem; min-width: 0; }
        .field.short input { max-width: 14rem; display: block; }
        .plan { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .875rem; background: var(--track); border-radius: .5rem; padding: .8rem 1rem;
          margin: .6rem 0; }
        .diff { list-style: none; margin: .6rem 0; padding: 0; font-size: .875rem; }
        .diff code { white-space: pre-wrap; overflow-wrap: anywhere; }
        .diff .removed::before { content: "− "; color: var(--rejected); } .diff .added::before { content: "+ "; color: var(--accepted); }
        .diff ins { text-decoration: none; } .diff .added { background: var(--track); }
        .good { border-left: .35rem solid var(--accepted); background: var(--paper); border-radius: .4rem; padding: .7rem 1rem; margin: 0 0 1rem; }
        .list { list-style: none; margin: 0; padding: 0; }
        .overview { display: flex; flex-wrap: wrap; gap: 1rem 1.6rem; align-items: start; } .overview .facts { flex: 1 1 20rem; }
        .overview .seen { flex: 0 1 21rem; min-width: 0; } .overview .others { flex: 1 1 100%; min-width: 0; margin: 0; }
        .others .phones { margin-top: .6rem; } .others .phone { flex: 0 0 min(19rem, 100%); } details > summary > h2 { display: inline; }
        .month { width: 100%; border-spacing: 0; table-layout: fixed; font-size: .875rem; margin-top: .6rem; }
        .month th { text-align: left; font-weight: normal; color: var(--soft); padding: .3rem; font-size: .8125rem; }
        .month td { vertical-align: top; border-top: 1px solid var(--line); padding: .3rem; height: 5rem; overflow-wrap: anywhere; }
        .month ul { list-style: none; margin: .2rem 0 0; padding: 0; } .month li + li { margin-top: .5rem; }
        .month .date { display: none; } .month .other .number { color: var(--soft); }
        .month .today .number { background: var(--link); color: var(--paper); border-radius: .5rem; padding: 0 .4rem; }
        .results { display: block; max-width: 100%; margin: .3rem 0 .8rem; }
        ol.list.steps { list-style: decimal; padding-left: 2.6rem; } .steps h2 { margin: 0; font-size: 1rem; }
        .list.panel { padding: .3rem 1.3rem; }
        .list li { padding: .7rem 0; border-top: 1px solid var(--line); }
        .list li:first-child { border-top: 0; }
        .state.running { color: var(--link); } .state.stopped { color: var(--rejected); } .state.paused { color: var(--warn); }
        .state.finished { color: var(--accepted); }
        .progress rect { shape-rendering: crispEdges; }
        .counts { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; margin: .5rem 0 0; padding: 0; }
        .counts b { font-variant-numeric: tabular-nums; }
        .rows { width: 100%; border-spacing: 0; font-size: .9375rem; }
        .rows th, .rows td { text-align: left; vertical-align: top; padding: .5rem 1rem .5rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
        .rows thead th { color: var(--soft); font-size: .8125rem; font-weight: normal; border-top: 0; vertical-align: bottom; }
        .rows tbody th { font-weight: 600; }
        .rows th:first-child { min-width: 9rem; }
        .rows .number { text-align: right; font-variant-numeric: tabular-nums; }
        .turns { display: flex; flex-wrap: wrap; gap: .5rem 1.2rem; align-items: center; margin-top: 1rem; }
        .source { margin: 0; padding-left: 3rem; counter-reset: none; }
        .source li::marker { color: var(--soft); font: .75rem ui-monospace, monospace; }
        .source code { white-space: pre-wrap; overflow-wrap: anywhere; }
        .source .found { background: var(--warn-ground); }
        .findings { list-style: none; margin: .3rem 0; padding: 0; font-size: .9375rem; }
        .findings .error b { color: var(--rejected); } .findings .warning b { color: var(--warn); }
        main > p + p, main > section + p { margin-top: .6rem; }
        @media (max-width: 48rem) {
          .shortcuts { display: flex; flex-wrap: wrap; gap: .6rem; position: sticky; bottom: 0; margin: 1rem 0 0; padding: .6rem 0; background: var(--paper);
            border-top: 1px solid var(--line); }
          .rows, .rows tbody { display: block; }
          .rows thead { display: none; }
          .rows tr { display: block; padding: .6rem 0; border-top: 1px solid var(--line); }
          .rows tr:first-child { border-top: 0; }
          .rows th, .rows td { display: block; padding: .1rem 0; border: 0; }
          .rows th:first-child { min-width: 0; }
          .rows td::before { content: attr(data-name) ": "; color: var(--soft); font-size: .8125rem; }
          .guide .rows td:empty { display: none; }
          .rows .number { text-align: left; }
          .filters .field { max-width: none; }
          .month, .month tbody, .month tr, .month td { display: block; height: auto; }
          .month thead, .month td.empty:not(.today), .month .number { display: none; }
          .month .date { display: inline; font-weight: 600; }
        }
        @media print { .bar, .skip, .filters, .turns { display: none; } }

        """
}
