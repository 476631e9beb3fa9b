import Audience
import Base
import Campaigns
import Content
import Planning

/// What devices get: the texts, in languages and variants, and what comes with them.
enum WhatSection: ComposerSection {
    static let title = "What"

    static func fields(in edit: YAMLEdit) -> [CampaignForm.Field] {
        texts + extras + DataControl.fields(in: edit) + LanguagesControl.fields(in: edit)
            + VariantsControl.fields(in: edit)
    }

    /// Those that most devices read.
    private static let texts: [CampaignForm.Field] = [
        .init(path: ["content", "title"], label: "Title", kind: .line),
        .init(path: ["content", "subtitle"], label: "Subtitle", kind: .line, hint: "On iPhones only."),
        .init(path: ["content", "body"], label: "Text", kind: .lines),
    ]

    private static let extras: [CampaignForm.Field] = [
        .init(
            path: ["content", "link"], label: "Link", kind: .line, hint: "What opens when it is tapped: shop://sale"),
        .init(
            path: ["content", "image"], label: "Image", kind: .line, hint: "A web address that begins with https://"),
        .init(
            path: ["content", "sound"], label: "Sound", kind: .line,
            hint: "default for the usual one, or the name of a file in the app."),
        .init(
            path: ["content", "badge"], label: "Number at the app’s icon", kind: .number,
            hint: "0 removes it; blank leaves it."),
        .init(
            path: ["content", "category"], label: "Category", kind: .line, hint: "Its buttons, as the app names them."),
        .init(
            path: ["content", "thread"], label: "Thread", kind: .line,
            hint: "Pushes of one thread are shown as a group."),
        .init(
            path: ["content", "interruption"], label: "How much it may disturb", kind: .oneOf(interruptions),
            hint: "On iPhones only."),
        .init(
            path: ["content", "wake_app"], label: "Also wake the app in the background", kind: .box,
            hint: "So that it can load what the push is about."),
        silent,
    ]

    private static let silent = CampaignForm.Field(
        path: ["content", "silent"], label: "Show nothing, only wake the app", kind: .box,
        hint: "Then it has no title, text, sound or number.")

    private static let interruptions = [
        ("", "As usual"), ("passive", "Not at all: it is only in the list"),
        ("active", "As usual, with sound and light"),
        ("time-sensitive", "Also while most pushes are held back"),
        ("critical", "Always, also on muted phones: needs Apple’s permission"),
    ]

    static func html(_ context: ComposerContext) -> HTML {
        // Open if it has anything, so that nothing is overlooked.
        let isUsed =
            DataControl.isUsed(context)
            || extras.contains {
                context.value(of: $0)?.text.isEmpty != true || !context.mistake(of: $0).markup.isEmpty
            }
        let others: HTML = "\(LanguagesControl.html(context))\(VariantsControl.html(context))"
        return """
            \(ColumnsControl.html(context))
            \(EmojiControl.html)
            \(HTML(joined: texts.map { TextCounters.html($0, context) }))
            \(others)
            \(MarkControl.rest(besides: others, context))
            <details class="extras"\(isUsed ? " open" : "" as HTML)><summary>Link, image, sound, values for the app, and more</summary>\
            \(HTML(joined: extras.map(context.control)))\(DataControl.html(context))</details>
            """
    }

    static func apply(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake] {
        let before = edit
        var mistakes = CampaignForm.apply(form, to: &edit, texts + extras)
        mistakes.merge(DataControl.apply(form, to: &edit)) { first, _ in first }
        mistakes.merge(LanguagesControl.apply(form, to: &edit)) { first, _ in first }
        mistakes.merge(VariantsControl.apply(form, to: &edit)) { first, _ in first }
        mistakes.merge(MarkControl.applyRest(form, to: &edit)) { first, _ in first }
        if lacksText(edit), edit.keys(at: content) != before.keys(at: content), mistakes[texts[0].name] == nil {
            mistakes[texts[0].name] = Mistake(
                "there is no text", remedy: "Write a title or a text, or choose “\(silent.label)”.")
        }
        return mistakes
    }

    private static let content = ["content"]

    /// Whether pushes come without a word, although they are not meant to be silent. A file may say
    /// so, for a sound or a number alone; in the form it is a text that was cleared.
    private static func lacksText(_ edit: YAMLEdit) -> Bool {
        let worded: Set = ["title", "subtitle", "body", "localized", "payload", "silent"]
        return edit.keys(at: ["variants"]).isEmpty && edit.keys(at: content).allSatisfy { !worded.contains($0) }
    }
}

/// A text with what phones show of it, which the script counts while it is typed. Android shows one
/// line before a push is opened.
enum TextCounters {
    static func html(_ field: CampaignForm.Field, _ context: ComposerContext) -> HTML {
        let isBody = field.path.last == "body"
        return """
            <div class="counted" data-count="\(field.name)" data-most="\(isBody ? ShownText.bodyCharacters : ShownText.lineCharacters)" \
            data-android="\(ShownText.lineCharacters)">\(context.control(field))</div>
            """
    }
}

/// The columns of the exports, to be inserted into a text. Without scripts they are a list to copy
/// from.
enum ColumnsControl {
    static func html(_ context: ComposerContext) -> HTML {
        let pieces = pieces(context.tags, context.devices)
        return """
            <div class="insert" data-insert><span class="part"><label for="insert-column">Insert a column of the export</label>\
            <select id="insert-column" data-fill="\(pieces[0].place)">\(pieces[0].content)</select></span>\
            <span class="part"><label for="insert-fallback">If it is blank, write</label><input id="insert-fallback" autocomplete="off"></span>\
            <button type="button">Insert</button><span class="note" role="status"></span></div>
            <details class="by-hand"><summary>Columns of the export in a text</summary><div data-fill="\(pieces[1].place)">\
            \(pieces[1].content)</div></details>
            """
    }

    /// What is filled in when the columns or their blank cells are counted, by its places.
    /// - Parameter devices: of the audience; nil while they are not known.
    static func pieces(_ known: KnownTags, _ devices: SampledDevices?) -> [(place: String, content: HTML)] {
        let columns = known.facts.map(\.name).filter(isName).map { ($0, blank($0, devices)) }
        let options: [HTML] = columns.map { name, blank in
            let share: HTML = blank.map { " data-blank=\"\($0)\"" } ?? ""
            return "<option value=\"\(name)\"\(share)>\(name)\(note(blank))</option>"
        }
        let example = columns.first { $0.0.contains("name") }?.0 ?? columns.first?.0 ?? "first_name"
        let list = columns.map { "\($0)\(note($1))" }.joined(separator: "; ")
        let byHand: HTML = """
            <p class="note">Write <code>{{ \(example) | default: 'there' }}</code> where its value belongs; what follows “default” is for devices \
            without one. \(list.isEmpty ? "The columns are being read." : "The columns: \(list).")</p>
            """
        return [("columns", HTML(joined: options)), ("columns-by-hand", byHand)]
    }

    /// `12 %` of the audience, `0` for a column that is never blank; nil while that is not known.
    private static func blank(_ column: String, _ devices: SampledDevices?) -> String? {
        devices?.shareBlank(column).map { $0 == 0 ? "0" : TextFormat.percent($0) }
    }

    private static func note(_ blank: String?) -> String {
        blank.map { $0 == "0" ? ", never blank" : ", blank for \($0)" } ?? ""
    }

    /// Whether a text can name it.
    private static func isName(_ column: String) -> Bool {
        guard let first = column.first, first.isLetter || first == "_" else { return false }
        return column.allSatisfy { $0.isLetter || $0.isNumber || "_.-".contains($0) }
    }
}

/// Emoji to choose from, which the script inserts where the cursor was. Without scripts it is not
/// shown, as keyboards have them too.
enum EmojiControl {
    /// Each sign with its English name (CLDR, short names).
    private static let groups: [(name: String, signs: String)] = [
        (
            "Sales and gifts",
            """
            🛍 shopping bags; 🛒 shopping cart; 🎁 wrapped gift; 🏷 label; 💰 money bag; 💳 credit card; 🎟 admission ticket; 💎 gem stone; \
            👑 crown; 🏆 trophy; 💯 hundred points; 🆕 new button
            """
        ),
        (
            "Feelings",
            """
            😀 grinning face; 😊 smiling face; 😍 heart eyes; 😎 sunglasses; 🤩 star-struck; 🥳 partying face; 😢 crying face; 👋 waving hand; \
            👍 thumbs up; 👏 clapping hands; 🙏 folded hands; 💪 flexed biceps; ❤️ red heart; 💛 yellow heart; 💚 green heart; 💙 blue heart
            """
        ),
        (
            "Attention",
            """
            ⏰ alarm clock; ⏳ hourglass; 📅 calendar; 🔔 bell; 📢 loudspeaker; 🔥 fire; ⭐ star; ✨ sparkles; ⚡ high voltage; 🚀 rocket; \
            ✅ check mark; ⚠️ warning; ❗ exclamation mark; 👀 eyes; 👉 pointing right; 📦 package
            """
        ),
        (
            "Seasons and going out",
            """
            🎉 party popper; 🎂 birthday cake; 🎈 balloon; 🎄 Christmas tree; 🎃 jack-o-lantern; 🐣 hatching chick; 🌸 cherry blossom; ☀️ sun; \
            🍂 fallen leaf; ❄️ snowflake; 🌈 rainbow; ☕ hot beverage; 🍕 pizza; 🍽 fork and knife; ✈️ airplane; 🏖 beach; 🎵 musical note; \
            ⚽ soccer ball
            """
        ),
    ]

    static let html: HTML = {
        let parts: [HTML] = groups.map { group in
            let buttons: [HTML] = group.signs.split(separator: ";").map { sign in
                let words = sign.trimmingPrefix(" ").split(separator: " ", maxSplits: 1).map(String.init)
                return "<button type=\"button\" title=\"\(words[1])\" aria-label=\"\(words[1])\">\(words[0])</button>"
            }
            return """
                <div role="group" aria-label="\(group.name)"><p class="note" aria-hidden="true">\(group.name)</p>\(buttons)</div>
                """
        }
        return """
            <details class="emoji" data-emoji><summary>Emoji</summary><p class="note">They go where the cursor was last in a text.</p>\
            \(parts)</details>
            """
    }()
}
