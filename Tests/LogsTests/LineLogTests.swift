import Base
import Logging
import Logs
import Synchronization
import Testing

/// Lines of a log, and what they hold.
@Suite("lines of a log")
struct LineLogTests {
    private final class Lines: Sendable {
        let text = Mutex("")
    }

    private func written(_ format: LogFormat, _ body: (Logger) -> Void) -> String {
        let lines = Lines()
        let moment = Timestamp(epochMilliseconds: 1_796_115_600_250)
        body(
            Logger(label: "volley") { _ in
                LineLog(format, now: { moment }, write: { line in lines.text.withLock { $0 += line } })
            })
        return lines.text.withLock { $0 }
    }

    private static let subject = LogSubject(
        app: "shop", campaign: "spring-sale", run: "20261201-090000-spring-sale-0f3a"
    ).metadata

    @Test("text: time, level, what it is about, and the message on one line")
    func text() {
        let text = written(.text) {
            $0.warning("two\nlines", metadata: Self.subject)
            $0.debug("about nothing")
        }
        #expect(
            text == """
                2026-12-01T09:00:00.250Z warning [app=shop campaign=spring-sale run=20261201-090000-spring-sale-0f3a] two | lines
                2026-12-01T09:00:00.250Z debug about nothing

                """)
    }

    @Test("JSON: an object a line, whatever is in the message")
    func json() throws {
        let message = "a \"quoted\"\nword, \u{1B}[31m and ü"
        let text = written(.json) { $0.error("\(message)", metadata: Self.subject) }
        #expect(text.count { $0 == "\n" } == 1)
        let event = try JSONValue(parsing: text)
        #expect(event["message"] == .string(message))
        #expect(event["level"] == .string("error"))
        #expect(event["time"] == .string("2026-12-01T09:00:00.250Z"))
        #expect(event["app"] == .string("shop"))
        #expect(event["run"] == .string("20261201-090000-spring-sale-0f3a"))
    }

    @Test("the figures of a run are numbers in JSON, and words like all others in text")
    func figures() throws {
        let subject = LogSubject(campaign: "spring-sale", figures: ["audience": 12, "accepted": 11]).metadata
        let event = try JSONValue(parsing: written(.json) { $0.info("finished", metadata: subject) })
        #expect(
            event["audience"] == .integer(12) && event["accepted"] == .integer(11)
                && event["campaign"] == .string("spring-sale"))
        #expect(
            written(.text) { $0.info("finished", metadata: subject) }.hasSuffix(
                " info [accepted=11 audience=12 campaign=spring-sale] finished\n"))
    }

    @Test("what a message is about wins over what all messages of the process are about")
    func common() {
        let text = written(.text) { logger in
            var logger = logger
            logger[metadataKey: "run"] = "common"
            logger[metadataKey: "host"] = "a"
            logger.info("finished", metadata: ["run": "own"])
            logger.info("alone")
        }
        #expect(
            text.contains(" info [host=a run=own] finished\n") && text.contains(" info [host=a run=common] alone\n"))
    }

    @Test(
        "for the journal an event is one line with its priority and what it is about",
        arguments: [(Logger.Level.error, 3), (.warning, 4), (.info, 6), (.debug, 7)])
    func journal(level: Logger.Level, priority: Int) {
        let text = written(.journal) { $0.log(level: level, "two\nlines", metadata: Self.subject) }
        #expect(
            text == "<\(priority)>[app=shop campaign=spring-sale run=20261201-090000-spring-sale-0f3a] two | lines\n")
        #expect(written(.journal) { $0.log(level: level, "alone") } == "<\(priority)>alone\n")
    }

    @Test("a message cannot forge a second event, nor what it is about")
    func forged() {
        let text = written(.text) {
            $0.info("x\r2026-01-01T00:00:00Z error y", metadata: LogSubject(campaign: "a] \n<0>b").metadata)
        }
        #expect(text.split(whereSeparator: \.isNewline).count == 1)
        #expect(written(.journal) { $0.info("x\r<0>y") }.split(separator: "\n").allSatisfy { $0.hasPrefix("<6>") })
    }
}
