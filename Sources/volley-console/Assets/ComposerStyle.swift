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
        .languages details, .variants, .extras, .adding { margin-top: .6rem; }
        .language { border-top: 1px solid var(--line); padding-top: .5rem; }
        .language > * + *, .adding > * + *, .extras > * + * { margin-top: .7rem; }
        .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)); gap: 1rem; }
        .column > * + * { margin-top: .6rem; }
        .column h3 { margin: 0; overflow-wrap: anywhere; }
        .insert, .emoji, .scripted .by-hand { display: none; }
        .scripted .emoji { display: block; }
        .emoji button { min-width: 2.75rem; min-height: 2.75rem; padding: 0; margin: 0 .25rem .25rem 0; font-size: 1.25rem; }
        .scripted .insert { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: flex-end; }
        .insert label { display: block; font-size: .8125rem; color: var(--soft); }
        .counter { display: block; }
        .modes { display: grid; gap: .3rem; }
        .modes > div { display: flex; flex-wrap: wrap; gap: .2rem 1rem; }
        .modes label { display: flex; gap: .4rem; align-items: center; min-height: 1.75rem; }
        .modes input { min-height: 0; margin: 0; }
        .phones { display: flex; gap: .8rem; overflow-x: auto; scroll-snap-type: x mandatory; padding-bottom: .4rem; }
        .phone { margin: 0; flex: 0 0 100%; scroll-snap-align: start; min-width: 0; }
        .phone figcaption { font-size: .8125rem; color: var(--soft); margin-top: .3rem; }
        .screen { background: #c9d6e6; color: #111; border-radius: 1.6rem; padding: 1rem .7rem 1.6rem; min-height: 13rem; }
        .screen p { margin: 0; overflow-wrap: anywhere; }
        .clock { text-align: center; font-size: 2rem; font-weight: 600; margin-bottom: .8rem !important; }
        .banner { background: #f4f6f9; border-radius: 1.1rem; min-width: 0; padding: .7rem .9rem; font-size: .9375rem; line-height: 1.35; }
        .banner .from { display: flex; justify-content: space-between; gap: 1rem; font-size: .75rem; color: #4a4f57; }
        .banner .title, .banner .subtitle { font-weight: 600; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 1; overflow: hidden; }
        .banner .body { white-space: pre-line; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden; }
        .banner .image { margin-top: .4rem; font-size: .75rem; color: #4a4f57; }
        @supports selector(:has(a)) {
          .insert:has(select:empty) { display: none !important; }
          .side:has(#phone-android:checked) .subtitle { display: none; }
          .side:has(#phone-android:checked) .body { -webkit-line-clamp: 1; }
          .side:has(#phone-android:checked) .banner { border-radius: 1.6rem; }
          .side:has(#phone-android:checked) .screen { border-radius: 1rem; }
          .side:has(#phone-opened:checked) .title, .side:has(#phone-opened:checked) .body { -webkit-line-clamp: none; }
          .side:has(#phone-locked:checked) .image { display: none; }
          .side:has(#phone-night:checked) .screen { background: #101722; color: #fff; }
          .side:has(#phone-night:checked) .banner { background: #2a3240; color: #fff; }
          .side:has(#phone-night:checked) .banner .from, .side:has(#phone-night:checked) .banner .image { color: #c3cad6; }
        }
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
        input[type="radio"] { width: 1.3rem; height: 1.3rem; min-height: 0; padding: 0; }
        .who > * + *, .when > * + *, .by-list > * + * { margin-top: .9rem; }
        .condition + .condition { border-top: 1px solid var(--line); padding-top: .6rem; }
        .condition .mistakes { flex-basis: 100%; }
        .search { display: block; }
        .box[hidden], .part[hidden] { display: none; }
        @supports selector(:has(a)) {
          .who:has([name="audience.choice"]:checked):not(:has([value="tags"]:checked, [value="several"]:checked)) .by-tags,
          .who:has([name="audience.choice"]:checked):not(:has([value="list"]:checked, [value="several"]:checked)) .by-list,
          .when:has([name="schedule.way"][value="hand"]:checked) .timed,
          .when:has([name="schedule.clock"][value="own"]:checked) .one-zone,
          .when:has([name="schedule.clock"][value="one"]:checked) .own-zone { display: none; }
        }
        """
}
