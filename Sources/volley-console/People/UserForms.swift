import Accounts
import Base
import HTTPTypes

/// What an administrator does to another's account. Whether it is allowed, the accounts decide.
enum UserForms {
    static var routes: [Route] {
        let right = RouteRight.right(.manageUsers)
        let forms = [
            ("roles", changeRoles), ("disable", disable), ("enable", enable), ("confirm", confirm), ("remove", remove),
            ("password", offerPassword),
            ("factor/remove", removeSecondFactor),
        ]
        return [
            Route(method: .get, path: "/users", right: right, answer: UsersPage.show),
            Route(method: .get, path: "/users/:user", right: right, answer: UserPage.show),
            Route(method: .post, path: "/users/:user/remove-damaged", right: right, changes: true, answer: removeDamaged),
        ]
            + forms.map { name, change in
                Route(method: .post, path: "/users/:user/\(name)", right: right, changes: true) { visit, site in
                    let account = try UserPage.account(visit, site)
                    do { return try change(account, visit, site) } catch let error as AccountError {
                        return .page(
                            try UserPage.page(visit, site, message: "\(error.sentences) Nothing was changed.", status: error.status))
                    }
                }
            }
    }

    private static func removeDamaged(_ visit: Visit, _ site: Site) throws -> Answer {
        guard visit.may(.manageUsers, app: nil), let number = Int64(visit.parameters["user"] ?? "") else { throw Refusal.notFound }
        do { try site.accounts.removeDamaged(AccountID(number), by: visit.actor(), at: visit.now) } catch AccountError.noSuchAccount {
            // A second click.
        }
        return .redirect("/users")
    }

    private typealias Change = @Sendable (Account, Visit, Site) throws -> Answer

    private static let changeRoles: Change = { account, visit, site in
        guard !RoleForm.isOutdated(visit.form, account.grants) else {
            return .page(
                try UserPage.page(
                    visit, site,
                    message:
                        "Another person has changed the roles since you opened the page. They are shown as they are now; nothing was changed.",
                    status: .conflict))
        }
        let form = RoleForm(visit, try site.project(), grants: account.grants)
        try site.accounts.setGrants(
            form.ticked(in: visit.form, keeping: account.grants), of: account.id, by: visit.actor(), at: visit.now)
        return .redirect(UsersPage.path(of: account.id))
    }

    private static let disable: Change = { account, visit, site in
        try site.accounts.disable(account.id, by: visit.actor(), at: visit.now)
        return .redirect(UsersPage.path(of: account.id))
    }

    private static let enable: Change = { account, visit, site in
        try site.accounts.enable(account.id, by: visit.actor(), at: visit.now)
        return .redirect(UsersPage.path(of: account.id))
    }

    private static let confirm: Change = { account, visit, site in
        try site.accounts.confirm(account.id, by: visit.actor(), at: visit.now)
        return .redirect(UsersPage.path(of: account.id))
    }

    private static let remove: Change = { account, visit, site in
        guard (try? AccountName(visit.form["name"] ?? "")) == account.name else {
            return .page(
                try UserPage.page(
                    visit, site, message: "That is not the name \(account.name.text). Nothing was removed; type the name if you mean it.",
                    status: .unprocessableContent))
        }
        try site.accounts.remove(account.id, by: visit.actor(), at: visit.now)
        return .redirect("/users")
    }

    private static let offerPassword: Change = { account, visit, site in
        let link = try site.accounts.offerNewPassword(of: account.id, by: visit.actor(), at: visit.now)
        return .page(InvitePage.linkPage(link, for: account.displayName, visit, site))
    }

    private static let removeSecondFactor: Change = { account, visit, site in
        do { try site.accounts.removeSecondFactor(of: account.id, by: visit.actor(), at: visit.now) } catch AccountError.secondFactor(
            isOn: false)
        {
            // A second click.
        }
        return .redirect(UsersPage.path(of: account.id))
    }
}
