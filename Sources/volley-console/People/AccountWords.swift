import Accounts
import Base
import HTTPTypes
import Reports

/// What several pages say of accounts.
enum AccountWords {
    /// After too many wrong passwords or codes.
    static func slowDown(_ seconds: Int) -> HTML {
        "Too many attempts failed. Wait \(TextFormat.span(seconds: Int64(seconds))), and try again."
    }

    /// A message above a form, for those who use a screen reader as well.
    static func alert(_ message: HTML?) -> HTML { message.map { "<p class=\"stop\" role=\"alert\">\($0)</p>" } ?? "" }

    /// The field of a password. No page ever fills it in.
    static func passwordField(_ label: HTML, name: String, isNew: Bool = false) -> HTML {
        let kind: HTML = isNew ? "new-password" : "current-password"
        return Form.text(label, name: name, value: "", attributes: " type=\"password\" autocomplete=\"\(kind)\" required")
    }

    /// The field of a code of a second factor.
    static func codeField(_ label: HTML) -> HTML {
        Form.text(label, name: "code", value: "", attributes: " inputmode=\"numeric\" autocomplete=\"one-time-code\" required")
    }
}

extension AccountError {
    /// What happened and what to do, as sentences.
    var sentences: String {
        diagnostics.flatMap { ["\(TextFormat.capitalized($0.message(for: .console)))."] + ($0.remedy(for: .console).map { [$0] } ?? []) }
            .joined(separator: " ")
    }

    /// How a page answers that says so.
    var status: HTTPResponse.Status {
        switch self {
        case .notPermitted, .ofProvider, .tied: .forbidden
        case .noSuchAccount: .notFound
        case .invitationNotValid: .gone
        case .notSignedIn: .unauthorized
        case .busy: .serviceUnavailable
        case .badName, .badDisplayName, .nameTaken, .unfitPassword, .disabled, .lastAdministrator, .alreadyAdministered, .secondFactor,
            .wrongCode:
            .unprocessableContent
        }
    }
}

extension Refusal {
    /// The accounts refuse it.
    init(_ error: AccountError) {
        let headers: HTTPFields = error == .busy ? [.retryAfter: "5"] : [:]
        self.init(status: error.status, title: "This cannot be done", words: "\(error.sentences) Nothing was changed.", headers: headers)
    }
}

extension Visit {
    /// Whoever changes accounts in this visit.
    func actor() throws -> Actor { try Actor(signedIn().id, address: sight.client) }

    /// The person; nobody else gets behind `Gate`.
    func signedIn() throws -> Person {
        guard let person else { throw AccountError.notSignedIn }
        return person
    }
}
