import Audience
import Base
import Campaigns
import Content

extension CampaignContext {
    /// The audience as written becomes a query that can run: lists loaded, paths resolved.
    /// - Throws: every list or export that cannot be read.
    func audienceQuery(now: Timestamp) throws -> AudienceQuery {
        let audience = campaign.audience
        var mistakes: [Diagnostic] = []
        var query = AudienceQuery(files: exportFiles(&mistakes), columns: app.columns, now: now)
        query.anyTags = load(audience.anyTags, &mistakes)
        query.allTags = load(audience.allTags, &mistakes)
        query.noneTags = load(audience.noneTags, &mistakes)
        query.aliases = load(audience.aliases, &mistakes)
        query.registrationIDs = load(audience.registrationIDs, &mistakes)
        query.everyone = audience.everyone
        query.conditions = audience.conditions
        query.excludedTags = load(audience.excludedTags, &mistakes)
        query.excludedAliases = load(audience.excludedAliases, &mistakes)
        query.excludedRegistrationIDs = load(audience.excludedRegistrationIDs, &mistakes)
        query.excludedDevices = expand(audience.excludedDevices, besideFile: campaign.file, &mistakes)
        query.aliasLimit = audience.aliasLimit
        query.maximumBadRowShare = audience.maximumBadRowShare
        query.fields = template.columns
        guard mistakes.isEmpty else { throw Diagnostics(mistakes) }
        return query
    }

    /// The campaign's exports, or the app's.
    private func exportFiles(_ mistakes: inout [Diagnostic]) -> [String] {
        if !campaign.audience.devices.isEmpty { return expand(campaign.audience.devices, besideFile: campaign.file, &mistakes) }
        if !app.devices.isEmpty { return expand(app.devices, besideFile: project.file, &mistakes) }
        mistakes.append(
            Diagnostic(
                "no device export is named, neither here nor for the app '\(app.name.value)' in \(project.file)",
                at: campaign.audience.position,
                remedy: "Write `devices: exports/devices.csv` below `audience`."))
        return []
    }

    private func expand(_ paths: [SourceText], besideFile file: String, _ mistakes: inout [Diagnostic]) -> [String] {
        var files: [String] = []
        for path in paths {
            do {
                let found = try AudienceQuery.expand(paths: [FilePaths.resolve(path.value, besideFile: file)])
                for missing in found where !FilePaths.exists(missing) {
                    mistakes.append(
                        Diagnostic(
                            "there is no file \(missing)", at: path.position, remedy: "Paths are relative to the file that names them."))
                }
                files += found
            } catch {
                mistakes += error.all.map { placed($0, at: path.position) }
            }
        }
        return files
    }

    private func load(_ list: NameList, _ mistakes: inout [Diagnostic]) -> [String] {
        var names = list.names.map(\.value)
        guard let file = list.file else { return names }
        do {
            names += try NameFile.read(FilePaths.resolve(file.value, besideFile: campaign.file))
        } catch {
            mistakes.append(placed(error, at: file.position))
        }
        return names
    }

    /// A mistake of a whole file is shown where the campaign names that file; one inside it stays at its own place.
    private func placed(_ mistake: Diagnostic, at position: SourcePosition) -> Diagnostic {
        guard mistake.position == nil else { return mistake }
        var placed = mistake
        placed.position = position
        placed.message = (mistake.file.map { "\($0): " } ?? "") + mistake.message
        return placed
    }
}
