import Base
import Testing

@Suite struct DiagnosticTests {
    private func at(_ file: String, _ line: Int, _ column: Int) -> SourcePosition {
        SourcePosition(file: file, line: line, column: column)
    }

    @Test("a mistake says where, what and what to do")
    func text() {
        #expect(
            Diagnostic("wrong", at: at("a.yaml", 3, 7), remedy: "Do it.").description == "a.yaml:3:7: wrong. Do it.")
        #expect(Diagnostic("wrong", file: "a.yaml").description == "a.yaml: wrong")
        #expect(Diagnostic("wrong").description == "wrong")
        #expect(Diagnostic("odd", at: at("a", 1, 2), severity: .warning).description == "a:1:2: warning: odd")
        #expect(Diagnostic("odd", severity: .warning).description == "warning: odd")
        #expect(Diagnostic("odd", file: "a", severity: .warning).inLog == "a: odd", "a log has the level already")
    }

    @Test("a browser shows a row of a file as the file was named, but without the folders of a path from the root")
    func rows() {
        #expect(SourcePosition.plainWords(file: "exports/devices.csv", line: 124) == "exports/devices.csv:124")
        #expect(SourcePosition.plainWords(file: "/srv/volley/exports/devices.csv", line: 1) == "devices.csv:1")
    }

    @Test("a line break in the name of a file begins no line")
    func namesOnOneLine() {
        #expect(
            Diagnostic("wrong\nstill", at: at("a\nb\t.yaml", 3, 7)).description
                == "a\\u000Ab\\u0009.yaml:3:7: wrong\nstill")
        #expect(Diagnostic("wrong", file: "a\r\nb").description == "a\\u000D\\u000Ab: wrong")
    }

    @Test("mistakes come in the order of file, line and column, and otherwise as they were found")
    func order() {
        let all = Diagnostics([
            Diagnostic("f", at: at("b", 1, 1)), Diagnostic("d", at: at("a", 10, 1)),
            Diagnostic("c", at: at("a", 9, 20)),
            Diagnostic("b", at: at("a", 9, 3)),
            Diagnostic("e", at: at("a", 10, 1)), Diagnostic("a", file: "a"), Diagnostic("0"),
        ])
        #expect(all.all.map(\.message).joined() == "0abcdef")
        #expect(Diagnostics([Diagnostic("x"), Diagnostic("y")]).description == "x\ny")
        #expect(Diagnostics(Diagnostic("x")).description == "x")
    }
}

@Suite struct SourceTextTests {
    private func column(_ text: String, _ style: SourceText.Style, offset: Int) -> String {
        SourceText(text, at: SourcePosition(file: "f", line: 5, column: 10), style: style).position(
            atUTF8Offset: offset
        ).description
    }

    @Test("an offset into plain text is a column")
    func plain() {
        #expect(column("abc", .plain, offset: 0) == "f:5:10")
        #expect(column("abc", .plain, offset: 2) == "f:5:12")
        #expect(column("abc", .plain, offset: 3) == "f:5:13")
    }

    @Test("columns count characters as an editor does, not bytes")
    func unicode() {
        #expect(column("é€😀x", .plain, offset: 9) == "f:5:13")
        #expect(column("你好{{", .doubleQuoted, offset: 6) == "f:5:13")
    }

    @Test("quotes shift, and a doubled quote within single quotes counts twice")
    func quoted() {
        #expect(column("abc", .doubleQuoted, offset: 2) == "f:5:13")
        #expect(column("abc", .singleQuoted, offset: 2) == "f:5:13")
        #expect(column("it's x", .singleQuoted, offset: 5) == "f:5:17")
    }

    @Test("a literal block is traced by line, a folded one to its start")
    func blocks() {
        #expect(column("a\nbc\nd", .literal, offset: 0) == "f:6:1")
        #expect(column("a\nbc\nd", .literal, offset: 3) == "f:7:1")
        #expect(column("a bc d", .folded, offset: 3) == "f:5:10")
    }

    @Test("an offset beyond the end is the start of the text")
    func beyond() {
        #expect(column("abc", .plain, offset: 4) == "f:5:10")
    }
}

@Suite struct NearestNameTests {
    private let names = ["audience", "content", "title", "body", "sound"]

    @Test(
        "a slip of the finger finds the name that was meant",
        arguments: [
            ("audiance", "audience"), ("tilte", "title"), ("BODY", "body"), ("bdoy", "body"), ("contents", "content"),
            ("soun", "sound"),
            ("ttle", "title"),
            ("title", "title"),
        ])
    func typos(name: String, expected: String) {
        #expect(nearestName(to: name, among: names) == expected)
    }

    @Test("what resembles nothing finds nothing", arguments: ["everyone", "x", "", "bodyguards", "noise"])
    func nothing(name: String) {
        #expect(nearestName(to: name, among: names) == nil)
    }

    @Test(
        "a name that means the opposite is never suggested",
        arguments: [
            ("!vip", "vip"), ("not vip", "vip"), ("unsubscribed", "subscribed"), ("subscribed", "unsubscribed"),
            ("no_push", "push"),
            ("inactive", "active"), ("non-buyer", "buyer"), ("!= silver", "silver"), ("<> silver", "silver"),
            ("≠silver", "silver"),
            ("include", "exclude"), ("enabled", "disabled"), ("opt_in", "opt_out"), ("one", "none"), ("female", "male"),
            ("without vip", "with vip"), ("notify_on", "notify_off"),
        ])
    func opposites(_ name: String, _ opposite: String) { #expect(nearestName(to: name, among: [opposite]) == nil) }

    @Test("among cells that may name people or devices, only capitals may differ")
    func nearestCells() {
        #expect(nearestCell(to: "lion", in: "city", among: ["Lyon", "Paris"]) == "Lyon")
        for (value, column, cell) in [
            ("user4", "customer", "user3"), ("ann@example.com", "email", "anna@example.com"),
            ("karla", "alias", "carla"),
            ("abcdefgh", "registration_id", "abcdefgi"),
        ] {
            #expect(nearestCell(to: value, in: column, among: [cell]) == nil, "\(cell)")
            #expect(nearestCell(to: cell.uppercased(), in: column, among: [cell]) == cell)
        }
    }

    @Test("device tokens are shortened in its words, also in those that are added, and none is suggested")
    func tokens() {
        let token = String(repeating: "0123abcd", count: 8),
            fcm = "dPx3abcDEF_-0123456789:APA91b" + String(repeating: "xY_-", count: 30)
        var mistake = Diagnostic("no row has '\(token)'", file: token, remedy: "Did you mean '\(fcm)'?")
        #expect("\(mistake)" == "0123…abcd: no row has '0123…abcd'. Did you mean 'dPx3…xY_-'?")
        mistake.message += ", nor \(token.uppercased())0"
        mistake.remedy = token
        #expect("\(mistake)" == "0123…abcd: no row has '0123…abcd', nor 0123…BCD0. 0123…abcd")
        #expect("\(Diagnostic("x", remedy: "Run `chmod 600 /volumes/\(token)/runs`."))".contains(token))
        #expect(Diagnostic("x", file: "exports/\(token).csv").file == "exports/\(token).csv")
        #expect(Diagnostic("x", file: "exports/\(token)").file == "exports/0123…abcd")
        #expect(
            nearestName(to: token + "f", among: [token, "vip"]) == nil
                && nearestName(to: "vipp", among: [token, "vip"]) == "vip")
    }

    @Test("of several the nearest wins, and of equals the first")
    func best() {
        #expect(nearestName(to: "boddy", among: ["buddy", "body"]) == "buddy")
        #expect(nearestName(to: "boddy", among: ["body", "buddy"]) == "body")
        #expect(nearestName(to: "tagss", among: ["flags", "tags"]) == "tags")
        #expect(nearestName(to: "a", among: []) == nil)
    }

    @Test("one letter of a long word makes a slip, and another word, number or the opposite does not")
    func letterTypos() {
        for text in ["unsubscribe", "unsubcribed", "unsubscirbed", "Unsubscribedd", "unsubskribed"] {
            #expect(isTypo(text, for: "unsubscribed"), "\(text)")
        }
        #expect(
            isTypo("push-customer", for: "push_customers")
                && isTypo("купившие2025-подписчки", for: "купившие2025-подписчики"))
        for (text, name) in [
            ("unsubscribed", "unsubscribed"), ("UNSUBSCRIBED", "unsubscribed"), ("resubscribed", "unsubscribed"),
            ("subscribed", "unsubscribed"), ("plan-a", "plan-b"), ("vips", "vip"), ("group10", "group1"),
            ("campaign2025", "campaign2026"),
            ("inactive", "active"), ("skirt", "shirt"), ("teacher", "teached"), ("unsubscribed_push", "unsubscribed"),
            ("", "unsubscribed"),
        ] { #expect(!isTypo(text, for: name), "\(text)") }
    }

    @Test("what a file holds does not steer the terminal")
    func controlCharacters() {
        #expect(
            Diagnostic("no '\u{1B}[31mred\u{7}\u{202E}'", file: "a\u{9B}b").description
                == "a\\u009Bb: no '\\u001B[31mred\\u0007<U+202E>'")
        #expect(Diagnostic("größe – «ok» 👍🏽\nnext").description == "größe – «ok» 👍🏽\nnext")
    }
}
