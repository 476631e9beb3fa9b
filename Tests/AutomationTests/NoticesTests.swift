import Base
import Cryptography
import Foundation
import Runs
import Synchronization
import TestServers
import Testing

@testable import Campaigns
@testable import Automation

@Suite("Notices")
struct NoticesTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "volley-notices-\(UUID().uuidString)")
    private let quick = Notices.RetrySchedule(firstPauseSeconds: 0.001, longestPauseSeconds: 0.01, totalSeconds: 5)

    private let cancellation: Cancellation

    init() throws {
        cancellation = try Cancellation()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func project(_ notices: String, file: String = "volley.yaml") throws -> Project {
        let path = folder.appendingPathComponent(file).path
        try Data("notices:\n\(notices)\napps: {shop: {topic: a.b, environment: simulator}}\n".utf8).write(
            to: URL(fileURLWithPath: path))
        return try Project.read(file: path).0
    }

    private func notice(_ event: NoticeEvent = .finished) -> Notice {
        var notice = Notice(event)
        (notice.campaign, notice.app, notice.run) = ("spring-sale", "shop", "20261201-090000-spring-sale-7f3a")
        return notice
    }

    @Test("that a run was cancelled is said once")
    func cancelled() {
        var notice = notice(.stopped)
        (notice.state, notice.reason, notice.isCancelledByOrder) = (.cancelled, "cancelled", true)
        #expect(notice.text == "spring-sale was cancelled.")
    }

    @Test("a command is named by its program, without what people write behind it")
    func commandLine() throws {
        let target = try #require(try project("  - {command: ['curl -u me:hunter2word hooks']}").notices.first)
        let channel = try NoticeChannel(target, projectFile: "volley.yaml", proxy: nil, NoticeObserver { _ in })
        #expect(channel.name == "the command curl …")
    }

    @Test("a busy, a broken and a silent server are tried again, with the same id and a fresh signature each time")
    func retried() throws {
        EnvironmentVariables.replace("VOLLEY_TEST_SECRET", with: "s3cret")
        let server = try TestWebhook(answers: ["503 Busy", "429 Slow", "", "200 OK"])
        let notices = Notices(
            try project("  - {webhook: \"\(server.url())\", secret_env: VOLLEY_TEST_SECRET}"), retries: quick, .silent)
        let notice = notice()
        notices.post(notice)
        notices.finish(until: cancellation)
        let requests = server.requests
        #expect(requests.count == 4)
        #expect(
            requests.allSatisfy {
                $0.line == "POST /hook HTTP/1.1" && $0.headers["volley-id"] == notice.id && $0.body == notice.json.text
            })
        for request in requests {
            let parts = (request.headers["volley-signature"] ?? "").split(separator: ",")
            try #require(parts.count == 2 && parts[0].hasPrefix("t=") && parts[1].hasPrefix("v1="))
            let signed = Array("\(parts[0].dropFirst(2)).\(request.body)".utf8)
            #expect(parts[1].dropFirst(3) == SHA256.hex(HMACSHA256.code(of: signed, key: Array("s3cret".utf8))))
        }
    }

    @Test(
        "what the server does not want is not repeated",
        arguments: ["400 Bad", "401 No", "410 Gone", "302 Elsewhere\r\nLocation: /other"])
    func refused(answer: String) throws {
        let server = try TestWebhook(answers: [answer])
        let notices = Notices(try project("  - {webhook: \"\(server.url())\"}"), retries: quick, .silent)
        notices.post(notice())
        notices.finish(until: cancellation)
        #expect(server.requests.map(\.line) == ["POST /hook HTTP/1.1"])
        #expect(server.requests[0].headers["volley-signature"] == nil)
    }

    @Test("patience ends, and finishing ends what it has not")
    func retries() throws {
        let server = try TestWebhook(answers: Array(repeating: "500 No", count: 100_000))
        let project = try project("  - {webhook: \"\(server.url())\"}")
        let short = Notices(
            project, retries: .init(firstPauseSeconds: 0.001, longestPauseSeconds: 0.001, totalSeconds: 0), .silent)
        short.post(notice())
        short.finish(until: cancellation)
        #expect(server.requests.count == 1)
        let endless = Notices(
            project, retries: .init(firstPauseSeconds: 1_000, longestPauseSeconds: 1_000, totalSeconds: 1e6), .silent)
        endless.post(notice())
        while server.requests.count < 2 { usleep(1_000) }
        endless.finish(withinSeconds: 0, until: cancellation)
        #expect(server.requests.count == 2)
    }

    @Test("pauses double up to a limit, and a server that names a time is left alone for it, within that limit")
    func pauses() {
        let retries = Notices.RetrySchedule.long
        #expect((1...9).map { retries.pause(after: $0, asked: nil) } == [0.5, 1, 2, 4, 8, 16, 30, 30, 30])
        #expect(retries.pause(after: 1, asked: 7) == 7)
        #expect(retries.pause(after: 1, asked: 3_600) == 30)
    }

    @Test("everybody hears of the events they asked for, of their own app")
    func selection() throws {
        let servers = try (0..<3).map { _ in try TestWebhook() }
        let path = folder.appendingPathComponent("volley.yaml")
        let yaml = """
            notices: [{webhook: "\(servers[0].url())", events: [finished]}, {webhook: "\(servers[1].url())"}]
            apps:
              shop: {topic: a.b, environment: simulator}
              news: {topic: a.c, environment: simulator, notices: [{webhook: "\(servers[2].url())"}]}

            """
        try Data(yaml.utf8).write(to: path)
        let notices = Notices(try Project.read(file: path.path).0, retries: quick, .silent)
        for event in [NoticeEvent.started, .finished] { notices.post(notice(event)) }
        notices.finish(until: cancellation)
        #expect(
            servers.map { $0.requests.compactMap { $0.headers["volley-event"] } } == [
                ["finished"], ["started", "finished"], [],
            ])
    }

    @Test("a secret that is not set is said, and others are told all the same")
    func missingSecret() throws {
        let server = try TestWebhook()
        let notices = Notices(
            try project(
                """
                  - {webhook: "\(server.url("/a"))", secret_env: VOLLEY_TEST_NO_SUCH_SECRET}
                  - {webhook: "\(server.url("/b"))"}
                """), retries: quick, .silent)
        notices.post(notice())
        notices.finish(until: cancellation)
        #expect(server.requests.map(\.line) == ["POST /b HTTP/1.1"])
    }

    @Test("a webhook that cannot be reached, or refuses, is named with what to check")
    func remedies() throws {
        let plain = try TestWebhook()
        let causes = [
            ("https://127.0.0.1:\(plain.port)/", "the TLS handshake failed", "Check the port of the webhook"),
            ("https://127.0.0.1:1/", "no connection could be made", "Check the webhook's host and port"),
            ("https://nowhere.invalid/", "cannot be resolved", "Check the webhook's host name"),
        ]
        for (url, words, remedy) in causes {
            let target = try #require(try project("  - {webhook: \"\(url)\"}").notices.first)
            let channel = try NoticeChannel(target, projectFile: "volley.yaml", proxy: nil, .silent) { _ in nil }
            guard case .failed(let text, _) = channel.attempt(notice(), now: .now(), until: cancellation) else {
                Issue.record("\(url) was reached")
                continue
            }
            #expect(text.contains(words) && text.contains(". \(remedy)") && text.contains("volley.yaml"), "\(text)")
        }
        let statuses = [301, 400, 401, 403, 404, 405, 407, 408, 410, 413, 422, 429, 500, 503]
        let refusing = try TestWebhook(answers: statuses.map { "\($0) No" })
        let target = try #require(try project("  - {webhook: \"\(refusing.url())\"}").notices.first)
        let channel = try NoticeChannel(target, projectFile: "volley.yaml", proxy: nil, .silent) { _ in nil }
        for status in statuses {
            let text =
                switch channel.attempt(notice(), now: .now(), until: cancellation) {
                case .failed(let text, _), .refused(let text): text
                case .delivered: ""
                }
            #expect(text.hasPrefix("it answered \(status)") && text.contains(". ") && !text.hasSuffix("."), "\(text)")
        }
    }

    // MARK: - Commands

    @Test("what a command prints is no warning, and is about the notice's run")
    func outputIsAboutRun() throws {
        let target = try #require(try project("  - {command: [/bin/sh, -c, 'echo hi']}").notices.first),
            lines = Mutex<[NoticeDeliveryEvent]>([])
        let channel = try NoticeChannel(
            target, projectFile: "volley.yaml", proxy: nil,
            NoticeObserver { event in lines.withLock { $0.append(event) } })
        let notice = notice()
        #expect(channel.attempt(notice, now: .now(), until: cancellation) == .delivered)
        let said = lines.withLock { $0 }
        #expect(said.map(\.text) == ["/bin/sh: hi"])
        #expect(said.allSatisfy { !$0.isWarning && $0.notice?.id == notice.id })
        #expect(NoticeDeliveryEvent.failed(notice, channel: "", reason: "").isWarning)
    }

    private func hook(_ script: String, limit: Double = 30) -> (hook: CommandHook, lines: LineLog) {
        let log = LineLog()
        return (
            CommandHook(
                arguments: ["/bin/sh", "-c", script], say: { line, _ in log.add(line) }, timeLimitSeconds: limit), log
        )
    }

    private final class LineLog: @unchecked Sendable {
        // Every access is between lock and unlock.
        private let lock = NSLock()
        private var lines: [String] = []
        func add(_ line: String) { lock.withLock { lines.append(line) } }
        var all: [String] { lock.withLock { lines } }
    }

    @Test("a command reads JSON, finds the most important in its environment, and its output is shown")
    func command() throws {
        let notice = notice()
        let (hook, log) = hook("echo $VOLLEY_EVENT $VOLLEY_RUN; cat; printf end >&2; ls /proc/self/fd | wc -w")
        #expect(hook.run(notice, until: cancellation) == nil)
        #expect(log.all.prefix(2) == ["finished \(notice.run ?? "")", notice.json.text])
        // Standard input, output and error, and the folder that is being listed.
        #expect(log.all.last == "end4")
    }

    @Test("a document larger than a pipe reaches a command that reads it, and harms none that does not")
    func large() {
        var notice = notice()
        notice.reason = String(repeating: "x", count: 300_000)
        let (reader, log) = hook("wc -c")
        #expect(reader.run(notice, until: cancellation) == nil)
        #expect(log.all == ["\(notice.json.text.utf8.count + 1)"])
        #expect(hook("exit 0").hook.run(notice, until: cancellation) == nil)
    }

    @Test("an exit code, a signal and a missing program are failures in words")
    func failures() {
        #expect(hook("exit 3").hook.run(notice(), until: cancellation) == "it ended with exit code 3")
        #expect(hook("kill -TERM $$").hook.run(notice(), until: cancellation) == "it was ended by signal 15")
        let missing = CommandHook(arguments: ["/no/such/program"], say: { _, _ in })
        #expect(
            missing.run(notice(), until: cancellation)?.hasPrefix("it cannot be started: there is no such program. ")
                == true)
    }

    @Test(
        "a script that cannot be started says what is wrong with its first line",
        arguments: [
            ("#!/bin/sh\r\ntrue\r\n", "CR LF"),
            ("#!/usr/bin/env python9\n", "exit code 127: its first line names the program python9"),
        ])
    func firstLine(content: String, words: String) throws {
        let file = folder.appendingPathComponent("hook")
        try Data(content.utf8).write(to: file)
        chmod(file.path, 0o755)
        #expect(
            CommandHook(arguments: [file.path], say: { _, _ in }).run(notice(), until: cancellation)?.contains(words)
                == true)
    }

    @Test("a command that takes too long is ended, with what it started")
    func tooLong() throws {
        let pids = folder.appendingPathComponent("pid").path
        let (hook, _) = hook("sleep 1000 & echo $! > \(pids); wait", limit: 0.5)
        #expect(hook.run(notice(), until: cancellation)?.contains("took longer") == true)
        #expect(try hasEnded(pids))
    }

    /// Whether the process whose number a file holds ends.
    private func hasEnded(_ pids: String) throws -> Bool {
        let child = try #require(
            Int32(try String(contentsOfFile: pids, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)))
        // It got its signal, and ends once it gets a processor; the process that adopts it may need
        // a moment to reap it.
        var state: Substring?
        for _ in 0..<1000 {
            state =
                (try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8))?.split(separator: " ").dropFirst(
                    2
                ).first
            if state == nil || state == "Z" { break }
            usleep(10_000)
        }
        return state == nil || state == "Z"
    }

    @Test(
        "when Volley ends, a command that runs on is killed with what it started, also if it was asked to end meanwhile",
        arguments: [false, true])
    func ending(isInterrupted: Bool) throws {
        let pids = folder.appendingPathComponent("pid").path
        let lines = LineLog()
        let notices = Notices(
            try project("  - {command: [/bin/sh, -c, \"trap '' TERM; sleep 1000 & echo $! > \(pids); wait\"]}"),
            retries: quick,
            NoticeObserver { lines.add($0.text) })
        notices.post(notice())
        notices.post(notice())
        while (try? String(contentsOfFile: pids, encoding: .utf8))?.hasSuffix("\n") != true { usleep(1_000) }
        let asking = Thread { [cancellation] in
            usleep(50_000)
            cancellation.request()
        }
        if isInterrupted { asking.start() }
        let clock = ContinuousClock()
        let took = clock.measure { notices.finish(withinSeconds: isInterrupted ? 1000 : 0, until: cancellation) }
        #expect(took < .seconds(60))
        #expect(try hasEnded(pids))
        #expect(lines.all.map { $0.hasSuffix("Volley ended and killed it") } == [true, false], "\(lines.all)")
        #expect(lines.all.last?.hasSuffix("Volley ended before") == true)
    }
}
