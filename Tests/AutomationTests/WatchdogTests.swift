import Base
import Campaigns
import Foundation
import Runs
import Synchronization
import Testing

@testable import Automation

@Suite("The watchdog of volley schedule")
struct WatchdogTests {
    private let key = ScheduledRun.Key(campaign: "sale", occurrence: "2026-12-01T09:00")
    private let time = Timestamp(epochSeconds: 1_796_115_600)

    @Test("a job is silent after its patience, and not before; what ended is never silent")
    func silence() {
        var dog = Watchdog()
        dog.sign(of: .planning(key), uptime: 100, time: time)
        dog.sign(of: .sending(key), uptime: 100, time: time)
        dog.ended(.sending(key))
        #expect(dog.silentJobs(uptime: 399.9).isEmpty)
        #expect(dog.silentJobs(uptime: 400) == [.init(job: .planning(key), since: time)])
        #expect(
            dog.silentJobs(uptime: 400).first?.text
                == "planning \(key) has shown no sign of life since \(time); it may be hanging")
        // A job with signs of life is healthy, however long it takes.
        for uptime in stride(from: 400.0, through: 40_000, by: 299) {
            dog.sign(of: .planning(key), uptime: uptime, time: time)
            #expect(dog.silentJobs(uptime: uptime + 298).isEmpty)
        }
    }

    @Test("each silence is told once; what goes on, and is silent again, is told again")
    func newlySilent() {
        var dog = Watchdog()
        dog.sign(of: .mainLoop, uptime: 0, time: time)
        #expect(dog.newlySilent(uptime: 119).isEmpty)
        #expect(dog.newlySilent(uptime: 120).map(\.job) == [.mainLoop])
        #expect(dog.newlySilent(uptime: 121).isEmpty && dog.silentJobs(uptime: 121).count == 1)
        dog.sign(of: .mainLoop, uptime: 122, time: time)
        #expect(dog.newlySilent(uptime: 123).isEmpty && dog.silentJobs(uptime: 123).isEmpty)
        #expect(dog.newlySilent(uptime: 242).map(\.job) == [.mainLoop])
    }

    @Test("it is known when the next silence may be noticed, and what makes that earlier")
    func next() {
        var dog = Watchdog()
        #expect(dog.nextSilence == nil)
        #expect(dog.sign(of: .planning(key), uptime: 10, time: time) && dog.nextSilence == 310)
        #expect(dog.sign(of: .mainLoop, uptime: 20, time: time) && dog.nextSilence == 140)
        // A job that continues would be silent later: no wake-up is needed.
        #expect(!dog.sign(of: .mainLoop, uptime: 30, time: time) && dog.nextSilence == 150)
        #expect(dog.newlySilent(uptime: 150).count == 1 && dog.nextSilence == 310)
        // Reported, and healthy again.
        #expect(dog.sign(of: .mainLoop, uptime: 160, time: time) && dog.nextSilence == 280)
        dog.ended(.mainLoop)
        dog.ended(.planning(key))
        #expect(dog.nextSilence == nil)
    }

    @Test("the longest silence comes first")
    func order() {
        var dog = Watchdog()
        let other = ScheduledRun.Key(campaign: "tips", occurrence: "2026-12-01T09:00")
        dog.sign(of: .sending(other), uptime: 20, time: time)
        dog.sign(of: .looking(key), uptime: 10, time: time)
        #expect(dog.silentJobs(uptime: 400).map(\.job) == [.looking(key), .sending(other)])
    }

    @Test("a thread of its own tells of a main loop that hangs, and writes the health file in its place")
    func thread() throws {
        let heartbeats = Heartbeats(timeout: { _ in 0.05 })
        let thread = WatchdogThread(heartbeats)
        thread.note(.init(isUp: true, campaigns: [:], next: [:], open: [], mistakes: [:], last: []))
        let told = Mutex<[String]>([]), written = Mutex<[JSONValue]>([])
        heartbeats.sign(of: .mainLoop)
        let worker = try thread.start(
            tell: { silence in told.withLock { $0.append(silence.text) } },
            write: { status in written.withLock { $0.append(ScheduleMonitoring.document(status, at: .now())) } })
        // The main loop, which is this thread, waits for something that never comes.
        while written.withLock({ $0.isEmpty }) { usleep(5_000) }
        thread.end()
        worker.join()
        #expect(told.withLock { $0.count } == 1)
        let document = try #require(written.withLock { $0.first })
        #expect(document["status"]?.stringValue == "problems")
        guard case .array(let problems)? = document["problems"] else { throw Diagnostic("no problems") }
        #expect(
            problems.first?["message"]?.stringValue?.hasPrefix(
                "reading campaigns and the clock has shown no sign of life since") == true)
    }

    @Test("the health file names what is silent, and of which campaign")
    func health() throws {
        let status = ScheduleMonitoring.Status(
            isUp: true, campaigns: [:], next: [:],
            open: [
                ScheduledRun(
                    key: key, file: "/c/sale.yaml", run: "run", state: .planning, begins: time, ends: time,
                    changedAt: time)
            ], mistakes: [:], last: [], silentJobs: [.init(job: .planning(key), since: time)])
        let document = ScheduleMonitoring.document(status, at: time)
        #expect(document["status"]?.stringValue == "problems")
        guard case .array(let problems)? = document["problems"] else { throw Diagnostic("no problems") }
        #expect(
            problems.count == 1 && problems[0]["campaign"]?.stringValue == "sale"
                && problems[0]["file"]?.stringValue == "/c/sale.yaml")
    }
}
