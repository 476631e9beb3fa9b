import Base

/// Turns the top level of volley.yaml into a project.
struct ProjectReader {
    let root: Section
    let file: String

    private static let appExample = "shop: {topic: com.example.shop, environment: simulator}"

    /// The project; nil when something that it cannot be without was reported.
    func read() -> Project? {
        let runs = root.text("runs", example: "runs: runs")
        let proxy = ProxyReader(section: root).setting()
        let notices = NoticeReader(section: root).targets()
        let monitoring = MonitoringReader(root: root).monitoring()
        guard let node = root.required("apps", example: "apps: {\(Self.appExample)}") else { return nil }
        guard let entries = Section.entries(of: node, name: "apps", example: "apps: {\(Self.appExample)}", findings: root.findings) else {
            return nil
        }
        if entries.isEmpty { root.findings.error("'apps' is empty", at: node.position, remedy: "For example: apps: {\(Self.appExample)}.") }
        let apps = entries.compactMap { app($0, commonProxy: proxy) }
        return Project(
            file: file, runs: runs?.value ?? "runs", apps: apps, proxy: proxy, notices: notices, monitoring: monitoring)
    }

    private func app(_ entry: YAMLEntry, commonProxy: ProxySetting?) -> App? {
        let group = KeyGroup(entry.key.value, ProjectKeys.app.valid)
        guard let section = Section(entry.value, group, of: ProjectKeys.file, example: Self.appExample, findings: root.findings) else {
            return nil
        }
        let reader = AppReader(section: section)
        let topic = section.requiredText("topic", example: "topic: com.example.shop").flatMap { section.accepted($0, Topic.check) }
        let environment = reader.environment()
        let key = reader.key()
        let certificate = reader.certificate()
        reader.checkCredentials(environment)
        let devices = section.paths("devices", example: "devices: exports/devices.csv")
        let columns = reader.columns()
        let pace = section.parsed("pace", example: "pace: 9000/s", PaceNotation.pace)
        let frequency = section.parsed("frequency", example: FrequencyNotation.example, FrequencyNotation.cap)
        let needsApproval = section.choice("approval", [("required", true), ("none", false)]) ?? false
        let testDevices = TestDeviceReader(section: section).devices()
        let proxy = ProxyReader(section: section).setting()
        let notices = NoticeReader(section: section).targets()
        guard let topic, let environment else { return nil }
        return App(
            name: entry.key, topic: topic, environment: environment, key: key, certificate: certificate, devices: devices, columns: columns,
            pace: pace, frequency: frequency, needsApproval: needsApproval, testDevices: testDevices, proxy: proxy ?? commonProxy,
            notices: notices)
    }
}

/// The rules for a topic.
enum Topic {
    /// Accepts what a bundle id may hold. Source: Apple, CFBundleIdentifier: letters, digits, hyphens and full stops.
    static func check(_ topic: String) throws(Complaint) {
        let isBundleID = topic.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isBundleID else {
            throw Complaint(
                "the topic \(quoted(topic)) is no bundle id, which has only letters, digits, hyphens and full stops",
                remedy: "For example: topic: com.example.shop.")
        }
        // Source: App Store Connect calls this number the app's Apple ID.
        if topic.wholeMatch(of: /(?:id)?[0-9]+/) != nil {
            throw Complaint(
                "the topic \(quoted(topic)) is the app's number in the App Store, and APNs knows it by its bundle id",
                remedy: "Write that, as in topic: com.example.shop.")
        }
        // Source: Apple, "Sending notification requests to APNs", apns-topic: such topics are for pushes that show nothing to people.
        let suffixes = [
            ".complication", ".voip", ".pushkit.fileprovider", ".location-query", ".push-type.liveactivity", ".push-type.controls",
        ]
        if let suffix = suffixes.first(where: topic.hasSuffix) {
            throw Complaint(
                "the topic \(quoted(topic)) is for pushes of another kind, which show no text",
                remedy: "Write the bundle id alone: topic: \(topic.dropLast(suffix.count)).")
        }
    }
}
