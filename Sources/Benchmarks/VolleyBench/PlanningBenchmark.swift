import Base
import Glibc

/// Compares `volley preview` and `volley plan` with DuckDB and Polars on the same export: find the
/// devices with one of two tags, each device once.
///
/// Volley's time is that of the whole process, and it does more: it renders every payload with two
/// columns, counts languages and sizes, and keeps the newest row of each device. The others' time
/// is that of the query alone, without starting Python.
struct PlanningBenchmark {
    let bench: Workbench
    let isQuick: Bool
    private let folder: String

    private struct Export {
        var file: String
        var rows: Int
        var name: String
    }

    private struct Contestant {
        var name: String
        var run: (Export, _ threads: Int) throws -> Sample
    }

    private struct Sample {
        var seconds: Double
        var peakBytes: Int
        var selected: Int
    }

    init(bench: Workbench, isQuick: Bool) throws {
        self.bench = bench
        self.isQuick = isQuick
        folder = try bench.makeFolder("planning")
        try Workbench.write("\(folder)/volley.yaml") {
            $0("runs: runs\napps:\n  shop:\n    topic: \(BenchPush.topic)\n    environment: simulator\n")
        }
    }

    func run() throws {
        let sizes = isQuick ? [100_000] : [1_000_000, 5_000_000, 20_000_000]
        let formats = isQuick ? 100_000 : 5_000_000
        Table.say(
            """

            Planning: rows of a device export, one of two tags (22 % of the rows); median of \(repeats) runs that take turns.
            Volley: the whole process. DuckDB and Polars: the query alone.

            """)
        Table.head([
            "export", "threads", "contestant", "s", "rows/s", "MB/s of the file", "peak memory", "time / preview's",
        ])
        for rows in sizes { try compare(try export(rows, .csv)) }
        let csv = try export(formats, .csv)
        try compare(try compressed(csv))
        unlink(csv.file)
        try compare(try export(formats, .jsonl))
    }

    private var repeats: Int { isQuick ? 1 : 3 }

    // MARK: Exports

    private func export(_ rows: Int, _ format: ExportGenerator.Format) throws -> Export {
        let file = "\(folder)/devices-\(rows).\(format.rawValue)"
        if access(file, F_OK) != 0 {
            Table.progress("writing \(TextFormat.count(rows)) rows")
            var generator = ExportGenerator(rows: rows, format: format)
            try generator.write(to: file)
        }
        return Export(file: file, rows: rows, name: format == .csv ? "CSV" : "JSON Lines")
    }

    private func compressed(_ export: Export) throws -> Export {
        Table.progress("compressing")
        try bench.run(["gzip", "--fast", "--keep", export.file], limitSeconds: 600)
        return Export(file: export.file + ".gz", rows: export.rows, name: "CSV, gzip")
    }

    // MARK: Contestants

    private func compare(_ export: Export) throws {
        let contestants = [
            Contestant(name: "volley preview", run: { try volley("preview", $0, $1) }),
            Contestant(name: "volley plan", run: { try volley("plan", $0, $1) }),
            Contestant(name: "DuckDB", run: { try query("duckdb", $0, $1) }),
            Contestant(name: "Polars", run: { try query("polars", $0, $1) }),
        ]
        for threads in [1, 2] {
            var samples = contestants.map { _ in [Sample]() }
            for round in 1...repeats {
                for (index, contestant) in contestants.enumerated() {
                    Table.progress(
                        "round \(round) of \(repeats): \(contestant.name), \(export.name), \(TextFormat.count(export.rows)) rows"
                    )
                    samples[index].append(try contestant.run(export, threads))
                }
            }
            guard Set(samples.joined().map(\.selected)).count == 1 else {
                throw Diagnostic("the contestants do not agree: \(samples.map { $0.map(\.selected) })")
            }
            let own = median(samples[0])
            for (contestant, samples) in zip(contestants, samples) {
                say(export, threads, contestant.name, samples, own)
            }
        }
        if !export.file.hasSuffix(".csv") { unlink(export.file) }
    }

    private func median(_ samples: [Sample]) -> Double { samples.map(\.seconds).sorted()[samples.count / 2] }

    private func say(_ export: Export, _ threads: Int, _ name: String, _ samples: [Sample], _ own: Double) {
        let seconds = median(samples)
        var status = stat()
        stat(export.file, &status)
        Table.line([
            "\(export.name), \(export.rows / 1_000_000) M", String(threads), name, Table.fixed(seconds),
            Table.count(Double(export.rows) / seconds), Table.count(Double(status.st_size) / 1e6 / seconds),
            TextFormat.bytes(samples.map(\.peakBytes).max() ?? 0), Table.fixed(seconds / own),
        ])
    }

    private func cores(_ threads: Int) -> String {
        threads == 1 ? bench.clientCore : "\(bench.clientCore),\(bench.serverCore)"
    }

    private func volley(_ command: String, _ export: Export, _ threads: Int) throws -> Sample {
        let campaign = "\(folder)/campaign.yaml"
        try Workbench.write(campaign) {
            $0(
                """
                name: planning
                app: shop
                audience:
                  devices: \(export.file)
                  tags: [discount, daily]
                content:
                  title: "Hi {{ first_name | default: 'there' }}"
                  body: "{{ store }} has 20 % off everything."

                """)
        }
        let result = try bench.run(
            ["\(bench.binaries)/volley", command, campaign, "--json", "--quiet"], in: folder, cores: cores(threads))
        Workbench.remove("\(folder)/runs")
        let audience = try JSONValue(parsing: result.output)["audience"]?.integerValue ?? 0
        return Sample(seconds: result.seconds, peakBytes: result.peakBytes, selected: Int(audience))
    }

    /// Runs a query with Python and libraries that `make bench` has installed.
    private func query(_ engine: String, _ export: Export, _ threads: Int) throws -> Sample {
        let build = "\(bench.binaries)/../.."
        let result = try bench.run(
            [
                "\(build)/bench/bin/python3", "\(build)/../Sources/Benchmarks/selection.py", engine, export.file,
                String(threads),
            ],
            cores: cores(threads), limitSeconds: 600)
        let answer = try JSONValue(parsing: result.output)
        guard case .double(let seconds)? = answer["seconds"], let selected = answer["selected"]?.integerValue else {
            throw Diagnostic("\(engine) answered \(result.output.prefix(200))")
        }
        return Sample(seconds: seconds, peakBytes: result.peakBytes, selected: Int(selected))
    }
}
