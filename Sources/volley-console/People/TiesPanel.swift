import Accounts
import Base

/// Accounts that may belong to the same person as another: what that person and administrators see,
/// and how the tie ends.
enum TiesPanel {
    static let id = "ties"

    /// The panel about an account; blank without ties to it.
    /// - Parameter confirms: whether the reader may confirm it, as far as rights go.
    static func html(_ account: Account, confirms: Bool, _ visit: Visit, _ site: Site) throws -> HTML {
        let ties = try site.accounts.ties(at: visit.now)
        let own = ties.all.filter { $0.account == account.name }
        guard let last = own.map(\.endsAt).max() else { return "" }
        let deeds: [HTML] = own.map { tie in
            "<li><b>\(tie.holder.text)</b> \(tie.deed.words) <b>\(tie.account.text)</b>, \(Words.moment(tie.at))</li>"
        }
        let others = ties.hands(on: account.name).subtracting([account.name]).map(\.text).sorted().joined(
            separator: ", ")
        return Words.panel(
            "Counts as one person with others", id: Self.id,
            """
            <p>Until \(Words.moment(last)), approvals count this account as one person with <b>\(others)</b>: it cannot approve what they wrote or \
            asked for, and they cannot approve what it wrote or asked for.</p>
            <ul class="list">\(deeds)</ul>
            \(try end(account, ties, confirms: confirms, visit, site))
            """)
    }

    private static func end(_ account: Account, _ ties: AccountTies, confirms: Bool, _ visit: Visit, _ site: Site)
        throws -> HTML
    {
        let mine = try AccountName(visit.signedIn().account)
        if confirms, !ties.haveOneHand(mine, account.name) {
            return """
                <form class="action" method="post" action="\(UsersPage.path(of: account.id))/confirm"><h3>Confirm the account</h3>
                <p>Make sure that the person has the account, and that no other person can sign in to it. Then it may approve again.</p>
                \(Form.token(visit))<p><button>Confirm the account</button></p></form>
                """
        }
        let who = try site.accounts.accounts().filter { other in
            other.rights.mayControl(account.grants) && !ties.haveOneHand(other.name, account.name)
        }.map(\.name.text)
        return who.isEmpty
            ? """
            <p class="note">No administrator is without such a tie. The people who run Volley can confirm the account on the machine: \
            <code>volley serve … --confirm \(account.name.text)</code>.</p>
            """
            : "<p class=\"note\">It ends earlier when one of these administrators confirms the account: <b>\(who.joined(separator: ", "))</b>.</p>"
    }
}
