import Base
import Glibc
import Runs
import Testing

@testable import Planning

@Suite struct RecipientWriterTests {
    @Test("a scan may fail while recipients are being written")
    func abandoned() throws {
        var template = Array("/tmp/volley-plan-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { rmdir(folder) }
        var batch = RecipientBatch()
        batch.append(Recipient(token: Target(normalized: String(repeating: "a", count: 64))), at: 0)
        for round in 0..<20 {
            let file = try RunWriter(folder: folder, id: "run-\(round)")
            do {
                let writer = try RecipientWriter(file)
                for _ in 0..<5 { try writer.put(batch) }
            }
            file.cancel()
        }
    }
}
