/// How many pushes are trusted to a connection at a time. All that is in flight when a connection dies is in doubt, so after a loss the
/// window shrinks to what such a connection managed to answer, and grows again with what is accepted.
struct StreamWindow {
    private static let smallest = 8.0
    /// By 1/8 for each accepted push: it doubles within about six windows of answers.
    private static let growth = 0.125

    private let largest: Double
    private var size: Double

    init(largest: Int) {
        self.largest = Double(max(1, largest))
        size = self.largest
    }

    var limit: Int { Int(size) }

    mutating func accepted() {
        if size < largest { size = min(largest, size + Self.growth) }
    }

    mutating func lost(afterAnswers answers: Int) {
        size = min(size, largest, max(Self.smallest, Double(answers) / 2))
    }
}
