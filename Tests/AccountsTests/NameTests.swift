import Base
import Testing

@testable import Accounts

@Suite("Names")
struct NameTests {
    @Test("names to sign in with are those of email addresses, in small letters")
    func accepted() throws {
        #expect(try name("  Anna.Schmidt+push@Example.com ").text == "anna.schmidt+push@example.com")
        #expect(try name(String(repeating: "a", count: 100)).text.count == 100)
    }

    @Test(
        "names that look like others, control text or are too long are refused",
        arguments: [
            "", " ", "anna schmidt", "änna", "аnna", "anna\u{0}", "anna\n", "\u{202E}anna", "anna\u{200B}", "ａnna",
            "<b>", "a'--",
            String(repeating: "a", count: 101), String(repeating: "x", count: 1 << 20),
        ])
    func refused(text: String) { #expect(throws: AccountError.badName) { try AccountName(text) } }

    @Test(
        "names that others see are of any language",
        arguments: ["Anna", "安娜", "آنا", "  Zoë  ", "👩‍💻 Ada", "O'Hara <ohara@example.com>"])
    func shown(text: String) throws { #expect(try DisplayName(text).text == text.replacing(/^ +| +$/, with: "")) }

    @Test(
        "names that others see stay in their line and direction",
        arguments: [
            "", "   ", "\u{200B}", "a\nb", "a\tb", "a\u{1B}[31mb", "a\u{202E}b", "a\u{2066}b", "a\u{2028}b", "a\u{0}b",
            "a\u{85}b",
            String(repeating: "x", count: 201), String(repeating: "\u{301}", count: 1 << 19),
        ])
    func notShown(text: String) { #expect(throws: AccountError.badDisplayName) { try DisplayName(text) } }

    @Test("each error is a sentence that repeats no secret, with a remedy")
    func errors() throws {
        let flaws: [PasswordFlaw] = [.short, .long, .control, .name, .repeated, .sequence, .common]
        let errors: [AccountError] =
            [
                .badName, .badDisplayName, .nameTaken(try name("anna")), .noSuchAccount, .disabled(try name("anna")),
                .lastAdministrator,
                .alreadyAdministered, .notPermitted, .invitationNotValid, .notSignedIn, .secondFactor(isOn: true),
                .secondFactor(isOn: false), .wrongCode, .busy,
            ] + flaws.map { .unfitPassword($0) }
        #expect(Set(errors.map(\.description)).count == errors.count)
        for error in errors {
            #expect(error.diagnostics.count == 1 && error.diagnostics[0].remedy?.hasSuffix(".") == true)
        }
    }
}
