import Base
import Foundation
import Reports
import TestCommands
import Testing

/// Damaged exports. Whatever the damage, no run file is left that looks complete.
@Suite("bad exports")
struct BadExportTests {
    private func preview(_ folder: ProjectFolder, _ file: String, audience: String = "everyone: true") throws
        -> ProjectFolder.Said
    {
        try folder.writeCampaign(audience: "devices: \(file)\n\(audience)")
        return try folder.preview(isJSON: true)
    }

    private func expectRefused(_ result: ProjectFolder.Said, _ words: String..., in folder: ProjectFolder) throws {
        #expect(result.status == 2, "\(result.errors)")
        for word in words { #expect(result.errors.contains(word), "\(word): \(result.errors)") }
        #expect(try folder.plan().status == 2)
        #expect(folder.files(in: "runs").isEmpty)
    }

    @Test("an empty file, a folder and a file without tokens are refused")
    func unusable() throws {
        let folder = try ProjectFolder()
        try folder.write("empty.csv", "")
        try expectRefused(preview(folder, "empty.csv"), "empty.csv", "empty", in: folder)
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("folder.csv"), withIntermediateDirectories: true)
        try expectRefused(preview(folder, "folder.csv"), "folder.csv", in: folder)
        try folder.write("people.csv", "name,devicetoken\nAda,\(ProjectFolder.token(1))\n")
        try expectRefused(preview(folder, "people.csv"), "people.csv", "devicetoken", "columns", in: folder)
        try folder.write("people.txt", "a,b\n")
        try expectRefused(preview(folder, "people.txt"), ".csv", in: folder)
    }

    @Test("a gzip file that ends too early is refused")
    func truncatedGzip() throws {
        let folder = try ProjectFolder(export: ProjectFolder.export(devices: 5000))
        _ = try RunningVolley(
            executable: "/bin/sh", ["-c", "gzip -k devices.csv && head -c 20000 devices.csv.gz > cut.csv.gz"],
            in: folder.url,
            environment: [:], input: nil
        ).finish()
        let whole = try preview(folder, "devices.csv.gz")
        #expect(try whole.json().int("audience") == 5000)
        try expectRefused(preview(folder, "cut.csv.gz"), "cut.csv.gz", in: folder)
    }

    @Test("a NUL byte and rows of the wrong length are bad rows, counted and shown with their lines")
    func badRows() throws {
        let tokens = (0..<6).map(ProjectFolder.token)
        let folder = try ProjectFolder(
            export:
                "device_token,first_name\n\(tokens[0]),Ada\n\(tokens[1]),A\0a\n\(tokens[2]),Ada,extra\n\(tokens[3])\n\(tokens[4]),Ada\n\(tokens[5]),Ada\n"
        )
        try expectRefused(preview(folder, "devices.csv"), "devices.csv:3", "at most 1 % are allowed", in: folder)
        let allowed = try preview(folder, "devices.csv", audience: "everyone: true\nmax_bad_rows: 60%")
        let document = try allowed.json()
        #expect(document["skipped"]?.int("bad_row") == 3)
        #expect(document.int("audience") == 3)
        for line in [3, 4, 5] { #expect(allowed.errors.contains("devices.csv:\(line)"), "\(allowed.errors)") }
    }

    @Test(
        "a row of an export is named with the folders of the server, except in a browser",
        arguments: [TextMedium.terminal, .console])
    func folders(face: TextMedium) throws {
        let tokens = (0..<5).map(ProjectFolder.token)
        let folder = try ProjectFolder(
            export:
                "device_token,first_name\n\(tokens[0]),Ada\n\(tokens[1])\n7276zz,Ada\n\(tokens[2]),O\\'Neil\n\(tokens[3]),Ada\n"
        )
        try folder.writeCampaign(
            audience: "devices: devices.csv\neveryone: true\nmax_bad_rows: 60%",
            content: "title: \"Hi {{ first_name | default: 'there' }}\"")
        let page = try folder.previewPage(for: face), place = face == .console ? "" : "\(folder.url.path)/"
        #expect(page.contains("cannot be read; the first is \(place)devices.csv:3"), "\(page)")
        #expect(page.contains(" \(place)devices.csv:4)"), "\(page)")
        #expect(page.contains("; the first is \(place)devices.csv:5"), "\(page)")
    }

    @Test("half an export is refused at any size, whatever share of bad rows is allowed", arguments: [6, 20_000])
    func halfWritten(devices: Int) throws {
        let folder = try ProjectFolder()
        let rows = ProjectFolder.export(devices: devices).split(separator: "\n").map(String.init)
        let whole = Array((rows.joined(separator: "\n") + "\n").utf8), half = whole.count / 2
        try folder.write("zeros.csv", Data(whole[..<half] + [UInt8](repeating: 0, count: whole.count - half)))
        let everything = "everyone: true\nmax_bad_rows: 99%"
        let line = whole[..<half].count { $0 == 0x0A } + 1
        try expectRefused(
            preview(folder, "zeros.csv", audience: everything), "zeros.csv:\(line):", "zero bytes", in: folder)
        try folder.write("twice.csv", (rows + rows).joined(separator: "\n"))
        try expectRefused(
            preview(folder, "twice.csv", audience: everything), "twice.csv:\(rows.count + 1):",
            "there is a second header",
            "[a.csv, b.csv]",
            in: folder)
    }

    @Test("what lies between two stray quotes counts as bad rows, at any size", arguments: [6, 20_000])
    func openQuotes(devices: Int) throws {
        let folder = try ProjectFolder()
        var rows = (0..<devices).map { "\(ProjectFolder.token($0)),Ada" }
        rows[1] = "\(ProjectFolder.token(1)),\"Ada"
        rows[devices - 2] += "\""
        try folder.write("quotes.csv", "device_token,first_name\n" + rows.joined(separator: "\n"))
        try expectRefused(
            preview(folder, "quotes.csv"), "\(devices - 2) of \(devices) rows cannot be read", "quotes.csv:3",
            in: folder)
    }

    @Test("a list of excluded devices that excludes nobody is warned of by name, with its lines", arguments: [1, 3000])
    func uselessList(lines: Int) throws {
        let folder = try ProjectFolder()
        try folder.write("gone.txt", (0..<lines).map { "user\($0)\n" }.joined())
        try folder.writeCampaign(audience: "devices: devices.csv\neveryone: true\nexclude: {devices: gone.txt}")
        let warned = try folder.preview(isJSON: true)
        #expect(try warned.json().int("audience") == 20)
        #expect(
            warned.errors.contains("gone.txt:1:1: warning: ") && warned.errors.contains("[exclusion-not-found]"),
            "\(warned.errors)")
        #expect(warned.errors.contains(lines == 1 ? "its only line" : "none of its 3,000 lines"))
        try folder.write("gone.txt", "user1\nreg3\n")
        let good = try folder.preview(isJSON: true)
        #expect(try good.json().int("audience") == 19)
        #expect(!good.errors.contains("warning"), "\(good.errors)")
    }

    @Test("a cell of ten megabytes is only a large cell")
    func largeCell() throws {
        let folder = try ProjectFolder(
            export:
                "device_token,note\n\(ProjectFolder.token(1)),\(String(repeating: "x", count: 10_000_000))\n\(ProjectFolder.token(2)),y\n"
        )
        let result = try preview(folder, "devices.csv")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.json().int("audience") == 2)
    }

    @Test("broken JSON in line 7 is a bad row with its line")
    func brokenJSONLine() throws {
        let folder = try ProjectFolder()
        let lines = (0..<200).map {
            $0 == 6
                ? "{\"device_token\": \"\(ProjectFolder.token($0))"
                : "{\"device_token\": \"\(ProjectFolder.token($0))\"}"
        }
        try folder.write("devices.jsonl", lines.joined(separator: "\n") + "\n")
        let result = try preview(folder, "devices.jsonl")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.json()["skipped"]?.int("bad_row") == 1)
        #expect(result.errors.contains("devices.jsonl:7"), "\(result.errors)")
    }

    @Test("a broken JSON array is refused")
    func brokenJSONArray() throws {
        let folder = try ProjectFolder()
        try folder.write(
            "devices.json", "[\n{\"device_token\": \"\(ProjectFolder.token(1))\"},\n{\"device_token\" \"x\"}\n]\n")
        try expectRefused(preview(folder, "devices.json"), "devices.json:3", in: folder)
    }

    @Test("globs take every file that matches, and one that matches none is refused")
    func globs() throws {
        let folder = try ProjectFolder()
        try folder.write("more.csv", "device_token\n\(ProjectFolder.token(100))\n")
        #expect(try preview(folder, "\"*.csv\"").json().int("audience") == 21)
        try expectRefused(preview(folder, "\"*.jsonl\""), "*.jsonl", in: folder)
    }
}
