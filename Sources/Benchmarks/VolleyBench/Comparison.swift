import Base

/// Contestants that send to one server in turn, so that a slow minute of the machine affects all of them. The first one is the yardstick.
struct Comparison {
    struct Contestant {
        let name: String
        let pushes: Int
        let run: (_ pushes: Int) throws -> Measurement
    }

    let title: String
    let contestants: [Contestant]
    let repeats: Int
    /// The first contestant's name in the heads of columns.
    var yardstick = "h2load"

    func run() throws {
        var measurements = contestants.map { _ in [Measurement]() }
        for round in 1...max(1, repeats) {
            for (index, contestant) in contestants.enumerated() {
                Table.progress("round \(round) of \(repeats): \(contestant.name), \(TextFormat.count(contestant.pushes)) pushes")
                measurements[index].append(try contestant.run(contestant.pushes))
            }
        }
        Table.say("\n\(title); median of \(repeats)\n")
        Table.head([
            "contestant", "pushes", "pushes/s", "CPU s per 100,000", "peak memory", "rate / \(yardstick)", "CPU / \(yardstick)",
            "its share of its core",
            "the server's of its own",
        ])
        let medians = measurements.map(Medians.init)
        guard let first = medians.first else { return }
        for (contestant, figures) in zip(contestants, medians) {
            Table.line([
                contestant.name, TextFormat.count(contestant.pushes), Table.count(figures.rate), Table.fixed(figures.cpuPer100000),
                TextFormat.bytes(figures.peakBytes), Table.fixed(figures.rate / first.rate),
                Table.fixed(figures.cpuPer100000 / first.cpuPer100000), Table.percent(figures.ownShare),
                Table.percent(figures.serverShare),
            ])
        }
    }
}
