import Base
import Foundation
import GRDB
import Testing

@testable import Accounts

@Suite("accounts of all formats")
struct AccountFormatTests {
    @Test(
        "accounts of each format are there with roles and activities after they were opened, in the newest format",
        arguments: 1...5)
    func upgrade(format: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "volley-accounts-\(UUID().uuidString)"
        ).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Fixtures/Formats/accounts-\(format).sql")
        let database = try DatabaseQueue(path: folder + "/accounts.sqlite")
        try database.writeWithoutTransaction { try $0.execute(sql: String(contentsOf: fixture, encoding: .utf8)) }
        try database.close()
        let store = try AccountStore(folder: folder)
        let anna = try #require(try store.accounts().first)
        #expect(anna.name.text == "anna" && anna.grants == [RoleGrant(.administrator, .allApps)] && anna.issuer == nil)
        #expect(try store.activities().activities.map(\.kind) == [.signedIn])
        // 2026-11-30: the files since format 4 have a tie of the day before.
        let day = Timestamp(epochSeconds: 1_796_100_000)
        #expect(try store.ties(at: day).haveOneHand(AccountName("ben"), anna.name) == (format >= 4))
        #expect(try store.drafts(of: anna.id).map(\.fields) == (format >= 5 ? [["content.title": "Hi"]] : []))
        store.close()
        let after = try DatabaseQueue(path: folder + "/accounts.sqlite")
        #expect(try after.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == AccountFormat.newest)
        try after.close()
    }
}
