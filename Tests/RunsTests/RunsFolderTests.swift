import Base
import FileDamage
import GRDB
import Glibc
@testable import Runs
import Testing

@Suite struct RunsFolderTests {
    @Test("a newest run that cannot be opened is not passed over for an older one")
    func brokenLast() throws {
        let folder = try TemporaryFolder()
        let older = try makeRun(folder, id: "20260101-000000-a-0001", audience: 1).path
        let broken = folder.path + "/20260102-000000-b-0002.sqlite"
        _ = shell("echo nonsense > '\(broken)'")
        #expect(diagnostic { _ = try RunsFolder(folder.path).file(named: "last") }?.message == "this is not a run file")
        _ = shell("mv '\(broken)' '\(folder.path)/20251231-000000-b-0002.sqlite'")
        #expect(try RunsFolder(folder.path).file(named: "last") == older)
    }

    @Test("a run that another program holds keeps a command waiting once, however often it lists runs")
    func held() throws {
        let folder = try TemporaryFolder(), other = try makeRun(folder, id: "20260101-000000-a-0001", audience: 1)
        try makeRun(folder, id: "20260102-000000-b-0002", audience: 1).close()
        try other.closeIntoOneFile()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let holder = try DatabaseQueue(path: other.path, configuration: configuration)
        try holder.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        let begun = ContinuousClock.now
        for _ in 0..<4 {
            let listing = try RunsFolder(folder.path).list()
            #expect(listing.runs.map(\.plan.id) == ["20260102-000000-b-0002"])
            #expect(listing.broken.map(\.message) == ["another process is using the run file"])
        }
        #expect(ContinuousClock.now - begun < .seconds(18))
        try holder.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try RunsFolder(folder.path).list().runs.count == 2)
    }

    @Test(
        "runs are found by what their plans say; a file that was put in another's place, or whose settings cannot be read, counts as what it is now"
    )
    func marks() throws {
        let folder = try TemporaryFolder(), runs = RunsFolder(folder.path)
        func path(_ id: String) -> String { "\(folder.path)/\(id).sqlite" }
        for (id, retryOf) in [("first", nil), ("second", "first"), ("third", "second"), ("other", nil)] {
            try makeRun(folder, id: id, audience: 1, plannedAt: noon, retryOf: retryOf).close()
        }
        func retries() throws -> [String] { try runs.runs(of: nil) { $0.retryOf != nil }.map(\.plan.id) }
        for _ in 0..<2 { #expect(try retries() == ["second", "third"]) }
        for id in ["first", "second", "third"] {
            #expect(try RunChain(of: RunFile(path: path(id))).runs.map(\.plan.id) == ["first", "second", "third"])
        }
        #expect(try RunChain(of: RunFile(path: path("other"))).runs.count == 1)

        let elsewhere = try TemporaryFolder()
        try makeRun(elsewhere, id: "other", audience: 1, plannedAt: noon, retryOf: "third").close()
        rename("\(elsewhere.path)/other.sqlite", path("other"))
        #expect(try retries() == ["other", "second", "third"])
        unlink(path("third"))
        try Damage.make(path("first"), sql: "UPDATE run SET settings = '{}'")
        #expect(try retries() == ["first", "other", "second"])
    }

    @Test("a look at a run opens its file once and closes it, and its mark is known from then on")
    func looks() throws {
        let folder = try TemporaryFolder(), runs = RunsFolder(folder.path)
        let path = try makeRun(folder, id: "first", audience: 3, plannedAt: noon).place
        func isOpen() -> Int {
            let names = (try? Folder.names(in: "/proc/self/fd")) ?? []
            return names.count { FilePaths.absolute("/proc/self/fd/\($0)") == FilePaths.absolute(path) }
        }
        let look = try runs.withRun("first") { run in
            (try run.status().state, try run.figures().outcomes[.unsent], isOpen: isOpen())
        }
        #expect(look == (.planned, 3, 1))
        #expect(isOpen() == 0)
        #expect(runs.marks.mark(of: path, FileStamp(path: path))?.id == "first")
        #expect(throws: Diagnostic.self) { try runs.withRun("second") { _ in } }
    }

    @Test(
        "folders for temporary files are apart, vanish with their owners, and those of killed processes with the next one"
    )
    func scratch() throws {
        let folder = try TemporaryFolder()
        let catalog = RunsFolder(folder.path + "/runs")
        let above = folder.path + "/runs/.queries"
        var first: ScratchFolder? = try catalog.scratchFolder()
        let path = try #require(first?.path)
        try FilePaths.create("\(path)/warehouse.csv", bytes: [])
        #expect(shell("stat -c %a '\(path)'") == "700\n")
        // As a killed process leaves one: its lock is free.
        _ = shell("mkdir '\(above)/1-dead' && touch '\(above)/1-dead/x.csv'")
        var second: ScratchFolder? = try catalog.scratchFolder()
        #expect(second?.path != path)
        #expect(try Folder.names(in: above).count == 2)
        #expect(try Folder.names(in: path) == ["warehouse.csv"])
        first = nil
        #expect(access(path, F_OK) != 0)
        second = nil
        #expect(access(above, F_OK) != 0)
        #expect(try catalog.list().runs.isEmpty)
        _ = (first, second)
    }

    @Test("a run's id names moment, campaign and four hex digits")
    func id() {
        let seed = RunSeed(high: 0x0f3a_0000_0000_0000, low: 1)
        #expect(
            RunID.make(campaign: "spring-sale", now: Timestamp(epochSeconds: 1_796_115_600), seed: seed)
                == "20261201-090000-spring-sale-0f3a")
    }

    @Test("runs are listed oldest first, broken ones apart, other files not at all")
    func listing() throws {
        let folder = try TemporaryFolder()
        _ = try makeRun(folder, id: "b", audience: 1, plannedAt: Timestamp(epochSeconds: 200))
        _ = try makeRun(folder, id: "a", audience: 1, plannedAt: Timestamp(epochSeconds: 300))
        _ = try makeRun(folder, id: "c", audience: 1, plannedAt: Timestamp(epochSeconds: 100))
        let writer = try RunWriter(folder: folder.path, id: "d")
        writeBytes(Array("no database, just text".utf8), folder.path + "/e.sqlite")
        writeBytes([1], folder.path + "/notes.txt")
        _ = shell("cd '\(folder.path)'; cp a.sqlite a-backup.sqlite; cp b.sqlite f.sqlite")
        let found = try RunsFolder(folder.path).list()
        let (runs, broken, copies) = (found.runs, found.broken, found.copies)
        #expect(runs.map(\.plan.id) == ["c", "b", "a"])
        #expect(broken.map(\.file) == [folder.path + "/e.sqlite"])
        #expect(copies.map(\.file) == [folder.path + "/a-backup.sqlite", folder.path + "/f.sqlite"])
        _ = shell("rm '\(folder.path)/b.sqlite'")
        #expect(
            try RunsFolder(folder.path).list().broken.map(\.file) == [
                folder.path + "/e.sqlite", folder.path + "/f.sqlite",
            ])
        writer.cancel()
    }

    @Test(
        "a damaged id is damage, not a copy of a run: no message advises to remove the file, and sending is not thought to be over"
    )
    func damagedID() throws {
        let folder = try TemporaryFolder(), catalog = RunsFolder(folder.path)
        let ids = ["20260101-000000-spring-sale-0001", "20260101-000000-spring-sale-0003"]
        for id in ids { try makeRun(folder, id: id, audience: 1).close() }
        let path = catalog.place(of: ids[0])
        // Also into the id of a run that is there.
        for id in ["20260101-000000-spring-sale-0005", ids[1]] {
            try Damage.make(path, sql: "UPDATE run SET id = '\(id)'")
            let found = try catalog.list()
            #expect(found.runs.map(\.plan.id) == [ids[1]] && found.copies.isEmpty)
            let refusals =
                found.broken
                + [diagnostic { _ = try catalog.open(ids[0]) }, diagnostic { _ = try RunFile(path: path) }].compactMap(
                    \.self)
            #expect(
                refusals.count == 3
                    && refusals.allSatisfy {
                        $0.message.hasPrefix("the run file is damaged: its plan is not as it was made")
                    })
            #expect(
                refusals.allSatisfy { $0.file == path && $0.remedy == "Restore it from a backup. Do not send from it." }
            )
            let lock = try SendingLock(run: path)
            #expect(
                diagnostic { _ = try catalog.sendingNow(of: "spring-sale") }?.message.contains(
                    "its file cannot be read") == true)
            _ = consume lock
        }
        // Without a digest that could tell, as in files of older versions and after `prune`.
        try Damage.make(path, sql: "UPDATE run SET id = '20260101-000000-spring-sale-0005', digest = ''")
        let found = try catalog.list()
        #expect(
            found.broken.first?.message
                == "this file was renamed, or is damaged: the run in it is called 20260101-000000-spring-sale-0005")
        #expect(found.broken.count == 1 && found.broken.first?.remedy?.lowercased().contains("remove") == false)
        #expect(diagnostic { _ = try catalog.open(ids[0]) } == found.broken.first)
    }

    @Test("a copy is to be removed only if the run's own file is next to it, and is that run")
    func copyRemedy() throws {
        let folder = try TemporaryFolder(), catalog = RunsFolder(folder.path)
        for id in ["a", "b"] { try makeRun(folder, id: id, audience: 1).close() }
        _ = shell("cd '\(folder.path)'; cp a.sqlite copy.sqlite")
        #expect(try catalog.list().copies.map(\.remedy) == ["Only a.sqlite can be sent, and counts. Remove the copy."])
        for loss in ["echo nonsense > a.sqlite", "cp b.sqlite a.sqlite", "rm a.sqlite"] {
            _ = shell("cd '\(folder.path)'; \(loss)")
            let found = try catalog.list()
            let mistake = (found.broken + found.copies).first { $0.file == folder.path + "/copy.sqlite" }
            #expect(mistake?.message == "this file is a copy of the run a, or was renamed", "\(loss)")
            #expect(
                mistake?.remedy
                    == "Only a.sqlite can be sent, and counts. Put that file back, or restore this one's name.",
                "\(loss)")
        }
    }

    @Test("a link in the folder is named as it lies there, and only the link is to be removed, wherever it leads")
    func links() throws {
        let folder = try TemporaryFolder(), elsewhere = try TemporaryFolder(), catalog = RunsFolder(folder.path)
        try makeRun(elsewhere, id: "other", audience: 1).close()
        _ = shell(
            "cd '\(elsewhere.path)'; cp other.sqlite piped.sqlite; mkfifo piped.sqlite-wal; echo nonsense > text; head -c 5000 other.sqlite > cut"
        )
        for (target, message) in [
            ("/dev/null", "this is a link to a device, not a run file"),
            ("/etc", "this is a link to a folder, not a run file"),
            ("\(elsewhere.path)/gone", "this is a link to \(elsewhere.path)/gone, where nothing is"),
            ("\(elsewhere.path)/text", "this is not a run file"),
            ("\(elsewhere.path)/cut", "the run file is damaged"),
            ("\(elsewhere.path)/piped.sqlite", "this is a link to a run file that cannot be opened"),
        ] {
            _ = shell("ln -sfn '\(target)' '\(folder.path)/x.sqlite'")
            let found = try catalog.list().broken + [diagnostic { _ = try catalog.open("x") }].compactMap(\.self)
            #expect(found.count == 2, "\(target)")
            for mistake in found {
                #expect(
                    mistake.file == folder.path + "/x.sqlite" && mistake.message.hasPrefix(message),
                    "\(target): \(mistake)")
                #expect(mistake.remedy?.contains("Remove it") == false, "\(mistake)")
            }
        }
        _ = shell(
            "cd '\(elsewhere.path)'; cp other.sqlite copy.sqlite; ln -sfn '\(elsewhere.path)/copy.sqlite' '\(folder.path)/x.sqlite'"
        )
        let copy = try catalog.list().broken.first
        #expect(
            copy?.file == folder.path + "/x.sqlite" && copy?.remedy?.hasSuffix("Remove the link.") == true,
            "\(String(describing: copy))")
    }

    @Test(
        "a link in the place of a record is named as it lies in the folder",
        arguments: ["schedule.sqlite", "orders.sqlite", "sent.db"])
    func recordLinks(name: String) throws {
        let folder = try TemporaryFolder(), catalog = RunsFolder(folder.path), path = "\(folder.path)/\(name)"
        _ = shell("ln -s /dev/null '\(path)'")
        let mistake = diagnostic {
            switch name {
            case "schedule.sqlite": _ = try ScheduleStore.read(folder: folder.path, since: noon)
            case "orders.sqlite": _ = try catalog.orders.read()
            default: _ = try catalog.history.entries()
            }
        }
        #expect(mistake?.file == path && mistake?.message.hasPrefix("this is a link to a device, not ") == true)
        #expect(mistake?.remedy == "Remove the link or move it away: Volley did not create it.")
    }

    @Test(
        "a link that leads nowhere is refused in the place of each file and of the folder: it is not the same as nothing",
        arguments: ["schedule.sqlite", "orders.sqlite", "sent.db", "suppressed-shop.sqlite", "run.sqlite", ""])
    func deadLinks(name: String) throws {
        let folder = try TemporaryFolder(), runs = folder.path + "/runs", path = name.isEmpty ? runs : "\(runs)/\(name)"
        if !name.isEmpty { try FilePaths.makeFolder(runs) }
        for (target, message) in [
            ("/tmp/volley-no-such-folder/x", "this is a link to /tmp/volley-no-such-folder/x, where nothing is"),
            (path, "this is a link that leads in a circle"),
        ] {
            _ = shell("ln -sfn '\(target)' '\(path)'")
            let catalog = RunsFolder(runs), list = SuppressionList(app: "shop", environment: "production", folder: runs)
            #expect(catalog.isThere)
            let uses: [String: [() throws -> Void]] = [
                "schedule.sqlite": [
                    { _ = try ScheduleStore.read(folder: runs, since: noon) }, { _ = try ScheduleStore(folder: runs) },
                ],
                "orders.sqlite": [{ _ = try catalog.orders.read() }, { _ = try catalog.orders.open() }],
                "sent.db": [{ _ = try catalog.history.entries() }],
                "suppressed-shop.sqlite": [
                    { _ = try list.count() },
                    {
                        _ = try list.add(at: noon) {
                            try $0.add(Target(normalized: token(1)), reason: "", invalidSince: noon)
                        }
                    },
                ],
                "run.sqlite": [
                    { _ = try catalog.open("run") },
                    { _ = try catalog.open(named: "run", readOnly: true) },
                    { _ = try catalog.create("run") },
                    { if let broken = try catalog.list().broken.first { throw broken } },
                ],
                "": [
                    { _ = try catalog.list() }, { _ = try catalog.create("run") }, { _ = try list.count() },
                    { _ = try RunsInventory(runs) },
                    { _ = try ScheduleStore(folder: runs) },
                ],
            ]
            for use in uses[name] ?? [] {
                let mistake = diagnostic(use)
                #expect(mistake?.file == path && mistake?.message == message, "\(String(describing: mistake))")
            }
            var known = KnownObstacles()
            #expect(catalog.obstacles(&known).map(\.message) == [message])
            guard !name.isEmpty else { continue }
            let inventory = try RunsInventory(runs)
            let copied = diagnostic {
                for entry in inventory.entries { _ = try inventory.copy(entry, to: folder.path) { _, _ in } }
            }
            #expect(copied?.message == message, "a backup does not leave it out in silence")
        }
    }

    @Test("a file whose name is not UTF-8 is listed with the reason, not left out as if it were gone")
    func misencodedName() throws {
        let folder = try TemporaryFolder()
        _ = shell("touch \"\(folder.path)/$(printf '\\377').sqlite\"")
        let message = "the name of this file is not UTF-8, so it cannot be opened"
        #expect(try RunsFolder(folder.path).list().broken.map(\.message) == [message])
        let inventory = try RunsInventory(folder.path)
        #expect(
            diagnostic {
                for entry in inventory.entries { _ = try inventory.copy(entry, to: "/dev/null") { _, _ in } }
            }?.message == message
        )
    }

    @Test("a run that is sent through a link is seen to be sent, by the name of the link, too")
    func lockBehindLink() throws {
        let folder = try TemporaryFolder(), elsewhere = try TemporaryFolder(), id = "20260101-000000-spring-sale-0001"
        let run = try makeRun(elsewhere, id: id, audience: 1)
        _ = shell("ln -s '\(run.path)' '\(folder.path)/\(id).sqlite'")
        let lock = try SendingLock(run: run.path)
        #expect(try RunsFolder(folder.path).idsSendingNow(of: "spring-sale") == [id])
        _ = consume lock
    }

    @Test("a run that was removed since it was listed is no mistake, one that is there and cannot be read is")
    func removedMeanwhile() throws {
        let folder = try TemporaryFolder()
        for id in ["20260101-000000-a-0001", "20260101-000001-a-0002"] { _ = try makeRun(folder, id: id, audience: 1) }
        let runs = try RunsFolder(folder.path).list().runs
        _ = shell(
            "rm '\(folder.path)/20260101-000000-a-0001.sqlite'; echo nonsense > '\(folder.path)/20260101-000001-a-0002.sqlite'"
        )
        #expect(try runs[0].unlessRemoved { try $0.hasBegun() } == nil)
        #expect(throws: Diagnostic.self) { try runs[1].unlessRemoved { try $0.hasBegun() } }
    }

    @Test("a folder that is not there holds no runs")
    func noFolder() throws {
        #expect(try RunsFolder("/tmp/volley-no-such-folder").list().runs.isEmpty)
    }

    @Test("a run is found by id, by path, by file name and as the last one")
    func resolve() throws {
        let folder = try TemporaryFolder()
        let old = try makeRun(
            folder, id: "20261201-090000-sale-0001", audience: 1, plannedAt: Timestamp(epochSeconds: 100)
        ).path
        let new = try makeRun(
            folder, id: "20261101-090000-sale-0002", audience: 1, plannedAt: Timestamp(epochSeconds: 200)
        ).path
        #expect(try RunsFolder(folder.path).file(named: "20261201-090000-sale-0001") == old)
        #expect(try RunsFolder(folder.path).file(named: "20261201-090000-sale-0001.sqlite") == old)
        #expect(try RunsFolder("/nowhere").file(named: old) == old)
        #expect(try RunsFolder(folder.path).file(named: "last") == new)
        #expect(
            try RunsFolder(folder.path + "/").file(named: "last") == folder.path + "/20261101-090000-sale-0002.sqlite")
    }

    @Test("a misspelt id gets the nearest one, an empty folder says so")
    func unresolved() throws {
        let folder = try TemporaryFolder()
        #expect(diagnostic { _ = try RunsFolder(folder.path).file(named: "last") }?.message == "there are no runs yet")
        #expect(diagnostic { _ = try RunsFolder(folder.path).file(named: "x") }?.message == "there are no runs yet")
        _ = try makeRun(folder, id: "20261201-090000-sale-0001", audience: 1)
        let writer = try RunWriter(folder: folder.path, id: "slow")
        #expect(
            diagnostic { _ = try RunsFolder(folder.path).file(named: "20261201-090000-slae-0001") }?.remedy
                == "Did you mean 20261201-090000-sale-0001?")
        #expect(
            diagnostic { _ = try RunsFolder(folder.path).file(named: "./x.sqlite") }?.message
                == "there is no such run file")
        #expect(
            diagnostic { _ = try RunsFolder(folder.path).file(named: "slow") }?.message.contains("still being made")
                == true)
        #expect(
            diagnostic { _ = try RunsFolder(folder.path).file(named: folder.path) }?.message
                == "this is a folder, not a run file")
        writer.cancel()
    }

    @Test("last passes over broken files and says so when nothing else is there")
    func lastAmongBroken() throws {
        let folder = try TemporaryFolder()
        writeBytes(Array("text".utf8), folder.path + "/z.sqlite")
        #expect(
            diagnostic { _ = try RunsFolder(folder.path).file(named: "last") }?.message
                == "none of the run files can be opened")
        let run = try makeRun(folder, id: "a", audience: 1)
        #expect(try RunsFolder(folder.path).file(named: "last") == run.path)
    }
}
