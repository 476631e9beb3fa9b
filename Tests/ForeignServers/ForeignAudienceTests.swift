import Base
import TestCommands
import Testing

/// Campaigns to audiences that Getui keeps, to the stand-in for it.
extension ForeignServicesTests {
    private static func stand(_ audience: String, options: [String] = []) throws -> Stand {
        let stand = try Stand(.getui, devices: 0, options: options, app: ["lists: true"])
        try stand.folder.writeCampaign(audience: "by: getui\n\(audience)")
        return stand
    }

    @Test(
        "Getui: each alias and each client id of an audience has an answer of its own, and tags share one",
        .enabled(if: plays(.getui)))
    func audiences() throws {
        let id = JudgedService.getui.target(1), wrong = JudgedService.getui.target(2, after: "dead")
        let stand = try Self.stand(
            "tags: [vip, new]\naliases: [dead2, u1, 1d1e3, 0ff4, 0dd5, a556, both7]\nregistration_ids: [\(wrong), \(id)]"
        )
        let sent = try stand.send()
        #expect(sent.status == 1, "some were rejected: \(sent)")
        #expect(
            try stand.reported("accepted") == [
                "tags/vip:new", "aliases/u1", "aliases/0ff4", "aliases/both7", "registration_ids/\(id)",
            ])
        #expect(
            try stand.reported("rejected")
                == ["aliases/dead2", "aliases/1d1e3", "aliases/0dd5", "aliases/a556", "registration_ids/\(wrong)"])
        #expect(stand.ledger("accepted") == ["vip": 1, "new": 1, "u1": 1, "0ff4": 1, "both7": 1, id: 1])
        #expect(stand.words["refused-20001"] == 2, "\(stand.words)")
    }

    @Test(
        "Getui: calls whose answers are lost are made again, and reach nobody twice",
        .enabled(if: isWhole && plays(.getui)))
    func lostAnswersOfCalls() throws {
        let aliases = (0..<8).map { "u\($0)" }
        let stand = try Self.stand(
            "tags: [vip]\naliases: [\(aliases.joined(separator: ", "))]", options: ["--cut-after-every=3"])
        let sent = try stand.send()
        #expect(try sent.status == 0 && sent.json()["outcomes"]?.int("accepted") == 9, "\(sent)")
        #expect(stand.ledger("accepted") == Dictionary(uniqueKeysWithValues: (["vip"] + aliases).map { ($0, 1) }))
        #expect(!stand.ledger("lost").isEmpty, "some came again: \(stand.words)")
    }

    @Test(
        "Getui: everyone is one call; a right, or a day's turn, that the app lacks stops the run",
        .enabled(if: plays(.getui)))
    func everyone() throws {
        let stand = try Self.stand("everyone: true", options: ["--apps-a-day=1"])
        #expect(try stand.send().status == 0 && stand.ledger("accepted") == ["all": 1])
        let second = try stand.send()
        #expect(second.status == 3 && second.errors.contains("30007"), "\(second)")
        let tags = try Self.stand("tags: [vip]", options: ["--no-tags"]).send()
        #expect(tags.status == 3 && tags.errors.contains("30003"), "\(tags)")
    }
}
