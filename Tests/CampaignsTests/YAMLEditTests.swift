import Base
import Foundation
import TestSupport
import Testing

@testable import Campaigns

@Suite("changing single values of a campaign's source")
struct YAMLEditTests {
    private static let source = """
        # Spring, second try.
        name: spring-sale   # never change this

        app: shop
        audience:
          devices: devices.csv
          tags:
            - vip   # the best
            - "new york"
        content: {title: 'Now''s the time', body: "Half price"}   # agreed with Anna
        schedule:
          # in Berlin
          at: "2026-12-01 09:00"
          timezone: Europe/Berlin
        delivery:
        description: |
          Two lines,
          the second.

        # the end
        """

    private static func edited(_ value: YAMLEdit.Value?, _ path: String, in text: String = source) throws -> String {
        var edit = try #require(YAMLEdit(text))
        try edit.set(value, at: path.split(separator: ".").map(String.init))
        return edit.text
    }

    /// The lines of two texts that are not in both, `-` or `+` before them.
    private static func changes(_ after: String, from before: String = source) -> [String] {
        let (old, new) = (before.components(separatedBy: "\n"), after.components(separatedBy: "\n"))
        return new.difference(from: old).map { change in
            switch change {
            case .remove(_, let line, _): "-" + line
            case .insert(_, let line, _): "+" + line
            }
        }
    }

    @Test("what is there is read as a form shows it")
    func values() throws {
        let edit = try #require(YAMLEdit(Self.source))
        #expect(try edit.value(at: ["name"]) == .text("spring-sale"))
        #expect(try edit.value(at: ["content", "title"]) == .text("Now's the time"))
        #expect(try edit.value(at: ["audience", "tags"]) == .list(["vip", "new york"]))
        #expect(try edit.value(at: ["description"]) == .text("Two lines,\nthe second."))
        #expect(try edit.value(at: ["delivery"]) == nil && edit.value(at: ["delivery", "pace"]) == nil)
        #expect(try edit.value(at: ["content", "subtitle"]) == nil)
        #expect(
            edit.lines(at: ["name"]) == 2...2 && edit.lines(at: ["audience", "tags"]) == 7...9
                && edit.lines(at: ["description"]) == 16...18
        )
        #expect(edit.lines(at: ["content", "body"]) == 10...10 && edit.lines(at: ["content", "subtitle"]) == nil)
        #expect(throws: Mistake.self) { try edit.value(at: ["audience"]) }
        #expect(throws: Mistake.self) { try edit.value(at: ["name", "first"]) }
        for text in ["", "just words", "- a\n- b", "a: [", "\u{0}"] { #expect(YAMLEdit(text) == nil, "\(text)") }
    }

    @Test("of several values in one line, a place says which is meant, with its key")
    func places() throws {
        let edit = try #require(YAMLEdit("\u{FEFF}name: ä\nschedule: {at: 1, timezone: \"ö\", repeat: x}\n"))
        func held(_ column: Int, line: Int = 2) -> [String] {
            ["at", "timezone", "repeat"].filter { edit.holds(line: line, column: column, at: ["schedule", $0]) }
        }
        #expect(held(12) == ["at"] && held(16) == ["at"] && held(19) == ["timezone"] && held(29) == ["timezone"])
        #expect(
            held(34) == ["repeat"] && held(42) == ["repeat"] && held(1) == [] && held(12, line: 1) == []
                && held(1, line: 9) == [])
        #expect(edit.holds(line: 1, column: 7, at: ["name"]) && !edit.holds(line: 2, column: 1, at: ["name"]))
    }

    @Test("a value changes in its line, in the quotes that it had, and nothing else does")
    func replaces() throws {
        #expect(
            try Self.changes(Self.edited(.text("summer-sale"), "name")) == [
                "-name: spring-sale   # never change this", "+name: summer-sale   # never change this",
            ])
        #expect(
            try Self.changes(Self.edited(.text("It's over"), "content.title")).last
                == "+content: {title: 'It''s over', body: \"Half price\"}   # agreed with Anna")
        #expect(
            try Self.changes(Self.edited(.text("Say \"hi\"\n\\ \u{2028}✓"), "content.body")).last
                == "+content: {title: 'Now''s the time', body: \"Say \\\"hi\\\"\\n\\\\ \\u2028✓\"}   # agreed with Anna"
        )
        #expect(
            try Self.changes(Self.edited(.list(["vip", "no", "a, b"]), "audience.tags")).filter { $0.hasPrefix("+") }
                == ["+    - vip", "+    - \"no\"", "+    - \"a, b\""])
        let described = try Self.edited(.text("One line"), "description")
        #expect(described.contains("description: One line\n\n# the end"))
        // The same again is no change at all.
        #expect(try Self.edited(.text("Two lines,\nthe second."), "description") == Self.source)
    }

    @Test("a missing key gets a line at the end of its group, or a place within its braces")
    func adds() throws {
        #expect(try Self.changes(Self.edited(.text("0 9 * * 1"), "schedule.repeat")) == ["+  repeat: \"0 9 * * 1\""])
        #expect(try Self.edited(.text("0 9 * * 1"), "schedule.repeat").contains("timezone: Europe/Berlin\n  repeat:"))
        #expect(
            try Self.changes(Self.edited(.text("Only today"), "content.subtitle")).last?.contains(
                "body: \"Half price\", subtitle: Only today}   # agreed") == true)
        #expect(try Self.edited(.text("500/s"), "delivery.pace").contains("\ndelivery: {pace: \"500/s\"}\n"))
        #expect(try Self.edited(.text("x"), "a.b.c").hasSuffix("# the end\na:\n  b:\n    c: x\n") == false)
        #expect(try Self.edited(.text("x"), "a.b.c").contains("\na:\n  b:\n    c: x\n"))
        #expect(try Self.edited(.text("x"), "b", in: "a: 1") == "a: 1\nb: x\n")
        #expect(try Self.edited(.text("x"), "b", in: "a: {}\n") == "a: {}\nb: x\n")
        #expect(try Self.edited(.text("x"), "a.b", in: "a: {}\n") == "a: {b: x}\n")
        #expect(try Self.edited(.text("x"), "b", in: "\u{FEFF}a: 1\r\nc: 2\r\n") == "\u{FEFF}a: 1\r\nc: 2\r\nb: x\r\n")
        #expect(try Self.edited(.text("x"), "a", in: "a:\n") == "a: x\n")
        #expect(try Self.edited(.truth(true), "a", in: "a: false # no\n") == "a: true # no\n")
        #expect(try Self.edited(.text("true"), "a", in: "a: false # no\n") == "a: \"true\" # no\n")
        #expect(try #require(YAMLEdit("a: True")).value(at: ["a"]) == .truth(true))
    }

    @Test("a removed key takes its line with it, and a group that is empty then")
    func removes() throws {
        #expect(try Self.changes(Self.edited(nil, "app")) == ["-app: shop"])
        #expect(
            try Self.changes(Self.edited(nil, "content.title")).last
                == "+content: {body: \"Half price\"}   # agreed with Anna")
        #expect(
            try Self.changes(Self.edited(nil, "content.body")).last
                == "+content: {title: 'Now''s the time'}   # agreed with Anna")
        #expect(try Self.edited(nil, "audience.tags").contains("  devices: devices.csv\ncontent:"))
        #expect(try Self.edited(nil, "a.b", in: "x: 1\na:\n  b: 2\nc: 3\n") == "x: 1\nc: 3\n")
        #expect(try Self.edited(nil, "a.b.c", in: "x: 1\na:\n  b: {c: 2}\n") == "x: 1\n")
        #expect(try Self.edited(nil, "nothing.there") == Self.source)
        // The comment inside goes with it.
        #expect(try Self.changes(Self.edited(nil, "schedule")).count == 4)
    }

    @Test(
        "what cannot be changed alone is refused",
        arguments: [
            ("a: &x {b: 1}\nc: *x\n", "a.b"), ("a: !t 1\n", "a"), ("a: 1\na: 2\n", "a"), ("a: [1, {b: 2}]\n", "a"),
            ("a: {b: 1}\n", "a"),
            ("? a\n: 1\n", "a.b"),
        ])
    func refused(source: String, path: String) throws {
        #expect(throws: Mistake.self) { try Self.edited(.text("x"), path, in: source) }
    }

    @Test(
        "changes at random: each is read back, comments stay, and the campaigns that come with Volley are no exception",
        arguments: 0..<12)
    func random(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../campaigns")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".yaml") }
            .sorted()
        let paths = [
            ["name"], ["app"], ["description"], ["content", "title"], ["content", "body"], ["audience", "tags"],
            ["audience", "devices"],
            ["schedule", "at"], ["schedule", "timezone"], ["delivery", "pace"], ["content", "data", "key"],
        ]
        let texts = [
            "x", "", "yes", "12", "a: b # c", "Zwölf Boxkämpfer", "两行\n文字", "'\"'", "- x", "{a}", " padded ",
            "\u{202E}", "null", "~",
            "🎉 now",
        ]
        for file in files {
            let source = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            var edit = try #require(YAMLEdit(source))
            for _ in 0..<20 {
                let path = paths[Int.random(in: paths.indices, using: &random)]
                let value: YAMLEdit.Value? =
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: nil
                    case 1:
                        .list(
                            (0..<Int.random(in: 1...3, using: &random)).map { _ in
                                texts.randomElement(using: &random) ?? ""
                            })
                    default: .text(texts.randomElement(using: &random) ?? "")
                    }
                let before = edit.text
                do { try edit.set(value, at: path) } catch {
                    #expect(edit.text == before)
                    continue
                }
                #expect(try edit.value(at: path) == value, "\(file) \(path) \(String(describing: value))\n\(edit.text)")
                let comments = before.components(separatedBy: "\n").filter {
                    $0.trimmingCharacters(in: .whitespaces).hasPrefix("#")
                }
                let after = edit.text.components(separatedBy: "\n")
                if value != nil { #expect(comments.allSatisfy(after.contains), "\(file) \(path)") }
            }
        }
    }

    // MARK: - Groups, numbers and comments

    @Test("the keys of a group are listed in the order of the file")
    func keys() throws {
        let edit = try #require(YAMLEdit(Self.source))
        #expect(edit.keys(at: []) == ["name", "app", "audience", "content", "schedule", "delivery", "description"])
        #expect(edit.keys(at: ["content"]) == ["title", "body"] && edit.keys(at: ["audience"]) == ["devices", "tags"])
        #expect(
            edit.keys(at: ["audience", "tags"]).isEmpty && edit.keys(at: ["name"]).isEmpty
                && edit.keys(at: ["none", "at"]).isEmpty)
    }

    @Test("a number is written without quotes, and what is none in quotes where it needs them; keys too")
    func numbers() throws {
        #expect(
            try Self.changes(Self.edited(.number("50"), "variants.short.share")) == [
                "+variants:", "+  short:", "+    share: 50",
            ])
        #expect(try Self.edited(.number("12.5"), "content.badge").contains("badge: 12.5}"))
        #expect(try Self.edited(.number("many: 1"), "content.badge").contains("badge: \"many: 1\"}"))
        let norwegian = try Self.edited(.text("Hei"), "content.languages.no.title")
        #expect(norwegian.contains("languages: {\"no\": {title: Hei}}}"))
        #expect(try #require(YAMLEdit(norwegian)).value(at: ["content", "languages", "no", "title"]) == .text("Hei"))
    }

    @Test(
        "a comment is added above the nearest line, found and removed again; everything else is the same, byte for byte",
        arguments: [
            "name", "content.title", "schedule.at", "audience.tags", "app",
        ])
    func comments(path: String) throws {
        for text in [Self.source, Self.source.replacing("\n", with: "\r\n"), "\u{FEFF}" + Self.source] {
            var edit = try #require(YAMLEdit(text))
            try edit.addComment("volley: look (a)", above: path.split(separator: ".").map(String.init))
            let added = Self.changes(edit.text.replacing("\r\n", with: "\n"), from: text.replacing("\r\n", with: "\n"))
            #expect(
                added.count == 1
                    && added[0].trimmingCharacters(in: .whitespacesAndNewlines).hasSuffix("# volley: look (a)"),
                "\(added)")
            #expect(edit.comments(beginningWith: "volley: ") == ["volley: look (a)"])
            try edit.removeComments(beginningWith: "volley: ") { _ in true }
            #expect(edit.text == text)
        }
    }

    @Test("values, lines and comments after a long text are found") func longText() throws {
        let text =
            "name: a\ncontent:\n  body: |\n" + String(repeating: "    a line of a long text\n", count: 10_000)
            + (0..<100).map { "# volley: \($0)\n" }.joined()
        let edit = try #require(YAMLEdit(text))
        #expect(edit.keys(at: ["content"]) == ["body"])
        let name = try edit.value(at: ["name"])
        #expect(name == .text("a"))
        #expect(edit.lines(at: ["content", "body"])?.lowerBound == 3)
        #expect(edit.holds(line: 4, column: 5, at: ["content", "body"]))
        #expect(edit.comments(beginningWith: "volley: ").count == 100)
    }

    @Test("what looks like a comment in a text is none, and other comments stay")
    func textsLikeComments() throws {
        let text = "name: a\nbody: |\n  one\n  # volley: look\n# volley: stay\ncontent: {title: Hi}\n"
        var edit = try #require(YAMLEdit(text))
        #expect(edit.comments(beginningWith: "volley: ") == ["volley: stay"])
        try edit.removeComments(beginningWith: "volley: ") { $0.hasSuffix("look") }
        #expect(edit.text == text)
        #expect(throws: Mistake.self) { try edit.addComment("x", above: ["content", "none"]) }
        #expect(edit.text == text)
        var flow = try #require(YAMLEdit("{name: a, content: {title: Hi}}\n"))
        try flow.addComment("x", above: ["content", "title"])
        #expect(flow.text == "# x\n{name: a, content: {title: Hi}}\n")
    }

    @Test(
        "a value is put into a group of its own, and everything else stays as it is",
        arguments: [
            ("a: {tags: [x, y]}   # z\n", "a: {tags: {any: [x, y]}}   # z\n"),
            ("a:\n  tags: x  # z\n", "a:\n  tags: {any: x}  # z\n"),
            (
                "a:\n  tags:   # z\n    - x   # best\n    - y\nb: 1\n",
                "a:\n  tags:   # z\n    any:\n    - x   # best\n    - y\nb: 1\n"
            ),
        ])
    func wrap(before: String, after: String) throws {
        var edit = try #require(YAMLEdit(before))
        try edit.wrap(["a", "tags"], under: "any")
        #expect(edit.text == after)
        #expect(edit.keys(at: ["a", "tags"]) == ["any"])
        try edit.set(.list(["z"]), at: ["a", "tags", "all"])
        #expect(edit.keys(at: ["a", "tags"]) == ["any", "all"])
    }

    @Test(
        "what has no place of its own is not put into a group",
        arguments: ["a: {b: 1}\n", "a:\n", "a: |\n  x\n", "a:\n- x\n", "b: 1\n"])
    func unwrapped(text: String) throws {
        var edit = try #require(YAMLEdit(text))
        #expect(throws: Mistake.self) { try edit.wrap(["a"], under: "any") }
        #expect(edit.text == text)
    }
}
