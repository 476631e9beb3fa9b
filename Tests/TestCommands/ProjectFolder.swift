public import Base
public import Foundation

/// Whether run files can be edited behind Volley's back.
public let hasPython = FileManager.default.fileExists(atPath: "/usr/bin/python3")

/// A folder with volley.yaml, an export and campaigns, removed with the value.
public final class ProjectFolder {
    /// Where it is.
    public let url: URL

    /// Makes one with volley.yaml and devices.csv.
    /// - Parameters:
    ///   - app: lines below the app in volley.yaml, without indentation.
    ///   - export: devices.csv; nil for 20 devices.
    public init(app: String = "environment: simulator", export: String? = nil) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("volley-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try writeProject(app: app)
        try write("devices.csv", export ?? Self.export(devices: 20))
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Writes volley.yaml.
    /// - Parameter app: lines below the app, without indentation.
    public func writeProject(app: String) throws {
        let lines = app.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        try write(
            "volley.yaml",
            "runs: runs\napps:\n  shop:\n    topic: com.example.shop\n    columns: {token: device_token}\n\(lines)\n")
    }

    /// One whose app has APNs and FCM, with a campaign to everyone.
    /// - Parameters:
    ///   - columns: in YAML's flow style.
    ///   - apns: where pushes through APNs go.
    ///   - more: further lines of the app, indented.
    public static func ofTwoServices(
        _ export: String, columns: String, apns: String = "environment: simulator", more: String = ""
    ) throws -> ProjectFolder {
        let folder = try ProjectFolder(export: export)
        try folder.write(
            "volley.yaml",
            """
            runs: runs
            apps:
              shop:
                topic: com.example.shop
                \(apns)
                services:
                  fcm: {project: shop-1a2b, environment: simulator}
                columns: \(columns)
            \(more)
            """)
        try folder.writeCampaign()
        return folder
    }

    /// Writes a file of the folder.
    public func write(_ file: String, _ text: String) throws { try write(file, Data(text.utf8)) }

    /// Writes a file of the folder.
    public func write(_ file: String, _ data: Data) throws { try data.write(to: url.appendingPathComponent(file)) }

    /// A campaign to everyone in devices.csv, or with other parts.
    public func writeCampaign(
        _ file: String = "campaign.yaml", name: String = "test",
        audience: String = "devices: devices.csv\neveryone: true",
        content: String = "title: Hello\nbody: World", delivery: String? = nil
    ) throws {
        func indented(_ text: String) -> String {
            text.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
        }
        var text = "name: \(name)\napp: shop\naudience:\n\(indented(audience))\ncontent:\n\(indented(content))\n"
        if let delivery { text += "delivery:\n\(indented(delivery))\n" }
        try write(file, text)
    }

    /// Runs `volley` in the folder to its end; see `VolleyBinary.run`.
    public func volley(
        _ arguments: String..., environment: [String: String] = [:], input: String? = nil, timeout: Double = 120
    ) throws
        -> VolleyBinary.Result
    {
        try VolleyBinary.run(arguments, in: url, environment: environment, input: input, timeout: timeout)
    }

    /// Kills a process that sends, in the middle of its newest run.
    /// - Parameter seconds: how long after more pushes are accepted than before.
    public func kill(_ sending: RunningVolley, seconds: Double) throws {
        try wait(for: sending, toSend: 1)
        usleep(UInt32(seconds * 1e6))
        sending.kill()
    }

    /// Waits until a number of further pushes of the last run are accepted.
    public func wait(for sending: RunningVolley, toSend count: Int) throws {
        func accepted() throws -> Int {
            let report = try volley("report", "last", "--format", "json")
            return report.status == 0 ? try report.json()["outcomes"]?.int("accepted") ?? 0 : 0
        }
        let before = try accepted(), end = Date(timeIntervalSinceNow: 60)
        while try accepted() < before + count {
            guard sending.isRunning, Date() < end else {
                throw CommandFailure(what: "nothing is sent: \(sending.errorsSoFar)")
            }
            usleep(20_000)
        }
    }

    /// Changes a run file behind Volley's back.
    /// - Parameter id: the run's; nil for the only one.
    public func editRun(_ statements: String..., id: String? = nil) throws {
        guard let run = id.map({ $0 + ".sqlite" }) ?? files(in: "runs").first(where: { $0.hasSuffix(".sqlite") }) else {
            throw CommandFailure(what: "there is no run")
        }
        let lines = statements.map { "c.execute(\"\($0)\")" } + ["c.commit()"]
        let edit = "import sqlite3; c = sqlite3.connect('runs/\(run)'); \(lines.joined(separator: "; "))"
        let python = try RunningVolley(
            executable: "/usr/bin/python3", ["-c", edit], in: url, environment: [:], input: nil
        ).finish()
        guard python.status == 0 else { throw CommandFailure(what: python.errors) }
    }

    /// The names in a folder of this folder, in order; none if it is missing.
    public func files(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: url.appendingPathComponent(folder).path)) ?? []).sorted()
    }

    /// A token that the simulator accepts, different for each number.
    public static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "aa" + String(repeating: "0", count: 62 - digits.count) + digits
    }

    /// A registration token that FCM's simulator accepts, different for each digit.
    public static func registration(_ number: Int) -> String {
        "dPx3c9Qk2Lm0aBcDeFgHiJ:APA91b" + String(repeating: "a", count: 100) + "\(number)"
    }

    /// An export with the columns that most tests need.
    public static func export(devices: Int) -> String {
        var lines = ["device_token,registration_id,alias,tags,language,last_active,first_name"]
        for device in 0..<devices {
            lines.append(
                "\(token(device)),reg\(device),user\(device / 2),\(device % 2 == 0 ? "news" : "sports"),en,2026-11-01,\(device % 3 == 0 ? "" : "Ada")"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension JSONValue {
    /// The sum of an object's whole numbers.
    public var sum: Int {
        guard case .object(let members) = self else { return 0 }
        return members.reduce(0) { $0 + Int($1.value.integerValue ?? 0) }
    }

    /// The names of an object's members, in order.
    public var names: [String] {
        guard case .object(let members) = self else { return [] }
        return members.map(\.name)
    }

    /// A member that is a whole number.
    public func int(_ name: String) -> Int? { self[name]?.integerValue.map { Int($0) } }
}
