import Base
import Glibc

/// Volley's curl transport beside a bare curl_multi loop in C, against the same simulator on the other core.
struct SenderBenchmark {
    /// The payload that the bare loop repeats; Volley renders one of the same size for each device.
    static let payload =
        #"{"aps":{"alert":{"title":"Hi there","body":"20 % off everything until Sunday, in every store."},"sound":"default"},"link":"shop://sale"}"#

    let pushes: Int
    let repeats: Int
    private let folder: String
    private let binaries: String

    init(pushes: Int, repeats: Int) throws {
        self.pushes = pushes
        self.repeats = repeats
        var path = Array("/tmp/volley-bench-XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else { throw Diagnostic("no temporary folder: \(String(cString: strerror(errno)))") }
        folder = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let own = realpath("/proc/self/exe", nil) else { throw Diagnostic("the benchmark cannot find itself") }
        defer { free(own) }
        binaries = String(String(cString: own).split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/"))
    }

    func run() throws {
        defer { _ = try? ChildProcess(core: 0, ["rm", "-rf", folder], folder: "/tmp").wait() }
        let simulator = try ChildProcess(
            core: 1, ["\(binaries)/volley", "simulate", "--port", "0", "--for", "3600", "--json", "--quiet"], folder: folder)
        defer {
            simulator.interrupt()
            _ = simulator.wait()
        }
        let server = try JSONValue(parsing: simulator.readDocument())
        guard let url = server["url"]?.stringValue, let authority = server["ca"]?.stringValue, let key = server["key"]?.stringValue else {
            throw Diagnostic("the simulator did not say where it listens")
        }
        try prepare(url: url, authority: authority, key: key)
        try throughput(url: url, authority: authority, key: key)
        try memory()
    }

    private func throughput(url: String, authority: String, key: String) throws {
        var bare: [ChildProcess.Result] = [], volley: [ChildProcess.Result] = []
        // Taken in turns, so that a slow minute of the machine hits both.
        for _ in 0..<repeats {
            bare.append(
                try ChildProcess(core: 0, ["\(binaries)/volley-bench", "bare-curl", url, authority, key, String(pushes)], folder: folder)
                    .wait())
            volley.append(try send(devices: pushes))
        }
        print(
            "\n| \(TextFormat.count(pushes)) pushes, one core, median of \(repeats) | pushes/s | CPU s per 100,000 | peak memory | ratio |")
        print("|---|---|---|---|---|")
        let yardstick = median(bare.map(\.seconds))
        for (name, results) in [
            ("bare curl_multi loop in C", bare), ("volley send --plan, curl transport (process start to exit)", volley),
        ] {
            guard results.allSatisfy({ $0.status == 0 }) else {
                throw Diagnostic("\(name) failed: \(results.map(\.status)) \(results[0].output.prefix(500))")
            }
            let seconds = median(results.map(\.seconds))
            print(
                "| \(name) | \(TextFormat.count(Int(Double(pushes) / seconds))) | "
                    + "\(fixed(median(results.map(\.cpuSeconds)) * 100_000 / Double(pushes))) | \(TextFormat.bytes(results.map(\.peakBytes).max() ?? 0)) | \(fixed(yardstick / seconds)) |"
            )
        }
    }

    private func memory() throws {
        print("\n| recipients | peak memory of volley send --plan |")
        print("|---|---|")
        for devices in [pushes / 2, pushes * 5] {
            let result = try send(devices: devices)
            guard result.status == 0 else { throw Diagnostic("sending \(devices) failed: \(result.output.prefix(500))") }
            print("| \(TextFormat.count(devices)) | \(TextFormat.bytes(result.peakBytes)) |")
        }
    }

    /// Plans, unmeasured, then sends the plan.
    private func send(devices: Int) throws -> ChildProcess.Result {
        let campaign = "campaign-\(devices).yaml"
        if access("\(folder)/\(campaign)", F_OK) != 0 { try writeCampaign(devices: devices, to: campaign) }
        let plan = try ChildProcess(core: 0, ["\(binaries)/volley", "plan", campaign, "--json", "--quiet"], folder: folder).wait()
        guard plan.status == 0 else { throw Diagnostic("planning failed") }
        let result = try ChildProcess(
            core: 0, ["\(binaries)/volley", "send", "--plan", "last", "--yes", "--json", "--quiet"], folder: folder
        ).wait()
        return result
    }

    private func prepare(url: String, authority: String, key: String) throws {
        try write(
            """
            runs: runs
            apps:
              shop:
                topic: com.example.shop
                environment: {url: "\(url)", ca: \(authority)}
                key: {file: \(key), id: SIMULATOR1, team: VOLLEYTEAM}
                columns: {token: device_token}

            """, to: "volley.yaml")
    }

    private func writeCampaign(devices: Int, to file: String) throws {
        try write(
            """
            name: bench-\(devices)
            app: shop
            audience:
              devices: devices-\(devices).csv
              everyone: true
            content:
              title: "Hi {{ first_name | default: 'there' }}"
              body: "20 % off everything until Sunday, in every {{ store }}."
              sound: default
              link: shop://sale

            """, to: file)
        guard let stream = fopen("\(folder)/devices-\(devices).csv", "w") else { throw Diagnostic("the export cannot be written") }
        defer { fclose(stream) }
        fputs("device_token,first_name,store\n", stream)
        for device in 0..<devices {
            fputs("\(Self.token(device)),\(device % 3 == 0 ? "" : "Ada"),store\n", stream)
        }
    }

    /// A token as random exports have them: spread over the whole range, so that no simulated answer depends on their order.
    static func token(_ device: Int) -> String {
        let x = UInt64(device) &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678
        return [x | 1 << 63, x &* 3, x &* 5, x &* 7].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    private func write(_ text: String, to file: String) throws {
        guard let stream = fopen("\(folder)/\(file)", "w") else { throw Diagnostic("\(file) cannot be written") }
        fputs(text, stream)
        fclose(stream)
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private func fixed(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
