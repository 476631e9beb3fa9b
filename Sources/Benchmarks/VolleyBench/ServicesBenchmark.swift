import Base

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
