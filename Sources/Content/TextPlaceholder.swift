import Base

/// What stands in a text for something that was to be filled in: places of other tools, what drafts hold, codes that chats show as pictures.
/// `TypingAccident` knows the notations that no text uses for anything else.
enum TextPlaceholder {
    /// What was found, and what to write for it.
    private struct Found {
        var text: Substring
        var remedy: String
    }

    /// All of them as one, with the remedy of the first; nil when there is none.
    static func find(in text: String) -> TextOddity? {
        let all =
            [named(text), directive(text)].compactMap(\.self) + drafts(text)
            + [missingDay(text), impossibleDay(text), chatCode(text), emojiCode(text)].compactMap(\.self)
        guard let first = all.first else { return nil }
        let shown = all.map { "'\($0.text.count > 40 ? $0.text.prefix(39) + "…" : $0.text)'" }.joined(separator: ", ")
        return TextOddity(
            name: .placeholderInText, words: "\(shown), which people would read as \(all.count == 1 ? "it stands" : "they stand")",
            remedy: first.remedy)
    }

    private static func oddity(_ found: Substring, _ remedy: String) -> Found {
        Found(text: found.drop(while: \.isWhitespace), remedy: remedy)
    }

    /// `@first_name`, `$first_name`, `<<First Name>>`, `«first_name»`, `[firstname | fallback]`. `@shop` is an account, and `«Sale»` a quotation.
    private static func named(_ text: String) -> Found? {
        if let match = text.firstMatch(of: /(?:^|[^\p{L}\p{N}_.@$])([@$]([A-Za-z][A-Za-z0-9_]*))/), isColumn(match.output.2) {
            return oddity(match.output.1, column(match.output.2))
        }
        if let match = text.firstMatch(of: /<<\s*([\p{L}_][\p{L}\p{N}_ .-]*?)\s*>>/) {
            return oddity(match.output.0, column(match.output.1))
        }
        if let match = text.firstMatch(of: /[«‹]\s*([A-Za-z_][A-Za-z0-9_ ]*?)\s*[»›]/), isColumn(match.output.1) {
            return oddity(match.output.0, column(match.output.1))
        }
        if let match = text.firstMatch(of: /\[\s*([A-Za-z_][A-Za-z0-9_]*)\s*\|[^\[\]|]*\]/) {
            return oddity(match.output.0, "Write {{ \(name(match.output.1)) | default: 'there' }}.")
        }
        return nil
    }

    /// The words of a template without names that a warning is given of, wherever the text is sent.
    static func withoutKnown(_ template: String) -> String {
        let plain = template.replacing(/\{%-?\s*raw\s*-?%\}.*?\{%-?\s*endraw\s*-?%\}/.dotMatchesNewlines(), with: "…")
        return ShownText.words(plain).replacing(/[\[<#]\s*[A-Za-z_][A-Za-z0-9_.-]*\s*[\]>#]/, with: "…")
            .replacing(/[A-Za-z0-9_]+/) { isColumn($0.output) ? "…" : $0.output }
    }

    private static func column(_ written: Substring) -> String { "For a column write {{ \(name(written)) }}." }

    private static func name(_ written: Substring) -> String { written.lowercased().split(separator: " ").joined(separator: "_") }

    /// Whether a word is more likely a column's name than anything else.
    static func isColumn(_ word: Substring) -> Bool {
        let plain = word.lowercased().filter { $0 != "_" && $0 != " " }
        return usualNames.contains(plain) || plain.hasSuffix("name") && plain.count <= 16
    }

    /// Whether words between signs are most likely to be filled in: `First Name`, `your name`, `Name here`.
    static func isPlace(_ words: [String]) -> Bool {
        let known = words.filter { !["your", "insert", "enter", "here"].contains($0.lowercased()) }
        guard !known.isEmpty, words.count > 1 || words[0].contains("_") else { return false }
        return isColumn(known.joined(separator: " ")[...])
    }

    /// Why a text is none that people should read for a blank cell; nil when it is fine.
    static func flaw(ofFallback text: String) -> String? {
        if Blank.isSign(text) { return "which programs write for nothing" }
        let isPlace = !TemplateScanner.scan(Array(text.unicodeScalars), isShown: true).mistakes.isEmpty || find(in: text) != nil
        return isPlace ? "which looks like a place to fill in" : nil
    }

    /// What people fill in most, in small letters and without lines between the words.
    private static let usualNames: Set<String> = [
        "name", "firstname", "lastname", "fname", "lname", "fullname", "username", "nickname", "vorname", "nachname", "prenom", "nombre",
        "nome",
        "customer", "customername", "points", "balance", "city", "store", "email",
    ]

    /// `%d points`, `%s`, `%@`, `%1$s`: what programs fill in. `20 %d'achat` is none.
    private static func directive(_ text: String) -> Found? {
        guard let match = text.firstMatch(of: /(?:^|[^0-9\s%]|[^0-9]\s)(%(?:[0-9]\$)?[dsi@])(?![\p{L}\p{N}'’])/) else { return nil }
        return oddity(match.output.1, "Write a column, for example {{ points }}.")
    }

    /// `XXX`, `____`, `TODO: …`, `TBD`, `Lorem ipsum`, `[TEST]`, `INSERT NAME`. TODO alone is Spanish for all.
    private static func drafts(_ text: String) -> [Found] {
        let marks: [Substring?] = [
            text.firstMatch(of: /(?i)\blorem ipsum\b/)?.output, text.firstMatch(of: /_{3,}/)?.output,
            text.firstMatch(of: /\b(?:XXX|TBD|TBC|FIXME)\b/)?.output,
            text.firstMatch(of: /\bTODO(?=:|\s+(?:text|title|body|check|write|add)\b)/)?.output,
            text == "TODO" ? text[...] : nil,
            text.firstMatch(of: /\[(?:TEST|Test|DRAFT|Draft|ENTWURF|Entwurf)\]|\bTEST TEST\b/)?.output,
            text.firstMatch(of: /(?i)\bplease ignore\b/)?.output,
            text.firstMatch(of: /\bINSERT (?:[A-Z]+ )?(?:NAME|TEXT|TITLE|DATE|CITY|STORE|LINK|CODE|PRICE|AMOUNT|HERE)\b/)?.output,
        ]
        return marks.compactMap(\.self).map { oddity($0, "Write what is meant, or remove it.") }
    }

    /// `until DD.MM.`, `until XX.XX.`, `until ??`
    private static func missingDay(_ text: String) -> Found? {
        let match =
            text.firstMatch(of: /\b(?:DD|TT|XX|dd|tt|xx)[.\/-](?:MM|XX|mm|xx)\b/)?.output
            ?? text.firstMatch(of: /(?i)\b(?:until|till|by|on|from|bis|am|ab|vom)\s+\?\?+/)?.output
        return match.map { oddity($0, "Write the day that is meant.") }
    }

    /// `31.11.2026`, `2026-02-30`
    private static func impossibleDay(_ text: String) -> Found? {
        for match in text.matches(of: /\b([0-9]{1,2})\.([0-9]{1,2})\.(20[0-9]{2})\b/) {
            if hasNoDay(match.output.3, match.output.2, match.output.1) {
                return oddity(match.output.0, "No calendar has that day: correct it.")
            }
        }
        for match in text.matches(of: /\b(20[0-9]{2})-([0-9]{2})-([0-9]{2})\b/) {
            if hasNoDay(match.output.1, match.output.2, match.output.3) {
                return oddity(match.output.0, "No calendar has that day: correct it.")
            }
        }
        return nil
    }

    /// Of a month that there is: other numbers may be no date.
    private static func hasNoDay(_ year: Substring, _ month: Substring, _ day: Substring) -> Bool {
        guard let year = Int(year), let month = Int(month), let day = Int(day), (1...12).contains(month), (29...31).contains(day) else {
            return false
        }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return day > (month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31)
    }

    /// `:tada:`, which Slack and GitHub show as a picture.
    private static func emojiCode(_ text: String) -> Found? {
        guard let match = text.firstMatch(of: /(?:^|[\s(.!?])(:[a-z][a-z0-9_+-]*[a-z0-9]:)(?=$|[\s.,!?):])/),
            !isColumn(match.output.1.dropFirst().dropLast())
        else { return nil }
        return oddity(match.output.1, "Write the emoji itself; only chats turn such codes into pictures.")
    }

    /// `[庆祝]`, `[Smile]`: WeChat and Weibo show them as pictures. Labels such as `[红包]` and `[限时]` are texts of their own.
    private static func chatCode(_ text: String) -> Found? {
        for match in text.matches(of: /\[([\p{Han}]{1,4}|[A-Z][A-Za-z]{2,11})\]/) where chatCodes.contains(String(match.output.1)) {
            return oddity(match.output.0, "Write an emoji itself; only chats turn such codes into pictures.")
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
