/// How many pushes a connection may have in flight. Everything in flight when a connection dies is in doubt. So after a loss the window
/// shrinks to half of what the lost connection managed to answer, and grows again with each accepted push.
struct StreamWindow {
    private static let smallest = 8.0
    /// What each accepted push adds: the window doubles within about six windows of answers.
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
