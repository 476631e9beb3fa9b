import Base
import Glibc
import Runs
import Testing

@Suite struct RunWriterTests {
    @Test("what was planned comes back as it was")
    func roundTrip() throws {
        let folder = try TemporaryFolder()
        let writer = try RunWriter(folder: folder.path, id: "run")
        let odd = Recipient(
            token: Target(normalized: token(1)), registrationID: "a\"b,c", alias: "ü\0x", language: "zh-Hans",
            fields: ["", "He said \"hi\"", "a\\b", "line\nbreak", "日本", "\u{0}"])
        try writer.put(recipient(0), at: 0)
        try writer.put(odd, at: 1)
        let made = try writer.finish(plan("run", audience: 2))
        let run = try RunFile(path: made.path)
        #expect(run.plan == plan("run", audience: 2))
        #expect(try run.recipients(0..<10).count == 2)
        #expect(try run.recipients(0..<1) == [recipient(0)])
        let back = try #require(try run.recipients(1..<2).first)
        #expect(back.fields == odd.fields)
        #expect(back.alias == "ü\u{FFFD}x")
        #expect(back.registrationID == odd.registrationID)
    }

    @Test("a slot that is stored again holds the newer recipient")
    func replace() throws {
        let folder = try TemporaryFolder()
        let writer = try RunWriter(folder: folder.path, id: "run")
        for number in 0..<3 { try writer.put(recipient(number), at: number) }
        try writer.put(recipient(77), at: 1)
        let run = try writer.finish(plan("run", audience: 3))
        #expect(try run.recipients(0..<3) == [recipient(0), recipient(77), recipient(2)])
        try run.checkUnchanged()
    }

    @Test("after random drops ids are dense and exactly the dropped are gone", arguments: 0..<25)
    func dropProperty(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let slots = Int.random(in: 0...200, using: &random)
        let share = [0.0, 0.05, 0.5, 0.95, 1.0][Int(seed) % 5]
        let dropped = (0..<slots).filter { _ in Double.random(in: 0..<1, using: &random) < share }
        let folder = try TemporaryFolder()
        let writer = try RunWriter(folder: folder.path, id: "run")
        for slot in 0..<slots { try writer.put(recipient(slot), at: slot) }
        try writer.drop(BitSet(dropped.shuffled(using: &random)), of: slots)
        let remaining = slots - dropped.count
        let run = try writer.finish(plan("run", audience: remaining))
        let found = try run.recipients(0..<slots)
        #expect(found.count == remaining)
        try run.checkUnchanged()
        let kept = Set(0..<slots).subtracting(dropped)
        #expect(Set(found.map(\.token.text)) == Set(kept.map(token)))
        // Recipients before the first hole keep their places.
        for id in 0..<min(dropped.first ?? slots, remaining) { #expect(found[id] == recipient(id)) }
    }

    @Test("slots may be replaced in every batch and dropped after several")
    func severalBatches() throws {
        let folder = try TemporaryFolder()
        let writer = try RunWriter(folder: folder.path, id: "run")
        for slot in 0..<25_000 { try writer.put(recipient(slot), at: slot) }
        try writer.put(recipient(99_999), at: 3)
        try writer.drop([0, 24_999, 12_000], of: 25_000)
        let run = try writer.finish(plan("run", audience: 24_997))
        let all = try run.recipients(0..<24_997)
        #expect(all[3] == recipient(99_999))
        #expect(all[0] == recipient(24_998))
        #expect(all[12_000] == recipient(24_997))
        #expect(all[24_996] == recipient(24_996))
        try run.checkUnchanged()
    }

    @Test("an unfinished plan is no run, and is removed when the writer is dropped")
    func partialIsInvisible() throws {
        let folder = try TemporaryFolder()
        var writer: RunWriter? = try RunWriter(folder: folder.path, id: "run")
        for slot in 0..<20_000 { try writer?.put(recipient(slot), at: slot) }
        #expect(folder.names == ["run.sqlite.partial"])
        #expect(try RunsFolder(folder.path).list().runs.isEmpty)
        #expect(try RunsFolder(folder.path).list().broken.isEmpty)
        #expect(
            diagnostic { _ = try RunFile(path: folder.path + "/run.sqlite.partial") }?.message.contains("not a run")
                == true)
        writer = nil
        #expect(folder.names.isEmpty)
    }

    @Test("cancelling removes the file at once")
    func cancel() throws {
        let folder = try TemporaryFolder()
        let writer = try RunWriter(folder: folder.path, id: "run")
        try writer.put(recipient(0), at: 0)
        writer.cancel()
        #expect(folder.names.isEmpty)
    }

    @Test("a finished plan is one file, for its owner alone")
    func oneFile() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 5)
        #expect(folder.names == ["run.sqlite"])
        #expect(shell("stat -c %a '\(run.path)'") == "600\n")
    }

    @Test("the folder of runs is made when missing")
    func makesFolder() throws {
        let folder = try TemporaryFolder()
        let writer = try RunWriter(folder: folder.path + "/a/b", id: "run")
        let run = try writer.finish(plan("run", audience: 0))
        #expect(run.path == folder.path + "/a/b/run.sqlite")
        #expect(try run.recipients(0..<1).isEmpty)
    }

    @Test("a run is never replaced by another of its id")
    func noReplacing() throws {
        let folder = try TemporaryFolder()
        let first = try makeRun(folder, audience: 1)
        #expect(diagnostic { _ = try RunWriter(folder: folder.path, id: "run") }?.message.contains("already") == true)
        let slow = try RunWriter(folder: folder.path, id: "slow")
        #expect(shell("cp '\(first.path)' '\(folder.path)/slow.sqlite'").isEmpty)
        #expect(diagnostic { _ = try slow.finish(plan("slow", audience: 0)) }?.message.contains("already") == true)
        #expect(try RunFile(path: folder.path + "/slow.sqlite").plan.id == "run")
    }

    @Test("two plans of one id are not written at the same time")
    func noSharing() throws {
        let folder = try TemporaryFolder()
        let writer = try RunWriter(folder: folder.path, id: "run")
        #expect(diagnostic { _ = try RunWriter(folder: folder.path, id: "run") } != nil)
        #expect(folder.names == ["run.sqlite.partial"])
        writer.cancel()
    }

    @Test("a folder that is a file is said so")
    func folderIsFile() throws {
        let folder = try TemporaryFolder()
        writeBytes([], folder.path + "/file")
        #expect(
            diagnostic { _ = try RunWriter(folder: folder.path + "/file", id: "run") }?.message
                == "the folder of runs is a file")
    }

    @Test(
        "a file system without inodes is no full disk: plan, run and list say so",
        .enabled(if: isRoot, "mounting a small disk needs root"))
    func noInodes() throws {
        let folder = try TemporaryFolder()
        let disk = folder.path + "/disk"
        let mounted = shell("mkdir '\(disk)' && mount -t tmpfs -o size=8m,nr_inodes=20 tmpfs '\(disk)' && echo yes")
        try #require(mounted == "yes\n", "cannot mount a small disk here")
        defer { _ = shell("umount -l '\(disk)'") }
        let writer = try RunWriter(folder: disk, id: "run")
        for number in 0..<5 { try writer.put(recipient(number), at: number) }
        let run = try writer.finish(plan("run", audience: 5))
        run.close()
        _ = shell("cd '\(disk)'; i=0; while touch f$i 2>/dev/null; do i=$((i+1)); done")
        let said = "all inodes of the file system are in use, so no more files can be made under \(disk)"
        let plan = diagnostic { _ = try RunWriter(folder: disk, id: "other") }
        #expect(
            plan?.description == "\(said). Remove files that are not needed (`df -i` counts them); nothing was sent.")
        let claim = diagnostic { try run.append(.claimed(0..<2, at: noon)) }
        #expect(claim?.message == said && claim?.remedy?.contains("df -i") == true, "\(String(describing: claim))")
        let list = SuppressionList(app: "shop", environment: "sandbox", folder: disk)
        let added = diagnostic { _ = try list.add { _ in } }
        #expect(
            added?.message.hasPrefix("all inodes of the file system are in use") == true, "\(String(describing: added))"
        )
        _ = shell("rm '\(disk)'/f*")
        try run.append(.claimed(0..<2, at: noon))
    }

    @Test(
        "a full disk stops the plan with advice and leaves nothing",
        .enabled(if: isRoot, "mounting a small disk needs root"))
    func diskFull() throws {
        let folder = try TemporaryFolder()
        let disk = folder.path + "/disk"
        let mounted = shell("mkdir '\(disk)' && mount -t tmpfs -o size=300k tmpfs '\(disk)' && echo yes")
        try #require(mounted == "yes\n", "cannot mount a small disk here")
        defer { _ = shell("umount -l '\(disk)'") }
        var writer: RunWriter? = try RunWriter(folder: disk, id: "run")
        let problem = diagnostic { for slot in 0..<20_000 { try writer?.put(recipient(slot), at: slot) } }
        #expect(problem?.description == "the disk is full under \(disk). Free space; nothing was sent.")
        writer = nil
        #expect(shell("ls -A '\(disk)'").isEmpty)
    }
}
