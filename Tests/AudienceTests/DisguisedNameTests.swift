import Base
import Testing

@testable import Audience

/// Aliases, registration ids and values of conditions that are not those of the campaign only
/// because of quotes around them, invisible characters or letters of another script: a selection or
/// an exclusion would miss them.
@Suite struct DisguisedNameTests {
    private let folder = TemporaryFolder()

    private static let quoted = ["“u1”", "'u1", "`u1`", "‘u1’", "\u{A0}\u{201C}u1", "(u1)", "u1”"]
    private static let invisible = ["\u{A0}u1", "\u{200B}u1", "u1\u{2009}", "u\u{AD}1", "\u{FEFF}u1"]

    /// Rows with an alias, a registration id and a plan; the last ones have `u1`.
    private func query(_ cell: String, in column: String, _ change: (inout AudienceQuery) -> Void) -> AudienceQuery {
        let rows = (["x1", "x2", cell, "u1"]).enumerated().map { number, text in
            let cells = ["alias", "registration_id", "plan"].map { $0 == column ? text : "c\(number)" }
            return "\(token(number + 1)),\(cells.joined(separator: ","))\n"
        }
        return AudienceQuery(folder.file("a.csv", "token,alias,registration_id,plan\n" + rows.joined())).with(change)
    }

    /// Rows with `u1` and `u2` in every column of names.
    private func naming(_ change: (inout AudienceQuery) -> Void) -> AudienceQuery {
        let rows = (1...4).map { "\(token($0)),u\($0),u\($0),u\($0)\n" }
        return AudienceQuery(folder.file("names.csv", "token,alias,registration_id,tags\n" + rows.joined())).with(
            change)
    }

    @Test(
        "a name that rows have only in the other form of Unicode is said to be it, whichever letter has the accent",
        arguments: [
            ("\u{D6}sterreich", "O\u{308}sterreich"), ("Z\u{FC}rich", "Zu\u{308}rich"), ("\u{1EBD}x", "e\u{303}x"),
        ])
    func otherForm(composed: String, decomposed: String) throws {
        for (name, text) in [(composed, decomposed), (decomposed, composed)] {
            // More rows than are sampled.
            let rows = (0..<600).map { "\(token($0)),a\($0),t\($0)\n" } + ["\(token(600)),\(text),\(text)\n"]
            let query = AudienceQuery(folder.file("form.csv", "token,alias,tags\n" + rows.joined()))
            for (kind, warning) in [("tag", WarningName.tagNotFound), ("alias", .aliasNotFound)] {
                let result = try query.with {
                    $0.everyone = true
                    if kind == "tag" { $0.excludedTags = [name] } else { $0.excludedAliases = [name] }
                }.run().result
                let found = result.warnings.filter { $0.name == warning }
                #expect(
                    found.count == 1 && found[0].remedy?.contains("(Unicode's NFC and NFD)") == true,
                    "\(result.warnings)")
            }
        }
    }

    @Test(
        "several names in one text are refused under exclude, and warned of elsewhere, with the list to write",
        arguments: ["tags", "aliases", "registration_ids"],
        [
            "u1 u2", "u1;u2", "u1, u2", "u2|u1", "u2/u1", "u1;gone", "u1；u2", "u1\tu2", "u1\u{3000}u2", "u1\u{A0}u2",
            "u2\u{2028}u1", "u1\u{85}u2", "u1\u{C}u2", "u1\u{B}u2", "u1\u{1F}u2", "u1\u{2009}u2", "u1\tgone",
        ])
    func severalInOne(key: String, text: String) throws {
        let kind = ["tags": "tag", "aliases": "alias"][key] ?? "registration id"
        let notFound: WarningName = ["tags": .tagNotFound, "aliases": .aliasNotFound][key] ?? .registrationIDNotFound
        let place = SourcePosition(file: "campaign.yaml", line: 1, column: 1)
        func query(excluding: Bool, allowed: Set<WarningName> = []) -> AudienceQuery {
            naming {
                ($0.everyone, $0.allowed) = (excluding, allowed)
                switch key {
                case "tags":
                    $0.places = NamePlaces(tags: [SourceText(text, at: place)])
                    if excluding { $0.excludedTags = [text] } else { $0.anyTags = [text] }
                case "aliases":
                    $0.places = NamePlaces(aliases: [SourceText(text, at: place)])
                    if excluding { $0.excludedAliases = [text] } else { $0.aliases = [text] }
                default:
                    $0.places = NamePlaces(registrationIDs: [SourceText(text, at: place)])
                    if excluding { $0.excludedRegistrationIDs = [text] } else { $0.registrationIDs = [text] }
                }
            }
        }
        let parts = text.split { " ,;|/；".contains($0) || $0.unicodeScalars.allSatisfy(Blank.isInvisible) }.joined(
            separator: ", ")
        let mistakes = query(excluding: true).mistakes()
        #expect(
            mistakes.count == 1
                && mistakes[0].message.hasSuffix(
                    "' is read as a single \(kind), which no row in the exports has, and so its devices are not left out"
                ),
            "\(mistakes)")
        #expect(mistakes.first?.position == place)
        let remedy = mistakes.first?.remedy ?? ""
        #expect(
            remedy.contains("\(key): [\(parts)]") && remedy.contains("allow: [{warning: \(notFound.rawValue)"),
            "\(remedy)")
        for query in [query(excluding: true, allowed: [notFound]), query(excluding: false)] {
            let found = try query.run().result.warnings.first { $0.name == notFound }
            #expect(found?.remedy?.contains("\(key): [\(parts)]") == true, "\(String(describing: found))")
        }
    }

    @Test("a name with blanks that no row has, and whose words no row has, is warned of as a name")
    func nameWithBlanks() throws {
        let result = try naming { ($0.everyone, $0.excludedAliases) = (true, ["Anna Smith"]) }.run().result
        #expect(
            result.audience == 4 && result.warnings.map(\.name) == [.aliasNotFound] && result.warnings[0].remedy == nil)
    }

    private func exclude(_ column: String, _ name: String, _ query: inout AudienceQuery) {
        query.everyone = true
        switch column {
        case "alias": query.excludedAliases = [name]
        case "registration_id": query.excludedRegistrationIDs = [name]
        default: query.conditions = [condition("plan", .comparison(.notEqual, name))]
        }
    }

    @Test(
        "an exclusion that misses a cell only because of quotes is refused, unless the campaign allows it",
        arguments: ["alias", "registration_id", "plan"], quoted)
    func excludedInQuotes(column: String, cell: String) throws {
        let mistakes = query(cell, in: column) { exclude(column, "u1", &$0) }.mistakes()
        #expect(
            mistakes.count == 1
                && mistakes[0].message.contains(
                    "\(column == "plan" ? "1 row has" : "1 row carries") '\(TextFormat.namingInvisible(cell))'")
                && mistakes[0].message.contains("apart from quotes or brackets around it but does not count as it")
                && mistakes[0].message.hasSuffix("its devices are not left out"), "\(mistakes)")
        #expect(mistakes.first?.remedy?.contains("allow: [{warning: tag-spelling") == true, "\(mistakes)")
        let allowed = query(cell, in: column) {
            exclude(column, "u1", &$0)
            $0.allowed = [.tagSpelling]
        }
        let result = try allowed.run().result
        #expect(result.audience == 3 && result.warnings.map(\.name) == [.tagSpelling], "\(result.warnings)")
    }

    @Test(
        "invisible characters are warned of, in exclusions and selections",
        arguments: ["alias", "registration_id", "plan"], invisible + ["u\u{200D}1"])
    func invisibleInCells(column: String, cell: String) throws {
        let excluding = try query(cell, in: column) { exclude(column, "u1", &$0) }.run().result
        #expect(excluding.audience == 3 && excluding.warnings.map(\.name) == [.tagSpelling], "\(excluding.warnings)")
        let selecting = try query(cell, in: column) { query in
            switch column {
            case "alias": query.aliases = ["u1"]
            case "registration_id": query.registrationIDs = ["u1"]
            default: (query.everyone, query.conditions) = (true, [condition("plan", .oneOf(["u1"]))])
            }
        }.run().result
        #expect(selecting.audience == 1 && selecting.warnings.map(\.name) == [.tagSpelling], "\(selecting.warnings)")
    }

    @Test("a selection that misses cells in quotes is warned of, in any row")
    func selectedInQuotes() throws {
        let rows = (1...3000).map { "\(token($0)),\($0 == 2900 ? "\u{201C}u1\u{201D}" : $0 == 1 ? "u1" : "x\($0)")\n" }
        let query = AudienceQuery(folder.file("b.csv", "token,alias\n" + rows.joined())).with { $0.aliases = ["u1"] }
        let result = try query.run(chunkSize: 2000).result
        #expect(
            result.warnings.map(\.message) == [
                "1 row carries '“u1”', which is the alias 'u1' apart from quotes or brackets around it but does not count as it"
            ], "\(result.warnings)")
        #expect(result.warnings.first?.remedy == "Write it without them in the export.")
    }

    @Test(
        "a name in the campaign or a list that excludes no row because of what is around it is refused",
        arguments: ["alias", "registration_id"], quoted + ["\u{A0}u1", "\u{200B}u1", "\u{C}u1", "u1\u{1B}", "\u{7F}u1"])
    func disguisedInCampaign(column: String, name: String) {
        let mistakes = query("x3", in: column) { exclude(column, name, &$0) }.mistakes()
        #expect(
            mistakes.count == 1 && mistakes[0].message.contains("1 row carries 'u1'")
                && mistakes[0].message.hasSuffix("its devices are not left out"), "\(mistakes)")
        #expect(mistakes.first?.remedy?.contains(": u1.") == true, "\(mistakes)")
    }

    @Test("the same for tags", arguments: ["“vip”", "\u{A0}vip", "vip\u{200B}", "\u{B}vip"])
    func disguisedTag(name: String) throws {
        let path = folder.file("t.csv", "token,tags\n\(token(1)),vip\n\(token(2)),news\n")
        let mistakes = AudienceQuery(path).with { ($0.everyone, $0.excludedTags) = (true, [name]) }.mistakes()
        #expect(mistakes.count == 1 && mistakes[0].message.hasSuffix("its devices are not left out"), "\(mistakes)")
        let selecting = try AudienceQuery(path).with { $0.anyTags = [name] }.run().result
        #expect(
            selecting.warnings.map(\.name) == [.tagNotFound]
                && selecting.warnings.first?.remedy?.contains(": vip.") == true)
    }

    @Test("names with signs of their own are other names, and long lists are examined too")
    func ordinaryNames() throws {
        let aliases = ["-1", "+49 30 1", "anna_", "anna@example.com", "o'neil", "张伟", "Мария", "12", "a-b", "x.y"]
        let rows = aliases.enumerated().map { "\(token($0.offset + 1)),\($0.element)\n" }
        let path = folder.file("o.csv", "token,alias\n" + rows.joined())
        let few = try AudienceQuery(path).with { $0.aliases = ["1", "o'neil", "张", "Марин"] }.run().result
        #expect(few.warnings.map(\.name) == [.aliasNotFound, .aliasNotFound, .aliasNotFound], "\(few.warnings)")
        let many = AudienceQuery(path).with {
            ($0.everyone, $0.excludedAliases) = (true, (0..<2000).map { "z\($0)" } + ["“12”"])
        }
        #expect(
            many.mistakes().map(\.message).contains { $0.contains("1 row carries '12', which is the alias '“12”'") })
    }

    @Test(
        "a registration id in quotes that a list of excluded devices has without them is refused",
        arguments: ["“r2”", "'r2'", "\u{A0}r2"])
    func listedDevices(cell: String) throws {
        let path = folder.file("l.csv", "token,registration_id\n\(token(1)),r1\n\(token(2)),\(cell)\n")
        let list = folder.file("l.txt", "r1\nr2\n")
        let query = AudienceQuery(path).with { ($0.everyone, $0.excludedDevices) = (true, [list]) }
        let mistakes = query.mistakes()
        #expect(
            mistakes.count == 1 && mistakes[0].message.contains("which a list of excluded devices has apart from")
                && mistakes[0].file == path,
            "\(mistakes)")
        let allowed = try query.with { $0.allowed = [.tagSpelling] }.run().result
        #expect(allowed.audience == 1 && allowed.warnings.map(\.name).contains(.tagSpelling))
    }

    @Test("files that were put together may have byte order marks in front of their lines")
    func marksWithin() throws {
        let mark = "\u{FEFF}"
        let path = folder.file(
            "m.jsonl", (1...3).map { "\(mark){\"token\":\"\(token($0))\",\"alias\":\"u\($0)\"}\n" }.joined())
        let list = folder.file("m.txt", "\(token(1))\n\(mark)\(token(2))\n")
        let result = try AudienceQuery(path).with { ($0.everyone, $0.excludedDevices) = (true, [list]) }.run().result
        #expect(result.audience == 1 && result.rows == 3 && result.skipped[.badRow] == nil, "\(result.skipped)")
        #expect(try NameFile.read(folder.file("n.txt", "a\n\(mark)b\n\(mark)\n")) == ["a", "b"])
        let table = folder.file("m.csv", "token,alias\n\(token(1)),u1\n\(mark)\(token(2)),u2\n")
        #expect(
            try AudienceQuery(table).with { $0.everyone = true }.run().sink.recipients.map(\.token.text) == [
                token(1), token(2),
            ])
    }
}
