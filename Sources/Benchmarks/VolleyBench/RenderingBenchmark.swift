import Base
import Content
import Glibc

/// What rendering a payload costs, from escaped cells to JSON, for texts from constant ones to
/// those that use every template feature. Measures the CPU time of one thread and takes the median
/// of several rounds.
struct RenderingBenchmark {
    let payloads: Int
    let rounds: Int

    private struct Case {
        var name: String
        var title: String
        var body: String
        /// Cells by column. Device n has the nth cell of each column, cyclically.
        var cells: [String: [String]] = [:]
        /// Whether the campaign has separate texts for most languages, and two variants, so that
        /// rendering includes choosing.
        var hasChoice = false
    }

    private static let names = ["Ada", "Jürgen", "Marie-Claire", "", "Wolfgang Amadeus", "李小明", "O'Neil"]
    private static let languages = ["en", "de", "fr-CA", "ru", "zh-Hans-CN", "ar", "pl"]

    private static let cases = [
        Case(name: "constant text", title: "Spring sale", body: "20 % off everything until Sunday, in every store."),
        Case(
            name: "two columns", title: "Hi {{ first_name | default: 'there' }}",
            body: "20 % off everything until Sunday, in every {{ store }}.",
            cells: ["first_name": names, "store": ["Berlin", "London", "Paris"]]),
        Case(
            name: "two columns, texts in seven languages and two variants",
            title: "Hi {{ first_name | default: 'there' }}",
            body: "20 % off everything until Sunday, in every {{ store }}.",
            cells: ["first_name": names, "store": ["Berlin", "London", "Paris"]], hasChoice: true),
        Case(
            name: "if, and filters (upcase, default, truncate)",
            title: "{% if level == 'gold' and points >= 1000 %}Gold for {{ first_name | upcase | default: 'you' }}"
                + "{% elsif points > 100 %}Almost gold, {{ first_name | default: 'friend' }}{% else %}Hello{% endif %}",
            body: "20 % off everything until Sunday, in every {{ store | truncate: 12 }}.",
            cells: [
                "first_name": names, "store": ["Berlin", "London Oxford Street", "Paris"], "level": ["gold", "silver"],
                "points": ["1500", "20", "250", "99.5"],
            ]),
        Case(
            name: "date, number and pluralize, seven languages",
            title:
                "{{ points | number }} {{ points | pluralize: one: 'point', few: 'punkty', many: 'points', other: 'points' }}",
            body: "Until {{ until | date: 'long' }}, {{ until | date: '%A %d %B' }}: {{ amount | number: 2 }} off.",
            cells: [
                "points": ["1", "2", "5", "1250", "1000000"],
                "until": ["2026-12-01", "2027-01-31T20:00:00Z", "1795219200"],
                "amount": ["19.5", "1234.567", "-0.25"],
            ]),
    ]

    func run() throws {
        Table.say("\n### Rendering, \(TextFormat.count(payloads)) payloads, median of \(rounds) rounds\n")
        Table.head(["text", "ns a payload", "bytes a payload"])
        for one in Self.cases {
            let result = try measure(one)
            Table.line([one.name, TextFormat.count(result.nanoseconds), "\(result.bytes)"])
        }
    }

    private func measure(_ one: Case) throws -> (nanoseconds: Int, bytes: Int) {
        let place = SourcePosition(file: "bench.yaml", line: 1, column: 1)
        var content = MessageContent(position: place)
        content.title = SourceText(one.title, at: place)
        content.body = SourceText(one.body, at: place)
        content.sound = SourceText("default", at: place)
        content.link = SourceText("shop://sale", at: place)
        let variants = ["short", "long"].map {
            MessageVariant(name: SourceText($0, at: place), share: MessageVariant.wholeShare / 2)
        }
        if one.hasChoice {
            let translated = content
            content.languages = ["de", "fr", "ru", "zh-Hans", "ar", "pl"].map {
                Translation(language: SourceText($0, at: place), content: translated)
            }
        }
        let catalog = try MessageCatalog(content, variants: one.hasChoice ? variants : [], campaign: "bench")
        var chooser = MessageChooser(catalog)
        let variant = Array("long".utf8)
        let devices = (0..<210).map { device in
            catalog.columns.map { column in (one.cells[column.value]).map { $0[device % $0.count] } ?? "" }
        }
        let rows = devices.map { Array(JSONValue.array($0.map(JSONValue.string)).text.utf8) }
        let languages = Self.languages.map { Array($0.utf8) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1 << 20)
        var times: [Int] = []
        var size = 0
        for _ in 0..<rounds {
            let located = try time(rows, languages) { _, _ in }
            size = 0
            let rendered = try time(rows, languages) { cells, language in
                let message =
                    catalog.hasChoice
                    ? variant.withUnsafeBufferPointer { chooser.message(variant: $0, language: language) } : 0
                guard let message else { throw Diagnostic("no message") }
                if let failure = catalog.append(message: message, cells, language: language, to: &bytes) {
                    throw Diagnostic("\(failure)")
                }
                if bytes.count > 1 << 19 {
                    size += bytes.count
                    bytes.removeAll(keepingCapacity: true)
                }
            }
            size += bytes.count
            bytes.removeAll(keepingCapacity: true)
            times.append((rendered - located) / payloads)
        }
        return (times.sorted()[times.count / 2], size / payloads)
    }

    /// Returns the CPU nanoseconds for all payloads, including the time to find the cells.
    private func time(
        _ rows: [[UInt8]], _ languages: [[UInt8]], _ body: (EscapedCells, UnsafeBufferPointer<UInt8>) throws -> Void
    ) throws -> Int {
        var cells = EscapedCells()
        let start = cpuNanoseconds()
        for number in 0..<payloads {
            try rows[number % rows.count].withUnsafeBufferPointer { row in
                guard cells.locate(in: row) else { throw Diagnostic("a row cannot be read") }
                try languages[number % languages.count].withUnsafeBufferPointer { try body(cells, $0) }
            }
        }
        return cpuNanoseconds() - start
    }

    private func cpuNanoseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
