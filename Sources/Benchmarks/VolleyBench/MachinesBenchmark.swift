import Base
import Glibc
import PushServices
import Runs
import TestServers

/// The cost of sending through a store that several machines share, with one of them: the same
/// campaign, sent only from its file and through PostgreSQL, in turn. PostgreSQL and the plain
/// server share a core, the sender has the other. The rate is that between the first and the last
/// outcome: the total time includes publishing before and fetching afterwards.
struct MachinesBenchmark {
    let bench: Workbench
    let recipients: Int
    let repeats: Int

    private static let variable = "VOLLEY_DATABASE"

    private struct Figures {
        var rates: [Double] = [], wholeSeconds: [Double] = [], cpu: [Double] = [], databaseCPU: [Double] = []

        static func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }
    }

    func run() throws {
        let database = try PostgresServer(settings: "fsync = on\nsynchronous_commit = on\nshared_buffers = 256MB")
        setenv(Self.variable, database.address(user: "postgres"), 1)
        let server = try MeasuredServer(.plain, on: bench)
        let alone = try CampaignFolder(bench, server), shared = try CampaignFolder(bench, server, store: Self.variable)
        try shared.volley("store", "migrate")
        var figures = [Figures(), Figures()]
        for round in 1...max(1, repeats) {
            for (place, folder) in [alone, shared].enumerated() {
                Table.progress(
                    "round \(round) of \(repeats): \(place == 0 ? "from the file alone" : "through PostgreSQL")")
                try measure(folder, database, &figures[place])
            }
        }
        try server.stop()
        report(figures)
    }

    private func measure(_ folder: CampaignFolder, _ database: PostgresServer, _ figures: inout Figures) throws {
        let before = Self.cpuSeconds(of: database)
        var sendingSeconds = 0.0
        let measurement = try folder.send(recipients: recipients) {
            sendingSeconds = try Self.sendingSeconds(ofRunIn: $0)
        }
        figures.rates.append(Double(recipients) / sendingSeconds)
        figures.wholeSeconds.append(measurement.seconds)
        figures.cpu.append(measurement.cpuPer100000)
        figures.databaseCPU.append((Self.cpuSeconds(of: database) - before) * 1_000_000 / Double(recipients))
    }

    /// From the first outcome to the last.
    private static func sendingSeconds(ofRunIn folder: String) throws -> Double {
        let run = try RunsFolder(folder).open(named: "last", readOnly: true)
        defer { run.close() }
        var (first, last) = (Int64.max, Int64.min)
        try run.forEachStoredResult { result in
            guard let at = result.settledAt?.epochMilliseconds else { return }
            (first, last) = (min(first, at), max(last, at))
        }
        return Double(max(1, last - first)) / 1000
    }

    /// User and system time of all processes of the server, also of those that have ended.
    private static func cpuSeconds(of database: PostgresServer) -> Double {
        guard
            let pid = Workbench.text("\(database.folder)/data/postmaster.pid")?.split(separator: "\n").first.flatMap({
                Int($0)
            })
        else {
            return 0
        }
        let children =
            Workbench.text("/proc/\(pid)/task/\(pid)/children")?.split(separator: " ").compactMap { Int($0) } ?? []
        let ticks = ([pid] + children).reduce(0) { $0 + Self.ticks(of: $1) }
        return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// utime, stime, cutime and cstime of proc_pid_stat(5).
    private static func ticks(of pid: Int) -> Int {
        guard let stat = Workbench.text("/proc/\(pid)/stat"), let end = stat.lastIndex(of: ")") else { return 0 }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        return fields.count > 14 ? fields[11...14].compactMap { Int($0) }.reduce(0, +) : 0
    }

    private func report(_ figures: [Figures]) {
        Table.say(
            "\nOne sender through a store, beside the same one without; \(TextFormat.count(recipients)) recipients, median of \(repeats)\n"
        )
        Table.head([
            "", "pushes/s", "rate / alone", "seconds from start to exit", "CPU s per 100,000",
            "database's CPU s a million",
        ])
        let rates = figures.map { Figures.median($0.rates) }
        for (place, name) in ["from the run file alone", "through PostgreSQL"].enumerated() {
            Table.line([
                name, Table.count(rates[place]), Table.fixed(rates[place] / rates[0]),
                Table.fixed(Figures.median(figures[place].wholeSeconds)),
                Table.fixed(Figures.median(figures[place].cpu)),
                Table.fixed(Figures.median(figures[place].databaseCPU)),
            ])
        }
    }
}
