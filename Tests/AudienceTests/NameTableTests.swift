import TestSupport
import Testing

@testable import Audience

@Suite struct NameTableTests {
    private func number(of text: String, in table: NameTable) -> Int {
        let bytes = Array(text.utf8) + Array("garbage!".utf8)
        return bytes.withUnsafeBufferPointer { table.find(UnsafeBufferPointer(rebasing: $0.dropLast(8))) }
    }

    @Test("finds every name and nothing else, of whatever length", arguments: [1, 3, 300, 600, 20_000])
    func lookUp(count: Int) {
        var random = SeededRandom(UInt64(count))
        let names = (0..<count).map { index in
            String(repeating: "x", count: Int.random(in: 0..<20, using: &random)) + "\(index)"
                + ["", "小", "suffix-of-many"][index % 3]
        }
        let table = NameTable([names])
        #expect(table.names == names)
        for (index, name) in names.enumerated() where number(of: name, in: table) != index {
            Issue.record("\(name) is not found")
        }
        for name in names.prefix(500) {
            for other in [name + "x", String(name.dropLast()), "y" + name.dropFirst(), name.uppercased() + "!"]
            where !names.contains(other) {
                if number(of: other, in: table) != -1 { Issue.record("\(other) is found") }
            }
        }
        #expect(number(of: "", in: table) == -1)
    }

    @Test("many names that begin and end alike are found in as few steps as others")
    func alike() {
        let names = (0..<100_000).map { "customer\(1_000_000 + $0)@mail.example.com" }
        let table = NameTable([names])
        #expect(table.collisions < 2 * names.count)
        for index in stride(from: 0, to: names.count, by: 7) where number(of: names[index], in: table) != index {
            Issue.record("\(names[index]) is not found")
        }
        #expect(number(of: "customer0999999@mail.example.com", in: table) == -1)
    }

    @Test("names are told apart by their bytes, trimmed, and come once")
    func distinct() {
        let table = NameTable([[" a ", "a", "", "e\u{301}"], ["é", "a"]])
        #expect(table.names.map { Array($0.utf8) } == ["a", "e\u{301}", "é"].map { Array($0.utf8) })
        #expect(number(of: "é", in: table) == 2 && number(of: "e\u{301}", in: table) == 1)
        #expect(table.numbers(of: ["é", "nobody", " a", ""]) == [2, 0])
    }
}
