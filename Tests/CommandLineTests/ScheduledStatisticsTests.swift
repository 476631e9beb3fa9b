import Base
import Foundation
import TestCommands
import Testing

/// `volley schedule` fetches the statistics of earlier runs from services by itself.
@Suite("statistics that volley schedule asks for")
struct ScheduledStatisticsTests {
    /// Starts `volley schedule`, and waits until a condition holds, at most for some seconds.
    private func schedule(_ folder: ProjectFolder, forSeconds limit: Double, until isSo: () throws -> Bool) throws
        -> VolleyBinary.Result
    {
        let running = try VolleyBinary.start(["schedule", "."], in: folder.url)
        let end = Date().addingTimeInterval(limit)
        while running.isRunning, Date() < end, try !isSo() { usleep(100_000) }
        running.interrupt()
        return running.finish(timeout: 30)
    }

    private func isKnown(_ folder: ProjectFolder) throws -> Bool {
        try folder.volley("report", "last").output.contains("received over JPush's own channel")
    }

    @Test(
        "a run that ended more than an hour ago is asked about once; one that ended just now is not",
        .enabled(if: hasPython))
    func asked() throws {
        let bench = try JPushCampaignTests.Bench(devices: 20)
        #expect(try bench.folder.volley("send", "campaign.yaml", "--yes").status == 0)
        _ = try schedule(bench.folder, forSeconds: 3) { try isKnown(bench.folder) }
        #expect(try !isKnown(bench.folder), "it is too early")
        try bench.folder.editRun(
            "UPDATE run SET started_at = started_at - 7300000, finished_at = finished_at - 7300000")
        let ended = try schedule(bench.folder, forSeconds: 30) { try isKnown(bench.folder) }
        #expect(ended.status == 130, "\(ended)")
        let report = try bench.folder.volley("report", "last").output
        #expect(report.contains("20 received over JPush's own channel"), "\(report)")
    }

    @Test(
        "a service that cannot be asked is said, with the run and the cause, and its run stays as it is",
        .enabled(if: hasPython))
    func away() throws {
        let bench = try JPushCampaignTests.Bench(devices: 20)
        #expect(try bench.folder.volley("send", "campaign.yaml", "--yes").status == 0)
        try bench.folder.editRun(
            "UPDATE run SET started_at = started_at - 7300000, finished_at = finished_at - 7300000")
        _ = try bench.entries()
        var said = ""
        let running = try VolleyBinary.start(["schedule", "."], in: bench.folder.url)
        let end = Date().addingTimeInterval(30)
        while running.isRunning, Date() < end, !said.contains("JPush was not asked, or did not say") {
            usleep(100_000)
            said = running.errorsSoFar + running.outputSoFar
        }
        running.interrupt()
        let ended = running.finish(timeout: 30)
        #expect(said.contains("JPush was not asked, or did not say"), "\(ended)")
        #expect(
            try bench.folder.volley("report", "last", "--format", "json").json()["state"]?.stringValue == "finished")
    }
}
