import Base
import Testing

@testable import Campaigns

@Suite("Mistakes in the audience")
struct MistakesInAudienceTests {
    @Test("each is said at its place, with what to do", arguments: mistakes)
    func isSaid(_ mistake: MistakeCase) {
        #expect(found { () throws(Diagnostics) in try readPart(mistake.yaml) } == mistake.expected)
    }

    static let mistakes: [MistakeCase] = [
        MistakeCase(
            "tags of 'exclude' in the long form",
            "audience:\n  everyone: true\n  exclude: {tags: {any: [a]}}\n",
            """
            campaign.yaml:3:20: 'tags' under 'exclude' is a plain list and has no 'any'. To leave out devices with any of them, write exclude: {tags: [one, two]}.
            """),
        MistakeCase(
            "several values behind an operator for one",
            "audience:\n  everyone: true\n  where: {a: \"!= gold, silver\", b: \"!= [gold, silver]\", c: \"== gold|silver\"}\n",
            """
            campaign.yaml:3:14: '!=' compares with a single value, and 'gold, silver' is read as one. To leave out several, list the values that you want: a: [one, two].
            campaign.yaml:3:36: '!=' compares with a single value, and '[gold, silver]' is read as one. To leave out several, list the values that you want: b: [one, two].
            campaign.yaml:3:60: '==' compares with a single value, and 'gold|silver' is read as one. For any of several values write a list: c: [gold, silver].
            """),
        MistakeCase(
            "a list of names without spaces behind the hyphens",
            "audience:\n  tags:\n    -discount\n    -daily\n",
            """
            campaign.yaml:3:5: '-discount -daily' is read as a single name. In a list, put a space after each hyphen: - discount; put a name that begins with a hyphen in quotes.
            """),
        MistakeCase(
            "names on lines of their own",
            "audience:\n  aliases:\n    user1\n    user2\n",
            """
            campaign.yaml:3:5: 'user1 user2' is read as a single name. For several names write aliases: [user1, user2]; put a name with spaces in quotes.
            """),
        MistakeCase(
            "ids with spaces between them, in a list",
            "audience:\n  registration_ids: [191e35f7e07 191e35f7e08]\n",
            """
            campaign.yaml:2:22: '191e35f7e07 191e35f7e08' is not a registration id, because it holds a space. Separate ids with commas, or write each on its own line after a hyphen.
            """),
        MistakeCase(
            "values of a condition without brackets",
            "audience:\n  tags: [a]\n  where: {store: \"Paris, France\", language: [de, \"en, de\"]}\n",
            ""),
        MistakeCase(
            "a condition in words, and one in a list, which is none",
            "audience:\n  tags: [a]\n  where: {last_active: older 30 days, note: [last 30 days], points: more than 100}\n",
            """
            campaign.yaml:3:24: 'older 30 days' is not a condition. Write last_active: older than 30 days; for a cell with exactly this text, write a list: ["older 30 days"].
            campaign.yaml:3:69: 'more than 100' is not a condition. Write points: "> 100"; for a cell with exactly this text, write a list: ["more than 100"].
            """),
        MistakeCase(
            "everyone beside tags and aliases",
            #"""
            audience:
              everyone: true
              tags: [a]
              aliases: [b]

            """#,
            """
            campaign.yaml:3:3: 'everyone' cannot be combined with 'tags'. Remove one of them; to leave devices out, use 'exclude' or 'where'.
            campaign.yaml:4:3: 'everyone' cannot be combined with 'aliases'. Remove one of them; to leave devices out, use 'exclude' or 'where'.
            """),
        MistakeCase(
            "no selector",
            "audience:\n  where: {language: en}\n",
            """
            campaign.yaml:2:3: the audience selects no devices. Add tags, aliases or registration_ids; to send to all devices, write everyone: true.
            """),
        MistakeCase(
            "everyone: false alone",
            "audience: {everyone: false}\n",
            """
            campaign.yaml:1:11: the audience selects no devices. Add tags, aliases or registration_ids; to send to all devices, write everyone: true.
            """),
        MistakeCase(
            "an empty list of tags alone",
            "audience: {tags: []}\n",
            """
            campaign.yaml:1:11: the audience selects no devices. Add tags, aliases or registration_ids; to send to all devices, write everyone: true.
            """),
        MistakeCase(
            "only tags to leave out",
            "audience: {tags: {none: [beta]}}\n",
            """
            campaign.yaml:1:11: 'none' takes devices away, but nothing selects any. For all devices except those with such a tag, write everyone: true and exclude: {tags: […]}, without 'tags'.
            """),
        MistakeCase(
            "only tags to leave out, beside an alias",
            "audience: {aliases: [anna], tags: {none: [beta]}}\n",
            """
            campaign.yaml:1:35: 'none' takes devices away, but no tag selects any: it would add every device that has none of these tags. Name tags under 'any' or 'all' too; to leave devices out write: exclude: {tags: […]}.
            """),
        MistakeCase(
            "everyone: yes",
            "audience: {everyone: yes}\n",
            "campaign.yaml:1:22: 'everyone' must be true or false, not 'yes'. Write everyone: true."),
        MistakeCase(
            "everyone in quotes",
            "audience: {everyone: \"true\"}\n",
            "campaign.yaml:1:22: 'everyone' must be true or false, not a text in quotes. Remove the quotes."),
        MistakeCase(
            "everyone is a number",
            "audience: {everyone: 1}\n",
            "campaign.yaml:1:22: 'everyone' must be true or false, not '1'. For example: everyone: true."),
        MistakeCase(
            "names with a comma and no brackets",
            #"""
            audience:
              tags: discount, daily
              exclude:
                tags: unsubscribed,beta

            """#,
            """
            campaign.yaml:2:9: 'discount, daily' is read as a single name. For several names write tags: [discount, daily]; put a name with a comma in quotes.
            campaign.yaml:4:11: 'unsubscribed,beta' is read as a single name. For several names write tags: [unsubscribed, beta]; put a name with a comma in quotes.
            """),
        MistakeCase(
            "names in brackets that make no list",
            "audience:\n  tags: (discount, daily)\n",
            "campaign.yaml:2:9: '(discount, daily)' is read as a single name. For several names write tags: [discount, daily]; put a name with a comma in quotes."
        ),
        MistakeCase(
            "signs in an entry of a list that separate nothing",
            #"""
            audience:
              tags: [news; vip]
              exclude:
                tags:
                  - unsubscribed, beta
                aliases: ["a;b", "a, b"]

            """#,
            """
            campaign.yaml:2:10: 'news; vip' is read as a single name, because ';' separates nothing in YAML. Write ',' and a space between names; put a name with a ';' in quotes.
            campaign.yaml:5:9: 'unsubscribed, beta' is read as a single name, because ',' separates nothing after a hyphen. Write each name on its own line after a hyphen; put a name with a ',' in quotes.
            """),
        MistakeCase(
            "tags without value",
            "audience:\n  tags:\n",
            "campaign.yaml:2:8: 'tags' has no value. For example: tags: [one, two]."),
        MistakeCase(
            "a tag that is a list",
            "audience:\n  tags: [[a], b]\n",
            "campaign.yaml:2:10: an entry of 'tags' must be a text, not a list. For example: tags: [one, two]."),
        MistakeCase(
            "a blank alias",
            "audience:\n  aliases: [a, \"\"]\n",
            "campaign.yaml:2:16: an entry of 'aliases' is blank. For example: aliases: [one, two]."),
        MistakeCase(
            "a list file without name",
            #"""
            audience:
              aliases: {}
              tags: {file: [a]}

            """#,
            """
            campaign.yaml:2:12: the key 'file' is missing in 'aliases'. Add it, for example: aliases: {file: names.txt}.
            campaign.yaml:3:16: 'file' must be a text, not a list. For example: tags: {file: names.txt}.
            """),
        MistakeCase(
            "a misspelt list file",
            "audience:\n  aliases: {fiel: vip.txt}\n",
            "campaign.yaml:2:13: unknown key 'fiel' in 'aliases'. Did you mean 'file'?"),
        MistakeCase(
            "a tag file beside other keys",
            "audience:\n  tags: {file: a.txt, all: [b]}\n",
            "campaign.yaml:2:10: 'file' cannot be combined with other keys under 'tags'. Write it under 'any', for example: any: {file: tags.txt}."
        ),
        MistakeCase(
            "a misspelt kind of tags",
            "audience:\n  tags: {al: [b], any: [c]}\n",
            "campaign.yaml:2:10: unknown key 'al' in 'tags'. Did you mean 'all'?"),
        MistakeCase(
            "a misspelt exclusion",
            #"""
            audience:
              tags: [a]
              exclude: {tag: [b]}

            """#,
            "campaign.yaml:3:13: unknown key 'tag' in 'exclude'. Did you mean 'tags'?"),
        MistakeCase(
            "exclude is a list",
            #"""
            audience:
              tags: [a]
              exclude: [b]

            """#,
            """
            campaign.yaml:3:12: 'exclude' must be a group of keys, not a list. For example: exclude: {tags: [unsubscribed]}.
            """),
        MistakeCase(
            "devices that are empty or a group",
            #"""
            audience:
              tags: [a]
              devices: []
              exclude: {devices: {a: b}}

            """#,
            """
            campaign.yaml:3:12: 'devices' is an empty list. Name a file, or remove the key.
            campaign.yaml:4:22: 'devices' must be a text, not a group of keys. For example: devices: suppressed.csv.
            """),
        MistakeCase(
            "an alias limit of 0",
            "audience: {aliases: [a], alias_limit: 0}\n",
            """
            campaign.yaml:1:39: 'alias_limit' must be a whole number from 1 to 1000000, not '0'. For example: alias_limit: 10.
            """),
        MistakeCase(
            "an alias limit in quotes and in words",
            "audience: {aliases: [a], alias_limit: \"5\"}\n",
            "campaign.yaml:1:39: 'alias_limit' must be a whole number, not a text in quotes. Remove the quotes."),
        MistakeCase(
            "an alias limit that is no number",
            "audience: {aliases: [a], alias_limit: ten}\n",
            "campaign.yaml:1:39: 'alias_limit' must be a whole number, not 'ten'. For example: alias_limit: 10."),
        MistakeCase(
            "bad rows as a fraction",
            "audience: {tags: [a], max_bad_rows: 0.01}\n",
            "campaign.yaml:1:37: '0.01' is not a percentage. Write it with a percent sign, for example: 1% or 0.5%."),
        MistakeCase(
            "bad rows beyond all",
            "audience: {tags: [a], max_bad_rows: 101%}\n",
            "campaign.yaml:1:37: '101%' is more than 100%. Write 0% to 100%."),
        MistakeCase(
            "bad rows below none",
            "audience: {tags: [a], max_bad_rows: -1%}\n",
            "campaign.yaml:1:37: '-1%' is not a percentage. Write it with a percent sign, for example: 1% or 0.5%."),
        MistakeCase(
            "a limit for shrinking as a fraction",
            "audience: {tags: [a], shrinks_at_most: 0.5}\n",
            "campaign.yaml:1:40: '0.5' may mean 50% or 0.5%. Write it with a percent sign, for example: 50%."),
        MistakeCase(
            "a limit for shrinking that is off in another word",
            "audience: {tags: [a], shrinks_at_most: no}\n",
            """
            campaign.yaml:1:40: 'no' is neither a share nor 'off'. To send however small the audience is now, write shrinks_at_most: off; otherwise a share, for example: 50%.
            """),
        MistakeCase(
            "a limit for shrinking of nothing",
            "audience: {tags: [a], shrinks_at_most: 0%}\n",
            """
            campaign.yaml:1:40: a limit of '0%' would hold the campaign back as soon as a single device is gone. Write a share above 0%, for example: 50%; or off.
            """),
        MistakeCase(
            "a limit for shrinking beyond all",
            "audience: {tags: [a], shrinks_at_most: 150%}\n",
            "campaign.yaml:1:40: '150%' is more than 100%. Write a share above 0% and up to 100%."),
        MistakeCase(
            "a limit for shrinking, misspelt",
            "audience: {tags: [a], shrink_at_most: 50%}\n",
            "campaign.yaml:1:23: unknown key 'shrink_at_most' in 'audience'. Did you mean 'shrinks_at_most'?"),
        MistakeCase(
            "where without conditions",
            "audience: {tags: [a], where: {}}\n",
            """
            campaign.yaml:1:30: 'where' is empty. For example: where: {language: [en, de], last_active: within 30 days}. Or remove the key.
            """),
        MistakeCase(
            "where is a text",
            "audience: {tags: [a], where: language en}\n",
            """
            campaign.yaml:1:30: 'where' must be a group of keys, not 'language en'. For example: where: {language: [en, de], last_active: within 30 days}.
            """),
        MistakeCase(
            "a condition without value",
            #"""
            audience:
              tags: [a]
              where:
                language:

            """#,
            """
            campaign.yaml:4:14: the condition on 'language' has no value. For blank cells write 'missing', for all others 'present'.
            """),
        MistakeCase(
            "a condition that is a group",
            #"""
            audience:
              tags: [a]
              where:
                language: {is: en}

            """#,
            """
            campaign.yaml:4:15: the condition on 'language' must be a value, a list or a comparison, not a group of keys. For example: language: ">= 3.2.0".
            """),
        MistakeCase(
            "comparisons with what a blank cell reads",
            #"""
            audience:
              tags: [a]
              where:
                first_name: "!= NULL"
                city: "== N/A"

            """#,
            """
            campaign.yaml:4:17: a cell that reads 'NULL' counts as blank. For blank cells write first_name: missing; for all others first_name: present.
            campaign.yaml:5:11: a cell that reads 'N/A' counts as blank. For blank cells write city: missing; for all others city: present.
            """),
        MistakeCase(
            "a condition that is an empty list",
            #"""
            audience:
              tags: [a]
              where:
                language: []

            """#,
            "campaign.yaml:4:15: the list is empty, so no cell can match. List values, or remove the condition."),
        MistakeCase(
            "comparisons that are none",
            #"""
            audience:
              tags: [a]
              where:
                a: = 3
                b: "=> 3"
                c: ">="
                d: "<> 3"

            """#,
            """
            campaign.yaml:4:8: '=' is not a comparison. Write a: 3; for a text that begins like this, write a list: ["…"].
            campaign.yaml:5:8: '=>' is not a comparison. Write b: ">= 3"; for a text that begins like this, write a list: ["…"].
            campaign.yaml:6:8: the comparison '>=' has nothing to compare with. For example: ">= 3.2.0".
            campaign.yaml:7:8: '<>' is not a comparison. Write d: "!= 3"; for a text that begins like this, write a list: ["…"].
            """),
        MistakeCase(
            "ages that are none",
            #"""
            audience:
              tags: [a]
              where:
                a: within a month
                b: within 3 months
                c: older than 30
                d: within the next 1.5 days
                e: older than 30 m
                f: within the next 99999999999999999999 days

            """#,
            """
            campaign.yaml:4:8: in 'within a month', 'a month' is not a length of time. Write for example 'within 30 days' or 'older than 12 hours'; for a plain value, write a list: ["…"].
            campaign.yaml:5:8: in 'within 3 months', the unit of '3 months' can be misread. Write for example 'within 30 days' or 'older than 12 hours'; for a plain value, write a list: ["…"].
            campaign.yaml:6:8: in 'older than 30', '30' lacks a unit. Write for example 'within 30 days' or 'older than 12 hours'; for a plain value, write a list: ["…"].
            campaign.yaml:7:8: in 'within the next 1.5 days', 'the next 1.5 days' is not a length of time. Write for example 'within 30 days' or 'older than 12 hours'; for a plain value, write a list: ["…"].
            campaign.yaml:8:8: in 'older than 30 m', the unit of '30 m' can be misread. Write for example 'within 30 days' or 'older than 12 hours'; for a plain value, write a list: ["…"].
            campaign.yaml:9:8: in 'within the next 99999999999999999999 days', 'the next 99999999999999999999 days' is not a length of time. Write for example 'within 30 days' or 'older than 12 hours'; for a plain value, write a list: ["…"].
            """),
        MistakeCase(
            "conditions in a list",
            #"""
            audience:
              tags: [a]
              where:
                language: [en, missing]
                v: [">= 3", 2]
              alias_limit: 0

            """#,
            """
            campaign.yaml:4:20: warning: in a list, 'missing' is a plain value, not a condition. Write a condition without brackets: language: 'missing'. [condition-in-list]
            campaign.yaml:5:9: warning: in a list, '>= 3' is a plain value, not a condition. Write a condition without brackets: v: '>= 3'. [condition-in-list]
            campaign.yaml:6:16: 'alias_limit' must be a whole number from 1 to 1000000, not '0'. For example: alias_limit: 10.
            """),
        MistakeCase(
            "a misspelt selector alone",
            "audience: {tag: [a]}\n",
            "campaign.yaml:1:12: unknown key 'tag' in 'audience'. Did you mean 'tags'?"),
        MistakeCase(
            "a misspelt everyone alone",
            "audience: {everyon: true}\n",
            "campaign.yaml:1:12: unknown key 'everyon' in 'audience'. Did you mean 'everyone'?"),
        MistakeCase(
            "exclude below where",
            "audience: {everyone: true, where: {exclude: {tags: [a]}}}\n",
            "campaign.yaml:1:36: 'exclude' is under 'where', which holds columns of the export. Move it to the left, directly under 'audience'."
        ),
    ]
}
