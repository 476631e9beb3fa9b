import Foundation
import Testing

/// The boundaries that the compiler does not check: code that is allowed only in some modules.
/// `Exceptions.txt` counts the exceptions. A number that grows is a new hole; one that shrinks must
/// be written down, so that it cannot grow again.
@Suite("The boundaries of the modules")
struct ArchitectureTests {
    /// Lines of `boundary module count`.
    private static func written() throws -> [String: [String: Int]] {
        let file = SourceFile.root.appendingPathComponent("Tests/ArchitectureTests/Exceptions.txt")
        var written: [String: [String: Int]] = [:]
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            try #require(words.count == 3, "\(line)")
            let count = try #require(Int(String(words[2])) as Int?, "\(line)")
            written[String(words[0]), default: [:]][String(words[1])] = count
        }
        return written
    }

    @Test("nothing stands in a module where it may not, beyond what is counted")
    func boundaries() throws {
        let (files, written) = (try SourceFile.all(), try Self.written())
        #expect(files.count > 300)
        #expect(Set(written.keys).isSubset(of: Boundary.all.map(\.name)))
        for boundary in Boundary.all {
            let (found, known) = (try boundary.exceptions(in: files), written[boundary.name] ?? [:])
            for module in Set(found.keys).union(known.keys).sorted() {
                let (now, before) = (found[module] ?? 0, known[module] ?? 0)
                #expect(
                    now == before,
                    "\(boundary.name) \(module) \(now)   (\(before) in Tests/ArchitectureTests/Exceptions.txt: \(now > before ? "move it where it may stand" : "write the smaller number there"))"
                )
            }
        }
    }

    @Test("a module has one error of its own at most; what people read is a Diagnostic")
    func errors() throws {
        let declaration = #/\b(?:struct|enum|class)\s+(\w+)[^{\n]*:[^{\n]*\b(?:Error|ExplainedError)\b/#
        var errors: [String: Set<String>] = [:]
        for file in try SourceFile.all() where file.module != "Benchmarks" {
            for found in file.code.matches(of: declaration) { errors[file.module, default: []].insert(String(found.1)) }
        }
        #expect(errors.removeValue(forKey: "Base") == ["Diagnostic", "Diagnostics", "FileError", "Mistake"])
        for (module, names) in errors { #expect(names.count == 1, "\(module): \(names.sorted())") }
        #expect(
            Set(errors.keys) == [
                "Accounts", "Audience", "Campaigns", "OpenIDConnect", "Postgres", "Cluster", "Runs", "Sending",
                "volley",
                "volley-console",
            ])
    }

    @Test("no function needs more than five arguments; an initialiser may list what its value is made of")
    func parameters() throws {
        for file in try SourceFile.all() where file.module != "Benchmarks" {
            for declaration in Declaration.all(in: file.code)
            where declaration.required.count > 5 && !declaration.isMemberwise {
                Issue.record(
                    "\(file.path):\(declaration.line): \(declaration.name) needs \(declaration.required.count)")
            }
        }
    }

    @Test("parameters are counted without those that have a default, and calls are no declarations")
    func declarations() {
        let code = """
            struct S {
                init(a: Int, b b2: [Int: Int], _ c: (Int, Int) -> Int, d: Int = 1) {
                    self.a = a
                    self.b2 = b2
                    self.c = c
                }
                func f<T>(_ a: T, @Own b: inout Int) { g(a, b, 1) }
            }
            """
        let found = Declaration.all(in: code)
        #expect(found.map(\.name) == ["init", "func f"])
        #expect(found.map(\.required) == [["a", "b2", "c"], ["a", "b"]])
        #expect(found.map(\.isMemberwise) == [true, false])
        #expect(found.map(\.line) == [2, 7])
    }

    @Test(
        "comments and the contents of literals are no code",
        arguments: [
            ("a // print(1)\nb", "a \nb"), ("a /* x /* y */ z */ b", "a  b"), ("\"print(1)\" c", "\"\" c"),
            ("\"a\\\"b\" c", "\"\" c"),
            ("\"\\(f(\"x\", (1))) y\" c", "\"\"(f(\"\", (1))) c"), ("#\"a\"b\"# c", "\"\" c"),
            ("\"\"\"\n\"a\" // b\n\"\"\" c", "\"\"\n\n c"),
            ("#\"\"\"\"# // a\nb", "\"\" \nb"), ("/\"/\nf(1) // a", "/\"\"\nf(1) "),
            ("\"\"\"\na \\\nb\n\"\"\" c", "\"\"\n\n\n c"),
        ])
    func stripping(source: String, code: String) { #expect(SwiftText(source).code == code) }

    @Test("literals without comments are their texts, and code") func literals() {
        func text(_ source: String) -> String { SwiftText(source, keepsLiterals: true).code }
        #expect(text("let a = \"jpush\" // getui") == "let a = \"\"jpush ")
        #expect(text("/* x */ f(\"a\\(b(\"c\"))d\")") == " f(\"\"a(b(\"\"c))d)")
    }

    @Test("no test changes the environment while others read it")
    func environment() throws {
        let tests = SourceFile.root.appendingPathComponent("Tests")
        let names = FileManager.default.enumerator(atPath: tests.path)?.compactMap { $0 as? String } ?? []
        let files = names.filter { $0.hasSuffix(".swift") && !$0.hasPrefix("ArchitectureTests/") }
        #expect(files.count > 300)
        let change = try NSRegularExpression(pattern: #"\b(?:setenv|putenv|unsetenv)\("#)
        for file in files {
            let text = try String(contentsOf: tests.appendingPathComponent(file), encoding: .utf8)
            let count = change.numberOfMatches(in: text, range: NSRange(location: 0, length: text.utf16.count))
            #expect(count == 0, "\(file): replace the variable with EnvironmentVariables.replace")
        }
    }

    @Test("each boundary sees what it is for, and lets it stand where it may")
    func holes() throws {
        let hole = [
            "asks-and-prints": "print(1)", "exits-and-signals": "exit(2)", "shared-state": "static let all = Mutex(0)",
            "knows-apns": "let x = \"BadDeviceToken\"", "knows-fcm": "let x = \"fcm\"",
            "knows-sqlite": "import GRDB", "asks-databases": "import Postgres",
            "decides-by-text": "if reason == other {}",
            "polls": "usleep(5)", "trusts-stored-values": "try Int.fetchOne(db, sql: sql)",
            "quotes-libraries": "strerror(errno)", "reads-the-environment": "getenv(name)",
            "addresses-runs-by-path": "RunFile(path: p)", "serves-the-web": "import Hummingbird",
        ]
        #expect(Set(Boundary.services).isSuperset(of: ["APNs", "FCM"]))
        let ofServices = Dictionary(
            uniqueKeysWithValues: Boundary.services.map {
                ("knows-\($0.lowercased())", "let x = \"a \($0.lowercased())\"")
            })
        for boundary in Boundary.all {
            let text = try #require(hole[boundary.name] ?? ofServices[boundary.name])
            func exceptions(_ path: String) throws -> [String: Int] {
                try boundary.exceptions(in: [SourceFile(path: path, text: text)])
            }
            #expect(try exceptions("Campaigns/File.swift") == ["Campaigns": 1], "\(boundary.name)")
            for module in boundary.modules {
                #expect(
                    try exceptions(module.hasSuffix(".swift") ? module : module + "/File.swift").isEmpty,
                    "\(boundary.name)")
            }
        }
    }
}
