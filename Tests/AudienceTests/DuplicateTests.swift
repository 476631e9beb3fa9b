import Base
import Testing

@testable import Audience

/// One push per device, and a limited number per alias.
@Suite struct DuplicateTests {
    private let folder = TemporaryFolder()

    private func export(_ rows: [String]) -> AudienceQuery {
        let header = "registration_id,token,alias,tags,language,last_active"
        return AudienceQuery(folder.file("devices.csv", ([header] + rows).joined(separator: "\n"))).with {
            $0.anyTags = ["t"]
        }
    }

    @Test("the newest row of a device wins, of equally new ones the last read; blank and unreadable dates are oldest")
    func newestWins() throws {
        let upper = token(0xAB).uppercased()
        let (result, sink) = try export([
            "r1,\(token(0xAB)),,t,en,", "r2,\(upper),,t,de,2026-01-02", "r3,\(token(0xAB)),,t,fr,2026-01-02T00:00:00Z",
            "r4,\(token(0xAB)),,t,ja,1767225600", "r5,\(token(0xCD)),,t,en,soon", "r6,\(token(0xCD)),,t,it,",
        ]).run()
        #expect(sink.slots.map { $0?.registrationID } == ["r3", "r6"])
        #expect(sink.slots.first??.token.text == token(0xAB))
        #expect(result.skipped == [.duplicateToken: 4] && result.languages == ["fr": 1, "it": 1])
        #expect(sink.putCount == 5)
    }

    @Test("the selectors of the newest row count, not those of older ones")
    func selectorsOfNewest() throws {
        let query = export([
            "r1,\(token(1)),,t,,2026-02-01", "r2,\(token(1)),u1,,,2026-01-01", "r3,\(token(1)),u1,x,,2026-03-01",
        ])
        let (result, sink) = try query.with { $0.aliases = ["u1"] }.run()
        #expect(result.selectors == ["tag:t": 0, "alias": 1])
        #expect(sink.slots.map { $0?.registrationID } == ["r3"])
    }

    @Test("what the sink says of the newest row counts for the device")
    func verdictOfWinner() throws {
        let rows = ["r1,\(token(1)),,t,,2026-01-01", "r2,\(token(1)),,t,,2026-02-01"]
        #expect(try export(rows).run { $0.registrationID == "r1" ? .renderError : nil }.result.audience == 1)
        let (result, sink) = try export(rows).run { $0.registrationID == "r2" ? .renderError : nil }
        #expect(result.skipped == [.renderError: 1, .duplicateToken: 1] && result.isBalanced && sink.dropped == [0])
    }

    @Test("rows of one device in several files are one device")
    func severalFiles() throws {
        let first = folder.file("1.csv", "token,tags,last_active\n\(token(1)),t,2026-01-01\n")
        let second = folder.file(
            "2.jsonl",
            "{\"tags\":[\"t\"],\"device_token\":\"\(token(1))\",\"registration_id\":\"new\",\"last_active\":\"2026-05-05\"}\n"
        )
        let (result, sink) = try AudienceQuery(first, second).with { $0.anyTags = ["t"] }.run()
        #expect(result.rows == 2 && result.skipped == [.duplicateToken: 1])
        #expect(sink.recipients.map(\.registrationID) == ["new"])
    }

    private func aliasRows() -> [String] {
        // Five devices of u1: 3 and 4 were active at the same moment, 5 never.
        [
            "r1,\(token(1)),u1,,,2026-01-01", "r2,\(token(2)),u1,,,2026-05-01", "r4,\(token(4)),u1,,,2026-03-01",
            "r3,\(token(3)),u1,,,2026-03-01", "r5,\(token(5)),u1,,,",
        ]
    }

    @Test(
        "an alias keeps its most recently active devices, then by token",
        arguments: [(1, ["r2"]), (2, ["r2", "r3"]), (4, ["r1", "r2", "r3", "r4"])])
    func aliasLimit(limit: Int, kept: [String]) throws {
        let (result, sink) = try export(aliasRows()).with {
            ($0.anyTags, $0.aliases, $0.aliasLimit) = ([], ["u1"], limit)
        }.run()
        #expect(sink.ids.sorted() == kept)
        #expect(result.skipped == [.aliasLimit: 5 - limit] && result.isBalanced)
        #expect(result.selectors == ["alias": limit])
    }

    @Test("a device that a tag, a registration id or another alias keeps is not cut")
    func keptOtherwise() throws {
        let rows = aliasRows() + ["r1,\(token(1)),u2,,,2026-02-01", "r5,\(token(5)),u1,t,,"]
        let query = export(rows).with { ($0.aliases, $0.aliasLimit, $0.registrationIDs) = (["u1", "u2"], 1, ["r4"]) }
        let (result, sink) = try query.run()
        #expect(sink.ids.sorted() == ["r1", "r2", "r4", "r5"])
        #expect(result.skipped == [.aliasLimit: 1, .duplicateToken: 2])
    }

    @Test(
        "a suppressed device takes no place of its alias; one that cannot be rendered does, and beyond the limit counts as cut"
    )
    func verdictsAndLimit() throws {
        let query = export(aliasRows()).with { ($0.anyTags, $0.aliases, $0.aliasLimit) = ([], ["u1"], 2) }
        let (result, sink) = try query.run {
            switch $0.registrationID {
            case "r2": .suppressed
            case "r3", "r1": .renderError
            default: nil
            }
        }
        #expect(sink.ids == ["r4"])
        #expect(result.skipped == [.suppressed: 1, .renderError: 1, .aliasLimit: 2] && result.isBalanced)
    }

    @Test("many devices are told apart, and found again, while the table grows")
    func manyDevices() throws {
        var devices = DeviceTable()
        let hash = KeyedHash(key: (1, 2))
        func fingerprint(_ number: Int) -> TokenFingerprint {
            Array(token(number).utf8).withUnsafeBufferPointer { hash.fingerprint($0) }
        }
        for number in 0..<200_000 {
            if devices.find(fingerprint(number)) != -1 { Issue.record("\(number) is there already") }
            devices.append(fingerprint(number), ActivityMoment(Int64(number)), class: number & 0xFFFFFF)
        }
        for number in 0..<200_000 {
            let slot = devices.find(fingerprint(number))
            if slot != number || devices.classNumber(of: slot) != number { Issue.record("\(number) became \(slot)") }
        }
        #expect(devices.count == 200_000)
        #expect(devices.moment(of: 7) == ActivityMoment(7) && devices.fingerprint(of: 7) == fingerprint(7))
    }

    @Test("tokens whose fingerprints share the word are two devices; tokens of other lengths have fingerprints as well")
    func fingerprints() {
        var devices = DeviceTable()
        devices.append(TokenFingerprint(word: 7, rest: 1), ActivityMoment(1), class: 0)
        devices.append(TokenFingerprint(word: 7, rest: 2), ActivityMoment(2), class: 0)
        #expect(
            devices.find(TokenFingerprint(word: 7, rest: 1)) == 0
                && devices.find(TokenFingerprint(word: 7, rest: 2)) == 1)
        #expect(devices.find(TokenFingerprint(word: 7, rest: 3)) == -1)
        let hash = KeyedHash(key: (1, 2))
        let tokens = (4...80).map { String(repeating: "ab", count: $0) } + (0..<2000).map(token)
        let found = tokens.map { Array($0.utf8).withUnsafeBufferPointer { hash.fingerprint($0) } }
        #expect(Set(found.map(\.word)).count == tokens.count && Set(found.map(\.rest)).count == tokens.count)
        #expect(
            zip(tokens, found).allSatisfy { token, found in
                Array(token.utf8).withUnsafeBufferPointer { hash.token($0) } == found.word
            })
    }

    @Test(
        "texts of 64 characters that are not hex digits are told apart, also where their letters have the values of the same digits"
    )
    func otherTexts() {
        let hash = KeyedHash(key: (1, 2))
        func fingerprint(_ text: String) -> TokenFingerprint {
            Array(text.utf8).withUnsafeBufferPointer { hash.fingerprint($0) }
        }
        let digits = String(repeating: "0a", count: 32)
        // Each byte at each place once, in a text that otherwise consists of digits: only hex
        // digits make a token of it.
        for place in [0, 7, 8, 31, 63] {
            var texts: Set<[UInt8]> = [], words: Set<UInt64> = [], rests: Set<UInt32> = []
            for byte in UInt8.min ... .max {
                var text = Array(digits.utf8)
                text[place] = byte
                let found = text.withUnsafeBufferPointer { hash.fingerprint($0) }
                texts.insert(text)
                words.insert(found.word)
                rests.insert(found.rest)
                #expect(text.withUnsafeBufferPointer { hash.token($0) } == found.word)
            }
            #expect(texts.count == 256 && words.count == 256 && rests.count == 256)
        }
        // The same digits, if a digit were the lower half of a byte, and nine more for a letter.
        let users = ["p", "9", "P", "y", "I"].map { String(repeating: $0, count: 64) }
        #expect(Set(users.map { fingerprint($0).word }).count == users.count)
        #expect(fingerprint(digits.uppercased()) != fingerprint(digits))
    }

    @Test("moments keep their order when they are compressed, also the oddest")
    func compressedMoments() {
        let year: Int64 = 31_556_952_000
        let moments: [Int64] = [
            ActivityMoment.never, -200_000 * year, -2000 * year, -62_135_596_800_000, -1, 0, 1, 1_795_176_000_000,
            1_795_176_000_001,
            2200 * year, 253_402_300_799_999, 30_000 * year,
        ]
        let compressed = moments.map { ActivityMoment($0) }
        #expect(zip(compressed, compressed.dropFirst()).allSatisfy { $0 < $1 })
        #expect(compressed.allSatisfy { $0.bits < 1 << 48 })
        #expect(ActivityMoment(.max).bits < 1 << 48 && ActivityMoment(.min + 1) > ActivityMoment(.min))
    }

    @Test("many classes that differ only in their selectors are told apart in few steps")
    func manyClasses() throws {
        var classes = ClassTable()
        for round in 0..<2 {
            for selection in 0..<100_000 {
                let deviceClass = DeviceClass(selection: selection, language: 3, payloadBytes: 200, reason: nil)
                if try classes.number(of: deviceClass) != selection {
                    Issue.record("class \(selection) in round \(round)")
                }
            }
        }
        #expect(classes.collisions < 200_000)
        #expect(
            classes[70_000].selection == 70_000 && classes[70_000].payloadBytes == 200 && classes[70_000].reason == nil)
        // The reason has four bits of a class's key.
        for reason in SkipReason.allCases {
            let number = try classes.number(
                of: DeviceClass(selection: 1, language: 0, payloadBytes: 0, group: 1, reason: reason))
            #expect(classes[number].reason == reason && classes[number].group == 1)
        }
        let beyond = DeviceClass(selection: 1 << 24, language: 0, payloadBytes: 0, reason: nil)
        #expect(throws: Diagnostics.self) { _ = try classes.number(of: beyond) }
    }
}
