import Base
import Content
import Testing

/// Follows what messages about templates propose, and counts the messages of a single mistake.
@Suite("Remedies for templates")
struct TemplateRemedyTests {
    private static func errors(_ text: String) -> [Diagnostic] {
        do throws(Diagnostics) {
            _ = try PayloadTemplate(content { $0.body = plain(text) })
            return []
        } catch { return error.all.filter { $0.severity == .error } }
    }

    @Test("each proposal removes the mistake and brings no other", arguments: TemplateMistakeTests.texts)
    func follow(text: String) {
        let before = Self.errors(text)
        for mistake in before {
            for proposal in Self.proposals(mistake) {
                guard let changed = Self.applied(proposal, to: text, at: mistake) else { continue }
                let after = Self.errors(changed), old = Set(before.map(\.message))
                let remains = after.contains { $0.message == mistake.message && $0.position == mistake.position }
                let worse = after.filter { !old.contains($0.message) }
                #expect(!remains && worse.isEmpty, "\(mistake)\n\(proposal): \(changed)\n\(worse.map(\.description))")
            }
        }
    }

    @Test("most proposals can be followed mechanically")
    func coverage() {
        let followed = TemplateMistakeTests.texts.reduce(0) { count, text in
            count
                + Self.errors(text).reduce(0) { count, mistake in
                    count + Self.proposals(mistake).count { Self.applied($0, to: text, at: mistake) != nil }
                }
        }
        #expect(followed > 40, "\(followed)")
    }

    /// The tags, and the words in quotes, that a remedy says to write.
    private static func proposals(_ mistake: Diagnostic) -> [String] {
        // The end of such a block would have to be changed, too.
        guard let remedy = mistake.remedy, !mistake.message.hasPrefix("templates have no '{% unless"),
            !mistake.message.hasPrefix("templates have no '{% case")
        else { return [] }
        let forms = [
            #/(?:Write|write|for example:?|as in) (\{\{ .+? \}\}|\{% .+? %\})[.;,]?/#,
            #/(?:Write|Did you mean) '([^ ]+?|\{% [a-z]+ %\})'(?=[.?,; ]|$)/#,
            #/Write ([a-z_]+ (?:[=!<>]+) [^ ]+)[.]/#,
        ]
        return forms.flatMap { remedy.matches(of: $0).map { String($0.output.1) } }.filter { !$0.contains("…") }
    }

    /// The tag around a place, replaced by a proposal that is a whole tag.
    private static func replacingTag(at place: Int, of scalars: [Unicode.Scalar], by proposal: String) -> String? {
        guard proposal.hasPrefix("{"), let start = scalars[..<min(place + 1, scalars.count)].lastIndex(of: "{") else {
            return nil
        }
        let end = (max(place, 1)..<max(place, 1, scalars.count)).first {
            scalars[$0] == "}" && ($0 + 1 < scalars.count && scalars[$0 + 1] == "}" || scalars[$0 - 1] == "%")
        }
        guard let end else { return nil }
        var all = scalars
        let range = start - (start > 0 && scalars[start - 1] == "{" ? 1 : 0)..<end + (scalars[end - 1] == "%" ? 1 : 2)
        all.replaceSubrange(range, with: Array(proposal.unicodeScalars))
        return String(String.UnicodeScalarView(all))
    }

    /// nil where it takes a person.
    private static func applied(_ proposal: String, to text: String, at mistake: Diagnostic) -> String? {
        let scalars = Array(text.unicodeScalars), remedy = mistake.remedy ?? ""
        // A mark or a word alone belongs elsewhere, an example shows a form, and a block also needs
        // its end.
        guard let place = mistake.position.map({ $0.column - 1 }), place <= scalars.count,
            !["{{", "}}", "{%", "%}", "default"].contains(proposal),
            !proposal.hasPrefix("{% end") || remedy.contains("alone"),
            !remedy.contains("\(proposal) …"),
            !remedy.contains("as in \(proposal)"), !text.contains("{$"), !text.contains("${")
        else { return nil }
        func changed(_ range: Range<Int>, _ new: String) -> String {
            var all = scalars
            all.replaceSubrange(range, with: Array(new.unicodeScalars))
            return String(String.UnicodeScalarView(all))
        }
        let isWhole =
            proposal.hasPrefix("{{") || proposal.split(separator: " ").count > 3
            || remedy.contains("\(proposal)' alone")
        if isWhole, let replaced = replacingTag(at: place, of: scalars, by: proposal) { return replaced }
        for quoted in mistake.message.matches(of: /'(.+?)'(?!')/).map({ Array($0.output.1.unicodeScalars) }) {
            if place <= scalars.count, scalars[place...].starts(with: quoted) {
                // A comparison replaces the one with the wrong operand.
                let column = proposal.firstMatch(of: #/^([a-z_]+) [=!<>]+ /#)?.output.1.unicodeScalars
                let start = column.flatMap { column in
                    (0..<place).last { index in scalars[index...].starts(with: column) }
                }
                return changed((start ?? place)..<place + quoted.count, proposal)
            }
            // A block with a wrong word: what follows the word stays.
            let word = proposal.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            let wrong = Array(quoted.dropFirst(3).dropLast(3))
            if quoted.starts(with: "{% ".unicodeScalars), proposal.hasPrefix("{% "), !wrong.isEmpty,
                scalars[place...].starts(with: wrong),
                proposal.split(separator: " ").count == 3
            {
                return changed(place..<place + wrong.count, word)
            }
        }
        return replacingTag(at: place, of: scalars, by: proposal)
    }

    // MARK: - One mistake, one message

    private static let nested =
        String(repeating: "{% if name %}", count: 21) + "x" + String(repeating: "{% endif %}", count: 21)

    @Test(
        "a single mistake is a single message",
        arguments: [
            nested, nested + "{% else %}", "{% if a %}" + nested + "{% endif %}", "{% if name %Hi{% endif %}",
            "{% if name Hi{% endif %}",
            "{ % if name %}Hi{% endif %}", "{％ if name ％}Hi{% endif %}", "{% if name %}Hi{ % endif %}",
            "{% if name %}Hi{% else Hello{% endif %}",
            "{% unless a %}x{% else %}y{% endunless %}", "{% unless a %}x{% endif %}",
            "{% for x in y %}{{ z }}{% else %}a{% endfor %}",
            "{% switch a %}x{% else %}y{% endif %}", "{% case a %}{% when 'b' %}x{% else %}y{% endcase %}",
            "{% frobnicate a %}x{% endif %}",
            "{% if a %}{% frobnicate %}{% endif %}", "{% if a == 'x %}it's{% endif %}",
            "{{ a | default: 'there }} and {{ b }}",
            "{{ a | default: 'there }}, it's {{ b | upcase }}", "{{ a | default: \"there }} {% if a %}x{% endif %}",
            "{{ a {{ b }}",
            "{% if a %}x{% elsif b c %}y{% else %}z{% endif %}", "{% if a b %}x{% else %}y{% endif %}",
            "{{ a | foo: 'x', 3 | upcase }}",
            "{% if a == 'x' || b == 'y' %}z{% endif %}", "{% raw %}{{ x }} {% if a %}", "{% comment %} {{ x {% if a %}",
            "{% if %}x{% endif %}",
            "{% if a %}x{% endif", "{% if a %}x{% endif }", "{% if a %}x{% endif %", "{% if a %}{% if b %}x{% endif %}",
            "{% if a %}x{% endif %}{% endif %}",
            "{% IF a %}x{% endif %}", "{% if a %}x{% Else %}y{% endif %}", "{% if a = 'x' %}y{% endif %}",
            "{{ a | date: 'dd.MM.yyyy' | default: 'x' }}",
        ])
    func single(text: String) {
        #expect(Self.errors(text).count == 1, "\(Self.errors(text).map(\.description))")
    }
}
