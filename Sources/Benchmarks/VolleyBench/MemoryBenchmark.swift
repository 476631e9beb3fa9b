import Base

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
