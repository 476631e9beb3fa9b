import Base

/// What may stand between tags where a column separates them otherwise than volley.yaml says.
enum TagMark: Int, CaseIterable, Sendable {
    case comma, semicolon, bar, tab, lineBreak, blank
    /// Brackets or quotes of a list that cannot be read.
    case enclosure

    /// The bytes of it.
    var bytes: [UInt8] {
        switch self {
        case .comma: [UInt8(ascii: ",")]
        case .semicolon: [UInt8(ascii: ";")]
        case .bar: [UInt8(ascii: "|")]
        case .tab: [0x09]
        case .lineBreak: [0x0A, 0x0D]
        case .blank: [0x20]
        case .enclosure: []
        }
    }

    /// In a message.
    var name: String {
        switch self {
        case .comma: "','"
        case .semicolon: "';'"
        case .bar: "'|'"
        case .tab: "a tab"
        case .lineBreak: "a line break"
        case .blank: "a blank"
        case .enclosure: "brackets or quotes"
        }
    }

    /// As volley.yaml names it; nil where it cannot.
    var yaml: String? {
        switch self {
        case .comma: "\",\""
        case .semicolon: "\";\""
        case .bar: "\"|\""
        case .tab: "\"\\t\""
        case .lineBreak, .enclosure: nil
        case .blank: "\" \""
        }
    }
}

/// How cells hold tags of the query where they do not count: behind other separators.
struct TagForms: Sendable {
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

    mutating func add(_ other: TagForms) {
        usesSeparator = usesSeparator || other.usesSeparator
        for (mark, sighting) in other.marks {
            if marks[mark] != nil { marks[mark]?.rows += sighting.rows } else { marks[mark] = sighting }
        }
    }
}
