public import Base
public import Campaigns
import Glibc

/// The folders whose files a campaign may name when it is written, planned or sent in the console (`console.roots`; by default that of
/// volley.yaml): whoever may write campaigns must not read other files of the machine with them.
public struct ConsoleRoots: Sendable {
    /// Without links.
    private let folders: [String]
    private let names: [String]
    /// volley.yaml, and the runs.
    private let forbidden: [String]

    /// The roots of a project; folders that do not exist allow nothing.
    /// - Parameter other: a folder that counts as a root, too; nil for none.
    public init(_ project: Project, and other: String? = nil) {
        let named = project.console?.roots.map(\.value) ?? []
        let folder = FilePaths.folder(of: FilePaths.anchored(project.file))
        let paths = (named.isEmpty ? [folder] : named.map { FilePaths.resolve($0, besideFile: project.file) }) + (other.map { [$0] } ?? [])
        names = paths
        forbidden = [project.file, FilePaths.resolve(project.runs, besideFile: project.file)].compactMap {
            Self.real(FilePaths.anchored($0))
        }
        folders = paths.compactMap { Self.real(FilePaths.anchored($0)) }
    }

    /// A mistake for each file that the campaign names elsewhere, with its place.
    public func mistakes(in campaign: Campaign) -> [Diagnostic] { mistakes(in: campaign.audience, of: campaign.file) }

    /// The same for an audience alone, where the rest of its campaign cannot be read.
    /// - Parameter file: the campaign's, which paths are relative to.
    public func mistakes(in audience: CampaignAudience, of file: String) -> [Diagnostic] {
        let lists = [
            audience.anyTags, audience.allTags, audience.noneTags, audience.aliases, audience.registrationIDs, audience.excludedTags,
            audience.excludedAliases, audience.excludedRegistrationIDs,
        ]
        let exports = audience.devices.filter { !isExport($0.value, of: file) }
        let others = (audience.excludedDevices + lists.compactMap(\.file)).filter { !isList($0.value, of: file) }
        return queries(in: audience)
            + (exports + others).map { path in
                Diagnostic(
                    "the console may not use the file \(TextFormat.inLine(path.value))", at: path.position,
                    remedy:
                        "It lies outside of \(names.map(TextFormat.inLine).joined(separator: ", ")). Name a file there, or have `console: {roots: […]}` of volley.yaml extended."
                )
            }
    }

    /// SQL is written by those who keep volley.yaml: in a browser it would read whatever Volley's role may read.
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

    private func isExport(_ path: String, of file: String) -> Bool {
        Self.isPlainPattern(path) && holds(FilePaths.resolve(path, besideFile: file))
    }

    /// Lists hold names, a line each; anything else, such as a key, has another ending. Lines of it could be seen in messages.
    private func isList(_ path: String, of file: String) -> Bool {
        let endings = [".txt", ".csv", ".tsv", ".json", ".jsonl", ".gz"]
        return isExport(path, of: file) && endings.contains { path.lowercased().hasSuffix($0) }
    }

    /// Whether what a pattern or a date stands for can lead nowhere else: `.*` also matches the folder above (glob(7)), and a date's format may
    /// hold any text.
    static func isPlainPattern(_ path: String) -> Bool {
        let parts = path.components(around: "{{", "}}")
        let isDatePlain = parts.inside.allSatisfy { $0.unicodeScalars.allSatisfy { isPlain($0) } }
        let hidden = parts.outside.split(separator: "/", omittingEmptySubsequences: true).contains { part in
            part.hasPrefix(".") && part.contains { "*?[{".contains($0) }
        }
        return isDatePlain && !hidden
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || " %|:_-'\"".unicodeScalars.contains(scalar)
    }

    /// Whether a path, which may be a pattern, leads into one of the folders, and not to the runs or volley.yaml in it.
    public func holds(_ path: String) -> Bool {
        // What a pattern stands for lies below the folder before it.
        var known = FilePaths.anchored(path).split(separator: "/").map(String.init)
        if let pattern = known.firstIndex(where: { $0.contains { "*?[{".contains($0) } }) {
            guard !known[pattern...].contains("..") else { return false }
            known.removeSubrange(pattern...)
        }
        // What does not exist yet lies in the last folder that does.
        var missing: [String] = []
        while !known.isEmpty, Self.real("/" + known.joined(separator: "/")) == nil { missing.append(known.removeLast()) }
        guard !missing.contains(".."), let real = Self.real("/" + known.joined(separator: "/")) else { return false }
        func lies(in folder: String) -> Bool { real == folder || real.hasPrefix(folder == "/" ? "/" : folder + "/") }
        return folders.contains(where: lies) && !forbidden.contains(where: lies)
    }

    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}

extension String {
    /// What stands between two marks, and everything else, in which each such place counts as a plain letter.
    fileprivate func components(around start: String, _ end: String) -> (inside: [String], outside: String) {
        var (inside, outside, rest) = ([String](), "", self[...])
        while let begin = rest.firstRange(of: start) {
            outside += rest[..<begin.lowerBound] + "x"
            rest = rest[begin.upperBound...]
            let finish = rest.firstRange(of: end)
            inside.append(String(rest[..<(finish?.lowerBound ?? rest.endIndex)]))
            rest = rest[(finish?.upperBound ?? rest.endIndex)...]
        }
        return (inside, outside + rest)
    }
}
