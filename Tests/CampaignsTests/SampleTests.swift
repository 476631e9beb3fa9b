import Base
import Glibc
import Testing

@testable import Campaigns

@Suite("The samples in campaigns/")
struct SampleTests {
    private static let folder = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/campaigns"

    static let campaigns: [String] = {
        var names: [String] = []
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".yaml"), name != "volley.yaml" { names.append(name) }
        }
        return names.sorted()
    }()

    private func read(_ file: String) throws -> (Campaign, [Diagnostic]) {
        let project = try Project.read(file: Self.folder + "/volley.yaml").0
        let draft = Campaign.draft(file: Self.folder + "/" + file, now: now) { name in
            project.app(named: name)?.services.map(\.service) ?? []
        }
        return (try #require(draft.campaign, "\(draft.findings)"), draft.findings)
    }

    @Test("there is one for every way to choose an audience")
    func names() {
        let expected = [
            "autumn-festival", "beta-testers", "double-eleven", "match-score", "monday-picks", "points-reminder",
            "service-notice",
            "silent-refresh", "spring-sale",
            "vip-invitation",
            "vip-reminder", "weekend-offer",
        ]
        #expect(Self.campaigns == expected.map { $0 + ".yaml" })
    }

    @Test(
        "each reads without an error or a warning, is called like its file, and names an app of volley.yaml",
        arguments: campaigns)
    func isSendable(_ file: String) throws {
        let (project, projectWarnings) = try Project.read(file: Self.folder + "/volley.yaml")
        let (campaign, warnings) = try read(file)
        #expect(warnings.isEmpty)
        #expect(projectWarnings.isEmpty)
        #expect(campaign.name.value + ".yaml" == file)
        #expect(project.app(named: campaign.app.value) != nil)
    }

    @Test("the files that they name are there", arguments: campaigns)
    func namedFiles(_ file: String) throws {
        let audience = try read(file).0.audience
        let lists = [audience.anyTags, audience.aliases, audience.registrationIDs].compactMap(\.file?.value)
        for path in lists { #expect(access(Self.folder + "/" + path, R_OK) == 0, "\(path)") }
    }

    @Test("volley.yaml is found from there")
    func project() {
        #expect(Project.find(startingAt: Self.folder) == Self.folder + "/volley.yaml")
    }
}
