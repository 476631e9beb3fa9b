import Base

/// The invalid lines of a list: the first ten, and how many more there are.
struct ListMistakes {
    let file: String
    private var shown: [Diagnostic] = []
    private var count = 0

    private static let mostShown = 10

    init(file: String) { self.file = file }

    var isEmpty: Bool { shown.isEmpty }

    mutating func add(_ mistake: Diagnostic) {
        count += 1
        if shown.count < Self.mostShown { shown.append(mistake) }
    }

    mutating func add(_ message: String, line: Int, remedy: String? = nil) {
        add(Diagnostic(message, at: SourcePosition(file: file, line: line, column: 1), remedy: remedy))
    }

    var all: [Diagnostic] {
        guard count > shown.count else { return shown }
        return shown + [Diagnostic("\(TextFormat.counted(count - shown.count, one: "more line", many: "more lines")) cannot be read")]
    }
}
