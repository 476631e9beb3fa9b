import Base

/// The forms in which a tag in a cell does not count: with a separator other than volley.yaml's, or with something around it.
enum TagMark: Int, CaseIterable, Sendable {
    case comma, semicolon, bar, tab, lineBreak, blank
    /// Blanks that look like a space or like nothing.
    case otherBlank
    case wideComma, ideographicComma, wideSemicolon, wideBar, arabicComma, arabicSemicolon, middleDot, bullet
    case slash, plus, greater, colon, tilde
    /// Escaped separators: a backslash and an n, `%3B`, `%2C`.
    case writtenBreak, encodedSemicolon, encodedComma
    /// Brackets or quotes of a list that cannot be read.
    case enclosure
    /// An object with tags for names, such as `{"vip": "true"}`.
    case object
    /// `#vip`
    case hash
    /// `vip=true`
    case value
    /// `^vip`, `vip!`
    case sign

    /// What separates tags; empty for a form that is not a separator, or a separator of several characters.
    var characters: [Character] {
        switch self {
        case .comma: [","]
        case .semicolon: [";"]
        case .bar: ["|"]
        case .tab: ["\t"]
        case .lineBreak: ["\n", "\r", "\r\n"]
        case .blank: [" "]
        case .otherBlank:
            [
                "\u{0B}", "\u{0C}", "\u{1F}", "\u{85}", "\u{A0}", "\u{1680}", "\u{2000}", "\u{2001}", "\u{2002}", "\u{2003}", "\u{2004}",
                "\u{2005}", "\u{2006}", "\u{2007}", "\u{2008}", "\u{2009}", "\u{200A}", "\u{200B}", "\u{2028}", "\u{2029}", "\u{202F}",
                "\u{205F}", "\u{3000}", "\u{FEFF}",
            ]
        case .wideComma: ["，"]
        case .ideographicComma: ["、"]
        case .wideSemicolon: ["；"]
        case .wideBar: ["｜"]
        case .arabicComma: ["،"]
        case .arabicSemicolon: ["؛"]
        case .middleDot: ["·"]
        case .bullet: ["•"]
        case .slash: ["/"]
        case .plus: ["+"]
        case .greater: [">"]
        case .colon: [":"]
        case .tilde: ["~"]
        case .enclosure, .object, .hash, .value, .sign, .writtenBreak, .encodedSemicolon, .encodedComma: []
        }
    }

    /// A separator of several characters.
    var sequence: String? {
        switch self {
        case .writtenBreak: "\\n"
        case .encodedSemicolon: "%3B"
        case .encodedComma: "%2C"
        default: nil
        }
    }

    /// In a message.
    var name: String {
        switch self {
        case .tab: "a tab"
        case .lineBreak: "a line break"
        case .blank: "a blank"
        case .otherBlank: "a blank that is not a space"
        case .enclosure: "brackets or quotes"
        default: "'\(sequence ?? characters.first.map(String.init) ?? "")'"
        }
    }

    /// As volley.yaml names it; nil where it cannot: a separator is a single character.
    var yaml: String? {
        switch self {
        case .tab: TextFormat.yaml("\t")
        case .lineBreak, .otherBlank: nil
        default: characters.first.map { TextFormat.yaml(String($0)) }
        }
    }

    /// Whether it is as likely inside a tag as between two, so that it causes a warning, not an error.
    var isOftenPart: Bool { [.slash, .plus, .greater, .colon, .tilde, .hash, .value, .sign].contains(self) }
}

/// How cells hold tags of the query where they do not count.
struct TagFormats: Sendable {
    /// Rows that hold a tag of the query in a form that does not count.
    struct Sighting: Sendable {
        /// The number of the first one's tag.
        var tag: Int
        /// Its cell.
        var cell: String
        /// Whether that is an element of a list.
        var isElement: Bool
        var rows = 1
    }

    /// By the mark that separates them.
    private(set) var marks: [TagMark: Sighting] = [:]
    /// Whether some cell holds the separator that counts.
    var usesSeparator = false

    mutating func note(_ mark: TagMark, tag: Int, cell: UnsafeBufferPointer<UInt8>, isElement: Bool) {
        if marks[mark] != nil {
            marks[mark]?.rows += 1
        } else {
            let text = TextFormat.foreign(String(decoding: cell, as: UTF8.self), maximumBytes: 60)
            marks[mark] = Sighting(tag: tag, cell: text, isElement: isElement)
        }
    }

    mutating func add(_ other: TagFormats) {
        usesSeparator = usesSeparator || other.usesSeparator
        for (mark, sighting) in other.marks {
            if marks[mark] != nil { marks[mark]?.rows += sighting.rows } else { marks[mark] = sighting }
        }
    }
}
