import Base
import Testing

@testable import Automation

@Suite("Files that may still be being written")
struct StableFilesTests {
    private let now = Timestamp(epochSeconds: 1_800_000_000)

    private func stamp(age: Int, size: Int = 100) -> FileStamp {
        let moment = FileStamp.Moment(seconds: Int(now.epochSeconds) - age)
        return FileStamp(device: 1, inode: 2, size: size, modified: moment, changed: moment)
    }

    @Test("one that was changed long ago is quiet at the first look; one that was just changed is not")
    func age() {
        var quiet = StableFiles()
        #expect(
            quiet.observe([("a", stamp(age: 10)), ("b", stamp(age: 9)), ("c", stamp(age: 3600))], now: now, uptime: 5)
                == ["b"])
    }

    @Test("of content and permissions the later change counts")
    func changed() {
        var quiet = StableFiles()
        var old = stamp(age: 3600)
        old.changed.seconds = Int(now.epochSeconds) - 1
        #expect(quiet.observe([("a", old)], now: now, uptime: 5) == ["a"])
    }

    @Test("one from the future is quiet when it has stayed as it is for long enough, not before")
    func future() {
        var quiet = StableFiles()
        let ahead = [("a", FileStamp?.some(stamp(age: -86_400)))]
        #expect(quiet.observe(ahead, now: now, uptime: 100) == ["a"])
        #expect(quiet.observe(ahead, now: now, uptime: 109.9) == ["a"])
        #expect(quiet.observe(ahead, now: now, uptime: 110).isEmpty)
        // A new write restarts the wait.
        let grown = [("a", FileStamp?.some(stamp(age: -86_400, size: 200)))]
        #expect(quiet.observe(grown, now: now, uptime: 111) == ["a"])
        #expect(quiet.observe(grown, now: now, uptime: 120) == ["a"])
        #expect(quiet.observe(grown, now: now, uptime: 121).isEmpty)
    }

    @Test("one that is written to again and again is never quiet; one that is not there is nobody's business here")
    func busy() {
        var quiet = StableFiles()
        for second in 0..<100 {
            let later = now.adding(seconds: Double(second))
            var busy = stamp(age: -second, size: second)
            busy.inode = 3
            #expect(quiet.observe([("a", busy), ("b", nil)], now: later, uptime: Double(second)) == ["a"])
        }
    }
}
