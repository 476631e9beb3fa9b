import Base
import PushServices
import Testing

@testable import Audience

/// A column that was confused is not noticed by bad cells where any name may be a target.
@Suite("Targets of another service in a column of names") struct ForeignTargetTests {
    private let folder = TemporaryFolder()

    private func warnings(
        _ text: String, _ services: [any PushService], change: (inout ExportColumns) -> Void = { _ in }
    ) throws -> [Diagnostic] {
        var columns = ExportColumns()
        change(&columns)
        let query = AudienceQuery(folder.file("a.csv", text), columns: columns).with {
            $0.services = services
            $0.everyone = true
        }
        let first = try query.run().result.warnings.filter { $0.name == .foreignTargets }
        var merging = query
        merging.columns.rows = .merge
        #expect(
            try merging.run().result.warnings.filter { $0.name == .foreignTargets } == first, "rows of a device united")
        return first
    }

    private func cid(_ number: Int) -> String { String(token(number).suffix(32)) }

    @Test("device tokens and client ids are noticed among user IDs, with their column and how many they are")
    func noticed() throws {
        let rows = (1...9).map { "\(token($0))," }.joined(separator: "\n") + "\nanna,\(token(20))\n"
        let found = try warnings("uid,token\n" + rows, [APNs(), RongCloud()]) {
            $0.targets["rongcloud_user_id"] = place("uid")
        }
        #expect(
            found.map(\.message) == [
                "9 of 10 cells in the column 'uid' look like device tokens of APNs ('0000…0001'), but RongCloud takes them for user IDs"
            ])
        #expect(
            found.map(\.remedy) == [
                "Name the column that holds user IDs in volley.yaml: `columns: {rongcloud_user_id: NAME}`. If user IDs of your app look like this, allow the warning."
            ])
        let ids = try warnings("rongcloud_user_id,cid\n\(cid(1)),\nbert,\n", [Getui(), RongCloud()])
        #expect(
            ids.map {
                $0.message.hasPrefix("1 of 2 cells in the column 'rongcloud_user_id' looks like client ids of Getui")
            } == [true])
    }

    @Test("a cell that is not used, as a device is reached by another, is noticed as well")
    func unused() throws {
        let text = "token,rongcloud_user_id\n\(token(1)),\(token(1))\n\(token(2)),\(token(2))\n"
        let found = try warnings(text, [APNs(), RongCloud()])
        #expect(found.map { $0.message.hasPrefix("2 of 2 cells in the column 'rongcloud_user_id'") } == [true])
    }

    @Test("an app with that service alone has its column of tokens, and device tokens are noticed there, too")
    func alone() throws {
        let found = try warnings("token\n\(token(1).uppercased())\n\(token(2))\n", [RongCloud()])
        #expect(
            found.map { $0.message.hasPrefix("2 of 2 cells in the column 'token' look like device tokens of APNs") }
                == [true])
        #expect(found.map { $0.remedy?.contains("`columns: {token: NAME}`") } == [true])
    }

    @Test("what user IDs look like is no reason for a warning: UUIDs, numbers, and a rare cell of 64 digits")
    func names() throws {
        let uuid = "0123456789abcdef0123456789abcdef"
        #expect(try warnings("token\n\(uuid)\n12345678901234567890\nanna\n", [RongCloud()]).isEmpty)
        #expect(try warnings("token,rongcloud_user_id\n,\(uuid)\n,bert\n", [APNs(), RongCloud()]).isEmpty)
        let rare = (1...120).map { "user\($0)" } + [token(1)]
        #expect(try warnings("token\n" + rare.joined(separator: "\n") + "\n", [RongCloud()]).isEmpty)
        #expect(try warnings("token\n\(token(1))\n", [APNs()]).isEmpty)
    }
}
