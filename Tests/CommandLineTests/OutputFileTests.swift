import Base
import Foundation
import TestCommands
import Testing

/// Files that commands write where a person named them.
@Suite("Files that are written")
struct OutputFileTests {
    private func planned() throws -> ProjectFolder {
        let folder = try ProjectFolder(export: ProjectFolder.export(devices: 2_000))
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        return folder
    }

    /// Runs a command of sh in which `volley` is the binary.
    private func shell(_ folder: ProjectFolder, _ command: String) throws -> VolleyBinary.Result {
        try RunningVolley(
            executable: "/bin/sh", ["-c", "volley() { '\(VolleyBinary.path)' \"$@\"; }; \(command)"], in: folder.url,
            environment: [:],
            input: nil
        ).finish()
    }

    private func mode(_ folder: ProjectFolder, _ file: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.url.appendingPathComponent(file).path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    private func text(_ folder: ProjectFolder, _ file: String) throws -> String {
        try String(contentsOf: folder.url.appendingPathComponent(file), encoding: .utf8)
    }

    @Test("a link that was planted beside the file is not written through")
    func plantedLink() throws {
        let folder = try planned()
        try folder.write("victim", "precious")
        let written = try shell(
            folder,
            "ln -s victim out.csv.$$.partial; exec '\(VolleyBinary.path)' report last --format csv --output out.csv")
        #expect(written.status == 0, "\(written.errors)")
        #expect(try text(folder, "victim") == "precious")
        #expect(try text(folder, "out.csv").split(separator: "\n").count == 2_001)
        // The name itself may be a link: of this user, which leads to the file that is replaced, or
        // of another one.
        #expect(
            try shell(folder, "ln -sf target out.csv; volley report last --format csv --output out.csv").status == 0)
        #expect(
            try text(folder, "target").split(separator: "\n").count == 2_001
                && FileKind(path: folder.url.path + "/out.csv") == .regular)
        guard getuid() == 0 else { return }
        let planted = try shell(
            folder, "ln -sf victim out.csv; chown -h 65534 out.csv; volley report last --format csv --output out.csv")
        #expect(
            planted.status == 2 && planted.errors.contains("does not write through links of other users"), "\(planted)")
        #expect(try text(folder, "victim") == "precious")
    }

    @Test(
        "a file with whole tokens is its owner's alone, whatever the umask and whatever was there; others follow the umask"
    )
    func permissions() throws {
        let folder = try planned()
        for mask in ["000", "022", "077", "277"] {
            try folder.write("out.csv", "old")
            let command = """
                chmod 666 out.csv; umask \(mask)
                volley report last --format csv --output out.csv && volley suppression export --output list.csv \
                && volley report last --format html --output page.html
                """
            let written = try shell(folder, command)
            #expect(written.status == 0, "\(written.errors)")
            #expect(try mode(folder, "out.csv") == 0o600 && mode(folder, "list.csv") == 0o600, "umask \(mask)")
            #expect(try mode(folder, "page.html") == 0o666 & ~(Int(mask, radix: 8) ?? 0), "umask \(mask)")
        }
    }

    @Test("a process that is killed while it writes leaves nothing beside the file, and the old one as it was")
    func killed() throws {
        let folder = try planned()
        try folder.write("out.csv", "old")
        let before = folder.files(in: ".")
        for milliseconds in stride(from: 0, to: 200, by: 10) {
            let report = try VolleyBinary.start(
                ["report", "last", "--format", "csv", "--output", "out.csv"], in: folder.url)
            usleep(UInt32(milliseconds * 1000))
            _ = report.finish(timeout: 0)
            #expect(folder.files(in: ".") == before, "\(milliseconds) ms")
            let written = try text(folder, "out.csv")
            #expect(written == "old" || written.split(separator: "\n").count == 2_001, "\(milliseconds) ms")
            try folder.write("out.csv", "old")
        }
    }

    @Test("a file that may not grow so large is an error like a full disk: a sentence, and the old file as it was")
    func fileSize() throws {
        let folder = try planned()
        try folder.write("out.csv", "old")
        let before = folder.files(in: ".")
        let limited = try shell(folder, "ulimit -f 8; volley report last --format csv --output out.csv")
        #expect(
            limited.status == 2
                && limited.errors.contains("out.csv: the report cannot be written: the file would grow beyond the size"),
            "\(limited)")
        #expect(folder.files(in: ".") == before)
        #expect(try text(folder, "out.csv") == "old")
    }

    @Test("no result replaces a run, a list, a record, a campaign or volley.yaml")
    func precious() throws {
        let folder = try planned()
        let run = try #require(folder.files(in: "runs").first { $0.hasSuffix(".sqlite") })
        try Shell.run(
            "cd '\(folder.url.path)'; mkdir elsewhere; cp runs/\(run) elsewhere/copy.data; cp campaign.yaml Welcome.YML; touch runs/sent.db"
        )
        func content(_ file: String) throws -> Data { try Data(contentsOf: folder.url.appendingPathComponent(file)) }
        let targets = [
            "runs/\(run)", "./runs/sent.db", "elsewhere/copy.data", "campaign.yaml", "volley.yaml", "Welcome.YML",
        ]
        for target in targets {
            let before = try content(target)
            for command in [
                ["report", "last", "--output"], ["report", "last", "--format", "csv", "--output"],
                ["suppression", "export", "--output"],
                ["preview", "campaign.yaml", "--html"],
            ] {
                let refused = try VolleyBinary.run(command + [target], in: folder.url)
                #expect(
                    refused.status == 2 && refused.errors.contains("would replace it. Name another file."),
                    "\(command) \(refused)")
                #expect(try content(target) == before, "\(command) \(target)")
            }
        }
        for name in ["runs/new.sqlite", "runs/\(run).lock", "new.yaml"] {
            let refused = try folder.volley("report", "last", "--output", name)
            #expect(refused.status == 2 && refused.errors.contains("Name another file."), "\(name) \(refused)")
        }
        #expect(
            try folder.volley("preview", "campaign.yaml", "--html", "out.pdf").errors
                == "out.pdf: a .pdf file would hold an HTML page. Write --html out.html; browsers can print it, also as a PDF.\n"
        )
        // A similar name elsewhere, and a result in the folder of runs, are fine.
        for (name, format) in [("report.db", "text"), ("runs/report.html", "html")] {
            #expect(try folder.volley("report", "last", "--format", format, "--output", name).status == 0)
        }
        for _ in 0..<2 {
            #expect(try folder.volley("report", "last", "--format", "html", "--output", "page.html").status == 0)
        }
    }

    @Test("no ledger empties anything but a former ledger")
    func ledgers() throws {
        let folder = try planned()
        let run = try #require(folder.files(in: "runs").first { $0.hasSuffix(".sqlite") })
        #expect(try folder.volley("send", "--plan", "last", "--yes").status == 0)
        func content(_ file: String) throws -> Data { try Data(contentsOf: folder.url.appendingPathComponent(file)) }
        for file in ["volley.yaml", "campaign.yaml", "devices.csv", "runs/\(run)", "runs/sent.db"] {
            let before = try content(file)
            let refused = try folder.volley("simulate", "--for", "0.1", "--ledger", file)
            #expect(refused.status == 2 && refused.errors.contains("Name another"), "\(file) \(refused)")
            #expect(try content(file) == before, "\(file)")
        }
        try folder.write("former.jsonl", "{\"time_ms\":1,\"connection\":1}\n")
        for file in ["former.jsonl", "former.jsonl", "new.jsonl"] {
            #expect(try folder.volley("simulate", "--for", "0.1", "--ledger", file).status == 0)
            #expect(try content(file).isEmpty)
        }
    }

    @Test("no result replaces an export or a list of devices; a former result it does")
    func exports() throws {
        let folder = try planned()
        try folder.write("tokens.txt", ProjectFolder.token(1) + "\n")
        try folder.write("devices.jsonl", "{\"device_token\":\"\(ProjectFolder.token(1))\"}\n")
        try folder.write("some.csv", "device_token,registration_id\n\(ProjectFolder.token(1)),a\n")
        try folder.write("vip.txt", "# people who may try things first\n\nanna\nuser-7\n")
        try folder.write("vip", "anna")
        try folder.write("vip.csv", "alias\nanna\nben\n")
        try Shell.run("cd '\(folder.url.path)'; gzip -k devices.csv")
        func content(_ file: String) throws -> Data { try Data(contentsOf: folder.url.appendingPathComponent(file)) }
        for file in [
            "devices.csv", "some.csv", "tokens.txt", "devices.jsonl", "devices.csv.gz", "vip.txt", "vip", "vip.csv",
        ] {
            let before = try content(file)
            for command in [
                ["suppression", "export"], ["report", "last", "--format", "csv"],
                ["report", "last", "--format", "json"],
                ["report", "last"],
            ] {
                let refused = try VolleyBinary.run(command + ["--output", file], in: folder.url)
                #expect(
                    refused.status == 2 && refused.errors.contains("looks like an export or a list"),
                    "\(command) \(file) \(refused)")
                #expect(try content(file) == before, "\(command) \(file)")
            }
        }
        for _ in 0..<2 {
            for (command, file) in [
                (["suppression", "export"], "list.csv"), (["report", "last", "--format", "csv"], "report.csv"),
                (["report", "last", "--format", "json"], "report.json"), (["report", "last"], "report.txt"),
            ] {
                let written = try VolleyBinary.run(command + ["--output", file], in: folder.url)
                #expect(written.status == 0, "\(command) \(written.errors)")
            }
        }
    }

    @Test("a folder of runs that nobody may use is said to be that")
    func forbiddenFolder() throws {
        let folder = try planned()
        guard getuid() == 0 else { return }
        let user = "setpriv --reuid 65534 --regid 65534 --clear-groups"
        let planned = try shell(
            folder, "chmod 777 . && umask 0777 && \(user) '\(VolleyBinary.path)' plan campaign.yaml --runs new")
        #expect(planned.status == 2 && planned.errors.contains("permission denied"), "\(planned)")
    }

    @Test("a pipe, a device and standard output by its name are written to as they are")
    func others() throws {
        let folder = try planned()
        let lines = "2001\n"
        func output(_ command: String) throws -> String {
            let result = try shell(folder, command)
            #expect(result.status == 0, "\(command): \(result.errors)")
            return result.output
        }
        #expect(
            try output("mkfifo pipe; wc -l < pipe & volley report last --format csv --output pipe && wait") == lines)
        #expect(try output("test -p pipe && volley report last --format csv --output /dev/stdout | wc -l") == lines)
        // Only names that no process can replace: as root, a faulty Volley would harm the machine.
        #expect(try output("volley report last --format csv --output /dev/fd/1 > file && wc -l < file") == lines)
        #expect(try output("volley report last --format csv --output /dev/fd/1 >> file && wc -l < file") == "4002\n")
        #expect(try output("volley report last --format csv --output /dev/fd/3 3>> file && wc -l < file") == "6003\n")
        #expect(try output("volley report last --format csv --output /dev/null && test -c /dev/null") == "")
        let full = try shell(folder, "volley report last --format csv --output /dev/full")
        #expect(full.status == 2 && full.errors.contains("/dev/full"), "\(full)")
    }

    @Test(
        "locks that are links, pipes or folders are refused, and ledgers that are folders or lead to something else",
        arguments: ["ln -s victim", "mkfifo", "mkdir"])
    func locks(make: String) throws {
        let folder = try planned()
        try folder.write("victim", "precious")
        let run = try #require(folder.files(in: "runs").first { $0.hasSuffix(".sqlite") })
        #expect(try shell(folder, "\(make) runs/\(run).lock; \(make) runs/schedule.lock; \(make) ledger").status == 0)
        let sent = try folder.volley("send", "--plan", "last", "--yes", timeout: 20)
        #expect(sent.status == 2 && sent.errors.contains("\(run).lock"), "\(sent)")
        let scheduled = try folder.volley("schedule", "campaign.yaml", timeout: 20)
        #expect(scheduled.status == 2 && scheduled.errors.contains("schedule.lock"), "\(scheduled)")
        let simulated = try folder.volley("simulate", "--port", "0", "--ledger", "ledger", "--for", "1", timeout: 20)
        // A pipe is written through, and a simulator does not wait for its reader.
        #expect(simulated.status == (make == "mkfifo" ? 0 : 2) && simulated.errors.contains("ledger"), "\(simulated)")
        #expect(make != "mkfifo" || FileKind(path: folder.url.path + "/ledger") == .namedPipe)
        #expect(try text(folder, "victim") == "precious")
    }

    /// A project whose health file has a name, and a campaign that waits.
    private func scheduled(health: String, rest: String = "") throws -> ProjectFolder {
        let folder = try ProjectFolder()
        try folder.write(
            "volley.yaml",
            "runs: runs\nmonitoring: {health: \(health)}\n\(rest)apps: {shop: {topic: a.b, environment: simulator, devices: devices.csv, columns: {token: device_token}}}\n"
        )
        try folder.write(
            "campaign.yaml",
            "name: c\napp: shop\naudience: {everyone: true}\ncontent: {title: Hello}\nschedule: {at: 2035-12-02 09:00, timezone: Europe/Berlin}\n"
        )
        return folder
    }

    @Test(
        "the health file may be a pipe, a device or a link to one, and none of them is replaced or waited for",
        arguments: ["pipe", "link", "device"])
    func health(name: String) throws {
        let folder = try scheduled(health: "./\(name)")
        let made = try shell(
            folder, "mkfifo pipe; ln -s /proc/self/fd/1 link; mknod device c 1 3 || ln -s /dev/null device")
        #expect(made.status == 0, "\(made)")
        let ended = try shell(folder, "timeout -s INT 2 '\(VolleyBinary.path)' schedule campaign.yaml")
        #expect(ended.output.contains("\"status\"") == (name == "link"), "\(ended)")
        #expect(ended.errors.contains("nothing is at its other end") == (name == "pipe"), "\(ended)")
        #expect(try shell(folder, "test -p pipe && test -L link && ! test -f device").status == 0)
    }

    @Test(
        "a health file that is a folder, a socket or a link into nowhere is refused when schedule starts, by check and by doctor"
    )
    func refusedHealth() throws {
        let folder = try scheduled(health: "./target")
        #expect(mkdir(folder.url.path + "/target", 0o755) == 0)
        for command in [["schedule", "campaign.yaml"], ["check", "campaign.yaml"], ["doctor"]] {
            let refused = try VolleyBinary.run(command, in: folder.url, timeout: 20)
            #expect(
                refused.status == 2 && (refused.errors + refused.output).contains("this is a folder, not a file"),
                "\(command) \(refused)")
        }
    }
}
