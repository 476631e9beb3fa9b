import Accounts
/// All that can be asked of the console.
enum RouteTable {
    static let all: [Route] =
        [
            Route(method: .get, path: "/sign-in", right: .anyone, answer: SignInPage.show),
            Route(method: .post, path: "/sign-in", right: .anyone, changes: true, isSignIn: true, answer: SignInPage.enter),
            Route(method: .get, path: "/sign-in/oidc", right: .anyone, asksProvider: true, answer: ProviderPages.begin),
            Route(method: .get, path: ProviderPages.wayBack, right: .anyone, asksProvider: true, answer: ProviderPages.comeBack),
            Route(method: .get, path: "/account/proof/oidc", right: .signedIn, asksProvider: true, answer: ProviderPages.beginProof),
            Route(method: .get, path: ProviderPages.proved, right: .signedIn, answer: ProviderPages.showWayOn),
            Route(method: .get, path: "/invitation", right: .anyone, answer: InvitationPage.show),
            Route(method: .post, path: "/invitation", right: .anyone, changes: true, isSignIn: true, answer: InvitationPage.accept),
            Route(method: .post, path: "/sign-out", right: .signedIn, changes: true, answer: SignInPage.leave),
            Route(method: .get, path: Asset.style.path, right: .anyone) { _, _ in .asset(.style) },
            Route(method: .get, path: Asset.script.path, right: .anyone) { _, _ in .asset(.script) },
            Route(method: .get, path: "/", right: .right(.seeCampaigns), answer: TodayPage.show),
            Route(method: .get, path: "/campaigns", right: .right(.seeCampaigns), answer: CampaignsPage.show),
            Route(method: .get, path: "/campaign", right: .right(.seeCampaigns), subject: .campaign, answer: CampaignsPage.source),
            Route(method: .get, path: "/calendar", right: .right(.seeCampaigns), answer: CalendarPage.show),
            Route(method: .get, path: "/runs", right: .right(.readReports), answer: RunsPage.show),
            Route(method: .get, path: "/runs/:run", right: .right(.readReports), subject: .run, answer: RunPage.show),
            Route(method: .get, path: "/runs/:run/live.json", right: .right(.readReports), subject: .run, answer: RunPage.live),
            Route(method: .get, path: "/runs/:run/report", right: .right(.readReports), subject: .run, answer: RunPage.report),
            Route(
                method: .get, path: "/runs/:run/results.csv", right: .right(.exportTokens), subject: .run, asksAgain: true,
                answer: RunPage.results),
            Route(method: .get, path: "/orders/:nonce", right: .signedIn, answer: OrderPage.show),
            Route(method: .get, path: "/orders/:nonce/live.json", right: .signedIn, answer: OrderPage.live),
            Route(method: .get, path: "/system", right: .right(.seeSystem), answer: SystemPage.show),
        ] + RunOrders.routes + CampaignOrders.routes + TimeApproval.routes + campaigns + PeopleRoutes.all + ActivityPage.routes
        + SuppressionForms.routes

    private static let campaigns =
        CampaignEditor.routes + CampaignForm.routes + CampaignPreview.routes + CampaignHistory.routes + CampaignCopies.routes
}
