import Foundation
import TestCommands
import TestSupport
import Testing

/// Campaigns with people's mistakes, each with the whole output of `volley check` or, if that finds
/// nothing, of `volley preview`; see `MistakeCase`. A reader must be able to correct the file from
/// the output alone. To record an output again, delete it from the topic's file.
@Suite("mistakes that people make")
struct MistakeTests {
    @Test("there are at least twenty, each number stands for one, and each topic has a test")
    func found() {
        let names = MistakeCase.topics.flatMap { MistakeCase.all(of: $0) }.map(\.name)
        #expect(names.count >= 20)
        #expect(Set(names.map { $0.prefix { $0 != "-" } }).count == names.count)
        #expect(MistakeCase.topics == Self.topics.sorted())
    }

    private static let topics = [
        "yaml-syntax", "yaml-quotes", "yaml-lists", "keys", "whole-files", "columns", "exports", "targets", "selectors",
        "tags",
        "exclusions", "where-dates", "where-numbers", "where-versions", "where-values", "languages", "placeholders",
        "template-conditions", "blank-cells", "drafts", "texts", "addresses", "badges-and-sounds", "variants",
        "delivery",
        "schedule",
    ]

    @Test("in YAML's syntax", arguments: MistakeCase.all(of: "yaml-syntax"))
    func yamlSyntax(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in texts that need quotes in YAML", arguments: MistakeCase.all(of: "yaml-quotes"))
    func yamlQuotes(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in lists in YAML", arguments: MistakeCase.all(of: "yaml-lists"))
    func yamlLists(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in keys", arguments: MistakeCase.all(of: "keys"))
    func keys(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in whole files", arguments: MistakeCase.all(of: "whole-files"))
    func wholeFiles(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in columns", arguments: MistakeCase.all(of: "columns"))
    func columns(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in exports", arguments: MistakeCase.all(of: "exports"))
    func exports(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in tokens and other targets", arguments: MistakeCase.all(of: "targets"))
    func targets(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in aliases and other selectors", arguments: MistakeCase.all(of: "selectors"))
    func selectors(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in tags", arguments: MistakeCase.all(of: "tags"))
    func tags(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in exclusions", arguments: MistakeCase.all(of: "exclusions"))
    func exclusions(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in dates in conditions", arguments: MistakeCase.all(of: "where-dates"))
    func whereDates(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in numbers in conditions", arguments: MistakeCase.all(of: "where-numbers"))
    func whereNumbers(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in versions in conditions", arguments: MistakeCase.all(of: "where-versions"))
    func whereVersions(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in values in conditions", arguments: MistakeCase.all(of: "where-values"))
    func whereValues(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in languages", arguments: MistakeCase.all(of: "languages"))
    func languages(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in placeholders", arguments: MistakeCase.all(of: "placeholders"))
    func placeholders(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in template conditions", arguments: MistakeCase.all(of: "template-conditions"))
    func templateConditions(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in blank cells", arguments: MistakeCase.all(of: "blank-cells"))
    func blankCells(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in drafts", arguments: MistakeCase.all(of: "drafts"))
    func drafts(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in texts that people read", arguments: MistakeCase.all(of: "texts"))
    func texts(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in addresses", arguments: MistakeCase.all(of: "addresses"))
    func addresses(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in badges and sounds", arguments: MistakeCase.all(of: "badges-and-sounds"))
    func badgesAndSounds(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in variants", arguments: MistakeCase.all(of: "variants"))
    func variants(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in delivery", arguments: MistakeCase.all(of: "delivery"))
    func delivery(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    @Test("in schedule", arguments: MistakeCase.all(of: "schedule"))
    func schedule(_ mistake: MistakeCase) throws { try expectWords(for: mistake) }

    /// The words from which the file can be repaired.
    private func expectWords(for mistake: MistakeCase, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let project = try ProjectFolder(app: MistakeCase.app)
        try mistake.write(into: project.url)
        let checked = try project.check()
        let previewed = checked.status == 0 ? try project.preview(samples: 1) : nil
        let transcript = MistakeCase.transcript(
            check: checked.errors + checked.output, preview: previewed.map { $0.errors + $0.output })
        #expect(!transcript.contains(ProjectFolder.token(1)), "a whole token was shown", sourceLocation: sourceLocation)
        guard mistake.expected != nil else {
            let file = try mistake.record(transcript)
            Issue.record(
                "\(mistake) was recorded in \(file); check it and run the tests again", sourceLocation: sourceLocation)
            return
        }
        if let difference = mistake.difference(from: transcript) {
            Issue.record("\(difference)", sourceLocation: sourceLocation)
        }
    }
}
