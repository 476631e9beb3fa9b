import Audience
public import Base
public import Campaigns
public import Workspace

/// Whether a campaign may name its files, where the console reads it.
extension ConsoleRoots {
    /// A mistake for each file that the campaign may not name, with its place.
    public func mistakes(in campaign: Campaign, at now: Timestamp = .now()) -> [Diagnostic] {
        mistakes(in: campaign.audience, of: campaign.file, zone: campaign.schedule?.zone.fallback, at: now)
    }

    /// The same for an audience alone, where the rest of its campaign cannot be read. Dates of
    /// paths are filled in and patterns expanded, as they are now; `SourceFiles` decides again when
    /// a file is opened.
    /// - Parameters:
    ///   - file: the campaign's, which paths are relative to.
    ///   - zone: of the dates in paths; nil for this machine's.
    public func mistakes(
        in audience: CampaignAudience, of file: String, zone: ZoneRules? = nil, at now: Timestamp = .now()
    ) -> [Diagnostic] {
        let lists = [
            audience.anyTags, audience.allTags, audience.noneTags, audience.aliases, audience.registrationIDs,
            audience.excludedTags,
            audience.excludedAliases, audience.excludedRegistrationIDs,
        ]
        let dates = DatedPath(now: now, zone: zone)
        let exports = audience.devices.compactMap { path in objection(to: path, dates, of: file).map { (path, $0) } }
        let others = (audience.excludedDevices + lists.compactMap(\.file)).compactMap { path in
            (objection(to: path, dates, of: file) ?? (Self.isList(path.value) ? nil : .closed)).map { (path, $0) }
        }
        return queries(in: audience)
            + (exports + others).map { path, objection in refusal(path.value, objection, at: path.position) }
    }

    /// SQL is written by the people that maintain volley.yaml: from a browser, it could read
    /// everything that Volley's role may read.
    private func queries(in audience: CampaignAudience) -> [Diagnostic] {
        guard let query = audience.deviceQuery else { return [] }
        return [
            Diagnostic(
                "the console may not put a campaign's own query to a database", at: query.position,
                remedy:
                    "Leave 'devices' out and have the query written into volley.yaml as the 'devices' of the app, or plan this campaign on the command line."
            )
        ]
    }

    private func objection(to path: SourceText, _ dates: DatedPath, of file: String) -> Objection? {
        guard Self.isPlainPattern(path.value) else { return .outside }
        if let objection = objection(toPattern: FilePaths.resolve(path.value, besideFile: file)) { return objection }
        // A date that is written wrong is reported elsewhere, and so is a pattern without files.
        guard let filled = try? dates.filled(path),
            let files = try? AudienceQuery.expand(paths: [FilePaths.resolve(filled, besideFile: file)])
        else { return nil }
        return files.lazy.compactMap(objection(to:)).first
    }

    /// Lists hold names, a line each; anything else, such as a key, has another ending. Lines of it
    /// could be seen in messages.
    private static func isList(_ path: String) -> Bool {
        [".txt", ".csv", ".tsv", ".json", ".jsonl", ".gz"].contains { path.lowercased().hasSuffix($0) }
    }
}
