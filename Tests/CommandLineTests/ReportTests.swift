import Base
import Foundation
import TestCommands
import Testing

@Suite("report, runs and prune")
struct ReportTests {
    /// A project with a run of 40 devices in two languages and two variants with a holdout; two
    /// tokens are invalid, three are refused until retries run out.
    static func sentProject() throws -> (folder: ProjectFolder, run: String) {
        var lines = ["device_token,registration_id,alias,language,name"]
        for device in 0..<40 {
            let token =
                device < 2 ? "00000410" + ProjectFolder.token(device).dropFirst(8) : ProjectFolder.token(device)[...]
            lines.append("\(token),reg-\(device),alias-\(device),\(device % 3 == 0 ? "de" : "en"),cell-\(device)")
        }
        let folder = try ProjectFolder(export: lines.joined(separator: "\n") + "\n")
        try folder.write(
            "campaign.yaml",
            """
            name: test
            app: shop
            audience: {devices: devices.csv, everyone: true}
            content: {title: "Hi {{ name }}", body: World, languages: {de: {title: "Hallo {{ name }}", body: Welt}}}
            variants:
              a: {share: 40}
              b: {share: 40, content: {body: All, languages: {de: {body: Alle}}}}
              holdout: {share: 20}

            """)
        #expect(try folder.volley("send", "campaign.yaml", "--yes", "--quiet").status == 0)
        return (folder, try #require(try folder.volley("report", "last", "--json").json()["run"]?.stringValue))
    }

    @Test("the page goes to standard output or into a file, and is whole")
    func page() throws {
        let (folder, run) = try Self.sentProject()
        let page = try folder.volley("report", "last", "--format", "html")
        #expect(page.status == 0 && page.output.hasPrefix("<!doctype html>") && page.output.hasSuffix("</html>\n"))
        #expect(page.output.contains(run) && page.output.contains("no device got anything"))
        #expect(try folder.volley("report", "last", "--format", "html", "--output", "page.html").output.isEmpty)
        #expect(folder.files(in: ".").contains("page.html"))
        for device in 0..<40 { #expect(!page.output.contains(ProjectFolder.token(device))) }
    }

    @Test("a file whose ending says another form is refused, with the form to name")
    func endings() throws {
        let (folder, _) = try Self.sentProject()
        for (file, words) in [
            ("x.html", "Add --format html"), ("x.csv", "Add --format csv"), ("x.JSON", "Add --format json"),
            ("x.xlsx", "--format csv --output x.csv"), ("x.pdf", "--format html --output x.html"),
        ] {
            let refused = try folder.volley("report", "last", "--output", file)
            #expect(refused.status == 2 && refused.errors.contains(words), "\(refused.errors)")
            #expect(!folder.files(in: ".").contains(file))
        }
        for arguments in [["--output", "x.txt"], ["--output", "x"], ["--format", "json", "--output", "x.json"]] {
            #expect(try VolleyBinary.run(["report", "last"] + arguments, in: folder.url).status == 0)
        }
    }

    @Test(
        "lines of the CSV are chosen by outcome, language and variant; anything else is told, and nothing is written then"
    )
    func lines() throws {
        let (folder, _) = try Self.sentProject()
        func csv(_ arguments: String...) throws -> VolleyBinary.Result {
            try VolleyBinary.run(["report", "last", "--format", "csv"] + arguments, in: folder.url)
        }
        let invalid = try csv("--outcome", "invalid_token,failed").output.split(separator: "\n")
        #expect(
            (1...3).contains(invalid.count)
                && invalid.dropFirst().allSatisfy { $0.contains(",invalid_token,410,Unregistered,") })
        let german = try csv("--language", "de", "--variant", "b").output.split(separator: "\n").dropFirst()
        #expect(!german.isEmpty && german.allSatisfy { $0.contains(",de,b,") })
        let none = try csv("--language", "xx")
        #expect(
            none.status == 0 && none.output.split(separator: "\n").count == 1
                && none.errors.contains("No device matches; the file holds the header only."))
        let misspelt = try csv("--outcome", "faild", "--output", "x.csv")
        #expect(misspelt.status == 2 && misspelt.errors.contains("'faild' is not an outcome. Did you mean 'failed'?"))
        #expect(!folder.files(in: ".").contains("x.csv"))
        let text = try folder.volley("report", "last", "--outcome", "failed")
        #expect(text.status == 2 && text.errors.contains("Add --format csv."))
    }

    @Test("a full disk is said with exit code 2, a reader that goes away is a fine end")
    func writing() throws {
        let (folder, _) = try Self.sentProject()
        for form in ["text", "json", "csv", "html"] {
            let full = try RunningVolley(
                executable: "/bin/sh", ["-c", "'\(VolleyBinary.path)' report last --format \(form) > /dev/full"],
                in: folder.url,
                environment: [:],
                input: nil
            ).finish()
            #expect(
                full.status == 2 && full.errors.contains("standard output cannot be written: the disk is full."),
                "\(form): \(full.errors)")
            let output = try folder.volley("report", "last", "--format", form, "--output", "/dev/full")
            #expect(
                output.status == 2 && output.errors.contains("the report cannot be written"),
                "\(form): \(output.errors)")
            // Closed before the first byte.
            let gone = try RunningVolley(
                executable: "/bin/bash",
                ["-c", "set -o pipefail; '\(VolleyBinary.path)' report last --format \(form) | true"], in: folder.url,
                environment: [:],
                input: nil
            ).finish()
            #expect(gone.status == 0 && gone.errors.isEmpty, "\(form): \(gone.status) \(gone.errors)")
        }
    }

    @Test("two runs are compared in text, JSON and a page")
    func comparison() throws {
        let (folder, first) = try Self.sentProject()
        let plan = try folder.volley("plan", "campaign.yaml", "--json")
        #expect(plan.status == 0, "\(plan.errors)")
        let text = try folder.volley("report", "--compare", first, "last")
        #expect(
            text.status == 0 && text.output.hasPrefix("Before  \(first) (finished")
                && text.output.contains("Not sent yet: "), "\(text)")
        let json = try folder.volley("report", "last", "--compare", first, "--json").json()
        #expect(json["before"]?["run"] == .string(first) && json["after"]?["state"] == .string("planned"))
        #expect(json.names == ["before", "after", "differences", "in_words"])
        #expect(
            try folder.volley("report", "last", "--compare", first, "--format", "html").output.contains(
                "<h2>What differs</h2>"))
        #expect(try folder.volley("report", "last", "--compare", first, "--format", "csv").status == 2)
        #expect(try folder.volley("report", "last", "--compare", "nothing").status == 2)
    }

    @Test("runs are chosen by campaign, app, state and time, and JSON holds what the table shows")
    func runs() throws {
        let (folder, first) = try Self.sentProject()
        try folder.writeCampaign("other.yaml", name: "other")
        #expect(try folder.volley("plan", "other.yaml", "--quiet").status == 0)
        func runs(_ arguments: String...) throws -> [String] {
            let result = try VolleyBinary.run(["runs", "--json"] + arguments, in: folder.url)
            guard case .array(let runs)? = try result.json()["runs"] else { return [] }
            let table = try VolleyBinary.run(["runs"] + arguments, in: folder.url, environment: ["COLUMNS": "200"])
            for run in runs {
                let line =
                    table.output.split(separator: "\n").first { $0.hasPrefix(run["run"]?.stringValue ?? "?") } ?? ""
                for member in ["state", "audience"] {
                    let value = run[member]?.stringValue ?? run[member]?.integerValue.map { "\($0)" } ?? "?"
                    #expect(line.contains(value), "\(member)")
                }
                #expect(line.contains("\(run["outcomes"]?["accepted"]?.integerValue ?? -1)"))
            }
            #expect(table.output.split(separator: "\n").count == max(1, runs.count + 1) || runs.isEmpty)
            return runs.compactMap { $0["campaign"]?.stringValue }
        }
        #expect(try runs() == ["test", "other"])
        #expect(try runs("--campaign", "test") == ["test"])
        #expect(try runs("--app", "shop", "--state", "planned,stopped") == ["other"])
        #expect(try runs("--state", "finished", "--since", "1h") == ["test"])
        #expect(try runs("--since", "2999-01-01").isEmpty)
        #expect(try runs("--app", "other").isEmpty)
        let mistake = try folder.volley("runs", "--state", "finishd")
        #expect(mistake.status == 2 && mistake.errors.contains("Did you mean 'finished'?"))
        #expect(try folder.volley("runs", "--since", "soon").errors.contains("--since 2026-12-01"))
        _ = first
    }

    @Test(
        "prune removes recipients for good, keeps every report but the CSV, and leaves suppression lists and plans alone"
    )
    func prune() throws {
        let (folder, run) = try Self.sentProject()
        #expect(try folder.volley("plan", "campaign.yaml", "--quiet").status == 0)
        let list = try folder.volley("suppression", "list", "--json").output
        let forms = ["text", "json", "html"]
        let before = try forms.map { try folder.volley("report", run, "--format", $0).output }
        let unasked = try folder.volley("prune", "--keep", "0d")
        #expect(unasked.status == 2 && unasked.errors.contains("--yes") && unasked.errors.contains("--dry-run"))
        #expect(
            try folder.volley("prune", "--keep", "90d", "--yes").output.contains(
                "There is no run to prune that ended more than 90d ago"))
        let rehearsal = try folder.volley("prune", "--keep", "0d", "--dry-run")
        #expect(
            rehearsal.status == 0 && rehearsal.output.contains("would be removed")
                && rehearsal.output.contains("a plan that was never sent"))
        #expect(try holds("reg-", in: folder, run) && holds("cell-", in: folder, run))

        let pruned = try folder.volley("prune", "--keep", "0d", "--yes", "--json").json()
        #expect(
            pruned.names == ["dry_run", "pruned", "left", "recent", "pruned_before", "failed", "unfinished", "broken"])
        guard case .array(let runs)? = pruned["pruned"] else { throw Diagnostic("no runs") }
        #expect(runs.map { $0["run"] } == [.string(run)])
        for word in ["aa00000000", "00000410", "reg-", "alias-", "cell-"] {
            #expect(try !holds(word, in: folder, run), "\(word)")
        }
        #expect(folder.files(in: "runs").filter { !$0.hasSuffix(".sqlite") && $0 != "sent.db" }.isEmpty)

        let after = try forms.map { try folder.volley("report", run, "--format", $0).output }
        let text = after[0].split(separator: "\n").filter { !$0.hasPrefix("  Pruned") }
        #expect(text == before[0].split(separator: "\n"))
        #expect(
            after[1].split(separator: "\n").filter { !$0.contains("pruned_at") } == before[1].split(separator: "\n"))
        #expect(after[2].contains("<dt>Pruned</dt>"))
        for command in [["report", run, "--format", "csv"], ["retry", run, "--yes"]] {
            let refused = try VolleyBinary.run(command, in: folder.url)
            #expect(
                refused.status == 2 && refused.errors.contains("recipients were pruned at") && refused.output.isEmpty,
                "\(refused.errors)")
        }
        #expect(try folder.volley("suppression", "list", "--json").output == list)
        #expect(try folder.volley("runs").output.contains("finished [pruned]"))
        #expect(try folder.volley("prune", "--keep", "0d", "--yes", "--json").json().int("pruned_before") == 1)
    }

    @Test("where several machines share a store, a run that has no file here is to be fetched")
    func elsewhere() throws {
        let folder = try ProjectFolder()
        let project = try String(contentsOf: folder.url.appendingPathComponent("volley.yaml"), encoding: .utf8)
        for run in ["last", "20261201-090000-spring-sale-0001"] {
            try folder.write("volley.yaml", project)
            #expect(try !folder.volley("report", run).errors.contains("store fetch"))
            try folder.write("volley.yaml", project + "\nstore: {postgres: {url_env: VOLLEY_STORE}}\n")
            let refused = try folder.volley("report", run)
            #expect(
                refused.status == 2 && refused.errors.contains("`volley store fetch \(run)` makes its file here"),
                "\(refused.errors)")
        }
    }

    @Test("who could be resumed or retried is pruned only when that is said")
    func stopped() throws {
        let (folder, run) = try Self.sentProject()
        try folder.editRun("UPDATE run SET state = 'stopped', stop_cause = 'x'", "DELETE FROM figures")
        let left = try folder.volley("prune", "--keep", "0d", "--yes")
        #expect(left.output.contains("it can be resumed") && left.output.contains("--include-stopped"))
        #expect(try folder.volley("report", run, "--format", "csv").status == 0)
        #expect(
            try folder.volley("prune", "--keep", "0d", "--yes", "--include-stopped").output.contains(
                "Recipients of 1 run were removed"))
        let resumed = try folder.volley("resume", run)
        #expect(resumed.status == 2 && resumed.errors.contains("recipients were pruned at"), "\(resumed.errors)")
    }

    @Test(
        "a plan that was cancelled before anything was sent is pruned as what has ended; one that may be sent is left")
    func cancelledPlan() throws {
        let folder = try ProjectFolder()
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let left = try folder.volley("prune", "--keep", "0d", "--yes")
        #expect(
            left.output.contains("a plan that was never sent") && left.output.contains("then `volley prune` prunes it"),
            "\(left.output)")
        #expect(try folder.volley("cancel", "last").status == 0)
        let pruned = try folder.volley("prune", "--keep", "0d", "--yes")
        #expect(pruned.status == 0 && pruned.output.contains("Recipients of 1 run were removed"), "\(pruned.output)")
        // The file of a few devices grows, which is nothing to report.
        let sizes = pruned.output.matches(of: /([0-9.]+) kB (?:became|->) ([0-9.]+) kB/)
        #expect(sizes.allSatisfy { Double($0.output.2) ?? 0 < Double($0.output.1) ?? 0 }, "\(pruned.output)")
    }

    @Test("a pruning that is killed at any moment leaves a run that can be read, pruned or not")
    func killed() throws {
        let (folder, run) = try Self.sentProject()
        let path = folder.url.appendingPathComponent("runs/\(run).sqlite")
        let original = try Data(contentsOf: path)
        let before = try folder.volley("runs", "--json").json()["runs"]
        var wasMidway = false
        for delay in 0..<12 {
            try original.write(to: path)
            let process = try VolleyBinary.start(["prune", "--keep", "0d", "--yes"], in: folder.url)
            // Different moments of its life; the assertions must hold at each.
            var looks = 0
            while process.isRunning, looks < delay * 40,
                !folder.files(in: "runs").contains(where: { $0.contains("pruning") })
            {
                usleep(200)
                looks += 1
            }
            wasMidway = wasMidway || folder.files(in: "runs").contains { $0.contains("pruning") }
            kill(process.processID, SIGKILL)
            _ = process.finish()
            let runs = try folder.volley("runs", "--json").json()
            #expect(runs["broken"] == .array([]))
            guard case .array(let all)? = runs["runs"], case .array(let earlier)? = before else {
                throw Diagnostic("no runs")
            }
            #expect(all.first?["outcomes"] == earlier.first?["outcomes"])
            let csv = try folder.volley("report", run, "--format", "csv")
            #expect((csv.status == 0) == (all.first?["pruned_at"] == nil), "\(csv.errors)")
        }
        _ = try folder.volley("prune", "--keep", "0d", "--yes")
        #expect(folder.files(in: "runs").filter { $0.contains(".pruning") }.isEmpty)
    }

    private func holds(_ word: String, in folder: ProjectFolder, _ run: String) throws -> Bool {
        try folder.files(in: "runs").filter { $0.hasPrefix(run) }.contains { file in
            try Data(contentsOf: folder.url.appendingPathComponent("runs/\(file)")).range(of: Data(word.utf8)) != nil
        }
    }
}
