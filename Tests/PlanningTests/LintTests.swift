import Base
import PushServices
import Testing

@testable import Planning

@Suite("Warnings that a campaign allows")
struct LintTests {
    private let place = SourcePosition(file: "c.yaml", line: 3, column: 5)

    private func allowed(_ name: WarningName) -> AllowedWarning {
        AllowedWarning(name: name, reason: "So it is meant.", position: place)
    }

    @Test("are silenced with their reason; the others are said")
    func silenced() {
        let lint = Lint(
            [
                .warning(.doubleBlank, message: "two"), .warning(.tagNotFound, message: "no"),
                .warning(.tagNotFound, message: "nor"),
                Diagnostic("odd", severity: .warning),
            ],
            allowed: [allowed(.tagNotFound)], lookedAt: [.files, .rows])
        #expect(lint.shown.map(\.message) == ["two", "odd"])
        #expect(lint.silenced.map(\.warning.message) == ["no", "nor"])
        #expect(lint.silenced.map(\.reason) == ["So it is meant.", "So it is meant."])
        #expect(
            lint.silencedJSON.text.hasPrefix(
                #"[{"file":null,"line":null,"column":null,"message":"no","remedy":null,"name":"tag-not-found","reason":"So it is meant."}"#
            )
        )
    }

    @Test("an entry without a warning is one itself, unless the warning could not be noticed")
    func unused() {
        func unused(_ name: WarningName, _ sources: Set<WarningName.Source>) -> [String] {
            Lint([], allowed: [allowed(name)], lookedAt: sources).shown.map(\.description)
        }
        let expected =
            "c.yaml:3:5: warning: 'tag-not-found' is allowed, but there is no longer such a warning. "
            + "Remove it from 'allow', so that Volley warns you if it comes back. [unused-allow]"
        #expect(unused(.tagNotFound, [.files, .rows]) == [expected])
        #expect(unused(.tagNotFound, [.files, .headers, .credentials]).isEmpty)
        #expect(unused(.textCutOff, [.files, .headers]).isEmpty)
        #expect(unused(.textCutOff, [.files, .rows]).count == 1)
        #expect(unused(.secretReadable, [.files, .rows]).isEmpty)
    }

    @Test(
        "an entry with a retired name silences what took its place, and is named as the campaign has it where nothing did"
    )
    func retired() {
        let entry = AllowedWarning(
            name: .textNotReady, written: "markup-in-text", reason: "So it is meant.", position: place)
        let lint = Lint([.warning(.textNotReady, message: "odd")], allowed: [entry], lookedAt: [.files, .rows])
        #expect(lint.shown.isEmpty && lint.silenced.map(\.warning.message) == ["odd"])
        let unused = Lint([], allowed: [entry], lookedAt: [.files, .rows]).shown
        #expect(unused.map(\.message) == ["'markup-in-text' is allowed, but there is no longer such a warning"])
    }

    @Test("every warning has a kebab-case name of its own, and something that it comes from")
    func names() {
        for name in WarningName.allCases {
            #expect(
                name.rawValue.allSatisfy { $0 == "-" || $0.isLowercase } && !name.sources.isEmpty, "\(name.rawValue)")
        }
    }

    @Test(
        "an empty audience is blamed on what left out the rows that it selects",
        arguments: [
            ([.notMatched: 90, .badToken: 2], "All rows that it selects were skipped as bad_token"),
            (
                [.notMatched: 90, .badToken: 2, .filtered: 1, .duplicateToken: 9],
                "Most rows that it selects were skipped as bad_token"
            ),
            ([.notMatched: 90, .badRow: 99, .duplicateToken: 9], "Most rows were skipped as bad_row"),
            ([.notMatched: 9], "not_matched"),
            ([.badToken: 3, .filtered: 7], "Most rows were skipped as filtered"),
        ] as [([SkipReason: Int], String)])
    func emptyAudience(skipped: [SkipReason: Int], words: String) {
        #expect(AudienceLint.remedy(forNoneOf: skipped, file: "c.yaml")?.contains(words) == true)
        #expect(AudienceLint.remedy(forNoneOf: [:], file: "c.yaml") == nil)
    }

    @Test(
        "an audience is no smaller for the devices that are left out on purpose, nor for suppressed ones that the export no longer has"
    )
    func leftOut() {
        typealias Side = (audience: Int, skipped: [SkipReason: Int])
        func isDropped(_ then: Side, _ now: Side) -> Bool {
            RunComparison.Selected(then: then, now: now).passes(StopShare(millionths: 500_000))
        }
        #expect(!isDropped((100, [:]), (0, [.frequency: 100])))
        #expect(!isDropped((100, [:]), (10, [.holdout: 90])))
        #expect(!isDropped((100, [:]), (40, [.suppressed: 60])))
        #expect(!isDropped((40, [.suppressed: 60]), (40, [:])), "the export was cleaned")
        #expect(isDropped((100, [:]), (40, [.notMatched: 60])))
        #expect(isDropped((100, [:]), (40, [.filtered: 30, .excluded: 30])))
        #expect(isDropped((1, [.frequency: 99]), (1, [:])), "as many got it then only because of frequency")
        #expect(isDropped((40, [.suppressed: 60]), (10, [.suppressed: 60])))
    }
}
