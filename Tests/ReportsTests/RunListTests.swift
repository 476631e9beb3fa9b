import Base
import Reports
import Runs
import Testing

@Suite struct RunListTests {
    private func list(_ folder: TemporaryFolder) throws -> RunList {
        let first = try makeRun(folder, id: "20261101-120000-welcome-0a1b", recipients(12))
        _ = first
        let sent = try mixedRun(folder)
        try sent.closeIntoOneFile()
        _ = shell("printf 'no database, just a line of text' > '\(folder.path)/notes.sqlite'")
        let found = try RunsFolder(folder.path).list()
        let (runs, broken) = (found.runs, found.broken)
        return try RunList(runs: runs, broken: broken)
    }

    @Test("all runs in one table, broken files below", arguments: [160, 110, 80])
    func table(width: Int) throws {
        let folder = try TemporaryFolder()
        expectSnapshot(
            try list(folder).text(width: width, colour: false).replacing(folder.path, with: "/runs"), "runs-\(width)")
    }

    @Test("the JSON holds a report for each run and what is broken")
    func json() throws {
        let folder = try TemporaryFolder()
        let json = try list(folder).json
        guard case .array(let runs)? = json["runs"], case .array(let broken)? = json["broken"] else {
            throw Diagnostic("no arrays")
        }
        #expect(
            runs.compactMap { $0["run"]?.stringValue } == [
                "20261101-120000-welcome-0a1b", "20261201-090000-spring-sale-7f3a",
            ])
        #expect(runs.map { $0["state"] } == [.string("planned"), .string("finished")])
        let path = folder.path + "/20261201-090000-spring-sale-7f3a.sqlite"
        #expect(runs.last == (try Report(RunFile(path: path, readOnly: true), isSummary: true).json))
        #expect(broken.map { $0["file"] } == [.string(folder.path + "/notes.sqlite")])
        #expect(broken.first?["message"] == .string("this is not a run file"))
    }

    @Test("a plan that was removed since it was listed is neither a run nor broken")
    func removedMeanwhile() throws {
        let folder = try TemporaryFolder()
        _ = try makeRun(folder, id: "20261101-120000-welcome-0a1b", recipients(12))
        let runs = try RunsFolder(folder.path).list().runs
        _ = shell("rm '\(folder.path)'/20261101-*")
        #expect(try RunList(runs: runs, broken: []).json.text == #"{"runs":[],"broken":[],"unfinished":[]}"#)
    }

    @Test("no runs at all is said in a sentence")
    func none() throws {
        let list = try RunList(runs: [], broken: [])
        #expect(
            list.text(width: 80, colour: false) == "There are no runs yet. `volley plan` and `volley send` make one.")
        #expect(list.json.text == #"{"runs":[],"broken":[],"unfinished":[]}"#)
    }
}
