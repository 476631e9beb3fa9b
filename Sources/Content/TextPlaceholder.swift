import Base

/// Placeholders in a text that should have been filled in: those of other tools, of drafts, and codes that chats show as pictures.
/// `TypingSlip` knows the notations that texts use for nothing else.
enum TextPlaceholder {
    /// What was found, and what to write for it.
    private struct Found {
        var text: Substring
        var remedy: String
    }

    /// All of them in one warning, with the remedy of the first; nil if there are none.
    static func find(in text: String) -> TextAnomaly? {
        let all =
            [named(text), directive(text)].compactMap(\.self)
            + DraftText.found(in: text).map { oddity($0, remedy: "Write what you mean, or remove it.") }
            + [
                TextDay.missing(in: text).map { oddity($0, remedy: "Write the day that you mean.") },
                TextDay.impossible(in: text).map { oddity($0, remedy: "No calendar has that day: correct it.") },
                TextDay.impossibleHour(in: text).map { oddity($0, remedy: "No clock shows that: correct it.") }, chatCode(text),
                emojiCode(text),
            ].compactMap(\.self)
        guard let first = all.first else { return nil }
        let shown = all.map { "'\($0.text.count > 40 ? $0.text.prefix(39) + "…" : $0.text)'" }.joined(separator: ", ")
        return TextAnomaly(
            name: .placeholderInText,
            words: "\(shown), which people would read as written",
            remedy: first.remedy)
    }

    private static func oddity(_ found: Substring, remedy: String) -> Found {
        Found(text: found.drop(while: \.isWhitespace), remedy: remedy)
    }

    /// `@first_name`, `$first_name`, `<<First Name>>`, `«first_name»`, `[firstname | fallback]`. `@shop` is an account, and `«Sale»` a
    /// quotation.
    private static func named(_ text: String) -> Found? {
        if let match = text.firstMatch(of: /(?:^|[^\p{L}\p{N}_.@$])([@$]([A-Za-z][A-Za-z0-9_]*))/), PlaceName.isColumn(match.output.2) {
            return oddity(match.output.1, remedy: column(match.output.2))
        }
        if let match = text.firstMatch(of: /<<\s*([\p{L}_][\p{L}\p{N}_ .-]*?)\s*>>/),
            PlaceName.isColumn(match.output.1) || PlaceName.isPlace(match.output.1.split(separator: " ").map(String.init))
        {
            return oddity(match.output.0, remedy: column(match.output.1))
        }
        if let match = text.firstMatch(of: /[«‹]\s*([A-Za-z_][A-Za-z0-9_ ]*?)\s*[»›]/), PlaceName.isColumn(match.output.1) {
            return oddity(match.output.0, remedy: column(match.output.1))
        }
        if let match = text.firstMatch(of: /\[\s*([A-Za-z_][A-Za-z0-9_]*)\s*\|[^\[\]|]*\]/) {
            return oddity(
                match.output.0, remedy: "Write {{ \(PlaceName.column(for: match.output.1) ?? "first_name") | default: 'there' }}.")
        }
        return nil
    }

    /// The words of a template without the names that get a warning wherever the text is sent.
    static func withoutKnown(_ template: String) -> String {
        let plain = template.replacing(/\{%-?\s*raw\s*-?%\}.*?\{%-?\s*endraw\s*-?%\}/.dotMatchesNewlines(), with: "…")
        return ShownText.words(plain).replacing(/[\[<#]\s*[A-Za-z_][A-Za-z0-9_.-]*\s*[\]>#]/, with: "…")
            .replacing(/[A-Za-z0-9_]+/) { PlaceName.isColumn($0.output) ? "…" : $0.output }
    }

    private static func column(_ written: Substring) -> String { "\(PlaceName.suggestion(for: written))." }

    /// What is wrong with a text that people would read instead of a blank cell: a tag, a placeholder, or a sign for an empty value.
    /// - Parameters:
    ///   - column: for the remedy.
    ///   - index: where the text is.
    static func mistake(inFallback text: String, of column: String, at index: Int) -> TemplateMistake? {
        guard !text.isEmpty else { return nil }
        let (pieces, accidents) = TemplateScanner.scan(Array(text.unicodeScalars), isShown: true)
        guard pieces.allSatisfy({ $0.kind == .text }) else {
            return TemplateMistake(
                message: "a default cannot hold tags: people would read '\(text)' for a blank cell", index: index,
                remedy: "Write {% if \(column) != blank %}{{ \(column) }}{% else %}\(text){% endif %}.")
        }
        let isPlace = !accidents.isEmpty || find(in: text) != nil || PlaceName.isNameForBlank(text)
        guard Blank.isSign(text) || isPlace else { return nil }
        let flaw = Blank.isSign(text) ? "which programs write for an empty value" : "which looks like a place to fill in"
        return TemplateMistake(
            message: "people would read '\(text)' for a blank cell, \(flaw)", index: index,
            remedy: "Write what they should read, for example default: 'there'; default: '' prints nothing.", warning: .placeholderInText)
    }

    /// `%d points`, `%s`, `%@`, `%1$s`: placeholders of programs. `20 %d'achat` is not one.
    private static func directive(_ text: String) -> Found? {
        guard let match = text.firstMatch(of: /(?:^|[^0-9\s%]|[^0-9]\s)(%(?:[0-9]\$)?[dsi@])(?![\p{L}\p{N}'’])/) else { return nil }
        return oddity(match.output.1, remedy: "Write a column, for example {{ points }}.")
    }

    /// `:tada:`, which Slack and GitHub show as a picture.
    private static func emojiCode(_ text: String) -> Found? {
        guard let match = text.firstMatch(of: /(?:^|[\s(.!?])(:[a-z][a-z0-9_+-]*[a-z0-9]:)(?=$|[\s.,!?):])/),
            !PlaceName.isColumn(match.output.1.dropFirst().dropLast())
        else { return nil }
        return oddity(match.output.1, remedy: "Write the emoji itself; only chats turn such codes into pictures.")
    }

    /// `[庆祝]`, `[Smile]`: WeChat and Weibo show them as pictures. Labels such as `[红包]` and `[限时]` are real texts.
    private static func chatCode(_ text: String) -> Found? {
        for match in text.matches(of: /\[([\p{Han}]{1,4}|[A-Z][A-Za-z]{2,11})\]/) where chatCodes.contains(String(match.output.1)) {
            return oddity(match.output.0, remedy: "Write an emoji itself; only chats turn such codes into pictures.")
        }
        return nil
    }

    private static let chatCodes: Set<String> = [
        "微笑", "撇嘴", "发呆", "得意", "流泪", "害羞", "大哭", "尴尬", "发怒", "调皮", "呲牙", "惊讶", "难过", "抓狂", "偷笑", "愉快", "白眼", "傲慢", "惊恐", "憨笑", "疑问",
        "擦汗", "抠鼻", "鼓掌", "坏笑", "鄙视", "委屈", "快哭了", "阴险", "亲亲", "可怜", "笑脸", "脸红", "破涕为笑", "恐惧", "失望", "无语", "嘿哈", "捂脸", "奸笑", "机智", "皱眉",
        "吃瓜", "天啊", "旺柴", "打脸", "翻白眼", "叹气", "苦涩", "裂开", "嘴唇", "爱心", "心碎", "拥抱", "握手", "胜利", "抱拳", "勾引", "拳头", "合十", "凋谢", "炸弹", "便便",
        "庆祝", "烟花", "爆竹", "猪头", "跳跳", "发抖", "转圈", "赞", "心", "笑哭", "doge", "二哈", "喵喵",
        "Smile", "Grimace", "Drool", "Sob", "Shy", "Grin", "Chuckle", "Joyful", "Blush", "Laugh", "Clap", "Kiss", "Rose", "Heart",
        "BrokenHeart",
        "Party", "Celebrate", "Celebration", "Hug", "ThumbsUp", "ThumbsDown", "Facepalm", "Smirk", "Hooray", "Fireworks", "Firecracker",
        "Salute",
    ]
}
