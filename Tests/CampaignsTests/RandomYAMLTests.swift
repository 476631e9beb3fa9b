import Base
import Testing

@testable import Campaigns

/// SplitMix64 by Steele, Lea and Flood: the same numbers from the same seed, everywhere.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}

@Suite("Whatever is read, the answer is a value or mistakes")
struct RandomYAMLTests {
    private static let campaign = """
        name: spring-sale
        app: shop
        audience:
          tags: {any: [discount, daily], none: &n [beta]}
          aliases: {file: vip.txt}
          where: {language: [en, de], app_version: ">= 3.2.0", last_active: within 30 days}
          exclude: {tags: *n, devices: suppressed.csv}
          max_bad_rows: 1%
        content:
          title: "Hi {{ first_name | default: 'there' }}"
          body: >-
            folded
            text
          subtitle: 'it''s'
          badge: 1
          image: https://cdn.example.com/spring.jpg
          data: {a: [1, 2.5, true, ~, {b: c}], 数: 码}
        delivery: {pace: 5000/s, expires: 2026-12-01 09:00, priority: high, collapse: x, unknown: skip}

        """
    private static let project = """
        runs: runs
        apps:
          shop:
            topic: com.example.shop
            environment: {url: "https://localhost:2197", ca: ca.pem}
            key: {file: a.p8, id: ABC123DEFG, team: DEF123GHIJ}
            devices: [a.csv]
            columns: {token: device, tags: {column: labels, separator: "|"}}
            pace: 9000/s

        """
    private static let alphabet =
        Array("abc:-?[]{},&*!|>'\"%@`#~ \n\n\t.019/<=\\éx数\u{FEFF}\0".utf8) + [0xFF, 0xC3, 0x80]

    /// Reads the text as a campaign and as volley.yaml; an error must have a message, and a place
    /// inside the file.
    private func read(_ bytes: [UInt8], _ note: Comment) {
        let source: YAMLSource
        do throws(Diagnostic) {
            source = try YAMLSource(file: "c.yaml", bytes: bytes)
        } catch {
            #expect(!error.message.isEmpty, note)
            return
        }
        let lines = bytes.count { $0 == 10 || $0 == 13 } + 1
        func check(_ mistakes: [Diagnostic]) {
            for mistake in mistakes {
                #expect(!mistake.message.isEmpty, note)
                if let place = mistake.position { #expect((1...lines).contains(place.line) && place.column >= 1, note) }
            }
        }
        do throws(Diagnostics) { check(try Campaign.read(source, now: now).1) } catch { check(error.all) }
        do throws(Diagnostics) { check(try Project.read(source).1) } catch { check(error.all) }
    }

    @Test("random bytes", arguments: 1...4 as ClosedRange<UInt64>)
    func noise(_ seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        for round in 0..<400 {
            let bytes = (0..<Int.random(in: 0...120, using: &numbers)).map { _ in
                Self.alphabet.randomElement(using: &numbers) ?? 0
            }
            read(bytes, "seed \(seed), round \(round)")
        }
    }

    @Test("campaigns and volley.yaml with random changes", arguments: 1...4 as ClosedRange<UInt64>)
    func mutations(_ seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        let originals = [Array(Self.campaign.utf8), Array(Self.project.utf8)]
        for round in 0..<400 {
            var bytes = originals[round % 2]
            for _ in 0...Int.random(in: 0...3, using: &numbers) { mutate(&bytes, using: &numbers) }
            read(bytes, "seed \(seed), round \(round)")
        }
    }

    private func mutate(_ bytes: inout [UInt8], using numbers: inout SeededNumbers) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &numbers)
        let end = min(bytes.count, place + Int.random(in: 1...12, using: &numbers))
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0: bytes[place] = Self.alphabet.randomElement(using: &numbers) ?? 0
        case 1: bytes.removeSubrange(place..<end)
        case 2: bytes.insert(Self.alphabet.randomElement(using: &numbers) ?? 0, at: place)
        default: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &numbers))
        }
    }

    @Test("the originals of the changes are without mistakes")
    func originals() throws {
        _ = try readCampaign(Self.campaign)
        _ = try readProject(Self.project)
    }
}
