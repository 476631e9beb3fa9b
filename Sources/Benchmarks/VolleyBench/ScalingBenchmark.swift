import Base

/// Two loops on two cores. The server needs as much CPU time as the sender, so both share the
/// cores: one core for the whole system, then two.
struct ScalingBenchmark {
    let bench: Workbench
    let pushes: Int
    let repeats: Int

    func run() throws {
        let both = "\(bench.clientCore),\(bench.serverCore)"
        let set = [
            ("(a) both on one core, one loop", bench.clientCore, 1), ("(b) both on two cores, two loops", both, 2),
            ("(c) both on two cores, one loop", both, 1),
        ]
        var measurements = set.map { _ in [Measurement]() }
        for round in 1...max(1, repeats) {
            for (index, (name, cores, loops)) in set.enumerated() {
                Table.progress("round \(round) of \(repeats): \(name)")
                let server = try MeasuredServer(.plain, on: bench, cores: cores)
                measurements[index].append(
                    try Contestants.deliver(bench, server, pushes: pushes, loops: loops, cores: cores))
                try server.stop()
            }
        }
        let figures = measurements.map(Medians.init)
        Table.say(
            """

            Scaling: Volley's transport alone and the plain server on the same cores, as this machine has no other cores for the server; median of \(repeats).
            What is measured is the whole system, sender and server together. The second loop starts once the first has been saturated for half a second.

            """)
        Table.head(["cores and loops", "pushes", "pushes/s", "sender's CPU µs a push", "server's CPU µs a push"])
        for ((name, _, _), one) in zip(set, figures) {
            Table.line([
                name, TextFormat.count(pushes), Table.count(one.rate), Table.fixed(one.cpuPer100000 * 10),
                Table.fixed(one.serverShare / one.rate * 1e6),
            ])
        }
        let (one, two, apart) = (figures[0].rate, figures[1].rate, figures[2].rate)
        Table.say("\nb / a: \(Table.fixed(two / one)); b / c, what the second loop adds: \(Table.fixed(two / apart))")
    }
}
