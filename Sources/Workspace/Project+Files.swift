public import Campaigns
import Base
import PushServices

/// The files that volley.yaml names, resolved, whether they are there or not. Links stay in the paths.
extension Project {
    /// Files with the keys, certificates and secrets of the apps.
    public var keyFiles: [String] {
        resolved(
            apps.flatMap(\.services).flatMap { account in
                (account.credentialForm?.files ?? []).compactMap { account.credential?[$0] }
            })
    }

    /// Files with secrets: those of the apps, and that of the provider of identities.
    public var secretFiles: [String] {
        guard case .file(let secret)? = console?.provider?.clientSecret else { return keyFiles }
        return keyFiles + resolved([secret])
    }

    /// Where the packages put the addresses of databases, with their passwords.
    public static let environmentFile = "/etc/volley/environment"

    /// Certificates of the only authority to trust: of servers, of hooks, and of the provider of identities.
    public var authorityFiles: [String] {
        let servers: [SourceText] = apps.flatMap(\.services).compactMap { account in
            if case .server(_, let authority) = account.environment { authority } else { nil }
        }
        let hooks: [SourceText] = allNotices.compactMap { target in
            if case .webhook(_, _, let authority) = target.way { authority } else { nil }
        }
        return resolved(servers + hooks + [console?.provider?.certificateAuthority].compactMap(\.self))
    }

    /// All files that a campaign must not name when a console reads it: volley.yaml, what it names apart from exports, and the addresses of
    /// databases, where the packages put them.
    var closedFiles: [String] {
        var others = [monitoring?.prometheus, monitoring?.health].compactMap(\.self)
        // A program, and what it is started with: perhaps a script, or a file with its settings.
        for case .command(let words) in allNotices.map(\.way) { others += words }
        return [file, Self.environmentFile] + secretFiles + authorityFiles + resolved(others)
    }

    private var allNotices: [NoticeTarget] { notices + apps.flatMap(\.notices) }

    private func resolved(_ named: [SourceText]) -> [String] { named.map { FilePaths.resolve($0.value, besideFile: file) } }
}
