import Base
import Glibc
import PushServices

/// A folder with a volley.yaml, an export and a campaign, from which `volley` sends to a server as
/// a marketing team would.
struct CampaignFolder {
    private let bench: Workbench
    let server: MeasuredServer
    let app: BenchApp
    private let folder: String

    /// - Parameter store: the variable with the address of a store, through which runs are sent;
    ///   nil for none.
    init(_ bench: Workbench, _ server: MeasuredServer, app: BenchApp = .apns, store: String? = nil) throws {
        self.bench = bench
        self.server = server
        self.app = app
        folder = try bench.makeFolder("campaign-\(server.port)\(store == nil ? "" : "-store")")
        try Workbench.write("\(folder)/volley.yaml") {
            $0(
                """
                runs: runs
                apps:
                  shop:
                    services:
                      \(app.service.name):
                        environment: {url: "\(server.url)", ca: \(server.authorityFile)}
                        \(app.keys(server.keyFile).joined(separator: "\n        "))
                \(store.map { "store: {postgres: {url_env: \($0)}}" } ?? "")

                """)
        }
    }

    /// Runs a command of `volley` here.
    func volley(_ arguments: String...) throws { try bench.run(["\(bench.binaries)/volley"] + arguments, in: folder) }

    /// Plans without measuring, then measures sending the plan, from the start of the process to
    /// its exit. Removes the run afterwards.
    /// - Parameter look: called with the folder of runs before.
    func send(recipients: Int, limitSeconds: Double = 300, _ look: (_ runs: String) throws -> Void = { _ in }) throws
        -> Measurement
    {
        let campaign = "\(folder)/campaign-\(recipients).yaml"
        if access(campaign, F_OK) != 0 { try write(campaign, recipients: recipients) }
        let volley = "\(bench.binaries)/volley"
        try bench.run([volley, "plan", campaign, "--json", "--quiet"], in: folder, limitSeconds: limitSeconds)
        let before = server.cpuSeconds
        let result = try bench.run(
            [volley, "send", "--plan", "last", "--yes", "--json", "--quiet"], in: folder,
            limitSeconds: limitSeconds)
        let serverCPU = server.cpuSeconds - before
        let accepted = try JSONValue(parsing: result.output)["outcomes"]?["accepted"]?.integerValue
        guard accepted == Int64(recipients) else {
            throw Diagnostic("\(accepted ?? 0) of \(recipients) recipients were accepted: \(result.output.prefix(800))")
        }
        try look("\(folder)/runs")
        Workbench.remove("\(folder)/runs")
        return Measurement(
            pushes: recipients, seconds: result.seconds, cpuSeconds: result.cpuSeconds, peakBytes: result.peakBytes,
            serverCPUSeconds: serverCPU)
    }

    private func write(_ campaign: String, recipients: Int) throws {
        try Workbench.write(campaign) {
            $0(
                """
                name: bench-\(recipients)
                app: shop
                audience:
                  devices: devices-\(recipients).csv
                  everyone: true
                content:
                  title: "Hi {{ first_name | default: 'there' }}"
                  body: "20 % off everything until Sunday, in every {{ store }}."
                  link: shop://sale
                  \(app.content.joined(separator: "\n  "))

                """)
        }
        try Workbench.write("\(folder)/devices-\(recipients).csv") { line in
            line("token,first_name,store\n")
            for device in 0..<recipients { line("\(app.target(device)),\(device % 3 == 0 ? "" : "Ada"),store\n") }
        }
    }
}

/// The memory of whole campaigns of very different sizes: it must not grow with the audience.
struct MemoryBenchmark {
    let bench: Workbench
    let sizes: [Int]

    /// A generous estimate for each recipient: the export, the plan with its index, and the log
    /// that SQLite writes next to it.
    private static let diskBytesPerRecipient = 500

    func run() throws {
        let server = try MeasuredServer(.simulator(.apns), on: bench)
        let campaigns = try CampaignFolder(bench, server)
        Table.say("\nMemory of a whole campaign, nghttp2, against `volley simulate`; one run each\n")
        Table.head(["recipients", "peak memory", "pushes/s"])
        for size in sizes {
            let needed = size * Self.diskBytesPerRecipient, free = bench.freeBytes
            guard free > needed else {
                Table.line([
                    TextFormat.count(size),
                    "not measured: needs \(TextFormat.bytes(needed)) of disk, \(TextFormat.bytes(free)) is free",
                    "",
                ])
                continue
            }
            Table.progress("a campaign for \(TextFormat.count(size))")
            let figures = try campaigns.send(recipients: size, limitSeconds: 1500)
            Table.line([TextFormat.count(size), TextFormat.bytes(figures.peakBytes), Table.count(figures.rate)])
        }
        try server.stop()
    }
}

/// Whole campaigns through services whose requests carry many devices, each against its own
/// simulator, with a campaign through APNs as the yardstick. The services' own limits are lifted:
/// this measures what the sender could do, not what a service allows.
struct ServicesBenchmark {
    let bench: Workbench
    let devices: Int
    let repeats: Int

    func run() throws {
        let folders = try ([BenchApp.apns] + BenchApp.many).map { app in
            try CampaignFolder(bench, MeasuredServer(.simulator(app), on: bench), app: app)
        }
        try Comparison(
            title: "Whole campaigns of two texts, each to `volley simulate` of its service",
            contestants: folders.map { folder in
                .init(name: folder.app.name, pushes: devices) { try folder.send(recipients: $0) }
            }, repeats: repeats, yardstick: "APNs"
        ).run()
        for folder in folders { try folder.server.stop() }
    }
}
