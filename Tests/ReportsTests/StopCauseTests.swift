import Base
import Glibc
import Reports
import Testing

/// Every cause as run files store it, next to the sentence that people read.
struct StopCauseTests {
    private struct Line {
        var json: JSONValue
        var sentence: String
    }

    private static func lines() throws -> [Line] {
        let path = String(#filePath.dropLast("StopCauseTests.swift".count)) + "stop_causes.tsv"
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let text = String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
        return try text.split(separator: "\n").map { line in
            let cells = line.split(separator: "\t").map(String.init)
            return Line(json: try JSONValue(parsing: cells[0]), sentence: cells[1])
        }
    }

    @Test("every cause is read as it was written, and reads well")
    func causes() throws {
        let lines = try Self.lines()
        // As many as there are cases.
        #expect(Set(lines.compactMap { $0.json["cause"]?.stringValue }).count == 39)
        for line in lines {
            let cause = try #require(StopCause(json: line.json), "\(line.json.text)")
            #expect(cause.json == line.json)
            #expect(cause.sentence == line.sentence)
        }
    }

    @Test("in the console, causes name no command, and say the same where they name none")
    func console() throws {
        for line in try Self.lines() {
            let words = try #require(StopCause(json: line.json)).sentence(for: .console)
            #expect(!words.contains("`volley ") && !words.contains(" --"), "\(words)")
            if !line.sentence.contains("`volley ") { #expect(words == line.sentence) }
        }
    }

    @Test("a service that is not known any more keeps its name")
    func otherService() throws {
        let cause = StopCause.service("carrier-pigeon", .refused(reason: "Rain", status: 503, clockLagSeconds: nil))
        #expect(StopCause(json: cause.json) == cause)
        #expect(
            cause.sentence.hasPrefix("carrier-pigeon refused the push with Rain (503) and would refuse all others."))
    }

    @Test(
        "what is no cause is none",
        arguments: [
            "null", "{}", #"{"cause":7}"#, #"{"cause":"hunger"}"#, #"{"cause":"refused"}"#,
            #"{"cause":"refused","service":"apns"}"#,
            #"{"cause":"described"}"#, #"{"cause":"rejected","words":"No."}"#,
            #"{"cause":"interrupted","service":"apns"}"#,
            #"{"cause":"stop_when","service":"apns","outcome":"eaten","count":1,"answers":2,"limit_millionths":3}"#,
        ])
    func strangers(json: String) throws { #expect(StopCause(json: try JSONValue(parsing: json)) == nil) }
}
