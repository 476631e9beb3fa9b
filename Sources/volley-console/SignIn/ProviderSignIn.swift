import Accounts
import Base
import Campaigns
import Cryptography
import OpenIDConnect
import Synchronization

/// The provider of identities that volley.yaml names, and the state of sign-ins through it in this
/// process.
final class ProviderSignIn: Sendable {
    let issuer: String
    /// What buttons call it.
    let name: String
    /// Whether the sign-in page shows no form for passwords.
    let isOnly: Bool
    /// The claim that roles follow from.
    let rolesClaim: String
    let attempts = OpenIDAttempts()
    let provider: OpenIDProvider
    let kept = PendingIntents()
    private let roles: [String: Set<RoleGrant>]
    private let secret: PlainSecret?
    private let brake = Mutex(SignInThrottle())

    /// - Throws: `Diagnostic`: the secret or the authority cannot be read. Both are read again for
    ///   each sign-in.
    init(_ settings: ConsoleProvider, of project: Project) throws(Diagnostic) {
        func path(_ text: SourceText) -> String { FilePaths.resolve(text.value, besideFile: project.file) }
        let secret: PlainSecret? =
            switch settings.clientSecret {
            case .file(let file)?: PlainSecret(at: .file(path(file)), noun: "client secret")
            case .variable(let name)?: PlainSecret(at: .variable(name.value), noun: "client secret")
            case nil: nil
            }
        _ = try secret?.text()
        let authority = settings.certificateAuthority.map(path)
        if let authority {
            do throws(Diagnostic) { try CertificateAuthorityFile.check(authority) } catch {
                var mistake = error
                mistake.remedy = "\(error.remedy ?? "") It is `ca` below `console: {oidc: …}` in volley.yaml."
                throw mistake
            }
        }
        self.secret = secret
        issuer = settings.issuer.value
        name = settings.name?.value ?? settings.host
        isOnly = settings.isOnly
        roles = Dictionary(settings.roles.map { ($0.value, Set($0.roles.map(RoleGrant.init))) }) { $0.union($1) }
        rolesClaim = settings.rolesClaim
        let (issuer, clientID, rolesClaim) = (issuer, settings.clientID.value, rolesClaim)
        let (scopes, nameClaim) = (settings.scopes, settings.nameClaim)
        provider = OpenIDProvider(
            settings: {
                OpenIDSettings(
                    issuer: issuer, clientID: clientID, clientSecret: try secret?.text(), scopes: scopes,
                    rolesClaim: rolesClaim,
                    nameClaim: nameClaim, certificateAuthorityFile: authority)
            },
            proxy: { [proxy = project.proxy] host, port in
                if host.lowercased() == "localhost" || IPAddress(host)?.isLoopback == true { return nil }
                return try ProxyChoice.choose(proxy, host: host, port: port, ProxyChoice.variables)?.address
            })
    }

    /// A notice about the secret for operators; nil for none.
    var warning: Diagnostic? { secret?.permissionWarning }

    /// Has the provider confirm an answer, unless too many from an address were invented: each
    /// costs the provider and the console a request.
    /// - Throws: `Refusal`; whatever `body` throws.
    func braked<Value>(_ address: IPAddress?, at now: Timestamp, _ body: () throws -> Value) throws -> Value {
        // All requests from this machine, perhaps through a proxy that is not configured, have one
        // address: its failures slow no person down.
        let source = SignInSource(address: address.flatMap { $0.isLoopback ? nil : $0 })
        let ticket: SignInThrottle.Ticket
        switch brake.withLock({ $0.attempt(.password, of: nil, from: source, at: now) }) {
        case .goAhead(let counted): ticket = counted
        case .wait(let seconds): throw Refusal.slowedDown(seconds)
        }
        func takeBack() { brake.withLock { $0.takeBack(ticket, at: now) } }
        do {
            let value = try body()
            takeBack()
            return value
        } catch OpenIDProblem.refused(.token, let status, let code) {
            throw OpenIDProblem.refused(.token, status: status, code: code)
        } catch {
            takeBack()
            throw error
        }
    }

    /// The person that the accounts accept. Values of the claim that volley.yaml does not name give
    /// no roles.
    func person(_ identity: OpenIDIdentity) -> ProviderPerson {
        ProviderPerson(
            issuer: identity.issuer, subject: identity.subject, name: identity.name, displayName: identity.displayName,
            grants: identity.groups.reduce(into: []) { $0.formUnion(roles[$1] ?? []) },
            provedAt: identity.authenticatedAt)
    }
}

extension RoleGrant {
    /// A role that volley.yaml names.
    init(_ claimed: ClaimedRole) {
        let role: Role =
            switch claimed.role {
            case .viewer: .viewer
            case .editor: .editor
            case .approver: .approver
            case .administrator: .administrator
            }
        self.init(role, claimed.app.map { .app($0) } ?? .allApps)
    }
}

/// What people were about to do when they were sent to the provider for a fresh sign-in: one intent
/// for each session, the latest hundred. Only signed-in people can add one.
final class PendingIntents: Sendable {
    private static let most = 100
    private let intents = Mutex<[(session: String, intent: ReauthenticationPage.Intent)]>([])

    /// Keeps one instead of that before.
    /// - Parameter session: the hash of its secret.
    func keep(_ intent: ReauthenticationPage.Intent, of session: String) {
        intents.withLock { intents in
            intents.removeAll { $0.session == session }
            intents.append((session, intent))
            intents.removeFirst(max(0, intents.count - Self.most))
        }
    }

    /// nil when there was none, or there are too many newer ones.
    func find(of session: String) -> ReauthenticationPage.Intent? {
        intents.withLock { $0.last { $0.session == session }?.intent }
    }
}
