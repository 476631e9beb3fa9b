/// The rules of the composer: its sections, the panel at their side, texts and phones.
enum ComposerStyle {
    static let sheet = """

        .composer { display: grid; gap: 1rem; align-items: start; }
        .composer .editor { min-width: 0; }
        .step { border-top: 1px solid var(--line); padding-top: 1rem; }
        .step > * + * { margin-top: .9rem; }
        .step > h2, .step summary h2 { margin: 0; font-size: 1.25rem; }
        .step summary h2 { display: inline; }
        .step details > * + * { margin-top: .9rem; }
        .step summary { cursor: pointer; }
        .rest ul { margin: .3rem 0 0; padding-left: 1.2rem; }
        .rest h2 { font-size: 1rem; }
        .side { background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; min-width: 0; }
        .side > summary { padding: .7rem 1rem; cursor: pointer; }
        .side > .inner { padding: 0 1rem 1rem; }
        .side > .inner > * + * { margin-top: .7rem; }
        @media (min-width: 62rem) {
          .composer { grid-template-columns: minmax(0, 1fr) 21rem; }
          .side { position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow: auto; }
          @supports selector(::details-content) {
            .side::details-content { content-visibility: visible; display: block; height: auto; }
            .side > summary { list-style: none; pointer-events: none; }
            .side > summary span { display: none; }
          }
        }
        @media (max-width: 61.99rem) {
          .side { position: sticky; bottom: 0; z-index: 1; order: 1; max-height: 85vh; overflow: auto; box-shadow: 0 -2px 8px rgb(0 0 0 / .12); }
        }
        """
}
