import Base

/// One of the lists of excluded devices, by what is needed to say that it excludes nobody.
struct ExclusionList: Sendable {
    /// As the query names it.
    let path: String
    /// Entries, those that came twice as well.
    private(set) var entries = 0
    /// The first of them, for a message.
    private(set) var first = ""

    init(path: String) { self.path = path }

    mutating func add(_ entry: UnsafeBufferPointer<UInt8>) {
        if entries == 0 { first = String(decoding: entry, as: UTF8.self) }
        entries += 1
    }

    /// That no device of the exports is in it.
    var warning: Diagnostic {
        guard entries > 0 else {
            return .warning(
                .exclusionNotFound, "the list of excluded devices has no entry, so that it excludes nobody", file: path,
                remedy: "Was it written to its end?")
        }
        let lines = entries == 1 ? "its only line is no device" : "none of its \(TextFormat.count(entries)) lines is a device"
        // Long enough for a token, of which no more is shown.
        let shown = TextFormat.foreign(first.count < 20 ? first : DeviceToken.redact(first), maximumBytes: 60)
        return .warning(
            .exclusionNotFound, "the list of excluded devices excludes nobody: \(lines) of the exports", file: path,
            remedy: "Its first one is '\(shown)'. A list holds device tokens or registration ids, written as in the exports, one a line.")
    }
}

/// Which of the lists had a device, of the first 64; the others are not followed.
struct ExclusionMatches: Hashable, Sendable {
    private var bits: UInt64

    /// None of so many.
    init(lists: Int) { bits = lists < 64 ? ~0 << UInt64(lists) : 0 }

    /// Whether nothing is left to be found.
    var isComplete: Bool { bits == ~0 }

    subscript(list: Int) -> Bool {
        get { list >= 64 || bits & 1 << UInt64(list) != 0 }
        set { if newValue, list < 64 { bits |= 1 << UInt64(list) } }
    }

    mutating func add(_ other: ExclusionMatches) { bits |= other.bits }
}
