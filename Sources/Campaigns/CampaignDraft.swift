public import Base
public import PushServices

/// What could be read of a campaign file, mistakes or not, so that mistakes in app and texts are reported together with those found here.
public struct CampaignDraft: Sendable {
    /// Whether the text is YAML with the keys of a campaign, right or wrong; false where nothing can be said of what it asks for.
    public internal(set) var isCampaign = false
    /// The campaign; nil when there are mistakes.
    public internal(set) var campaign: Campaign?
    /// Whether it has times of its own; also true where a schedule is written that cannot be read, or where nothing can.
    public internal(set) var mayHaveTimes = true
    /// The app as named, if it is; the first one where it is named twice.
    public var app: SourceText?
    /// Whether it names two apps, or has a key that cannot be read, which may be any: it is not known which app it is for, nor whether it has times.
    public internal(set) var isDoubtful = false
    /// The audience as far as it could be read.
    public var audience: CampaignAudience?
    /// The content as far as it could be read.
    public var content: MessageContent?
    /// The variants, when none of them has a mistake.
    public var variants: [MessageVariant] = []
    /// Mistakes and warnings, in the order of their places.
    public internal(set) var findings: [Diagnostic] = []

    /// Nothing found yet.
    init(
        app: SourceText? = nil, audience: CampaignAudience? = nil, content: MessageContent? = nil, variants: [MessageVariant] = []
    ) {
        self.app = app
        self.audience = audience
        self.content = content
        self.variants = variants
    }
}

extension Campaign {
    /// Reads and checks a campaign file as far as possible. No file but this one is touched.
    /// - Parameters:
    ///   - now: the moment against which an expiry is judged as past.
    ///   - services: says by an app's name which services take its pushes, at least one.
    public static func draft(
        file: String, now: Timestamp, services: (_ app: String) -> [any PushService] = { _ in [PushServices.standard] }
    ) -> CampaignDraft {
        do throws(Diagnostics) {
            return draft(try openSource(file), now: now, services: services)
        } catch {
            var draft = CampaignDraft()
            draft.findings = error.all
            return draft
        }
    }

    /// Reads and checks what is not in a file yet.
    /// - Parameters:
    ///   - bytes: exactly those that the file will hold, byte order mark and line ends included.
    ///   - file: where they will be, for its mistakes; nothing is read there.
    public static func draft(
        bytes: [UInt8], file: String, now: Timestamp, services: (_ app: String) -> [any PushService] = { _ in [PushServices.standard] }
    ) -> CampaignDraft {
        do throws(Diagnostic) {
            return draft(try YAMLSource(file: file, bytes: bytes), now: now, services: services)
        } catch {
            var draft = CampaignDraft()
            draft.findings = [error]
            return draft
        }
    }

    /// The same for a text.
    public static func draft(
        text: String, file: String, now: Timestamp, services: (_ app: String) -> [any PushService] = { _ in [PushServices.standard] }
    ) -> CampaignDraft { draft(bytes: Array(text.utf8), file: file, now: now, services: services) }

    /// Reads and checks the text of a campaign file as far as possible.
    static func draft(
        _ source: YAMLSource, now: Timestamp, services: (_ app: String) -> [any PushService] = { _ in [PushServices.standard] }
    ) -> CampaignDraft {
        let findings = Findings()
        let root = rootSection(of: source, CampaignKeys.root, CampaignKeys.file, example: "name: spring-sale", findings: findings)
        if let root, root.has("apps"), !root.has("audience"), !root.has("content") {
            let place = root.place(of: "apps")
            var draft = CampaignDraft()
            draft.findings = [
                Diagnostic(
                    "this file names apps, as volley.yaml does; it is not a campaign", at: place,
                    remedy: "Name a campaign file; its volley.yaml is checked with it.")
            ]
            return draft
        }
        var draft = withoutActuallyEscaping(services) { services in
            root.map { CampaignReader(root: $0, source: source, now: now, services: services).read() } ?? CampaignDraft()
        }
        findings.preferFalseSpaces(in: source)
        draft.findings = Diagnostics(findings.all).all
        draft.isDoubtful = findings.repeatedKeys.contains("app") || findings.hasUnreadableKeys
        if findings.hasErrors { draft.campaign = nil }
        return draft
    }
}
