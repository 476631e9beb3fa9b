import Accounts
import Automation
import Base
import Campaigns
import Glibc
import Planning
import PushServices
import Synchronization
import Workspace

/// Writes texts into campaign files: checks the person's rights, notices when another save came
/// first, and keeps every version.
final class CampaignSaving: Sendable {
    /// How saving a text ended.
    enum Outcome {
        case saved
        /// The file has changed since the person saw it: its present content; nil if it is gone.
        case conflict([UInt8]?)
        /// It may not be saved like this, with the reasons.
        case refused([Diagnostic])
    }

    /// One save at a time, so that no save comes between another's check of the file and its
    /// change.
    private let turn = Mutex(())
    private let accounts: AccountStore
    private let folder: String

    init(_ accounts: AccountStore, folder: String) { (self.accounts, self.folder) = (accounts, folder) }

    /// The campaign that a draft describes, as far as it can be read: by the reader that
    /// `volley schedule` uses, with the services of its app.
    /// - Parameter bytes: exactly those that the file holds, or will hold.
    static func draft(_ bytes: [UInt8], file: String, _ project: Project, at now: Timestamp) -> CampaignDraft {
        Campaign.draft(bytes: bytes, file: file, now: now) { services(of: $0, project) }
    }

    /// The services that take the pushes of an app, at least one.
    static func services(of app: String?, _ project: Project) -> [any PushService] {
        app.flatMap { project.app(named: $0) }?.services.map(\.service) ?? [PushServices.standard]
    }

    /// Saves a text. The rules are checked on exactly the bytes that are written.
    /// - Parameters:
    ///   - file: its name in the folder.
    ///   - base: the digest of the file as the person saw it; nil for a file that must not exist
    ///     yet.
    ///   - original: the file that a new one was said to be a copy of.
    ///   - frozen: the text of that file, where it is that of a run and not of the file as it is
    ///     now.
    func save(
        _ text: String, as file: String, base: String?, copyOf original: String? = nil, frozen: String? = nil,
        _ visit: Visit, _ site: Site
    ) throws -> Outcome {
        guard let person = visit.person else { throw Refusal.notAllowed }
        let path = FilePaths.join(folder, name: file)
        let project = try site.project()
        let target: String
        do throws(Diagnostic) { target = try self.target(of: path, project, site.campaigns.choice) } catch {
            return .refused([error])
        }
        return try turn.withLock { _ in
            let present = FilePaths.exists(path) ? try FilePaths.read(path, atMost: Route.campaignBodyLimit) : nil
            let before = present.map { Self.draft($0, file: path, project, at: visit.now).app?.value }
            // The file may have become another app's since the page was requested.
            if let before, base != nil, !visit.may(.edit, app: before) { throw Refusal.notAllowed.holding(visit.form) }
            guard present.map(ShownFile.digest) == base else { return .conflict(present) }
            let bytes = Self.bytes(of: text, like: present)
            let draft = Self.draft(bytes, file: path, project, at: visit.now)
            let roots = ConsoleRoots(project, site.campaigns.choice)
            let objections =
                try Self.objections(to: draft, project, roots, visit)
                + Self.namesakes(of: draft, file, site, at: visit.now)
            guard objections.isEmpty else { return .refused(objections) }
            guard bytes != present else {
                DraftPages.discardSaved(visit, accounts)
                return .saved
            }
            if let present {
                try accounts.keep(found: Self.text(of: present), in: file, app: before ?? nil, at: visit.now)
            }
            try accounts.keep(
                version: Self.text(of: bytes), of: file,
                madeFrom: base == nil
                    ? sources(of: Self.text(of: bytes), for: file, copyOf: (original, frozen), project, site) : [],
                app: draft.app?.value, by: Actor(person.id, address: visit.requestOrigin.client), at: visit.now)
            try FilePaths.replace(target, bytes: bytes, mode: Self.mode(of: target) ?? 0o666)
            DraftPages.discardSaved(visit, accounts)
            return .saved
        }
    }

    /// The sources of a new file: the file that it was declared to be a copy of, and each file with
    /// the same text apart from name and times. Otherwise a copy would hide its writers, and one of
    /// them could approve it.
    private func sources(
        of text: String, for file: String, copyOf origin: (file: String?, frozen: String?), _ project: Project,
        _ site: Site
    ) throws -> [VersionSource] {
        let content = Self.content(of: text)
        var found = try accounts.texts(besides: file) { Self.content(of: $0) == content }
        if let original = origin.file, original != file, ScheduleFiles.isCampaign(original), !original.contains("/") {
            let path = FilePaths.join(folder, name: original)
            let present =
                try FilePaths.exists(path) ? [Self.text(of: FilePaths.read(path, atMost: Route.campaignBodyLimit))] : []
            found += (origin.frozen.map { [$0] } ?? present).map { (file: original, text: $0) }
        }
        return try found.map { source in
            let draft = Self.draft(Array(source.text.utf8), file: source.file, project, at: .now())
            let agreed =
                try draft.campaign.map { try site.rights.sentTexts(ofCampaign: $0.name.value, app: $0.app.value) } ?? []
            return VersionSource(
                file: source.file, digest: ShownFile.digest(of: Array(source.text.utf8)), agreed: agreed)
        }
    }

    /// The lines of a text, without those of its name and its times, blank ones and comments.
    static func content(of text: String) -> [Substring] {
        var isLeftOut = false
        return text.split(whereSeparator: \.isNewline).filter { line in
            guard let first = line.first(where: { $0 != " " && $0 != "\t" }), first != "#" else { return false }
            if line.first == first { isLeftOut = line.hasPrefix("name:") || line.hasPrefix("schedule:") }
            return !isLeftOut
        }
    }

    /// The file that is written: for a link, its target, so that the link stays and its other
    /// readers see the change.
    /// - Throws: `Diagnostic`: the link leads where the console may not write, or nowhere.
    private func target(of path: String, _ project: Project, _ choice: ProjectChoice) throws(Diagnostic) -> String {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return path }
        func refusal(_ why: String) -> Diagnostic {
            Diagnostic(
                "this campaign is a link \(why)", remedy: "Ask the people who run Volley to put a file in its place.")
        }
        guard let found = realpath(path, nil) else { throw refusal("that leads nowhere") }
        defer { free(found) }
        let target = String(cString: found)
        guard ScheduleFiles.isCampaign(target.split(separator: "/").last.map(String.init) ?? ""),
            FileKind(path: target) == .regular
        else {
            throw refusal("to something else than a campaign file")
        }
        guard ConsoleRoots(project, choice, and: folder).holds(target) else {
            throw refusal("to a file that the console may not write")
        }
        return target
    }

    /// Why a person may not save this; empty if they may. Mistakes do not matter if the rights are
    /// clear.
    static func objections(to draft: CampaignDraft, _ project: Project, _ roots: ConsoleRoots, _ visit: Visit)
        -> [Diagnostic]
    {
        guard draft.isCampaign, !draft.isDoubtful else { return unreadable(draft) }
        guard visit.may(.edit, app: draft.app?.value) else {
            guard let app = draft.app else {
                return [
                    Diagnostic(
                        "the campaign names no app, so it is not known which people may see it",
                        remedy: "Write a line `app: …` first.")
                ]
            }
            return [foreign(app)]
        }
        let zone = draft.campaign?.schedule?.zone.fallback
        if let mistakes = draft.audience.map({ roots.mistakes(in: $0, of: $0.position.file, zone: zone, at: visit.now) }
        )?.nonEmpty {
            return mistakes
        }
        // At its times, `volley schedule` sends it without an approval. A mistake in it may end
        // without another save, for example when volley.yaml gets the app.
        let needsApproval = draft.app.flatMap { project.app(named: $0.value) }?.needsApproval ?? false
        guard draft.mayHaveTimes, !needsApproval, !visit.may(.controlSending, app: draft.app?.value) else { return [] }
        return [
            Diagnostic(
                "this campaign would be sent at its times without an approval, and you may not send",
                remedy: "Leave out 'schedule', or ask an approver to save it.")
        ]
    }

    /// An unreadable text does not show what it would send, nor to which devices.
    private static func unreadable(_ draft: CampaignDraft) -> [Diagnostic] {
        draft.findings.filter { $0.severity == .error }.nonEmpty
            ?? [Diagnostic("this is no campaign", remedy: "It begins, for example, with: name: spring-sale.")]
    }

    /// The objection that a campaign is of an app that the person may not write for.
    static func foreign(_ app: SourceText) -> Diagnostic {
        Diagnostic(
            "you may not write campaigns of the app '\(app.value)'", at: app.position, remedy: "Ask an administrator.")
    }

    /// Two campaigns with the same name block each other at their times.
    private static func namesakes(of draft: CampaignDraft, _ file: String, _ site: Site, at now: Timestamp) throws
        -> [Diagnostic]
    {
        guard let name = draft.campaign?.name else { return [] }
        let items = try site.campaigns.items(project: site.project(), now: now)
        guard items.contains(where: { $0.file != file && $0.name == name.value }) else { return [] }
        return [
            Diagnostic(
                "another campaign is called '\(name.value)'", at: name.position, remedy: "Give this one another name.")
        ]
    }

    /// Takes a file out of the folder; its versions stay, and the file moves to a folder that
    /// nothing is sent from.
    /// - Returns: false if the file has changed since the person saw it.
    func archive(_ file: String, app: String?, base: String, _ visit: Visit) throws -> Bool {
        let path = FilePaths.join(folder, name: file)
        return try turn.withLock { _ in
            let bytes = try FilePaths.read(path, atMost: Route.campaignBodyLimit)
            guard ShownFile.digest(of: bytes) == base else { return false }
            let archive = FilePaths.join(folder, name: ".archive")
            try FilePaths.makeFolder(archive)
            let stamp = visit.now.description.filter(\.isNumber).prefix(14)
            try accounts.keep(found: Self.text(of: bytes), in: file, app: app, at: visit.now)
            try FilePaths.create(FilePaths.join(archive, name: "\(stamp)-\(file)"), bytes: bytes)
            guard unlink(path) == 0 else {
                throw FileError.system(errno).diagnostic("the file cannot be removed", file: path)
            }
            return true
        }
    }

    /// The permissions of a file, which its next version keeps.
    private static func mode(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    // MARK: - Bytes

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// A file's text, without a byte order mark, as versions and plans keep it.
    static func text(of bytes: [UInt8]) -> String {
        String(decoding: bytes.starts(with: mark) ? Array(bytes.dropFirst(3)) : bytes, as: UTF8.self)
    }

    /// A text from a browser, which sends CR LF, with the line ends and the byte order mark of the
    /// file that it replaces.
    static func bytes(of text: String, like file: [UInt8]?) -> [UInt8] {
        var text = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        while text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        if !text.isEmpty, !text.hasSuffix("\n") { text += "\n" }
        let hasCR = file?.contains(0x0D) ?? false
        if hasCR { text = text.replacing("\n", with: "\r\n") }
        return (file?.starts(with: mark) ?? false ? mark : []) + Array(text.utf8)
    }
}

extension Array {
    fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}
