import Base
import PushServices

/// The forms in which a tag in a cell does not count: with a separator other than volley.yaml's, or
/// with something around it.
enum TagMark: Hashable, Sendable {
    /// Between two tags: the sign, and how the cell writes it where a program wrote it out (`%3B`,
    /// `\n`, `&#59;`).
    case separator(Unicode.Scalar, written: String?)
    case blank
    /// Blanks that look like a space or like nothing.
    case otherBlank
    /// Brackets or quotes of a list that cannot be read.
    case enclosure
    /// The tag itself, with characters that a program wrote out: `\u0076ip`.
    case writtenOut
    /// An object with tags in names or values, such as `{"vip": "true"}` or `{"tags": ["vip"]}`.
    case object
    /// `#vip`
    case hash
    /// `vip=true`
    case value
    /// `^vip`, `vip!`
    case sign

    /// In a message.
    var name: String {
        switch self {
        case .separator("\t", written: nil): "a tab"
        case .separator("\n", written: nil): "a line break"
        case .separator(let sign, let written): "'\(written ?? TextFormat.foreign(String(sign), maximumBytes: 12))'"
        case .blank: "a blank"
        case .otherBlank: "a blank that is not a space"
        case .enclosure, .writtenOut, .object, .hash, .value, .sign: "brackets or quotes"
        }
    }

    /// As volley.yaml names it; nil where it cannot: a separator is a single character.
    var yaml: String? {
        switch self {
        case .separator("\n", _), .separator(_, written: .some): nil
        case .separator(let sign, written: nil): TextFormat.yaml(String(sign))
        case .blank: TextFormat.yaml(" ")
        default: nil
        }
    }

    var isSeparator: Bool {
        switch self {
        case .separator, .blank, .otherBlank: true
        default: false
        }
    }

    /// Whether it is as likely inside a tag as between two, so that it causes a warning, not an
    /// error.
    var isOftenPart: Bool { rank == 2 || rank == 3 }

    static let ranks = 5

    /// Of several forms in a text, the one with the lowest rank is named.
    var rank: Int {
        switch self {
        case .separator(let sign, _): Self.separatesLists(sign) ? 0 : 3
        case .otherBlank: 0
        case .enclosure, .writtenOut, .object: 1
        case .hash, .value, .sign: 2
        // Blanks appear next to other marks, too.
        case .blank: 4
        }
    }

    /// Whether a sign is rarely anything but a separator: a comma, a semicolon or a bar of whatever
    /// script, a middle dot, a bullet, a tab, a line break.
    static func separatesLists(_ sign: Unicode.Scalar) -> Bool {
        if sign.isASCII { return sign.value < 0x20 || ",;|".unicodeScalars.contains(sign) }
        guard let name = sign.properties.name, !name.contains("QUOTATION") else { return false }
        return ["COMMA", "SEMICOLON", "VERTICAL LINE", "BROKEN BAR", "MIDDLE DOT", "BULLET"].contains(
            where: name.contains)
    }
}

/// How cells hold tags of the query where they do not count.
struct TagFormats: Sendable {
    /// Rows that hold a tag of the query in a form that does not count.
    struct Occurrence: Sendable {
        /// The number of the first one's tag.
        var tag: Int
        /// Its cell.
        var cell: String
        /// Whether that is an element of a list.
        var isElement: Bool
        /// Its row's; in a block, lines count from its beginning.
        var line = 0
        var rows = 1
    }

    /// By the mark that separates them.
    private(set) var marks: [TagMark: Occurrence] = [:]
    /// Whether some cell holds the separator that counts.
    var usesSeparator = false
    /// Whether a sighting lacks its line.
    private(set) var wantsLine = false

    mutating func note(_ mark: TagMark, tag: Int, cell: UnsafeBufferPointer<UInt8>, isElement: Bool) {
        if marks[mark] != nil {
            marks[mark]?.rows += 1
        } else {
            let text = TargetRedaction.cell(String(decoding: cell, as: UTF8.self), maximumBytes: 60)
            marks[mark] = Occurrence(tag: tag, cell: text, isElement: isElement)
            wantsLine = true
        }
    }

    /// Sets the line in the block of the row with the tags that were noted last.
    @inline(never) mutating func note(line: Int) {
        wantsLine = false
        for mark in marks.keys where marks[mark]?.line == 0 { marks[mark]?.line = line }
    }

    /// Adds those of a block that begins at a line of the file.
    mutating func add(_ other: TagFormats, from line: Int) {
        usesSeparator = usesSeparator || other.usesSeparator
        for (mark, sighting) in other.marks {
            if marks[mark] != nil {
                marks[mark]?.rows += sighting.rows
            } else {
                marks[mark] = sighting
                marks[mark]?.line = line + sighting.line - 1
            }
        }
    }

    /// In the order of the file.
    var inOrder: [(mark: TagMark, sighting: Occurrence)] {
        marks.map { (mark: $0.key, sighting: $0.value) }.sorted {
            ($0.sighting.line, $0.mark.rank, $0.mark.name) < ($1.sighting.line, $1.mark.rank, $1.mark.name)
        }
    }
}
