import Accounts
import Base
import HTTPTypes
import Hummingbird

/// What a route answers, before it becomes bytes.
enum Answer: Sendable {
    /// A page of the console.
    case page(Page)
    /// To another page of the console (303), after a form or where one must sign in.
    /// - Parameter cookies: values of `Set-Cookie`.
    case redirect(String, cookies: [String] = [])
    /// For scripts.
    case json(JSONValue)
    /// A style sheet or script, whose path changes with its content.
    case asset(Asset)
    /// A file to download.
    /// - Parameter write: writes it, part by part; may block.
    case download(name: String, type: String, write: @Sendable (_ part: ([UInt8]) throws -> Void) throws -> Void)
}

/// A page of the console, without what all pages have.
struct Page: Sendable {
    var status: HTTPResponse.Status = .ok
    /// What the browser calls it.
    var title: String
    /// The entry of the navigation that it belongs to; nil for none.
    var place: Place?
    var content: HTML
    /// Values of `Set-Cookie`.
    var cookies: [String] = []
    /// The visit as it goes on, where the answer gives the session a new secret: the forms of the page belong to that one.
    var visit: Visit?

    /// The navigation's entries.
    enum Place: String, CaseIterable, Sendable {
        case today = "Today"
        case campaigns = "Campaigns"
        case calendar = "Calendar"
        case runs = "Runs"
        case suppression = "Suppression"
        case users = "Users"
        case activity = "Activity"
        case system = "System"

        /// Where it leads.
        var path: String { self == .today ? "/" : "/" + rawValue.lowercased() }

        /// What one needs to see it.
        var right: Right {
            switch self {
            case .today, .campaigns, .calendar: .seeCampaigns
            case .runs: .readReports
            case .suppression: .manageSuppression
            case .users: .manageUsers
            case .activity, .system: .seeSystem
            }
        }
    }
}
