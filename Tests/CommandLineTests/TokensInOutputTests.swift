import Base
import Foundation
import TestCommands
import Testing

/// Columns of any name, and words of a campaign, may hold device tokens: Volley's output never has
/// more of one than its short form.
@Suite("Device tokens in what commands say")
struct TokensInOutputTests {
    /// More digits in a row than would occur by chance.
    private static let fewestDigits = 13

    /// Tokens without an order that would look like another one's part.
    private static let tokens: [String] = {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        return (0..<24).map { _ in
            (0..<4).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return TextFormat.hex(state ^ state >> 29, digits: 16)
            }.joined()
        }
    }()

    private static let parts: Set<Substring> = Set(
        tokens.flatMap { token in
            (0...(64 - fewestDigits)).map { token.dropFirst($0).prefix(fewestDigits) }
        })

    /// The part of a token that an output shows; nil for none.
    private func leak(in text: String) -> String? {
        let bytes = Array(text.lowercased().utf8)
        guard bytes.count >= Self.fewestDigits else { return nil }
        for start in 0...(bytes.count - Self.fewestDigits) {
            let part = bytes[start..<start + Self.fewestDigits]
            guard part.allSatisfy({ $0 &- 0x30 <= 9 || $0 &- 0x61 < 6 }) else { continue }
            if Self.parts.contains(Substring(String(decoding: part, as: UTF8.self))) {
                return String(decoding: bytes[max(0, start - 60)..<min(bytes.count, start + 60)], as: UTF8.self)
            }
        }
        return nil
    }

    private static var export: String {
        let rows = tokens.indices.map { place in
            let other = tokens[(place + 1) % tokens.count]
            return
                "\(tokens[place]),\(tokens[place]),\(other),\(tokens[place]),\(other);\(tokens[place].uppercased()),\(tokens[place])"
        }
        return "device_token,alias,registration_id,language,tags,city\n" + rows.joined(separator: "\n") + "\n"
    }

    private static func cut(_ place: Int, _ count: Int = 1) -> String { String(tokens[place].dropLast(count)) }

    /// By what is in them.
    private static var campaigns: [String] {
        let text = "content: {title: Hi, body: there}"
        let texts = [
            "{{ device_token | truncate: 63 }}", "{{ device_token }}", "{{ city | upcase }} {{ alias }}",
            "{{ device_token | truncate: 20 }}",
            "{% if device_token == '\(tokens[2])f' %}x{% elsif city == '\(cut(3))' %}y{% else %}z{% endif %}",
            "{% if language == '\(cut(4))' %}x{% else %}y{% endif %}",
        ]
        let audiences = [
            "{aliases: [\(cut(1))x, \(cut(2)), \(tokens[4])]}", "{registration_ids: ['\(cut(5))', '\(tokens[6])0']}",
            "{tags: [\(cut(7)), \(tokens[8])]}",
            "{tags: [x], exclude: {tags: ['\(tokens[9].uppercased())'], aliases: ['\(cut(9, 2))']}}",
            "{everyone: true, where: {device_token: [\(tokens[1]), \(cut(2, 2))00]}}",
            "{everyone: true, where: {city: '\(cut(10))'}}",
            "{everyone: true, where: {city: '> \(tokens[11])'}}", "{everyone: true, where: {language: [\(cut(12))]}}",
            "{everyone: true, exclude: {devices: list.txt}}", "{everyone: true, where: {\(tokens[13]): x}}",
            "{devices: \(tokens[14]), everyone: true}", "{everyone: true, \(tokens[15]): x}",
        ]
        return texts.map {
            "audience: {everyone: true}\ncontent: {title: \"\($0)\", body: there, data: {city: \"{{ city }}\"}}"
        }
            + audiences.map { "audience: \($0)\n\(text)" }
    }

    @Test("neither checks, previews, explanations, plans nor reports show more than its first and last four digits")
    func outputs() throws {
        for (number, lines) in Self.campaigns.enumerated() {
            let folder = try ProjectFolder(app: "environment: simulator\ndevices: devices.csv", export: Self.export)
            try folder.write("list.txt", "\(Self.cut(16))\nx \(Self.tokens[17]) y\n\(Self.tokens[18])zz\n")
            try folder.write("campaign.yaml", "name: c\napp: shop\n\(lines)\n")
            var said = [
                try folder.volley("check", "campaign.yaml"),
                try folder.volley("preview", "campaign.yaml", "--verbose", "--html", "preview.html"),
                try folder.volley("preview", "campaign.yaml", "--json"),
            ]
            if number < 3 || number == 6 {
                said += [
                    try folder.volley("preview", "campaign.yaml", "--why", Self.tokens[4]),
                    try folder.volley("preview", "campaign.yaml", "--why", Self.tokens[4], "--json"),
                    try folder.volley("send", "campaign.yaml", "--yes"), try folder.volley("report", "last"),
                    try folder.volley("report", "last", "--format", "json"), try folder.volley("runs"),
                    try folder.volley("report", "last", "--format", "html", "--output", "report.html"),
                ]
            }
            // The test would prove nothing without output.
            if number < 3 {
                #expect(
                    said.allSatisfy { $0.status == 0 }
                        && said.dropLast().allSatisfy { ($0.output + $0.errors).count > 10 }, "\(said)")
            }
            for text in said.flatMap({ [$0.output, $0.errors] }) {
                #expect(leak(in: text) == nil && !text.contains(/mean '[0-9a-fA-F]{4}…/), "\(lines)")
            }
            for page in ["preview.html", "report.html"] {
                let text = (try? String(contentsOf: folder.url.appendingPathComponent(page), encoding: .utf8)) ?? ""
                #expect(leak(in: text) == nil, "\(page) of \(lines)")
            }
        }
    }

    @Test(
        "tokens in the column of reasons are cut in the list of suppressed devices, and counted under what is shown of them"
    )
    func reasons() throws {
        let folder = try ProjectFolder()
        let rows = (0..<4).map { "\(Self.tokens[$0]),\($0 < 2 ? Self.tokens[7] : "\(Self.tokens[8 + $0]) asked")\n" }
            .joined()
        try folder.write("list.csv", "token,reason\n\(rows)")
        for words in [["import", "list.csv"], ["list"], ["list", "--json"]] {
            let told = try VolleyBinary.run(["suppression"] + words, in: folder.url)
            #expect(told.status == 0 && leak(in: told.errors + told.output) == nil, "\(told)")
            if words.count == 2, words[0] == "list" {
                let shown = "\(Self.tokens[7].prefix(4))…\(Self.tokens[7].suffix(4))"
                #expect(try told.json()["reasons"]?.int(shown) == 2, "\(told.output)")
            }
        }
    }

    @Test("an argument that is a token is not repeated whole, whatever should stand there")
    func arguments() throws {
        let folder = try ProjectFolder(app: "environment: simulator\ndevices: devices.csv", export: Self.export)
        try folder.writeCampaign()
        #expect(try folder.volley("plan", "campaign.yaml").status == 0)
        let token = Self.tokens[0]
        for words in [
            ["report", token], ["resume", token], ["cancel", token], ["approve", token, "--by", "Ada"],
            ["preview", token],
            ["check", token],
            ["send", "campaign.yaml", "--test", token], ["doctor", token], ["report", "last", "--format", token],
            [token],
            ["schedule", "--list", token], ["suppression", "remove", token, "--app", "shop"],
        ] {
            let json = ["preview", "check"].contains(words[0]) ? ["--json"] : []
            let told = try VolleyBinary.run(words + json, in: folder.url)
            #expect(
                !(told.errors + told.output).isEmpty && leak(in: told.errors + told.output) == nil,
                "\(words[0]): \(told)")
        }
    }
}
