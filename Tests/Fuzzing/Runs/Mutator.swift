import TestSupport

/// Changes inputs at random, always the same way from the same seed.
struct Mutator {
    private var random: SeededRandom
    private let corpus: [[UInt8]]
    /// Pieces that matter to parsers, in addition to arbitrary bytes.
    private static let pieces: [[UInt8]] =
        [
            "\"", "\"\"", ",", "\t", "\n", "\r", "\r\n", ";", "[", "]", "{", "}", "{{", "}}", "|", "'", ":", "- ", "#",
            "&a ", "*a", "^",
            "\\", "\\u00e9", "数", "0", "{% if a %}", "{% else %}", "{% endif %}", "{%- ", " | upcase", "== 'x'",
            "{% raw %}",
        ]
        .map { Array($0.utf8) } + [[0], [0xFF], [0xC3]]

    init(seed: UInt64, corpus: [[UInt8]]) {
        random = SeededRandom(seed)
        self.corpus = corpus
    }

    /// An input of the corpus with one to four changes.
    mutating func next() -> [UInt8] {
        var bytes = corpus.randomElement(using: &random) ?? []
        for _ in 0...Int.random(in: 0..<4, using: &random) { change(&bytes) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, place + Int.random(in: 1...24, using: &random))
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes.replaceSubrange(place..<min(place + 1, end), with: [UInt8.random(in: 0...255, using: &random)])
        case 1: bytes.removeSubrange(place..<end)
        case 2: bytes.insert(contentsOf: Self.pieces.randomElement(using: &random) ?? [], at: place)
        case 3: bytes.insert(contentsOf: Array(bytes[place..<end]), at: Int.random(in: 0...bytes.count, using: &random))
        default:
            let other = corpus.randomElement(using: &random) ?? []
            bytes.replaceSubrange(
                place..<bytes.count, with: other.dropFirst(Int.random(in: 0...other.count, using: &random)))
        }
    }
}
