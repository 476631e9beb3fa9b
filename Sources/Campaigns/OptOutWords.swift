public import Base
import PushServices

/// Names for devices that do not want pushes: `unsubscribed`, `push-opt-out`, `abgemeldet`, `已退订`.
/// Where a campaign selects devices by such a name, its author usually meant to leave them out.
///
/// ```swift
/// let isOptOut = OptOutWords.mean("unsubscribed")  // true
/// ```
public enum OptOutWords {
    /// Whether a tag, the name of a column or a value means that.
    public static func mean(_ name: String) -> Bool {
        let folded = folded(name)
        let letters = String(folded.filter { $0.isLetter || $0.isNumber })
        // `not-unsubscribed` and `unsubscribed=false` mean the others.
        guard !negations.contains(where: { letters.hasPrefix($0) && letters.count > $0.count }),
            !denials.contains(where: folded.hasSuffix)
        else { return false }
        if phrases.contains(where: letters.contains) { return true }
        let words = folded.split { !$0.isLetter && !$0.isNumber }.map(String.init)
        // `un-subscribed`; other languages have such a syllable as a word: des abonnés are
        // subscribers.
        if zip(words, words.dropFirst()).contains(where: { $0 == "un" && $1.hasPrefix("subscri") }) { return true }
        return words.contains { word in wholeWords.contains(word) || stems.contains(where: word.contains) }
    }

    /// Whether a tag means that a device wants pushes, whatever else is sent to it: `subscribed`,
    /// `push-opt-in`. `premium_subscribed` may mean a purchase.
    public static func tagMeansOptIn(_ tag: String) -> Bool {
        let letters = folded(tag).filter { $0.isLetter || $0.isNumber }
        return !mean(tag)
            && optIns.contains { optIn in
                letters == optIn
                    || ["push", "pushes", "email", "newsletter", "notifications", "marketing"].contains {
                        letters == $0 + optIn
                    }
            }
    }

    /// Whether a column's name means that a device wants pushes: `subscribed`, `push_opt_in`.
    static func meanOptIn(_ column: String) -> Bool {
        let letters = folded(column).filter { $0.isLetter || $0.isNumber }
        return !mean(column) && optIns.contains { letters.hasSuffix($0) }
    }

    static func isYes(_ value: String) -> Bool {
        ["true", "yes", "y", "1", "on", "ja", "oui", "si", "是"].contains(folded(value))
    }

    static func isNo(_ value: String) -> Bool {
        ["false", "no", "n", "0", "off", "nein", "non", "否"].contains(folded(value))
    }

    /// Small letters without accents, in which `ß` is `ss`, and without characters that people
    /// cannot see, except blanks.
    private static func folded(_ text: String) -> String {
        var result = ""
        let visible = text.unicodeScalars.filter { $0.isASCII || $0.properties.generalCategory != .format }
        for character in String(String.UnicodeScalarView(visible)).lowercased() {
            if let bare = bare[character] { result += bare } else { result.append(character) }
        }
        return result
    }

    private static let bare: [Character: String] = [
        "à": "a", "á": "a", "â": "a", "ã": "a", "ä": "a", "å": "a", "ç": "c", "è": "e", "é": "e", "ê": "e", "ë": "e",
        "ì": "i", "í": "i",
        "î": "i", "ï": "i", "ñ": "n", "ò": "o", "ó": "o", "ô": "o", "õ": "o", "ö": "o", "ø": "o", "ù": "u", "ú": "u",
        "û": "u", "ü": "u",
        "ß": "ss", "ı": "i", "ł": "l", "ś": "s", "ş": "s", "ğ": "g", "ż": "z", "ź": "z", "ą": "a", "ę": "e", "č": "c",
        "š": "s",
        "ž": "z", "ř": "r", "ě": "e", "ů": "u",
    ]

    private static let negations = [
        "notunsub", "notopt", "nonopt", "nonunsub", "neverunsub", "neveropt", "nichtabge", "nichtabbe", "nonde",
        "nondis", "未退", "没有退",
    ]
    private static let denials = ["false", "=no", ":no", "_no", "-no", "=0", ":0"]
    private static let optIns = [
        "subscribed", "optin", "optedin", "consent", "marketingallowed", "pushallowed", "pushenabled",
        "notificationsenabled",
        "einwilligung",
        "abonniert", "abonne", "suscrito", "iscritto", "已订阅",
    ]
    /// Found anywhere in a name, whatever separates its words.
    private static let phrases = [
        "optout", "optedout", "optingout", "donotdisturb", "dontdisturb", "donotcontact", "dontcontact", "donotpush",
        "dontpush",
        "donotsend", "donotmessage", "nopush", "nomarketing", "nonotification", "pushdisabled", "pushoff", "pushesoff",
        "notificationsdisabled", "notificationsoff", "consentwithdrawn", "withdrewconsent", "noconsent", "keinewerbung",
        "keinepush",
        "keinpush", "nichtstoren", "werbewiderspruch", "nepasderanger", "dadodebaja", "darsedebaja", "nomolestar",
        "naoperturb",
        "nondisturbare", "nietstoren", "abonelikiptal", "rahatsizetme", "небеспокоить", "退订", "退訂", "取消订阅", "取消訂閱",
        "免打扰",
        "勿扰", "勿擾", "拒收", "不接收", "黑名单", "黑名單", "配信停止", "配信拒否", "購読解除", "オプトアウト", "수신거부", "구독취소",
        "수신철회", "إلغاءالاشتراك",
    ]
    /// Found in a single word: `des abonnés` are subscribers.
    private static let stems = [
        "unsubscri", "unsubbed", "blocklisted", "blacklisted", "abgemeldet", "abbestellt", "desabonn", "desinscri",
        "desuscri",
        "descadastr", "disiscri", "uitgeschreven", "afgemeld", "wypisan", "odhlasen", "отпис",
    ]
    /// Found only as whole words.
    private static let wholeWords: Set<String> = ["unsub", "unsubs", "dnd", "dnc", "optouts", "退会"]
}

extension ColumnTest {
    /// A cell must have one of these values; empty for other tests.
    var equals: [String] {
        switch self {
        case .oneOf(let values): values
        case .comparison(.equal, let value): [value]
        case .comparison, .within, .olderThan, .present, .missing: []
        }
    }
}

extension Diagnostic {
    /// The warning that a campaign leaves out the devices that want pushes.
    public static func optInLeftOut(_ tag: SourceText) -> Diagnostic {
        let shown = TargetRedaction.cell(tag.value, maximumBytes: 60)
        return .warning(
            .optOutTargeted,
            message:
                "the tag '\(shown)' seems to mark devices that want pushes, and the campaign leaves them out: it goes to those that do not",
            at: tag.position,
            remedy:
                "To send to these alone, select them with tags: [\"\(shown)\"] instead; if you mean to leave them out, allow this warning."
        )
    }

    /// The warning that a campaign selects devices that do not want pushes.
    /// - Parameter name: a tag, or the column of a condition.
    public static func optOut(_ name: SourceText, isTag: Bool) -> Diagnostic {
        let shown = TargetRedaction.cell(name.value, maximumBytes: 60)
        // `-unsubscribed` was meant as "without": excluding devices with a tag of that name would
        // exclude none.
        let excluded = shown.drop { $0 == "-" || $0 == "−" || $0 == "–" }.trimmingSpaces()
        return .warning(
            .optOutTargeted,
            message: isTag
                ? "the tag '\(shown)' seems to mark devices that do not want pushes, and the campaign goes to them"
                : "the condition on '\(shown)' seems to select devices that do not want pushes, and the campaign goes to them",
            at: name.position,
            remedy: isTag
                ? "To leave them out, move the tag to exclude: {tags: [\(TextFormat.yaml(excluded, like: .doubleQuoted))]}; if you mean them, allow this warning."
                : "To leave them out, turn the condition around; if you mean them, allow this warning.")
    }
}
