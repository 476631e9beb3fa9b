import Base
import Testing

@testable import Campaigns

@Suite("Texts that YAML reads otherwise than they were meant")
struct MistakesInYAMLTextsTests {
    @Test("each is said at its place, with what to do", arguments: mistakes)
    func isSaid(_ mistake: MistakeCase) {
        #expect(found { () throws(Diagnostics) in try readCampaign(mistake.yaml) } == mistake.expected)
    }

    static let mistakes: [MistakeCase] = [
        MistakeCase(
            "a text instead of keys",
            "Hello\n",
            """
            campaign.yaml:1:1: the file must hold 'key: value' lines, not 'Hello'. It begins, for example, with: name: spring-sale.
            """),
        MistakeCase(
            "a key without space after the colon, alone",
            "name:spring-sale\n",
            "campaign.yaml:1:1: a space is missing after the ':' of 'name:'. Write it as 'name: value'."),
        MistakeCase(
            "a key without space after the colon, among others",
            #"""
            name: a
            app:shop
            content: {title: Hi}

            """#,
            "campaign.yaml:2:1: a space is missing after the ':' of 'app'. Write app: shop."),
        MistakeCase(
            "a line without colon",
            #"""
            name: a
            app shop
            content: {title: Hi}

            """#,
            """
            campaign.yaml:2:1: this line is not 'key: value'. Put a ':' and a space after the key; if it continues the text above, indent it or put the whole text in quotes.
            """),
        MistakeCase(
            "a tab below a text",
            "name: a\n\tapp: shop\n",
            """
            campaign.yaml:2:1: there is a tab where YAML needs spaces. Replace every tab at the beginning of a line with two spaces.
            """),
        MistakeCase(
            "a double quote that is never closed",
            #"""
            name: a
            content:
              title: "Hi there
              body: x

            """#,
            "campaign.yaml:3:10: the quote that opens here is never closed. Put the same quote at the end of the text."),
        MistakeCase(
            "a single quote that is never closed",
            #"""
            name: a
            content:
              title: 'Hi there
              body: x

            """#,
            "campaign.yaml:3:10: the quote that opens here is never closed. Put the same quote at the end of the text."),
        MistakeCase(
            "a quote that is closed lines later by another",
            #"""
            content:
              title: "Hi there
              body: "x"

            """#,
            """
            campaign.yaml:2:10: the quote that opens here ends only in line 3, and more text follows it. Close the quote at the end of its own text.
            """),
        MistakeCase(
            "text after the closing quote",
            "content:\n  title: \"20 %\" off today\n",
            """
            campaign.yaml:2:16: more text follows the closing quote. Put the whole text between one pair of quotes, and write a quote inside the text as \\".
            """),
        MistakeCase(
            "an apostrophe within single quotes",
            "content:\n  title: 'It's here'\n",
            """
            campaign.yaml:2:14: more text follows the closing quote. Put the whole text between one pair of quotes, and write an apostrophe inside single quotes twice ('').
            """),
        MistakeCase(
            "a text that begins with a template",
            #"""
            name: a
            app: shop
            audience: {tags: [a]}
            content:
              title: {{ first_name }}

            """#,
            """
            campaign.yaml:5:10: YAML reads a text that begins with {{ as a group of keys. Put the whole text in quotes, for example: title: "{{ first_name }}".
            """),
        MistakeCase(
            "a text that begins with a template and goes on",
            "content:\n  title: {{ first_name }}, hello\n",
            """
            campaign.yaml:2:10: YAML reads a text that begins with {{ as a group of keys. Put the whole text in quotes, for example: title: "{{ first_name }}".
            """),
        MistakeCase(
            "a text that begins with a template with a filter",
            #"""
            name: a
            app: shop
            audience: {tags: [a]}
            content:
              title: {{ first_name | default: 'you' }}

            """#,
            """
            campaign.yaml:5:10: YAML reads a text that begins with {{ as a group of keys. Put the whole text in quotes, for example: title: "{{ first_name }}".
            """),
        MistakeCase(
            "a text that begins with a condition",
            "content:\n  title: {% if store %}Hi{% endif %}\n",
            "campaign.yaml:2:10: YAML reads a text that begins with {% as a group of keys. Put the whole text in quotes."
        ),
        MistakeCase(
            "a text that begins with @",
            "content:\n  title: @shop is open\n",
            "campaign.yaml:2:10: a text cannot begin with '@' here. Put the whole text in quotes."),
        MistakeCase(
            "a text that begins with %",
            "content:\n  title: %20 off\n",
            "campaign.yaml:2:10: a text cannot begin with '%' here. Put the whole text in quotes."),
        MistakeCase(
            "a text that begins with *",
            #"""
            name: a
            app: shop
            audience: {tags: [a]}
            content:
              title: *new* prices

            """#,
            "campaign.yaml:5:10: a text cannot begin with & or * without quotes. Put the whole text in quotes."),
        MistakeCase(
            "a text that is an unknown alias",
            #"""
            name: a
            app: shop
            audience: {tags: [a]}
            content:
              title: *new

            """#,
            "campaign.yaml:5:10: the alias '*new' refers to nothing above it. A text that begins with * needs quotes."),
        MistakeCase(
            "a text that begins with &",
            #"""
            name: a
            app: shop
            audience: {tags: [a]}
            content:
              title: &more savings

            """#,
            """
            campaign.yaml:5:10: the anchor '&more' is never used. A text that begins with & needs quotes; an anchor that nothing refers to can be removed.
            """),
        MistakeCase(
            "a text that begins with & and a space",
            "content:\n  title: & more\n",
            "campaign.yaml:2:10: a text cannot begin with & or * without quotes. Put the whole text in quotes."),
        MistakeCase(
            "a text that begins with !",
            #"""
            name: a
            app: shop
            audience: {tags: [a]}
            content:
              title: !now cheaper

            """#,
            """
            campaign.yaml:5:10: the YAML tag '!now' is not supported. Remove it; if it belongs to a text or a comparison such as "!= 3", put the whole text in quotes.
            """),
        MistakeCase(
            "a tag of YAML",
            #"""
            name: !!str a
            app: shop
            audience: {tags: [a]}
            content: {title: Hi}

            """#,
            """
            campaign.yaml:1:7: the YAML tag '!!str' is not supported. Remove it; if it belongs to a text or a comparison such as "!= 3", put the whole text in quotes.
            """),
        MistakeCase(
            "a text with a colon and a space",
            "content:\n  title: Sale: today\n",
            "campaign.yaml:2:14: a text with ': ' in it needs quotes. Put the whole text after the first ':' in quotes."
        ),
        MistakeCase(
            "curly quotes around a text with a colon",
            "content:\n  title: “Sale: today”\n",
            "campaign.yaml:2:10: curly quotes do not quote a text in YAML. Replace them with straight quotes: \" \"."),
        MistakeCase(
            "text after a list",
            "audience:\n  tags: [a] b\n",
            "campaign.yaml:2:13: more text follows a value that has ended. Put the whole text in quotes, or remove the rest."
        ),
        MistakeCase(
            "an unquoted comparison with >",
            #"""
            audience:
              where:
                app_version: >= 3.2.0

            """#,
            """
            campaign.yaml:3:18: a text cannot begin with > or | here. Put it in quotes, comparisons too, for example: app_version: ">= 3.2.0".
            """),
        MistakeCase(
            "an unknown escape",
            "content:\n  title: \"50\\% off\"\n",
            """
            campaign.yaml:2:13: a backslash between double quotes begins an escape, but YAML does not know this one. Write \\\\ for a backslash, and characters such as emoji as they are.
            """),
        MistakeCase(
            "half a surrogate pair",
            "content:\n  title: \"\\ud83d\\ude00\"\n",
            """
            campaign.yaml:2:13: a backslash between double quotes begins an escape, but YAML does not know this one. Write \\\\ for a backslash, and characters such as emoji as they are.
            """),
        MistakeCase(
            "no key before the colon",
            #"""
            name: a
            app: shop
            audience: {tags: [a]}
            content: {title: Hi}
            : c

            """#,
            "campaign.yaml:5:1: a key is missing before the ':'. Write it as 'name: value'."),
        MistakeCase(
            "a text with an escaped NUL",
            #"""
            name: a
            app: shop
            audience: {tags: [a]}
            content: {title: "Hi\0"}

            """#,
            "campaign.yaml:4:18: a text must not hold the character \\0. Remove it."),
    ]
}
