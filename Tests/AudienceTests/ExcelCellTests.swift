import Base
import TestSupport
import Testing

@testable import Audience

/// Cells that were written so that Excel does not change them.
@Suite struct ExcelCellTests {
    private let folder = TemporaryFolder()

    @Test("a formula around a text, in quotes, is that text; any other cell is as it stands")
    func formulas() throws {
        let cells: [(written: String, read: String)] = [
            (#""=""0012""""#, "0012"), (#"" =""12e45"" ""#, "12e45"), (##""="" a """"##, "a"), (#""=""""""#, ""),
            (#""=""a""&""b""""#, #"="a"&"b""#), (#""=1+1""#, "=1+1"), (#"="0012""#, #"="0012""#),
            (#" ="0012""#, #"="0012""#),
            (#""=""0012""#, #"="0012"#), ("'=1+1", "'=1+1"),
        ]
        let path = folder.file("a.csv", "token,x\n" + cells.map { "t,\($0.written)\n" }.joined())
        var reader = try DelimitedReader.open(
            path: path, isGzip: false, separator: UInt8(ascii: ","), limits: ReadingLimits())
        reader.use(columns: [1])
        var found: [String] = []
        reading: while true {
            switch try reader.next() {
            case .row: found.append(String(decoding: reader.row.bytes(0), as: UTF8.self))
            case .badRow: found.append("bad")
            case .needsMore: try reader.refill()
            case .end: break reading
            }
        }
        #expect(found == cells.map(\.read))
    }
}
