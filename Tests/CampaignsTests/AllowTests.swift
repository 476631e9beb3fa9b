import Base
import PushServices
import Testing

@testable import Campaigns

@Suite("allow: warnings that a campaign does not want to hear")
struct AllowTests {
    @Test("are read with their reasons and places")
    func read() throws {
        let (campaign, warnings) = try readPart(
            """
            allow:
              - {warning: text-cut-off, reason: "The important part comes first."}
              - warning: stale-export
                reason: The list is fixed.

            """)
        #expect(warnings.isEmpty)
        #expect(campaign.allowed.map(\.name) == [.textCutOff, .staleExport])
        #expect(campaign.allowed.map(\.reason) == ["The important part comes first.", "The list is fixed."])
        #expect(campaign.allowed.map(\.position.line) == [2, 3])
    }

    @Test("a retired name silences the warning that has taken its place, also next to another such name")
    func retired() throws {
        for (old, new) in WarningName.retired {
            #expect(!WarningName.allCases.map(\.rawValue).contains(old) && WarningName.allCases.contains(new))
            let (campaign, warnings) = try readPart(
                "allow:\n  - {warning: \(old), reason: x}\n  - {warning: \(new.rawValue), reason: y}\n")
            #expect(warnings.isEmpty && campaign.allowed.map(\.name) == [new, new])
            #expect(campaign.allowed.map(\.written) == [old, new.rawValue])
        }
    }

    @Test("each mistake is said at its place, with what to do", arguments: mistakes)
    func isSaid(_ mistake: MistakeCase) {
        #expect(found { () throws(Diagnostics) in try readPart(mistake.yaml) } == mistake.expected)
    }

    static let mistakes: [MistakeCase] = [
        MistakeCase(
            "a misspelt name", "allow:\n  - {warning: text-cutoff, reason: x}\n",
            "campaign.yaml:2:15: there is no warning 'text-cutoff'. Did you mean 'text-cut-off'?"),
        MistakeCase(
            "a name of nothing", "allow:\n  - {warning: everything, reason: x}\n",
            "campaign.yaml:2:15: there is no warning 'everything'. A warning's name is in brackets at its end."),
        MistakeCase(
            "what reports unused entries", "allow:\n  - {warning: unused-allow, reason: x}\n",
            "campaign.yaml:2:15: there is no warning 'unused-allow'. A warning's name is in brackets at its end."),
        MistakeCase(
            "no reason", "allow:\n  - {warning: text-cut-off}\n",
            "campaign.yaml:2:5: the key 'reason' is missing in the entry of 'allow'. Add it, for example: reason: \"The important part comes first.\"."
        ),
        MistakeCase(
            "a name alone", "allow: [text-cut-off]\n",
            "campaign.yaml:1:9: 'text-cut-off' has no reason. Write {warning: text-cut-off, reason: \"…\"}, so that others know why."
        ),
        MistakeCase(
            "no list", "allow: {warning: text-cut-off, reason: x}\n",
            "campaign.yaml:1:8: 'allow' must be a list of warnings with reasons, not a group of keys. For example: allow: [{warning: text-cut-off, reason: \"The important part comes first.\"}]."
        ),
        MistakeCase(
            "the same twice", "allow:\n  - {warning: bad-row, reason: x}\n  - {warning: bad-row, reason: y}\n",
            "campaign.yaml:3:15: 'bad-row' is allowed twice. Keep one of them."),
        MistakeCase(
            "a retired name twice",
            "allow:\n  - {warning: markup-in-text, reason: x}\n  - {warning: markup-in-text, reason: y}\n",
            "campaign.yaml:3:15: 'markup-in-text' is allowed twice. Keep one of them."),
        MistakeCase(
            "another key", "allow:\n  - {warning: bad-row, reason: x, until: 2027-01-01}\n",
            "campaign.yaml:2:35: unknown key 'until' in the entry of 'allow'. Valid here: warning, reason."),
    ]

    @Test("an expiry within a minute is a warning, now or never is none")
    func expiresSoon() {
        let warning =
            "campaign.yaml:1:21: warning: the expiry is 59 seconds away: phones that are off or busy at that moment never get the push. "
            + "Write a later moment, for example expires: 4h, or 0 for now or never. [expires-soon]"
        #expect(found { () throws(Diagnostics) in try readPart("delivery: {expires: 59s}\n") } == warning)
        #expect(
            found { () throws(Diagnostics) in try readPart("delivery: {expires: 2026-11-21 00:00:59}\n") } == warning)
        for fine in ["60s", "0", "2026-11-21 00:01"] {
            #expect(found { () throws(Diagnostics) in try readPart("delivery: {expires: \(fine)}\n") }.isEmpty)
        }
    }
}
