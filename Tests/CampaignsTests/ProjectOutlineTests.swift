import Base
import Campaigns
import Foundation
import Testing

@Suite("volley.yaml for those who help")
struct ProjectOutlineTests {
    @Test(
        "of an address that cannot be told from a secret nothing is shown, nor of a secret that was written where a variable is named",
        arguments: [
            "proxy: http://user:pa/slashsecret@proxy.example.com:3128", "proxy: http://user:pa#slashsecret@proxy.example.com",
            "proxy: http://user:slashsecret", "x: see http://slashsecret", "secret_env: variablesecret", "url_env: \"a variablesecret\"",
        ])
    func disguised(line: String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("outline-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("\(line)\n".utf8).write(to: file)
        let text = try ProjectOutline(file: file.path).json.text
        #expect(text.contains("(removed)") && !text.contains("secret\"") && !text.contains("slashsecret"), "\(text)")
    }
}
