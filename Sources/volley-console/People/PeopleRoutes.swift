/// What can be asked about people.
enum PeopleRoutes {
    static var all: [Route] { ReauthenticationPage.routes + AccountForms.routes + InvitePage.routes + UserForms.routes }
}
