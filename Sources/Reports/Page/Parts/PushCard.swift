public import Base
public import PushServices

/// A push as it looks on a lock screen.
public struct PushCard {
    let app: String
    let push: ShownPush

    /// - Parameter app: the name above the text.
    public init(app: String, _ push: ShownPush) { (self.app, self.push) = (app, push) }

    /// The card.
    public var html: HTML {
        if push.isSilent {
            return "<div class=\"push silent\"><p>No one sees this push. It wakes the app in the background.</p></div>"
        }
        let texts: [HTML] = push.texts.map { key, text in "<p class=\"\(key)\" dir=\"auto\">\(text)</p>" }
        let empty: HTML = push.texts.isEmpty ? "<p class=\"note\">(no text)</p>" : ""
        let image: HTML =
            push.image.isEmpty ? "" : "<div class=\"image\" title=\"\(push.image)\"><span>image</span></div>"
        return """
            <div class="push">
            <div class="icon" aria-hidden="true">\(String(app.prefix(1)).uppercased())</div>
            <div class="text"><p class="app"><span>\(app)</span><span>now</span></p>\(texts)\(empty)</div>
            \(image)
            </div>
            """
    }

    /// What cannot be seen on the card: sound, badge, own keys; empty without them.
    public var marks: HTML {
        var chips: [HTML] = push.marks.map { "<li>\($0.name) <b>\($0.value)</b></li>" }
        if !push.image.isEmpty { chips.insert("<li>image <b>\(push.image)</b></li>", at: 0) }
        chips += push.ownKeys.map { "<li class=\"own\">\($0.name) <b>\($0.value)</b></li>" }
        return chips.isEmpty ? "" : "<ul class=\"chips\">\(chips)</ul>"
    }

    static let style: HTML = """

        :root { --wall: linear-gradient(160deg, #b9c7e6, #e3d3e4 60%, #f3dcc9); --glass: rgba(255, 255, 255, .82); }
        @media (prefers-color-scheme: dark) {
          :root { --wall: linear-gradient(160deg, #26304a, #3c2f45 60%, #4a382e); --glass: rgba(38, 38, 44, .86); }
        }
        .push { display: flex; gap: .65rem; background: var(--wall); border-radius: .9rem; padding: 1.5rem .9rem; position: relative; isolation: isolate;
          break-inside: avoid; }
        .push::before { content: ""; position: absolute; inset: .7rem .5rem; background: var(--glass); border-radius: 1.1rem; z-index: -1; }
        .push.silent { color: var(--soft); padding: 1.5rem 1.2rem; }
        .icon { flex: none; width: 2.2rem; height: 2.2rem; border-radius: .55rem; margin-top: .1rem; display: grid; place-items: center;
          background: var(--bar); color: var(--paper); font-weight: 600; }
        .text { flex: 1; min-width: 0; line-height: 1.35; font-size: .9375rem; overflow-wrap: anywhere; }
        .text p[dir] { white-space: pre-line; }
        .app { display: flex; justify-content: space-between; gap: 1rem; color: var(--soft); font-size: .8125rem; }
        .title, .subtitle { font-weight: 600; }
        .image { flex: none; align-self: center; width: 2.6rem; height: 2.6rem; border-radius: .4rem; display: grid; place-items: center;
          border: 1px dashed var(--soft); color: var(--soft); font-size: .625rem; }
        .chips { list-style: none; display: flex; flex-wrap: wrap; gap: .35rem; margin: .5rem 0 0; padding: 0; font-size: .8125rem; }
        .chips li { border: 1px solid var(--line); border-radius: .5rem; padding: .05rem .5rem; overflow-wrap: anywhere; min-width: 0; }
        .chips b { font-weight: 600; }
        .chips .own { border-style: dashed; }
        @media print {
          :root { --wall: none; --glass: #fff; }
          .push { padding: .6rem .7rem; }
          .push::before { inset: 0; border: 1px solid #999; }
          .icon { background: #fff; color: #000; border: 1px solid #999; }
        }

        """
}
