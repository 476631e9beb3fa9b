import Base
import Testing

@Suite struct PushIDTests {
    @Test("an id is a lower-case UUID of version 8, whatever seed and recipient are")
    func form() {
        for recipient in [0, 1, 2, 999_999, 10_000_000, Int.max] {
            let bytes = Array(PushID(runSeed: .random(), recipient: recipient).description.utf8)
            #expect(bytes.count == 36)
            for (index, byte) in bytes.enumerated() {
                switch index {
                case 8, 13, 18, 23: #expect(byte == UInt8(ascii: "-"))
                case 14: #expect(byte == UInt8(ascii: "8"))
                case 19: #expect("89ab".utf8.contains(byte))
                default: #expect("0123456789abcdef".utf8.contains(byte))
                }
            }
        }
    }

    @Test("the id of a push is always the same, so that a repeat is recognisable")
    func deterministic() {
        let seed = RunSeed(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
        // Run files outlive versions of Volley: these must never change.
        #expect(PushID(runSeed: seed, recipient: 0).description == "01234567-89ab-8def-bedc-ba9876543210")
        #expect(PushID(runSeed: seed, recipient: 0) == PushID(runSeed: seed, recipient: 0))
        #expect(PushID(runSeed: seed, recipient: 1).high == PushID(runSeed: seed, recipient: 0).high)
        #expect(PushID(runSeed: seed, recipient: 1) != PushID(runSeed: seed, recipient: 0))
        #expect(PushID(runSeed: .random(), recipient: 0) != PushID(runSeed: .random(), recipient: 0))
    }

    @Test("a million recipients of a run have a million ids")
    func unique() {
        let seed = RunSeed.random()
        // A hand-written hash table: a million insertions into a Set take a quarter of a minute
        // without optimisation.
        let mask = (1 << 21) - 1
        var table = [UInt64](repeating: 0, count: mask + 1)
        let repeats = table.withUnsafeMutableBufferPointer { table in
            var repeats = 0
            var recipient = 0
            while recipient < 1_000_000 {
                let low = PushID(runSeed: seed, recipient: recipient).low
                var place = Int(truncatingIfNeeded: low) & mask
                while table[place] != 0, table[place] != low { place = (place + 1) & mask }
                if table[place] == low { repeats += 1 }
                table[place] = low
                recipient += 1
            }
            return repeats
        }
        #expect(repeats == 0)
    }

    @Test("an id is appended to what is there")
    func append() {
        var bytes = Array("id ".utf8)
        PushID(runSeed: RunSeed(high: 0, low: 0), recipient: 0).append(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "id 00000000-0000-8000-8000-000000000000")
    }
}
