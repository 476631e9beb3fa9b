import Base
import Foundation
import TestCommands
import Testing

@Suite("volley version")
struct VersionTests {
    private let folder = FileManager.default.temporaryDirectory

    @Test("alone it says the version, as --version does")
    func plain() throws {
        let version = try VolleyBinary.run(["version"], in: folder)
        #expect(version.status == 0 && version.output == volleyVersion + "\n")
        #expect(try VolleyBinary.run(["--version"], in: folder).output == version.output)
        #expect(
            try VolleyBinary.run(["version", "--json"], in: folder).json()
                == .object(pairs: [("version", .string(volleyVersion))]))
    }

    @Test("with --verbose it says what others say of the libraries, the kernel and the limits")
    func verbose() throws {
        let facts = try VolleyBinary.run(["version", "--verbose", "--json"], in: folder).json()
        #expect(facts.names == ["version", "libraries", "system", "formats", "limits"])
        let libraries = try #require(facts["libraries"])
        for name in libraries.names {
            #expect(libraries[name]?.stringValue?.contains { $0.isNumber } == true, "\(name)")
        }
        for (name, package) in [("libcurl", "libcurl"), ("nghttp2", "libnghttp2"), ("libyaml", "yaml-0.1")] {
            #expect(try libraries[name]?.stringValue == output("pkg-config", "--modversion", package), "\(name)")
        }
        #expect(try facts["system"]?["kernel"]?.stringValue == output("uname", "-r"))
        #expect(facts["formats"]?.int("run") ?? 0 >= 6 && facts["formats"]?.int("backup") == 2)
        #expect(try facts["limits"]?.int("cores").map(String.init) == output("nproc"))
    }

    @Test("as text it has a line for each fact of the document")
    func text() throws {
        let facts = try VolleyBinary.run(["version", "--verbose", "--json"], in: folder).json()
        let lines = try VolleyBinary.run(["version", "--verbose"], in: folder).output.split(separator: "\n")
        #expect(lines.first == "Volley \(volleyVersion)")
        for part in facts.names.dropFirst() {
            for name in facts[part]?.names ?? [] {
                #expect(
                    lines.contains {
                        $0.split(separator: " ").first.map(String.init)
                            == name.split(separator: " ").first.map(String.init)
                    })
            }
        }
    }

    private func output(_ program: String, _ arguments: String...) throws -> String {
        let result = try RunningVolley(
            executable: "/usr/bin/env", [program] + arguments, in: folder, environment: [:], input: nil
        ).finish()
        return result.output.split(separator: "\n").first.map(String.init) ?? ""
    }
}
