/// Texts of a block that differ from a name of the query only in details that people overlook, and
/// how many rows have them. One for each thread.
struct SimilarTexts {
    private struct Text {
        var bytes: [UInt8]
        /// The name's number; -1 for none.
        var name: Int
        var rows: Int
    }

    /// Texts so far, also of other blocks, so that each is examined only once.
    private var texts: [Text] = []
    /// Hashes of texts that found no room there.
    private var more = SpellingCounts()

    private static let mostTexts = 64

    /// Another block begins.
    mutating func begin() {
        for index in texts.indices { texts[index].rows = 0 }
        more = SpellingCounts()
    }

    /// Notes that a row has a text.
    @inline(never) mutating func note(_ text: UnsafeBufferPointer<UInt8>, _ names: SimilarSpellings) {
        for index in texts.indices
        where texts[index].bytes.count == text.count && texts[index].bytes.elementsEqual(text) {
            texts[index].rows += 1
            return
        }
        let string = String(decoding: text, as: UTF8.self)
        let name = names.number(of: string)
        if texts.count < Self.mostTexts {
            texts.append(Text(bytes: Array(text), name: name ?? -1, rows: 1))
        } else if let name {
            more.add(string, of: name, rows: 1)
        }
    }

    /// What was found in the block.
    var counts: SpellingCounts {
        var counts = more
        for text in texts where text.name >= 0 && text.rows > 0 {
            counts.add(String(decoding: text.bytes, as: UTF8.self), of: text.name, rows: text.rows)
        }
        return counts
    }
}

/// Rows by name of the query and by the other spelling.
struct SpellingCounts: Sendable {
    private struct Key: Hashable {
        var name: Int
        var text: String
    }

    private var rows: [Key: Int] = [:]

    /// Spellings that are counted one by one.
    private static let mostSpellings = 100

    func has(_ text: String, of name: Int) -> Bool { rows[Key(name: name, text: text)] != nil }

    mutating func add(_ text: String, of name: Int, rows count: Int) {
        let spelling = Key(name: name, text: text)
        guard rows[spelling] != nil || rows.count < Self.mostSpellings else { return }
        rows[spelling, default: 0] += count
    }

    mutating func add(_ other: SpellingCounts) {
        // In a fixed order, as there may not be room for all.
        for (spelling, count) in other.rows.sorted(by: { ($0.key.name, $0.key.text) < ($1.key.name, $1.key.text) }) {
            add(spelling.text, of: spelling.name, rows: count)
        }
    }

    /// By the number of the name, the most frequent spelling first.
    var byName: [Int: [(text: String, rows: Int)]] {
        Dictionary(grouping: rows, by: \.key.name).mapValues { spellings in
            spellings.map { (text: $0.key.text, rows: $0.value) }.sorted { ($1.rows, $0.text) < ($0.rows, $1.text) }
        }
    }
}
