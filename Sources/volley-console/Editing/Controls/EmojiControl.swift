import Base

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
