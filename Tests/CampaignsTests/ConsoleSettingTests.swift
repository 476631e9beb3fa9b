import Base
import Testing

@testable import Campaigns

@Suite("console in volley.yaml")
struct ConsoleSettingTests {
    private static let apps = "apps: {shop: {topic: com.example.shop, environment: simulator}}\n"

    private func read(_ text: String) throws -> Project {
        try Project.read(YAMLSource(file: "volley.yaml", bytes: Array((text + Self.apps).utf8))).0
    }

    @Test("address, proxies and roots are read")
    func all() throws {
        let console = try #require(
            try read(
                "console: {public_url: \"https://push.example.com\", proxies: [127.0.0.1, 10.0.0.0/8], roots: campaigns}\n"
            ).console)
        #expect(console.publicURL?.value == "https://push.example.com")
        #expect(console.proxies == [AddressRange("127.0.0.1"), AddressRange("10.0.0.0/8")].compactMap(\.self))
        #expect(console.roots.map(\.value) == ["campaigns"])
    }

    private static let least = "issuer: \"https://login.example.com/realms/shop\", client_id: volley"
    private static let roles = "roles: {claim: groups, map: {admins: administrator}}"

    @Test("a provider of identities is read, with what is usual where nothing is said")
    func provider() throws {
        let least = try #require(try read("console: {oidc: {\(Self.least), \(Self.roles)}}\n").console?.provider)
        #expect(least.issuer.value == "https://login.example.com/realms/shop" && least.clientID.value == "volley")
        #expect(
            least.clientSecret == nil && least.certificateAuthority == nil && !least.isOnly
                && least.host == "login.example.com")
        #expect(
            least.nameClaim == "preferred_username" && least.scopes == ["profile", "email"]
                && least.rolesClaim == "groups")
        let most = try #require(
            try read(
                """
                console:
                  oidc:
                    \(Self.least.replacing(", ", with: "\n    "))
                    client_secret: {env: OIDC_SECRET}
                    roles:
                      claim: realm_access.roles
                      map:
                        marketing: [editor:shop, viewer]
                        "Admins / all": administrator
                    name: Example Login
                    name_claim: email
                    scopes: [groups]
                    ca: ca.pem
                    only: true

                """
            ).console?.provider)
        #expect(most.roles.map(\.value) == ["marketing", "Admins / all"])
        #expect(
            most.roles.map(\.roles) == [
                [ClaimedRole(.editor, app: "shop"), ClaimedRole(.viewer, app: nil)], [.init(.administrator, app: nil)],
            ])
        guard case .variable(let name)? = most.clientSecret else {
            return #expect(Bool(false), "the secret is in a variable")
        }
        #expect(
            name.value == "OIDC_SECRET" && most.name?.value == "Example Login" && most.nameClaim == "email"
                && most.scopes == ["groups"])
        #expect(most.certificateAuthority?.value == "ca.pem" && most.isOnly)
    }

    @Test(
        "mistakes about a provider are reported at their place, with what to write; a secret is never repeated",
        arguments: [
            (
                "oidc: {client_id: volley, \(roles)}",
                "1:17: the key 'issuer' is missing in 'oidc'. Add it, for example: issuer: \"https://login.example.com\"."
            ),
            (
                "oidc: {\(least)}",
                "1:17: the key 'roles' is missing in 'oidc'. Add it, for example: roles: {claim: groups, map: {marketing: \"editor:shop\"}}."
            ),
            (
                "oidc: {\(least), \(roles), client_secret: hunter2}",
                "1:155: 'client_secret' must be a group of keys, not a text. Keep the client secret itself out of this file; write, for example: client_secret: {file: keys/oidc.txt}."
            ),
            (
                "oidc: {\(least), \(roles), client_secret: {env: \"hunter 2\"}}",
                "1:161: 'env' must be the name of an environment variable. Keep the client secret itself out of this file; write, for example: env: OIDC_SECRET."
            ),
            (
                "oidc: {\(least), \(roles), client_secret: {file: a, env: B}}",
                "1:165: 'file' and 'env' cannot be combined. Keep the one that holds the secret."
            ),
            (
                "oidc: {\(least), \(roles), client_secret: {}}",
                "1:155: 'client_secret' has neither 'file' nor 'env'. Add one of them, for example: file: keys/oidc.txt."
            ),
            (
                "oidc: {\(least), roles: {claim: groups, map: {a: editr}}}",
                "1:118: there is no role 'editr'. Did you mean 'editor'?"
            ),
            (
                "oidc: {\(least), roles: {claim: groups, map: {a: king}}}",
                "1:118: there is no role 'king'. Roles are viewer, editor, approver, administrator; for one app, for example: editor:shop."
            ),
            (
                "oidc: {\(least), roles: {claim: groups, map: {a: \"editor:shoop\"}}}",
                "1:118: there is no app 'shoop'. Did you mean 'shop'?"
            ),
            (
                "oidc: {issuer: \"http://a\", client_id: v, \(roles)}",
                "1:26: the issuer must be an address that begins with https://, without a user, '?' and '#'. Copy it from the provider's description, for example: issuer: \"https://login.example.com\"."
            ),
            (
                "oidc: {issuer: \"https://a/.well-known/openid-configuration\", client_id: v, \(roles)}",
                "1:26: this is the address of the provider's description. Write the issuer alone: 'https://a'."
            ),
            (
                "oidc: {\(least), \(roles), scopes: \"profile groups\"}",
                "1:148: 'profile groups' is no scope. Write several as a list: scopes: [profile, groups]."
            ),
            ("issuer: a", "1:11: unknown key 'issuer' in 'console'. It belongs in 'oidc'; check the indentation."),
        ])
    func providerMistakes(text: String, message: String) {
        #expect { try read("console: {\(text)}\n") } throws: { "\($0)" == "volley.yaml:\(message)" }
    }

    @Test("without it there is none") func absent() throws { #expect(try read("").console == nil) }

    @Test(
        "mistakes are reported at their place, with what to write",
        arguments: [
            (
                "console: {}\n",
                "volley.yaml:1:10: 'console' is empty. For example: console: {public_url: \"https://push.example.com\"}."
            ),
            (
                "console: {public_url: \"http://push.example.com\"}\n",
                "volley.yaml:1:23: the address 'http://push.example.com' must begin with https://. "
                    + "For example: public_url: \"https://push.example.com\"."
            ),
            (
                "console: {public_url: \"https://push.example.com/volley\"}\n",
                "volley.yaml:1:23: the address 'https://push.example.com/…' must end after the host and port. Remove the path. "
                    + "For example: public_url: \"https://push.example.com\"."
            ),
            (
                "console: {proxies: [10.0.0.1/8]}\n",
                "volley.yaml:1:21: '10.0.0.1/8' is neither an address nor a range of addresses. For example: proxies: [127.0.0.1, 10.0.0.0/8]."
            ),
            (
                "console: {proxies: []}\n",
                "volley.yaml:1:20: 'proxies' is an empty list. Name an address, or remove the key."
            ),
            ("console: {roots: []}\n", "volley.yaml:1:18: 'roots' is an empty list. Name a folder, or remove the key."),
            (
                "console: {publicurl: a}\n",
                "volley.yaml:1:11: unknown key 'publicurl' in 'console'. Did you mean 'public_url'?"
            ),
        ])
    func mistakes(text: String, message: String) {
        #expect { try read(text) } throws: { "\($0)" == message }
    }

    @Test(
        "a range holds the addresses that begin with its bits, and no others",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false),
            ("192.0.2.128/25", "192.0.2.127", false),
            ("192.0.2.128/25", "192.0.2.200", true), ("0.0.0.0/0", "203.0.113.9", true),
            ("2001:db8::/32", "2001:db8:1::1", true),
            ("2001:db8::/32", "2001:db9::1", false), ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("::/0", "127.0.0.1", false),
        ])
    func ranges(range: String, address: String, isIn: Bool) throws {
        #expect(try #require(AddressRange(range)).contains(#require(IPAddress(address))) == isIn)
    }

    @Test(
        "what is no range is none",
        arguments: ["", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0.1/31", "10.0.0.0/8/8", "host"])
    func noRanges(text: String) { #expect(AddressRange(text) == nil) }

    @Test("an address is written as it is read", arguments: ["192.0.2.1", "::1", "2001:db8::1"])
    func descriptions(text: String) { #expect(IPAddress(text)?.description == text) }
}
