import Base
import Content
import Foundation
import Testing

/// The messages about people's mistakes. A missing snapshot is recorded and then fails, so that a
/// person looks at it.
@Suite("Mistakes in templates")
struct TemplateMistakeTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Snapshots/templates/mistakes.txt")

    /// A text on a line, the message below it, then a blank line.
    private static let snapshot: [String: String] = {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [:] }
        return Dictionary(
            text.components(separatedBy: "\n\n").compactMap { block in
                block.firstIndex(of: "\n").map { (String(block[..<$0]), String(block[block.index(after: $0)...])) }
            }, uniquingKeysWith: { first, _ in first })
    }()

    static let texts = [
        // Tags that are not tags.
        "Hi {{ name", "{{ a, {{ b }}", "Hi {{ }}", "Hi {{}}", "Hi name }}!", "{{{ name }}}", "{{ name }", "{{ name } }",
        "{{ name %}",
        "{{ name ]]",
        "{ { name } }", "{ {name}}", "{name}", "{ name }", "${name}", "#{ name }", "{name}}", "{name | default: 'x'}",
        "[[name]]",
        "[[ name ]]",
        "%name%", "Hi %first_name%, hi", "<%= name %>", "*|FNAME|*", "你好 ｛｛ name ｝｝!", "name ｝｝",
        "{{ name ｝｝",
        "｛name｝", "{％ if a ％}x", "{ % if a % }x", "{{ name \u{200B}}}",
        // Columns.
        "é {{ first name }}", "{{ First Name }}", "{{ First\u{A0}Name }}", "{{ größe! }}", "{{ 1st }}", "{{ 'text' }}",
        "{{ \"a\" | upcase }}",
        "{{ | default: 'a' }}", "{{ if a }}", "{{ a == 'x' }}", "{{ a or 'x' }}", "{{ a || 'x' }}", "{{ a ?? 'x' }}",
        "{{ a: b }}",
        "{{ first-name' }}",
        "{{ a[0] }}", "{{ 12 }}", "{{ a, b }}",
        // Filters.
        "{{ a | }}", "{{ a | | upcase }}", "{{ a | defualt: 'x' }}", "{{ a | Upcase }}", "{{ a | uppercase }}",
        "{{ a | markdownify }}",
        "{{ a | append: 'x' }}",
        "{{ a | trim }}", "{{ a default: 'x' }}", "{{ a upcase }}", "{{ a | upcase downcase }}",
        "{{ a | upcase: 'x' }}",
        "{{ a | upcase('x') }}",
        "{{ a | default }}", "{{ a | default: }}", "{{ a | default: there }}", "{{ a | default: 1.2.3 }}",
        "{{ a | default: 'there }}",
        "{{ a | default 'x' }}",
        "{{ a | default('x') }}", "{{ a | default = 'x' }}", "{{ a | default: 'x', 'y' }}",
        #"{{ a | default: 'it\'s' }}"#,
        "{{ a | default: 'x' y }}",
        "{{ a | default: 'x' 'y' }}", "{{ a | default: 'x' upcase }}", "{{ a | default: 'x' | default: 'y' }}",
        "{{ a | default: text: 'x' }}",
        "{{ a | default: ‘x’ }}", "{{ a | default: “x” }}", "{{ a | default: «x» }}", "{{ a | default: ’x’ | upcase }}",
        "{{ a ｜ default: 'x' }}",
        "{{ a | default： 'x' }}", "{{ a | default: 'x'， 'y' }}", "{{ a || default: 'x' }}",
        "{{ a | truncate }}", "{{ a | truncate: 'x' }}", "{{ a | truncate: '20' }}", "{{ a | truncate: 0 }}",
        "{{ a | truncate: 2 }}",
        "{{ a | truncate: 1.5 }}",
        "{{ a | truncate: 20, '…', 3 }}", "{{ a | truncate: 20, }}",
        "{{ a | date }}", "{{ a | date: long }}", "{{ a | date: 'Long' }}", "{{ a | date: 'lang' }}",
        "{{ a | date: 'dd.MM.yyyy' }}",
        "{{ a | date: '%d %Q' }}",
        "{{ a | date: '%d %' }}", "{{ a | date: 2026 }}", "{{ a | date: 'tomorrow' }}", "{{ a | date: '%c', 'x' }}",
        "{{ a | number: 'x' }}", "{{ a | number: 10 }}", "{{ a | number: -1 }}", "{{ a | number: '2' }}",
        "{{ a | number: 1, 2 }}",
        "{{ a | pluralize }}", "{{ a | pluralize: 'item' }}", "{{ a | pluralize: 'a', 'b', 'c' }}",
        "{{ a | pluralize: one: 'a' }}",
        "{{ a | pluralize: one: 'a', others: 'b' }}", "{{ a | pluralize: singular: 'a', other: 'b' }}",
        "{{ a | pluralize: one: 'a', one: 'b', other: 'c' }}",
        "{{ a | pluralize: 'a', other: 'b' }}", "{{ a | pluralize: one:, other: 'b' }}",
        "{{ a | pluralize: one: 'a' other: 'b' }}",
        "{{ a | number | pluralize: 'a', 'b' }}", "{{ a | default: 'soon' | date: 'long' }}",
        "{{ a | default: 'none' | number }}",
        "{{ a | upkase | strup | default: b }}",
        // Conditions.
        "{% if %}x{% endif %}", "{% if a %}x", "{% if a %}{% if b %}x{% endif %}", "x{% endif %}", "x{% else %}y",
        "{% elsif a %}",
        "{% if a %}x{% else %}y{% else %}z{% endif %}",
        "{% if a %}x{% else %}y{% elsif b %}z{% endif %}", "{% if a = 'x' %}y{% endif %}",
        "{% if a === 'x' %}y{% endif %}",
        "{% if a => 3 %}y{% endif %}",
        "{% if a <> 'x' %}y{% endif %}", "{% if a ≠ 'x' %}y{% endif %}", "{% if a is 'x' %}y{% endif %}",
        "{% if a is not 'x' %}y{% endif %}",
        "{% if a in 'x' %}y{% endif %}", "{% if a equals 'x' %}y{% endif %}", "{% if a == x %}y{% endif %}",
        "{% if language == de %}y{% endif %}", "{% if a == %}y{% endif %}",
        "{% if a == 'x' or %}y{% endif %}", "{% if and b %}y{% endif %}", "{% if a == 'x' or 'y' %}z{% endif %}",
        "{% if a == 'x' && b %}y{% endif %}",
        "{% if a || b %}y{% endif %}", "{% if a AND b %}y{% endif %}", "{% if not a %}y{% endif %}",
        "{% if !a %}y{% endif %}",
        "{% if (a or b) and c %}y{% endif %}",
        "{% if a | upcase == 'X' %}y{% endif %}", "{% if 'x' == a %}y{% endif %}", "{% if 3 < a %}y{% endif %}",
        "{% if first name == 'x' %}y{% endif %}",
        "{% if a == ‘x’ %}y{% endif %}", "{% if a ＝＝ 'x' %}y{% endif %}", "{% if a == 'x %}y{% endif %}",
        "{% if a > blank %}y{% endif %}",
        "{% if a < true %}y{% endif %}",
        "{% if a contains '' %}y{% endif %}", "{% if a contains blank %}y{% endif %}", "{% if a 'x' %}y{% endif %}",
        "{% if a == 'x' 'y' %}z{% endif %}", "{% if blank == a %}y{% endif %}",
        "{% if a %}x{% else if b %}y{% endif %}", "{% if a %}x{% end if %}", "{% if a %}x{% end %}",
        "{% if a %}x{% elseif b %}y{% endif %}", "{% if a %}x{% ELSE %}y{% ENDIF %}",
        "{% if a %}x{% else b %}y{% endif %}", "{% if a %}x{% endif a %}", "{% IF a %}x{% endif %}",
        "{% if a }}x{% endif %}",
        "{% if a }x{% endif %}", "{% if a %}x{% endif }",
        "50 {% off", "{% %}",
        // Blocks.
        "{% for x in list %}{{ x }}{% endfor %}", "{% assign x = 1 %}", "{% include 'a' %}",
        "{% unless a %}x{% endunless %}",
        "{% case a %}{% when 'x' %}{% endcase %}", "{% capture x %}y{% endcapture %}",
        "{% first_name %}", "{% first_name | upcase %}", "{% frobnicate all of it %}", "{% raw %}x", "{% comment %}x",
        "x{% endraw %}",
        "{% rwa %}x{% endraw %}",
        // Comparisons from other places, and texts for other systems.
        "{% if points >= 1.000 %}x{% endif %}", "{% if birthday > '24.12.1990' %}x{% endif %}",
        "{% if birthday > '12/24/1990' %}x{% endif %}",
        "{% if last_active > 1990 %}x{% endif %}", "{% if level > 'bronze' %}x{% endif %}",
        "{% if app_version < 'latest' %}x{% endif %}",
        "{% if language == 'German' %}x{% endif %}", "{% if a == 'N/A' %}x{% endif %}",
        "{% if points > 1,000 %}x{% endif %}",
        "{% if birthday == today %}x{% endif %}", "{% if first_\u{200B}name %}x{% endif %}", "{{ first_\u{200B}name }}",
        "{{${name}}}",
        "{{ points * 2 }}",
        "{{ a | default: nil }}", "{{ a | default: '-' }}", "{{ a | default: 'null' }}", "{{ a | date: '%H:%m' }}",
        "{{ a | date: '%d.%M.%Y' }}",
        "{{ a | pluralize: 'one point', '%d points' }}", "{{ a | pluralize: one: '1 point', other: '{n} points' }}",
    ]

    @Test("each is told at its place, in words, with a remedy", arguments: texts)
    func mistake(text: String) throws {
        let found = findings(text)
        #expect(!found.isEmpty)
        guard !Self.snapshot.isEmpty else { return }
        #expect(found == Self.snapshot[text])
    }

    @Test("there is a snapshot of all of them")
    func recorded() throws {
        #expect(Set(Self.texts).count == Self.texts.count)
        if Self.snapshot.isEmpty {
            try FileManager.default.createDirectory(
                at: Self.file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let blocks = Self.texts.map { "\($0)\n\(findings($0))" }
            try (blocks.joined(separator: "\n\n") + "\n\n").write(to: Self.file, atomically: true, encoding: .utf8)
            Issue.record("\(Self.file.lastPathComponent) was recorded; check it and run the tests again")
        } else {
            #expect(Self.snapshot.keys.filter { !Self.texts.contains($0) } == [])
        }
    }

    @Test("every message ends without a full stop, and every remedy is a sentence")
    func style() {
        for text in Self.texts {
            for finding in diagnostics(text) {
                #expect(finding.message.last != ".", "\(finding)")
                #expect(finding.remedy.map { $0.last == "." || $0.last == "?" } == true, "\(finding)")
            }
        }
    }

    private func findings(_ text: String) -> String { diagnostics(text).map(\.description).joined(separator: "\n") }

    /// The errors, or the warnings of a text without errors.
    private func diagnostics(_ text: String) -> [Diagnostic] {
        do throws(Diagnostics) {
            return try PayloadTemplate(content { $0.body = plain(text) }).warnings
        } catch { return error.all }
    }

    @Test("in texts that nobody sees, single braces may be the app's own, which is worth a warning")
    func hiddenTexts() throws {
        let hidden = try PayloadTemplate(
            content {
                $0.body = plain("x")
                $0.link = plain("shop://{id}?q=%name%")
                $0.data = try node(#"{"a": "[[x]] <b>"}"#)
            })
        #expect(
            hidden.warnings.map { $0.message } == [
                "single braces are not a template: '{id}'", "percent signs are not a template: '%name%'",
                "double brackets are not a template: '[[x]]'",
            ])
        #expect(
            mistakes(
                content {
                    $0.body = plain("x"); $0.link = plain("shop://{{ id }")
                }
            ).contains("closed by a single '}'"))
    }

    @Test("all mistakes of a text are told at once, in order")
    func allAtOnce() {
        let found = mistakes(
            "{{ a | upkase | truncate: x }} {name} {% if b = 'x' and c %}{{ }}{% endfi %} ‘{{ d | default: ‘x’ }}")
        #expect(
            found.split(separator: "\n").map { $0.dropFirst("c.yaml:1:".count).prefix { $0 != ":" } }.map(String.init)
                == ["8", "27", "32", "47", "61", "69", "95"])
    }
}
