public import Base
public import Campaigns
import Glibc

/// The folders whose files a campaign may name when it is written, planned or sent in the console (`console.roots`; by default that of
/// volley.yaml): whoever may write campaigns must not read other files of the machine with them.
public struct ConsoleRoots: Sendable {
    /// Without links.
    private let folders: [String]
    private let names: [String]

    /// The roots of a project; folders that do not exist allow nothing.
    public init(_ project: Project) {
        let named = project.console?.roots.map(\.value) ?? []
        let folder = FilePaths.folder(of: FilePaths.anchored(project.file))
        let paths = named.isEmpty ? [folder] : named.map { FilePaths.resolve($0, besideFile: project.file) }
        names = paths
        folders = paths.compactMap { Self.real(FilePaths.anchored($0)) }
    }

    /// A mistake for each file that the campaign names elsewhere, with its place.
    public func mistakes(in campaign: Campaign) -> [Diagnostic] {
        let audience = campaign.audience
        let lists = [
            audience.anyTags, audience.allTags, audience.noneTags, audience.aliases, audience.registrationIDs, audience.excludedTags,
            audience.excludedAliases, audience.excludedRegistrationIDs,
        ]
        let files = audience.devices + audience.excludedDevices + lists.compactMap(\.file)
        return files.filter { !holds(FilePaths.resolve($0.value, besideFile: campaign.file)) }.map { file in
            Diagnostic(
                "the console may not use the file \(TextFormat.inLine(file.value))", at: file.position,
                remedy:
                    "It lies outside of \(names.map(TextFormat.inLine).joined(separator: ", ")). Name a file there, or have `console: {roots: […]}` of volley.yaml extended."
            )
        }
    }

    /// Whether a path, which may be a pattern, leads into one of the folders.
    func holds(_ path: String) -> Bool {
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
        return folders.contains { real == $0 || real.hasPrefix($0 == "/" ? "/" : $0 + "/") }
    }

    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}
