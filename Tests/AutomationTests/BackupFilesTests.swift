import Base
import Campaigns
import Cryptography
import Foundation
import Runs
import Testing
import Workspace

@testable import Automation

/// Files in a backup that are not what their names say, and obstacles for a restore.
@Suite("Files of backups")
final class BackupFilesTests {
    private static let secret = "-----BEGIN PRIVATE KEY-----\nsecret\n"
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "volley-backup-files-\(UUID().uuidString)")
    private var root: String { FilePaths.absolute(folder.path) + "/project" }

    init() throws {
        try FileManager.default.createDirectory(
            atPath: folder.path + "/project/runs", withIntermediateDirectories: true)
        try write(
            "volley.yaml",
            """
            runs: runs
            apps:
              shop: {topic: com.example.shop, columns: {token: t}, environment: sandbox, key: {file: k.p8, id: ABC123DEFG, team: DEF123GHIJ}}

            """)
        try write("k.p8", Self.secret)
        try write(
            "c.yaml",
            "name: c\napp: shop\naudience: {devices: d.csv, aliases: {file: l.txt}}\ncontent: {title: A, body: B}\n")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func write(_ name: String, _ text: String) throws {
        let file = folder.appendingPathComponent("project/\(name)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func link(_ name: String, to place: String) throws {
        try FileManager.default.createSymbolicLink(atPath: "\(root)/\(name)", withDestinationPath: place)
    }

    private func backUp(_ further: [String] = [], keys: Bool = false) throws -> Backup.Made {
        let (project, _) = try Project.read(file: root + "/volley.yaml")
        let request = Backup.Request(target: folder.path + "/backups", campaigns: further, includesKeys: keys)
        return try Backup(
            request, of: project, catalog: project.catalog(ProjectChoice()), Cancellation(), Observer { _ in }
        ).make(
            at: .now())
    }

    private func restore(_ backup: String, into place: String) throws -> Restore.Done {
        let request = Restore.Request(backup: backup, folder: place, runs: nil, nothingSentSince: false)
        return try Restore(request, Cancellation(), Observer { _ in }).run(at: .now())
    }

    private func left(_ made: Backup.Made, _ reason: BackupManifest.Omission.Reason) -> [String] {
        made.manifest.leftOut.filter { $0.reason == reason }.flatMap(\.names)
    }

    @Test(
        "a key, a secret or a database is left out and named under every name that a campaign gives, and so is what lies outside",
        arguments: ["link", "link to a link", "hard link", "the key", "accounts", "outside"])
    func disguised(kind: String) throws {
        let list = kind == "the key" ? "k.p8" : "l.txt"
        switch kind {
        case "link": try link("l.txt", to: "k.p8")
        case "link to a link":
            try link("m.txt", to: "k.p8")
            try link("l.txt", to: "../project/m.txt")
        case "hard link": try FileManager.default.linkItem(atPath: root + "/k.p8", toPath: root + "/l.txt")
        case "accounts":
            try write("runs/console/accounts.sqlite", Self.secret)
            try link("l.txt", to: "runs/console/accounts.sqlite")
        case "outside":
            try Data(Self.secret.utf8).write(to: folder.appendingPathComponent("shadow"))
            try link("l.txt", to: "../shadow")
        default:
            try write(
                "c.yaml",
                "name: c\napp: shop\naudience: {devices: d.csv, aliases: {file: k.p8}}\ncontent: {title: A, body: B}\n")
        }
        let made = try backUp()
        #expect(made.manifest.files.map(\.path).sorted() == ["project/c.yaml", "project/volley.yaml"])
        #expect(left(made, kind == "outside" ? .outside : .keys).contains("\(root)/\(list)"))
        #expect(left(made, .keys).contains(root + "/k.p8"))
        let texts = FolderTree.files(below: made.path).compactMap {
            try? String(contentsOfFile: "\(made.path)/\($0)", encoding: .utf8)
        }
        #expect(texts.count == 3 && !texts.contains { $0.contains("PRIVATE KEY") })
    }

    @Test(
        "secrets and records of another project below are in no backup, whatever campaign names them",
        arguments: [false, true])
    func otherProject(keys: Bool) throws {
        try write(
            "staging/volley.yaml",
            """
            runs: sruns
            apps:
              shop:
                services:
                  jpush: {app_key: 0123456789abcdef01234567, environment: simulator, master_secret: {file: jp.txt}}

            """)
        try write("staging/jp.txt", Self.secret)
        try write("staging/sruns/sent.db", Self.secret)
        try write("staging/vip.txt", "user1\n")
        for (name, list) in [("s", "jp.txt"), ("t", "sruns/sent.db"), ("v", "vip.txt")] {
            try write(
                "\(name).yaml",
                "name: \(name)\napp: shop\naudience: {devices: d.csv, aliases: {file: staging/\(list)}}\ncontent: {title: A, body: B}\n"
            )
        }
        let made = try backUp(keys: keys), files = made.manifest.files.map(\.path)
        #expect(
            files.contains("project/staging/vip.txt")
                && !files.contains { $0.hasSuffix("jp.txt") || $0.hasSuffix("sent.db") }, "\(files)")
        #expect(
            left(made, .keys).contains("\(root)/staging/jp.txt")
                && left(made, .keys).contains("\(root)/staging/sruns/sent.db"))
    }

    @Test("with keys they are there, and lists that are links within the project are, too")
    func links() throws {
        try write("lists/vip.txt", "user1\n")
        try link("l.txt", to: "lists/vip.txt")
        let made = try backUp(keys: true)
        #expect(
            made.manifest.files.map(\.path) == [
                "project/c.yaml", "project/k.p8", "project/l.txt", "project/volley.yaml",
            ])
        #expect(made.manifest.leftOut.isEmpty && made.problems.isEmpty)
    }

    @Test(
        "a list that cannot be read is left out and named with the campaign that names it",
        arguments: ["folder", "pipe", "endless", "circle"])
    func unreadableList(kind: String) throws {
        let list = root + "/l.txt"
        switch kind {
        case "folder": try FileManager.default.createDirectory(atPath: list, withIntermediateDirectories: false)
        case "pipe": #expect(mkfifo(list, 0o600) == 0)
        case "endless": try link("l.txt", to: "/dev/zero")
        default: try link("l.txt", to: "l.txt")
        }
        let made = try backUp(), problem = try #require(made.problems.first)
        #expect(
            made.problems.count == 1 && problem.file == list && problem.message.hasSuffix("; \(root)/c.yaml names it"),
            "\(problem)")
        #expect(
            made.manifest.files.map(\.path) == ["project/c.yaml", "project/volley.yaml"]
                && left(made, .unreadable) == [list])
    }

    @Test("lists are found in folders of any depth, of campaigns with other mistakes, by patterns and with dates")
    func lists() throws {
        let deep = (1...14).map { "d\($0)" }.joined(separator: "/")
        try write(
            "\(deep)/e.yaml",
            "name: e\napp: shop\naudience: {devices: d.csv, tags: {file: t.txt}}\ncontent: {title: A, body: B}\n")
        try write(
            "w.yaml",
            """
            name: w
            app: shop
            audience:
              devices: d.csv
              aliases: {file: w.txt}
              exclude: {devices: ["x/*.csv", "y-{{ date }}.csv"]}
            content: {titel: A}

            """)
        let lists = ["\(deep)/t.txt", "w.txt", "x/a.csv", "y-2026-12-01.csv"]
        for list in lists { try write(list, "user1\n") }
        let made = try backUp(), files = made.manifest.files.map(\.path)
        #expect(made.problems.isEmpty, "\(made.problems)")
        for list in lists { #expect(files.contains("project/\(list)"), "\(files)") }
    }

    @Test(
        "a campaign whose mistakes may hide a list is named, and copied",
        arguments: [
            (
                "audience:\n  devices: d.csv\n  everyone: true\n  exlude: {devices: x.csv}\ncontent: {title: A, body: B}\n",
                6
            ),
            ("audiance: {exclude: {devices: x.csv}}\ncontent: {title: A, body: B}\n", 3),
            ("audience: {exclude: {devices: x.csv}\ncontent: {title: A, body: B}\n", nil),
        ])
    func hiddenList(campaign: String, line: Int?) throws {
        try write("w.yaml", "name: w\napp: shop\n" + campaign)
        let made = try backUp(), problem = try #require(made.problems.first)
        #expect(
            made.problems.count == 1 && problem.message.contains("may be missing from the backup"), "\(made.problems)")
        #expect(
            problem.position?.file == root + "/w.yaml" && (line == nil || problem.position?.line == line), "\(problem)")
        #expect(made.manifest.files.contains { $0.path == "project/w.yaml" } && left(made, .unreadable).isEmpty)
    }

    @Test("a backup that fails leaves no folder that was made for it")
    func failedFolders() throws {
        do {
            let staged = try StagedFolder(folder.path + "/new/deep/backup", kind: "backup")
            withExtendedLifetime(staged) { #expect(FilePaths.exists(staged.path)) }
        }
        #expect(!FilePaths.exists(folder.path + "/new"))
        let kept = try StagedFolder(folder.path + "/new/deep/backup", kind: "backup")
        try kept.finish()
        #expect(FilePaths.exists(folder.path + "/new/deep/backup"))
    }

    @Test("a list behind a ~ whose folder is not known is named")
    func unknownHome() throws {
        try write(
            "w.yaml",
            "name: w\napp: shop\naudience: {devices: d.csv, aliases: {file: ~x/l.txt}}\ncontent: {title: A, body: B}\n")
        let made = try backUp()
        #expect(
            made.problems.map(\.position?.line) == [3] && made.problems[0].message.contains("'~'"), "\(made.problems)")
    }

    @Test("what may be a campaign and cannot be read is named; a link to nothing is nothing")
    func unreadableCampaign() throws {
        try link("circle.yaml", to: "circle.yaml")
        try link(".#draft.yaml", to: "anna@host.1")
        let made = try backUp()
        #expect(
            made.problems.map(\.file) == [root + "/circle.yaml"]
                && made.problems[0].message.contains("it may be a campaign"))
    }

    private func list(of made: Backup.Made) throws -> (path: String, text: String) {
        let path = FilePaths.join(made.path, name: BackupManifest.fileName)
        return (path, try String(contentsOfFile: path, encoding: .utf8))
    }

    @Test("a changed byte of the list of a backup is found, wherever it is")
    func sum() throws {
        let made = try backUp(), (path, text) = try list(of: made)
        #expect(try BackupManifest(of: made.path).json == made.manifest.json)
        let bytes = Array(text.utf8)
        // In the words, and in the sum itself, every byte of which counts.
        for place in Set(stride(from: 0, to: bytes.count, by: 13)).union(bytes.count - 4..<bytes.count) {
            var changed = bytes
            changed[place] ^= 1
            try Data(changed).write(to: URL(fileURLWithPath: path))
            #expect(throws: Diagnostic.self, "byte \(place)") { try BackupManifest(of: made.path) }
        }
        try Data(bytes.dropLast(1)).write(to: URL(fileURLWithPath: path))
        #expect(throws: Diagnostic.self) { try BackupManifest(of: made.path) }
    }

    @Test("a list without a sum, from before, is read; whatever is wrong in one is refused, also where its sum fits")
    func formats() throws {
        let made = try backUp(), (path, text) = try list(of: made)
        let end = try #require(text.range(of: ",\n  \"sha256\": \"", options: .backwards))
        let second = String(text[..<end.lowerBound]), first = second.replacing("\"format\": 2", with: "\"format\": 1")
        func expect(_ start: String, isRead: Bool) throws {
            let sum = SHA256.hex(SHA256.digest(of: Array(start.utf8)))
            let sealed = start.contains("\"format\": 2") ? ",\n  \"sha256\": \"\(sum)\"\n}\n" : "\n}\n"
            try Data((start + sealed).utf8).write(to: URL(fileURLWithPath: path))
            let read = try? BackupManifest(of: made.path)
            #expect((read?.json == made.manifest.json) == isRead && (read != nil) == isRead, "\(start)")
        }
        try expect(first, isRead: true)
        let project = "\"project\": \"\(root)/volley.yaml\""
        let changes = [
            (project, "\"qroject\": \"\(root)/volley.yaml\""), (project, "\"project\": null"),
            (project, "\"project\": -1"),
            (project, "\"project\": []"), (project, "\"project\": {}"), (project, "\"project\": \"volley.yaml\""),
            (project, "\"project\": \"\(root)/other.yaml\""), (project, "\(project), \(project)"),
            (project, "\(project), \"new\": 1"),
            ("\"sending\": []", "\"sending\": [1]"), ("\"mode\": \"6", "\"mode\": \"46"),
            ("\"bytes\": ", "\"bytes\": -"),
            ("project/c.yaml", "project/../c.yaml"), ("project/c.yaml", "runs/.project/c.yaml"),
            ("\"runs\": \"/", "\"runs\": \""),
            ("\"sha256\": \"", "\"sha256\": \"0"), ("\"reason\": \"keys\"", "\"reason\": \"whim\""),
        ]
        for start in [first, second] {
            for (old, new) in changes {
                #expect(start.contains(old))
                try expect(start.replacing(old, with: new, maxReplacements: 1), isRead: false)
            }
        }
        for format in ["-1", "0", "\"1\"", "[]", "null", "3"] {
            try expect(first.replacing("\"format\": 1", with: "\"format\": \(format)"), isRead: false)
        }
    }

    @Test(
        "a restore looks at every place before it writes, and leaves nothing behind",
        arguments: ["link to nothing", "folder", "pipe", "folder is a link", "place is a link", "runs are a link"])
    func inTheWay(kind: String) throws {
        try write("sub/d.yaml", "name: d\napp: shop\naudience: {everyone: true}\ncontent: {title: A, body: B}\n")
        let made = try backUp(), place = folder.path + "/new", other = folder.path + "/other",
            files = FileManager.default
        for path in [place, other] { try files.createDirectory(atPath: path, withIntermediateDirectories: false) }
        switch kind {
        case "link to nothing": try files.createSymbolicLink(atPath: place + "/c.yaml", withDestinationPath: "nowhere")
        case "folder": try files.createDirectory(atPath: place + "/c.yaml", withIntermediateDirectories: false)
        case "pipe": #expect(mkfifo(place + "/c.yaml", 0o600) == 0)
        case "folder is a link": try files.createSymbolicLink(atPath: place + "/sub", withDestinationPath: other)
        case "runs are a link": try files.createSymbolicLink(atPath: place + "/runs", withDestinationPath: other)
        default:
            try files.removeItem(atPath: place)
            try files.createSymbolicLink(atPath: place, withDestinationPath: other)
        }
        let before = try files.subpathsOfDirectory(atPath: folder.path).sorted()
        let error = try #require(throws: Diagnostic.self) { try restore(made.path, into: place) }
        #expect(error.remedy?.hasSuffix("Nothing was put back.") == true, "\(error)")
        #expect(try files.subpathsOfDirectory(atPath: folder.path).sorted() == before)
    }

    @Test(
        "folders that a failed restore made are gone; what lay elsewhere comes into a folder that the project does not have"
    )
    func folders() throws {
        let place = folder.path + "/deep/new",
            campaign = "name: d\napp: shop\naudience: {everyone: true}\ncontent: {title: A, body: B}\n"
        try write("elsewhere/d.yaml", campaign)
        try write("../further/e.yaml", campaign)
        let made = try backUp([FilePaths.absolute(folder.path) + "/further"])
        let file = made.path + "/project/c.yaml", text = try Data(contentsOf: URL(fileURLWithPath: file))
        try Data("name: changed\n".utf8).write(to: URL(fileURLWithPath: file))
        #expect(throws: Diagnostic.self) { try restore(made.path, into: place) }
        #expect(!FilePaths.exists(folder.path + "/deep"))
        try text.write(to: URL(fileURLWithPath: file))
        let done = try restore(made.path, into: place)
        #expect(done.elsewhere == place + "/elsewhere-2" && FilePaths.exists(place + "/elsewhere/d.yaml"))
        #expect(FilePaths.exists("\(place)/elsewhere-2\(FilePaths.absolute(folder.path))/further/e.yaml"))
    }
}
