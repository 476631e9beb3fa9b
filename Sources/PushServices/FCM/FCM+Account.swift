import Base

/// The parts of an app's account with Firebase. Source: Google, "Authorize send requests" and "Using OAuth 2.0 for server to server
/// applications".
extension FCM {
    /// Project, environment, and a service account.
    public var account: AccountForm { Self.account }

    /// The only FCM there is: it has no other servers for development.
    public static let production = ServiceEnvironment(name: "production", host: "fcm.googleapis.com")

    static let account = AccountForm(topic: project, environments: environments, credentials: [serviceAccount])

    private static let project = AccountField(
        "project", .name(pattern: "^[a-z][a-z0-9-]{4,28}[a-z0-9]$"), description: "The id of the Firebase project.", example: "shop-1a2b",
        otherNames: ["project_id", "firebase_project", "topic", "sender_id", "app_id", "package", "package_name"],
        source: "Copy it from the Firebase console: Project settings, General, Project ID", whatToAdd: "the id of the Firebase project",
        flaw: projectFlaw)

    private static let environments = EnvironmentForm(
        choices: [production],
        remedies: [
            (
                ["sandbox", "development", "develop", "dev", "debug", "staging", "stage", "test", "testing"],
                "FCM has only one: write environment: production. A project of its own keeps test devices apart."
            ),
            (["prod", "live", "release"], "Write environment: production."),
        ].reduce(into: [:]) { remedies, entry in
            for word in entry.0 { remedies[word] = entry.1 }
        }, example: "production", serverExample: "https://localhost:8443")

    private static let serviceAccount = CredentialForm(
        key: "service_account", kind: .fetchedToken(tokens),
        description: "The service account that sends for the project, from the Firebase console.",
        example: "service_account: {file: keys/shop-fcm.json}", shortExample: "service_account: {file: keys/shop-fcm.json}",
        origin: "from the Firebase console",
        fields: [
            AccountField(
                "file", .file, description: "The .json file that the console gives out under Service accounts.",
                example: "keys/shop-fcm.json"),
            AccountField(
                "env", .variable, description: "The environment variable that holds the file's text, instead of the file.",
                example: "FCM_SERVICE_ACCOUNT"),
        ], alternatives: ["file", "env"],
        otherNames: ["credentials", "google_application_credentials", "service_account_key", "server_key", "key", "certificate"])

    /// Source: Google, "Using OAuth 2.0 for server to server applications": an assertion is valid for at most an hour. Tokens are valid for
    /// an hour, too; so they are replaced five minutes early.
    static let tokens = TokenExchange(
        noun: "access token", proof: .assertion(assertion), renewEarlySeconds: 300, shortestRenewalSeconds: 10)

    static let assertion = AssertionFacts(
        address: "https://oauth2.googleapis.com/token", path: "/token", scope: "https://www.googleapis.com/auth/firebase.messaging",
        seconds: 3600, read: ServiceAccountFile.key)

    /// What is wrong with a project's id. Source: Google Cloud, "Creating and managing projects": 6 to 30 lower-case letters, digits and
    /// hyphens, beginning with a letter, and not ending with a hyphen.
    @Sendable private static func projectFlaw(_ project: String, shown: String) -> Mistake? {
        let isName = project.utf8.allSatisfy(ASCIISet("abcdefghijklmnopqrstuvwxyz0123456789-").contains)
        let example = "For example: project: shop-1a2b."
        if !project.isEmpty, project.utf8.allSatisfy(ASCIISet("0123456789").contains) {
            return Mistake(
                "the project \(shown) is a project's number (its sender id), and FCM is told the project's id",
                remedy: "Copy the Project ID from the Firebase console, Project settings. \(example)")
        }
        if project.wholeMatch(of: /[0-9]+:[0-9]+:(?:android|ios|web):[0-9A-Za-z]+/) != nil {
            return Mistake(
                "the project \(shown) is the id of one app of a Firebase project, and FCM is told the project's id",
                remedy: "Copy the Project ID from the Firebase console, Project settings. \(example)")
        }
        if project.contains("."), project.utf8.allSatisfy({ ASCIISet.lettersAndDigits.contains($0) || "._-".utf8.contains($0) }) {
            let isDomain = [".firebaseapp.com", ".web.app", ".appspot.com", ".iam.gserviceaccount.com"].contains { project.hasSuffix($0) }
            return Mistake(
                "the project \(shown) is \(isDomain ? "an address of a Firebase project" : "an app's package or bundle id"), and FCM is told the project's id",
                remedy: "Copy the Project ID from the Firebase console, Project settings. \(example)")
        }
        if isName, (6...30).contains(project.utf8.count), project.first?.isLetter == true, project.last != "-" { return nil }
        let isShouting = project.lowercased() != project && projectFlaw(project.lowercased(), shown: "") == nil
        return Mistake(
            "the project \(shown) is not the id of a Firebase project; those have 6 to 30 lower-case letters, digits and hyphens, and begin with a letter",
            remedy: isShouting
                ? "Write it in lower case if that is the Project ID in the Firebase console: project: \(project.lowercased())." : example)
    }
}
