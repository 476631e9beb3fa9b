import Base
import Testing

@testable import Planning

@Suite struct MemoryBudgetTests {
    @Test("sizes are read as people write them")
    func sizes() {
        let gigabyte = 1 << 30
        for text in ["1G", "1g", "1GB", "1GiB", "1024M", "1048576k", "1073741824", "1073741824B"] {
            #expect(MemoryBudget(text)?.bytes == gigabyte, "\(text)")
        }
        #expect(MemoryBudget("1.5G")?.bytes == gigabyte / 2 * 3 && MemoryBudget("2T")?.bytes == 2048 * gigabyte)
    }

    @Test(
        "what is no size is none",
        arguments: ["", "G", "B", "-1G", "1,5G", "1 G", "1e3", "nan", "inf", "1.2.3M", "9999999T", "1GG", "٣G"])
    func noSizes(text: String) { #expect(MemoryBudget(text) == nil) }

    @Test("too little is refused with the least that will do, and that will do")
    func tooLittle() throws {
        let mistake = #expect(throws: Diagnostic.self) { _ = try MemoryBudget("1M")?.forDevices(threads: 2) }
        let remedy = try #require(mistake?.remedy)
        let least = try #require(
            remedy.split { !$0.isLetter && !$0.isNumber }.compactMap { MemoryBudget(String($0)) }.first)
        #expect(try least.forDevices(threads: 2) == 16 << 20)
        #expect(try MemoryBudget("1G")?.forDevices(threads: 2) ?? 0 > 900 << 20)
        #expect(throws: Diagnostic.self) { _ = try least.forDevices(threads: 3) }
    }
}
