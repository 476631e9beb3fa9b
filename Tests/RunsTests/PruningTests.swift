import Base
import Glibc
import Runs
import Testing

@Suite struct PruningTests {
    /// A run that has ended, with languages, variants, cells and every kind of text about
    /// recipients.
    private func endedRun(_ folder: TemporaryFolder, count: Int = 700) throws -> RunFile {
        let writer = try RunWriter(folder: folder.path, id: "20261201-090000-sale-0001")
        for id in 0..<count {
            try writer.put(
                Recipient(
                    token: Target(normalized: Self.token(id)), registrationID: "registration-\(id)",
                    alias: "alias-\(id)",
                    language: id % 3 == 0 ? "de" : "en", variant: id % 2 == 0 ? "a" : "b", fields: ["cell-\(id)"]),
                at: id)
        }
        let call = JSONValue.object(pairs: [
            ("selector", .string("aliases")), ("count", .integer(2)),
            ("first", .array([.string("alias-1"), .string("alias-2")])),
        ])
        let sample = JSONValue.object(pairs: [
            ("samples", .array([.string("cell-1")])), ("skipped_why", .array([])), ("calls", .array([call])),
        ])
        let run = try writer.finish(
            RunPlan(
                id: "20261201-090000-sale-0001", campaign: "sale", app: "shop", campaignFile: "c.yaml",
                campaignSource: "name: sale",
                projectFile: "volley.yaml", seed: RunSeed(high: 1, low: 2), fields: ["name"], plannedAt: noon,
                planHash: "h", rows: count,
                audience: count, skipped: [:], settings: .success(settings()), preview: sample, previewText: "Hi cell-1"
            ))
        try run.approve(RunApproval(name: "Anna", approvedAt: noon))
        try run.append(.state(.running, at: noon))
        try run.append(.claimed(0..<count - 50, at: noon))
        try run.append(
            .settled([
                (0..<count - 100).map {
                    settled($0, $0 % 9 == 0 ? .failed : .accepted, status: $0 % 9 == 0 ? 503 : 200)
                }
            ]))
        try run.append(.state(.finished, at: noon.adding(seconds: 60)))
        try run.closeIntoOneFile()
        return run
    }

    private static func token(_ id: Int) -> String {
        let digits = String(id &* 7_654_321 + 0x0123_4567_89AB, radix: 16)
        return "feedc0de" + String(repeating: "0", count: 56 - digits.count) + digits
    }

    /// Everything in the folder, file after file.
    private func contents(_ folder: TemporaryFolder) -> String { shell("cat '\(folder.path)'/* | tr '\\000' ' '") }

    @Test("what other machines have of the run, or may have, stays known") func shared() throws {
        let folder = try TemporaryFolder(), run = try endedRun(folder)
        let mark = FetchMark(sender: 7, writer: 1, number: 3)
        try run.noteCopy(at: noon)
        try run.noteShared(at: noon)
        try run.apply([], marks: [mark])
        try run.prune(at: noon.adding(seconds: 86_400))
        let pruned = try RunFile(path: run.path, readOnly: true)
        #expect(try pruned.copiedAt() == noon && pruned.sharedSince() == noon && pruned.fetchMarks() == [mark])
    }

    @Test("no token, id, alias or cell is left in any file, and all else is as it was")
    func removed() throws {
        let folder = try TemporaryFolder()
        let run = try endedRun(folder)
        for word in ["feedc0de", "registration-", "alias-", "cell-"] {
            #expect(contents(folder).contains(word), "\(word)")
        }
        let (figures, status, size) = (try run.figures(withGroups: true), try run.status(), run.fileSize)
        // Left behind by a killed process.
        _ = try ClaimCounter(run, epoch: "1-a", claimed: 650)
        try run.prune(at: noon.adding(seconds: 86_400))
        for word in ["feedc0de", "registration-", "alias-", "cell-"] {
            #expect(!contents(folder).contains(word), "\(word)")
        }
        let pruned = try RunFile(path: run.path, readOnly: true)
        #expect(pruned.prunedAt == noon.adding(seconds: 86_400))
        #expect(pruned.fileSize < size)
        #expect(try pruned.figures(withGroups: true) == figures)
        #expect(try pruned.status() == status)
        #expect(try pruned.approval()?.name == "Anna")
        #expect(pruned.plan.campaignSource == "name: sale" && pruned.plan.preview["skipped_why"] != nil)
        #expect(pruned.plan.preview["calls"]?.text == #"[{"selector":"aliases","count":2}]"#)
        #expect(shell("ls -A '\(folder.path)'") == "20261201-090000-sale-0001.sqlite\n")
        #expect(shell("stat -c %a '\(run.path)'") == "600\n")
    }

    @Test("whatever needs recipients says that they were pruned, and changes nothing")
    func refusals() throws {
        let folder = try TemporaryFolder()
        try endedRun(folder).prune(at: noon)
        let run = try RunFile(path: folder.path + "/20261201-090000-sale-0001.sqlite")
        let uses: [() throws -> Void] = [
            { _ = try run.recipients(0..<1) }, { try run.forEachPush(in: 0..<1) { _ in } },
            { try run.forEachResult { _, _, _, _ in } },
            { try run.forEachStoredResult { _ in } },
            { try run.forEachPush(in: 0..<1, PushSelection(unsettled: OpenOutcomes(resendsUnknown: true))) { _ in } },
            { try run.checkIntegrity() }, { try run.checkUnchanged() },
            { try run.append(.claimed(690..<700, at: noon)) },
            { try run.append(.settled([[settled(699, .unsent)]])) }, { try run.append(.state(.running, at: noon)) },
            { try run.append(.state(.cancelled, at: noon)) }, { try run.prune(at: noon) },
        ]
        let before = try run.figures(withGroups: true)
        for (place, use) in uses.enumerated() {
            let error = #expect(throws: Diagnostic.self, "\(place)") { try use() }
            #expect(error?.message.contains("recipients were pruned at") ?? false, "\(place): \(error?.message ?? "")")
        }
        #expect(try run.figures(withGroups: true) == before)
    }

    @Test("a run that is being sent is not pruned, nor is one whose folder cannot be written")
    func obstacles() throws {
        let folder = try TemporaryFolder()
        let run = try endedRun(folder)
        let sender = try RunFile(path: run.path)
        try sender.append(.state(.running, at: noon))
        #expect(throws: Diagnostic.self) { try run.prune(at: noon) }
        try sender.append(.state(.finished, at: noon))
        try sender.closeIntoOneFile()
        // A folder in place of the new file.
        _ = shell("mkdir '\(run.path).pruning'")
        #expect(throws: Diagnostic.self) { try run.prune(at: noon) }
        _ = shell("rmdir '\(run.path).pruning'")
        let again = try RunFile(path: run.path, readOnly: true)
        #expect(again.prunedAt == nil)
        try again.checkIntegrity()
    }

    @Test("a run that was gone on with since it was chosen is not pruned")
    func goneOnWith() throws {
        let folder = try TemporaryFolder()
        let run = try endedRun(folder)
        let seen = try run.status()
        run.close()
        let sender = try RunFile(path: run.path)
        try sender.append(.state(.running, at: noon.adding(seconds: 120)))
        try sender.append(.state(.finished, at: noon.adding(seconds: 180)))
        try sender.closeIntoOneFile()
        sender.close()
        let error = #expect(throws: Diagnostic.self) { try run.prune(at: noon.adding(seconds: 86_400), ifStill: seen) }
        #expect(error?.message == "the run was resumed in the meantime")
        let again = try RunFile(path: run.path)
        #expect(again.prunedAt == nil)
        try again.checkIntegrity()
        try again.prune(at: noon.adding(seconds: 86_400), ifStill: again.status())
        #expect(try RunFile(path: run.path).prunedAt != nil)
    }

    @Test("a run that was killed is pruned as it was seen")
    func killed() throws {
        let folder = try TemporaryFolder()
        let run = try endedRun(folder)
        let sender = try RunFile(path: run.path)
        try sender.append(.state(.running, at: noon.adding(seconds: 120)))
        sender.close()
        let seen = try run.status()
        #expect(seen.state == .stopped && seen.finishedAt == nil)
        try run.prune(at: noon.adding(seconds: 86_400), ifStill: seen)
        #expect(try RunFile(path: run.path).prunedAt != nil)
    }

    @Test("what an interrupted pruning left behind is no run, and the next one takes its place")
    func leftover() throws {
        let folder = try TemporaryFolder()
        let run = try endedRun(folder)
        _ = shell("cp '\(run.path)' '\(run.path).pruning'; echo x > '\(run.path).pruning-journal'")
        #expect(try RunsFolder(folder.path).list().runs.count == 1)
        try run.prune(at: noon)
        #expect(shell("ls -A '\(folder.path)'") == "20261201-090000-sale-0001.sqlite\n")
        #expect(!contents(folder).contains("feedc0de"))
    }

    @Test("a run behind a link is pruned where it lies, and the link stays")
    func link() throws {
        let folder = try TemporaryFolder()
        let run = try endedRun(folder)
        _ = shell(
            "mkdir '\(folder.path)/other'; mv '\(run.path)' '\(folder.path)/other/real'; ln -s other/real '\(run.path)'"
        )
        try RunFile(path: run.path).prune(at: noon)
        #expect(try RunFile(path: run.path).prunedAt == noon)
        #expect(shell("readlink '\(run.path)'") == "other/real\n")
    }
}
