import Base

/// What the page of a preview has beside `PageStyle`: phones.
enum PreviewStyle {
    static let sheet: HTML = """

        :root { --wall: linear-gradient(160deg, #b9c7e6, #e3d3e4 60%, #f3dcc9); --glass: rgba(255, 255, 255, .78); }
        @media (prefers-color-scheme: dark) {
          :root { --wall: linear-gradient(160deg, #26304a, #3c2f45 60%, #4a382e); --glass: rgba(44, 44, 50, .82); }
        }
        .message { margin: 0 0 1.6rem; break-inside: avoid; }
        .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: 1rem; align-items: start; }
        article { background: var(--paper); border: 1px solid var(--line); border-radius: 1.1rem; padding: .75rem; min-width: 0; break-inside: avoid; }
        article > .note { margin-top: .5rem; }
        .push { display: flex; gap: .65rem; background: var(--wall); border-radius: .8rem; padding: 1.6rem .6rem; position: relative; isolation: isolate; }
        .push::before { content: ""; position: absolute; inset: .9rem .4rem; background: var(--glass); border-radius: 1.2rem; z-index: -1; }
        .push.silent { color: var(--soft); padding: 1.6rem 1.2rem; }
        .icon { flex: none; width: 2.3rem; height: 2.3rem; border-radius: .55rem; margin: .1rem 0 0 .35rem; display: grid; place-items: center;
          background: var(--bar); color: var(--paper); font-weight: 600; }
        .text { flex: 1; min-width: 0; padding-right: .45rem; line-height: 1.35; font-size: .9375rem; overflow-wrap: anywhere; }
        .text p[dir] { white-space: pre-line; }
        .app { display: flex; justify-content: space-between; color: var(--soft); font-size: .8125rem; }
        .title, .subtitle { font-weight: 600; }
        .image { flex: none; align-self: center; width: 2.6rem; height: 2.6rem; margin-right: .35rem; border-radius: .4rem; display: grid;
          place-items: center; border: 1px dashed var(--soft); color: var(--soft); font-size: .625rem; }
        @media print {
          :root { --wall: none; --glass: #fff; }
          .push { padding: .6rem .2rem; }
          .push::before { inset: 0; border: 1px solid #999; }
          .icon { background: #fff; color: #000; border: 1px solid #999; }
        }

        """
}
