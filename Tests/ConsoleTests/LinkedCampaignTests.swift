import Accounts
import Base
import Foundation
import Glibc
import Synchronization
import Testing

@testable import volley_console

/// Campaign files that are symbolic links.
@Suite("campaigns behind links")
struct LinkedCampaignTests {
    typealias Office = OrderPageTests.Office

    private static let text =
        "name: linked\napp: shop\naudience: {devices: devices.csv, everyone: true}\ncontent: {title: Hi}\n"

    private static func base(_ page: String) throws -> String {
        try String(#require(page.firstMatch(of: #/name="digest" value="([0-9a-f]{64})"/#)).1)
    }

    /// Saves another title over a link, and returns the answer.
    private static func save(_ office: Office) async throws -> Reply {
        let edith = try office.session("edith", [.editor], app: "shop")
        let kept = Kept()
        try await TestServer.with(office.site) { server throws in
            let base = try base(server.request("GET", "/campaign/edit?file=linked.yaml", session: edith).body)
            let fields = [("text", text.replacing("Hi", with: "Ho")), ("digest", base)]
            let reply = try server.form("/campaign/save?file=linked.yaml", session: edith, fields)
            kept.reply.withLock { $0 = reply }
        }
        return try #require(kept.reply.withLock { $0 })
    }

    private final class Kept: Sendable {
        let reply = Mutex<Reply?>(nil)
    }

    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    @Test("a link into the folder or the roots stays, and the file behind it is written")
    func inside() async throws {
        let office = try Office()
        let folder = office.folder.path
        try FileManager.default.createDirectory(atPath: "\(folder)/shared", withIntermediateDirectories: true)
        try office.folder.write("shared/linked.yaml", Self.text)
        #expect(chmod("\(folder)/shared/linked.yaml", 0o640) == 0)
        #expect(symlink("shared/linked.yaml", "\(folder)/linked.yaml") == 0)
        #expect(try await Self.save(office).status == 303)
        #expect(Self.isLink("\(folder)/linked.yaml"))
        #expect(try String(contentsOfFile: "\(folder)/shared/linked.yaml", encoding: .utf8).contains("title: Ho"))
        var status = stat()
        #expect(stat("\(folder)/shared/linked.yaml", &status) == 0 && status.st_mode & 0o777 == 0o640)
    }

    @Test(
        "a link to anywhere else is refused with words, and nothing is written",
        arguments: ["outside/linked.yaml", "runs/linked.yaml", "shared/linked.txt"])
    func elsewhere(target: String) async throws {
        let office = try Office(), other = try TestFolder()
        let folder = office.folder.path
        for name in ["runs", "shared"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        let path = target.hasPrefix("outside/") ? "\(other.path)/linked.yaml" : "\(folder)/\(target)"
        try Self.text.write(toFile: path, atomically: false, encoding: .utf8)
        #expect(symlink(path, "\(folder)/linked.yaml") == 0)
        let reply = try await Self.save(office)
        #expect(reply.status == 422 && reply.body.contains("This campaign is a link to"))
        #expect(reply.body.contains("title: Ho"), "what was written is not lost")
        #expect(Self.isLink("\(folder)/linked.yaml"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.text)
    }
}
