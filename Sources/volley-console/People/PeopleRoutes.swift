/// What can be asked about people.
enum PeopleRoutes {
    static var all: [Route] { ProofPage.routes + AccountForms.routes + InvitePage.routes + UserForms.routes }
}
