import PushServices

/// An app of volley.yaml that a benchmark sends through, and devices that its service may have.
struct BenchApp: Sendable {
    let service: any PushService
    /// What a table calls a campaign to it.
    let name: String
    /// The keys of volley.yaml that name the app at its service, beside `environment`.
    let keys: @Sendable (_ keyFile: String) -> [String]
    /// The keys of content that the service has, beside title, body and link.
    let content: [String]
    /// Returns the target of a device: spread over what the service gives out, so that no simulated answer depends on their order.
    let target: @Sendable (_ device: Int) -> String
    /// What the simulator is told to take in a minute, nil for what it takes anyway. More than any contestant sends: a limit would measure
    /// only itself.
    let limitPerMinute: Int?

    /// As fast as volley.yaml can say.
    private static let unpaced = "pace: 1000000/s"

    static let apns = BenchApp(
        service: APNs(), name: "APNs, one device a request",
        keys: { ["topic: \(BenchPush.topic)", "key: {file: \($0), id: SIMULATOR1, team: VOLLEYTEAM}"] },
        content: ["sound: default"], target: { BenchPush.token($0) }, limitPerMinute: nil)

    static let fcm = BenchApp(
        service: FCM(), name: "FCM, one device a request", keys: { ["project: volley-simulator", "service_account: {file: \($0)}"] },
        content: ["sound: default"], target: { CallsProcess.target($0) }, limitPerMinute: nil)

    /// Campaigns through services whose requests carry many devices. The app keys are those that simulators know by default.
    static let many = [
        BenchApp(
            service: JPush(), name: "JPush, 1,000 devices a call",
            keys: { ["app_key: 0123456789abcdef01234567", "master_secret: {file: \($0)}", unpaced] },
            content: ["sound: default"], target: { "1a" + BenchPush.token($0).prefix(17) }, limitPerMinute: 60_000_000),
        BenchApp(
            service: Getui(), name: "Getui, 200 devices a batch", keys: { getui($0) }, content: ["sound: default"],
            target: { String(BenchPush.token($0).prefix(32)) }, limitPerMinute: 60_000_000),
        BenchApp(
            service: Getui(), name: "Getui, lists of 1,000 devices", keys: { getui($0) + ["lists: true"] }, content: ["sound: default"],
            target: { String(BenchPush.token($0).prefix(32)) }, limitPerMinute: 60_000_000),
        BenchApp(
            service: RongCloud(), name: "RongCloud, 100 users a request",
            keys: { ["app_key: volleysimulator", "app_secret: {file: \($0)}", unpaced] },
            content: [], target: { "user-\($0)" }, limitPerMinute: 60_000_000),
    ]

    private static func getui(_ keyFile: String) -> [String] {
        ["app_id: SimulatorAppId00000000", "app_key: SimulatorAppKey0000000", "master_secret: {file: \(keyFile)}", unpaced]
    }
}
