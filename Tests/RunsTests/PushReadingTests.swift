import Base
import Glibc
import Runs
import Testing

@Suite struct PushReadingTests {
    private struct Push: Equatable {
        var id: Int
        var token: String
        /// As they are in the file, escaped.
        var cells: [String]
    }

    private func pushes(_ run: RunFile, _ range: Range<Int>) throws -> [Push] {
        var pushes: [Push] = []
        try run.forEachPush(in: range) { push in
            pushes.append(
                Push(
                    id: push.id, token: String(decoding: push.token, as: UTF8.self),
                    cells: (0..<push.cells.count).map { String(decoding: push.cells[$0], as: UTF8.self) }))
        }
        return pushes
    }

    private func escaped(_ cell: String) -> String { String(JSONValue.string(cell).text.dropFirst().dropLast()) }

    private func run(_ folder: TemporaryFolder, _ recipients: [Recipient]) throws -> RunFile {
        let writer = try RunWriter(folder: folder.path, id: "run")
        for (id, recipient) in recipients.enumerated() { try writer.put(recipient, at: id) }
        return try writer.finish(plan("run", audience: recipients.count))
    }

    @Test("sending reads the recipients that were planned, their cells escaped", arguments: 0..<10 as Range<UInt64>)
    func sameRecipients(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let pieces = [
            "", "\"", "\\", "\n", "\u{0}", "\u{8}", "\u{1F}", "\u{7F}", "a", ",", "[", "]", "é", "日本", "👩‍🚀", "\u{FFFD}",
            "\u{10FFFF}",
        ]
        let recipients = (0..<50).map { number in
            recipient(
                number,
                fields: (0..<Int(seed % 4)).map { _ in
                    (0..<Int.random(in: 0...5, using: &random)).map { _ in
                        pieces[Int.random(in: 0..<pieces.count, using: &random)]
                    }
                    .joined()
                })
        }
        let folder = try TemporaryFolder()
        let run = try run(folder, recipients)
        let found = try pushes(run, 0..<20) + pushes(run, 20..<50)
        for (id, recipient) in recipients.enumerated() {
            #expect(found[id] == Push(id: id, token: recipient.token.text, cells: recipient.fields.map(escaped)))
        }
        #expect(try run.recipients(0..<50) == recipients)
    }

    @Test("ids beyond the audience are left out")
    func bounds() throws {
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        #expect(try pushes(run, 8..<20).map(\.id) == [8, 9])
        #expect(try pushes(run, 10..<20).isEmpty)
        #expect(try pushes(run, 3..<3).isEmpty)
    }

    @Test("tokens of any legal length are lent whole")
    func tokenLengths() throws {
        let folder = try TemporaryFolder()
        let tokens = [8, 64, 160, 512].map { String(repeating: "0123456789abcdef", count: 32).prefix($0) }.map(
            String.init)
        let run = try run(folder, tokens.map { Recipient(token: Target(normalized: $0)) })
        #expect(try pushes(run, 0..<4).map(\.token) == tokens)
    }

    @Test(
        "damage is found when sending reads, in the words in which all reading reports it",
        .enabled(if: hasSQLiteTool, "needs the sqlite3 tool"),
        arguments: [
            ("DELETE FROM recipient WHERE id = 4", "recipient 4 of 10 is missing"),
            ("DELETE FROM recipient WHERE id = 9", "recipient 9 of 10 is missing"),
            ("UPDATE recipient SET device_token = '/../x1234' WHERE id = 4", "recipient 4 has no device token"),
            ("UPDATE recipient SET device_token = '0123456789ABCDEF' WHERE id = 4", "recipient 4 has no device token"),
            ("UPDATE recipient SET device_token = '0123456' WHERE id = 4", "recipient 4 has no device token"),
            ("UPDATE recipient SET device_token = '' WHERE id = 4", "recipient 4 has no device token"),
            ("UPDATE recipient SET fields = '' WHERE id = 4", "the fields of recipient 4 cannot be read"),
            ("UPDATE recipient SET fields = '[1]' WHERE id = 4", "the fields of recipient 4 cannot be read"),
            ("UPDATE recipient SET fields = '[' WHERE id = 4", "the fields of recipient 4 cannot be read"),
            ("UPDATE recipient SET fields = x'00' WHERE id = 4", "the fields of recipient 4 cannot be read"),
        ])
    func damage(sql: String, message: String) throws {
        let folder = try TemporaryFolder()
        let path = try makeRun(folder, audience: 10).path
        #expect(query(path, sql).isEmpty)
        let run = try RunFile(path: path)
        var seen = 0
        let problem = diagnostic { try run.forEachPush(in: 0..<10) { _ in seen += 1 } }
        #expect(problem?.message == "the run file is damaged: \(message)")
        #expect(seen == (message.contains("9") ? 9 : 4))
        #expect(diagnostic { _ = try run.recipients(0..<10) }?.message == problem?.message)
        // The undamaged part can still be read, with the same statement.
        #expect(try pushes(run, 5..<9).map(\.id) == [5, 6, 7, 8])
    }

    @Test(
        "cells that another program wrote are read as JSON and lent in Volley's form",
        .enabled(if: hasSQLiteTool, "needs the sqlite3 tool")
    )
    func foreignForm() throws {
        let folder = try TemporaryFolder()
        let path = try makeRun(folder, audience: 5).path
        let edits =
            [#"[ "x" , "y" ]"#, #"["\/\u00e9\ud83d\ude00\u000A"]"#, "[\"a\tb\"]", "[\"\u{1F}\"]"].map { Array($0.utf8) }
            + [
                Array("[\"".utf8) + [0xFF] + Array("A\"]".utf8)
            ]
        for (id, bytes) in edits.enumerated() {
            let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(query(path, "UPDATE recipient SET fields = cast(x'\(hex)' AS TEXT) WHERE id = \(id)").isEmpty)
        }
        let run = try RunFile(path: path)
        let found = try pushes(run, 0..<5).map(\.cells)
        #expect(found == [["x", "y"], ["/é😀\\n"], ["a\\tb"], ["\\u001f"], ["\u{FFFD}A"]])
        // The other way of reading gives the same.
        #expect(try run.recipients(0..<5).map { $0.fields.map(escaped) } == found)
    }

    @Test("language and variant are lent when they are asked for, and stand in the file under their names")
    func traits() throws {
        let folder = try TemporaryFolder()
        let writer = try RunWriter(
            folder: folder.path, id: "run", variants: VariantNames(["short", "long"]) { Int($0.token[63] & 1) })
        for number in 0..<4 { try writer.put(recipient(number), at: number) }
        let run = try writer.finish(plan("run", audience: 4))
        func names(_ withTraits: Bool) throws -> [String] {
            var names: [String] = []
            try run.forEachPush(in: 0..<4, PushSelection(withTraits: withTraits)) {
                names.append(
                    String(decoding: $0.language, as: UTF8.self) + "/" + String(decoding: $0.variant, as: UTF8.self))
            }
            return names
        }
        #expect(try names(true) == ["en/short", "en/long", "en/short", "en/long"])
        #expect(try names(false) == ["/", "/", "/", "/"])
        #expect(try run.recipients(0..<4).map(\.variant) == ["short", "long", "short", "long"])
    }

    @Test("the body's own error passes through, and the run can be read on")
    func foreignError() throws {
        struct Mine: Error {}
        let folder = try TemporaryFolder()
        let run = try makeRun(folder, audience: 10)
        #expect(throws: Mine.self) { try run.forEachPush(in: 0..<10) { if $0.id == 3 { throw Mine() } } }
        #expect(try pushes(run, 0..<10).count == 10)
        // No transaction was left open: the file can be closed into one.
        try run.append(.state(.running, at: noon))
        #expect(throws: Mine.self) { try run.forEachPush(in: 0..<10) { _ in throw Mine() } }
        try run.closeIntoOneFile()
        #expect(folder.names == ["run.sqlite"])
    }
}
