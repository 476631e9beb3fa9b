import Base
import Testing

@testable import Campaigns

@Suite("Files that are no group of keys and values")
struct MistakesInYAMLStructureTests {
    @Test("each is said at its place, with what to do", arguments: mistakes)
    func isSaid(_ mistake: MistakeCase) {
        #expect(found { () throws(Diagnostics) in try readCampaign(mistake.yaml) } == mistake.expected)
    }

    static let mistakes: [MistakeCase] = [
        MistakeCase(
            "an empty file",
            "",
            "campaign.yaml:1:1: the file is empty. It must hold 'key: value' lines, for example: name: spring-sale."),
        MistakeCase(
            "a file of comments only",
            "# nothing yet\n",
            "campaign.yaml:1:1: the file is empty. It must hold 'key: value' lines, for example: name: spring-sale."),
        MistakeCase(
            "a file that is null",
            "~\n",
            "campaign.yaml:1:1: the file is empty. It must hold 'key: value' lines, for example: name: spring-sale."),
        MistakeCase(
            "a list instead of keys",
            "- name: spring-sale\n- app: shop\n",
            """
            campaign.yaml:1:1: the file must hold 'key: value' lines, not a list. It begins, for example, with: name: spring-sale.
            """),
        MistakeCase(
            "a tab as indentation",
            #"""
            name: a
            audience:
            \#ttags: [a]

            """#,
            """
            campaign.yaml:3:1: there is a tab where YAML needs spaces. Replace every tab at the beginning of a line with two spaces.
            """),
        MistakeCase(
            "a tab after spaces of indentation",
            "audience:\n  \ttags: [a]\n",
            """
            campaign.yaml:2:3: there is a tab where YAML needs spaces. Replace every tab at the beginning of a line with two spaces.
            """),
        MistakeCase(
            "a key indented below a value",
            "name: a\n  app: shop\n",
            """
            campaign.yaml:2:3: this line is indented below a line that already has a value. Give it the same indentation as the line above it, or put a text of several lines in quotes.
            """),
        MistakeCase(
            "a key at a column of its own",
            #"""
            audience:
                tags: [a]
              everyone: true

            """#,
            """
            campaign.yaml:3:3: this line begins at a column where nothing above it began. Indent it exactly as the other keys or entries of its group, with spaces.
            """),
        MistakeCase(
            "list entries at different columns",
            #"""
            audience:
              tags:
                - a
               - b

            """#,
            """
            campaign.yaml:4:4: this line begins at a column where nothing above it began. Indent it exactly as the other keys or entries of its group, with spaces.
            """),
        MistakeCase(
            "a list entry beside its key",
            "audience:\n  tags: - a\n",
            """
            campaign.yaml:2:9: a list entry '- ' is not allowed here. Put every entry on a line of its own below the key, or write [one, two]; a text that begins with '- ' needs quotes.
            """),
        MistakeCase(
            "a list that is never closed",
            #"""
            audience:
              tags: [a, b
            content:
              title: Hi

            """#,
            """
            campaign.yaml:2:9: the list that opens here lacks a ',' or its closing ']' before line 3, column 8. Put a comma between any two entries, ']' at the end, and quotes around a text with braces, quotes or a comma in it.
            """),
        MistakeCase(
            "a group that is never closed",
            "audience: {tags: [a]\ncontent: {title: Hi}\n",
            """
            campaign.yaml:1:11: the group that opens here lacks a ',' or its closing '}' before line 2, column 1. Put a comma between any two entries, '}' at the end, and quotes around a text with braces, quotes or a comma in it.
            """),
        MistakeCase(
            "two commas in a group",
            "audience: {tags: [a, , b]}\n",
            "campaign.yaml:1:22: a value is missing here. Write a value, or remove the comma or bracket."),
        MistakeCase(
            "two documents",
            #"""
            name: a
            ---
            name: b

            """#,
            """
            campaign.yaml:2:1: a second document begins here. Keep each campaign in a file of its own, and remove the line '---'.
            """),
        MistakeCase(
            "a key given twice",
            #"""
            name: a
            app: shop
            name: b
            audience: {tags: [a]}
            content:
              title: Hi
              body: x
              title: Ho

            """#,
            """
            campaign.yaml:3:1: the key 'name' appears twice; the first is in line 1, column 1. Keep one of them.
            campaign.yaml:8:3: the key 'title' appears twice; the first is in line 6, column 3. Keep one of them.
            """),
        MistakeCase(
            "a merge key",
            #"""
            name: a
            app: shop
            audience: &base {tags: [a]}
            content: {title: Hi, data: {<<: *base}}

            """#,
            "campaign.yaml:4:29: the merge key '<<' is not supported. Write the keys out where they are needed."),
        MistakeCase(
            "a list as a key",
            #"""
            name: a
            app: shop
            audience: {tags: [a]}
            content: {title: Hi}
            ? [a, b]
            : c

            """#,
            "campaign.yaml:5:3: a key must be a name, not a list. Write it as 'name: value'."),
        MistakeCase(
            "an anchor inside itself",
            #"""
            name: a
            audience: &a
              tags: [*a]

            """#,
            "campaign.yaml:3:10: the alias '*a' is inside what it refers to. Write the values out instead."),
        MistakeCase(
            "a directive after the beginning",
            #"""
            name: a
            ...
            %TAG ! x
            name: b

            """#,
            """
            campaign.yaml:4:1: this line is outside of what the file began with. A campaign is a list of 'key: value' lines; lines with '%', '---' or '...' can be removed.
            """),
        MistakeCase(
            "a question mark and a space in a list",
            #"""
            audience:
              tags: [a]
              x: ? b

            """#,
            "campaign.yaml:3:6: a text cannot begin with '? ' here. Put the whole text in quotes."),
        MistakeCase(
            "every required key missing",
            "description: x\n",
            """
            campaign.yaml:1:1: the key 'name' is missing. Add it, for example: name: spring-sale.
            campaign.yaml:1:1: the key 'app' is missing. Add it, for example: app: shop.
            campaign.yaml:1:1: the key 'audience' is missing. Add it, for example: audience: {tags: [discount]}.
            campaign.yaml:1:1: the key 'content' is missing. Add it, for example: content: {title: Hello, body: "How are you?"}.
            """),
        MistakeCase(
            "this user may not read the marks of a chat around the file", "```yaml\nname: a\n```\n",
            "campaign.yaml:1:1: ``` is how chats mark a piece of code; it is not YAML. Remove the lines with ```."),
        MistakeCase(
            "a text that would be a comment", "content:\n  title: Hi\n  body:#new text\n",
            "campaign.yaml:3:3: a space is missing after the ':' of 'body'. Write body: \"#new text\"."),
    ]
}
