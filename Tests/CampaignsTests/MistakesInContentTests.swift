import Base
import Testing

@testable import Campaigns

@Suite("Mistakes in the content")
struct MistakesInContentTests {
    @Test("each is said at its place, with what to do", arguments: mistakes)
    func isSaid(_ mistake: MistakeCase) {
        #expect(found { () throws(Diagnostics) in try readPart(mistake.yaml) } == mistake.expected)
    }

    static let mistakes: [MistakeCase] = [
        MistakeCase(
            "an empty title and a blank body",
            #"""
            content:
              title: ""
              body: "  "

            """#,
            """
            campaign.yaml:2:10: 'title' is blank. For example: title: "Spring sale".
            campaign.yaml:3:9: 'body' is blank. For example: body: "20 % off everything.".
            """),
        MistakeCase(
            "a title without value",
            #"""
            content:
              title:
              body: x

            """#,
            "campaign.yaml:2:9: 'title' has no value. For example: title: \"Spring sale\"."),
        MistakeCase(
            "a title that is only a comment for YAML",
            "content:\n  title: #1 in sales\n",
            "campaign.yaml:2:9: 'title' has no text: YAML reads what follows # as a comment. Put the whole text in quotes."
        ),
        MistakeCase(
            "a title that is a list",
            "content:\n  title: [a]\n",
            "campaign.yaml:2:10: 'title' must be a text, not a list. For example: title: \"Spring sale\"."),
        MistakeCase(
            "a text cut by a comment, and curly quotes",
            #"""
            content:
              title: “Hi”
              body: Get it #today only
              badge: x

            """#,
            """
            campaign.yaml:2:10: warning: the curly quotes are part of the text. Replace them with straight quotes, or, if they belong to the text, put straight quotes around them. [curly-quotes]
            campaign.yaml:3:9: warning: the text ends before '#today only', which YAML reads as a comment. Put the whole text in quotes if that belongs to it. [comment-in-text]
            campaign.yaml:4:10: 'badge' must be a whole number, not 'x'. For example: badge: 1.
            """),
        MistakeCase(
            "nothing to show",
            #"""
            content:
              category: SALE
              data: {a: b}

            """#,
            """
            campaign.yaml:2:3: the content shows nothing. Add a title, body, badge or sound, or write silent: true for a push that only wakes the app.
            """),
        MistakeCase(
            "only wake_app",
            "content: {wake_app: true}\n",
            """
            campaign.yaml:1:10: the content shows nothing. Add a title, body, badge or sound, or write silent: true for a push that only wakes the app.
            """),
        MistakeCase(
            "a badge that adds",
            "content: {badge: \"+1\"}\n",
            """
            campaign.yaml:1:18: APNs cannot add to a badge, it shows the number that it is sent. Send the number from your own data, for example: badge: 1.
            """),
        MistakeCase(
            "a badge that adds, without quotes",
            "content: {badge: +1}\n",
            """
            campaign.yaml:1:18: APNs cannot add to a badge, it shows the number that it is sent. Send the number from your own data, for example: badge: 1.
            """),
        MistakeCase(
            "a badge below 0",
            "content: {badge: -1}\n",
            "campaign.yaml:1:18: 'badge' must be a whole number from 0 to 2147483647, not '-1'. For example: badge: 1."),
        MistakeCase(
            "a badge in quotes",
            "content: {badge: \"1\"}\n",
            "campaign.yaml:1:18: 'badge' must be a whole number, not a text in quotes. Remove the quotes."),
        MistakeCase(
            "a badge with a fraction",
            "content: {badge: 1.5}\n",
            "campaign.yaml:1:18: 'badge' must be a whole number, not '1.5'. For example: badge: 1."),
        MistakeCase(
            "a badge from a template",
            "content: {badge: \"{{ unread }}\"}\n",
            "campaign.yaml:1:18: 'badge' must be a whole number, not '{{ unread }}'. For example: badge: 1."),
        MistakeCase(
            "a badge too large",
            "content: {badge: 99999999999}\n",
            """
            campaign.yaml:1:18: 'badge' must be a whole number from 0 to 2147483647, not '99999999999'. For example: badge: 1.
            """),
        MistakeCase(
            "an image over http",
            "content: {title: Hi, image: \"http://example.com/a.jpg\"}\n",
            """
            campaign.yaml:1:29: 'image' must be a web address that begins with https://, not 'http://example.com/a.jpg'. For example: image: https://cdn.example.com/spring.jpg.
            """),
        MistakeCase(
            "an image without host",
            "content: {title: Hi, image: \"https://\"}\n",
            """
            campaign.yaml:1:29: 'image' must be a web address that begins with https://, not 'https://'. For example: image: https://cdn.example.com/spring.jpg.
            """),
        MistakeCase(
            "an image beside a badge only",
            "content: {badge: 1, image: \"https://example.com/a.jpg\"}\n",
            "campaign.yaml:1:21: an image needs a text with it. Add a title or a body."),
        MistakeCase(
            "a sound that is a group",
            "content: {title: Hi, sound: {critical: 1}}\n",
            "campaign.yaml:1:29: 'sound' must be a text, not a group of keys. For example: sound: default."),
        MistakeCase(
            "data that is a text",
            "content: {title: Hi, data: spring}\n",
            "campaign.yaml:1:28: 'data' must be a group of keys, not 'spring'. For example: data: {campaign: spring-sale}."
        ),
        MistakeCase(
            "data with aps",
            "content: {title: Hi, data: {aps: {badge: 1}}}\n",
            """
            campaign.yaml:1:29: 'data' must not hold 'aps', which belongs to APNs. Use the keys of 'content', or write the whole push as 'payload'.
            """),
        MistakeCase(
            "data beside link and image",
            #"""
            content:
              title: Hi
              link: shop://a
              image: https://example.com/a.jpg
              data: {link: x, image: y}

            """#,
            """
            campaign.yaml:5:10: 'data' holds 'link', which 'content' sets too. Keep one of them.
            campaign.yaml:5:19: 'data' holds 'image', which 'content' sets too. Keep one of them.
            """),
        MistakeCase(
            "data with a template as a key",
            "content: {title: Hi, data: {\"{{ store }}\": x}}\n",
            "campaign.yaml:1:29: a key cannot hold a template. Only values can; give the key a fixed name."),
        MistakeCase(
            "numbers in data that cannot be sent",
            #"""
            content:
              title: Hi
              data: {a: .inf, b: 99999999999999999999, c: 1e999, d: [.nan]}

            """#,
            """
            campaign.yaml:3:13: the number '.inf' cannot be sent. Put it in quotes to send it as text.
            campaign.yaml:3:22: the number '99999999999999999999' cannot be sent. Put it in quotes to send it as text.
            campaign.yaml:3:47: the number '1e999' cannot be sent. Put it in quotes to send it as text.
            campaign.yaml:3:58: the number '.nan' cannot be sent. Put it in quotes to send it as text.
            """),
        MistakeCase(
            "numbers in data that change",
            #"""
            content:
              title: Hi
              badge: x
              data: {zip: 01234, phone: +4930123, version: 3.10, hex: 0x10}

            """#,
            """
            campaign.yaml:3:10: 'badge' must be a whole number, not 'x'. For example: badge: 1.
            campaign.yaml:4:15: warning: '01234' is sent as the number 1234. Put it in quotes to send it as written. [number-changed]
            campaign.yaml:4:29: warning: '+4930123' is sent as the number 4930123. Put it in quotes to send it as written. [number-changed]
            campaign.yaml:4:48: warning: '3.10' is sent as the number 3.1. Put it in quotes to send it as written. [number-changed]
            campaign.yaml:4:59: warning: '0x10' is sent as the number 16. Put it in quotes to send it as written. [number-changed]
            """),
        MistakeCase(
            "silent beside everything visible",
            #"""
            content:
              silent: true
              title: a
              subtitle: b
              body: c
              sound: d
              badge: 1
              category: e
              thread: f
              image: https://example.com/a.jpg

            """#,
            """
            campaign.yaml:3:10: a silent push has no 'title'. Remove it, or remove 'silent' if people should see the push.
            campaign.yaml:4:13: a silent push has no 'subtitle'. Remove it, or remove 'silent' if people should see the push.
            campaign.yaml:5:9: a silent push has no 'body'. Remove it, or remove 'silent' if people should see the push.
            campaign.yaml:6:10: a silent push has no 'sound'. Remove it, or remove 'silent' if people should see the push.
            campaign.yaml:7:10: a silent push has no 'badge'. Remove it, or remove 'silent' if people should see the push.
            campaign.yaml:8:13: a silent push has no 'category'. Remove it, or remove 'silent' if people should see the push.
            campaign.yaml:9:11: a silent push has no 'thread'. Remove it, or remove 'silent' if people should see the push.
            campaign.yaml:10:10: a silent push has no 'image'. Remove it, or remove 'silent' if people should see the push.
            """),
        MistakeCase(
            "silent and wake_app",
            "content: {silent: true, wake_app: true}\n",
            "campaign.yaml:1:25: 'wake_app' adds nothing to 'silent', which already wakes the app. Remove it."),
        MistakeCase(
            "silent is a text",
            "content: {silent: maybe}\n",
            "campaign.yaml:1:19: 'silent' must be true or false, not 'maybe'. For example: silent: true."),
        MistakeCase(
            "payload beside other keys",
            #"""
            content:
              title: Hi
              data: {a: b}
              payload: {aps: {alert: Hi}}

            """#,
            """
            campaign.yaml:2:3: 'payload' is the whole push written by hand, so 'title' cannot be used with it. Write it into the payload, or remove 'payload'.
            campaign.yaml:3:3: 'payload' is the whole push written by hand, so 'data' cannot be used with it. Write it into the payload, or remove 'payload'.
            """),
        MistakeCase(
            "payload without aps",
            "content: {payload: {alert: Hi}}\n",
            """
            campaign.yaml:1:20: the payload has no 'aps', so APNs would show nothing. For example: payload: {aps: {alert: Hello}}.
            """),
        MistakeCase(
            "payload whose aps is a text",
            "content: {payload: {aps: Hi}}\n",
            "campaign.yaml:1:26: 'aps' must be a group of keys. For example: payload: {aps: {alert: Hello}}."),
        MistakeCase(
            "payload that is a list",
            "content: {payload: [aps]}\n",
            """
            campaign.yaml:1:20: 'payload' must be a group of keys, not a list. For example: payload: {aps: {alert: Hello}}.
            """),
        MistakeCase(
            "a misspelt title alone",
            "content: {titel: Hi}\n",
            "campaign.yaml:1:11: unknown key 'titel' in 'content'. Did you mean 'title'?"),
        MistakeCase(
            "a key of the payload misspelt",
            "content: {paylod: {aps: {alert: Hi}}}\n",
            "campaign.yaml:1:11: unknown key 'paylod' in 'content'. Did you mean 'payload'?"),
        MistakeCase(
            "a level of disturbance that does not exist, and one that is misspelt",
            "content: {title: Hi, interruption: loud}\nvariants: {a: {share: 100, content: {interruption: time_sensitive}}}\n",
            """
            campaign.yaml:1:36: 'interruption' must be passive, active, time-sensitive or critical, not 'loud'. For example: interruption: passive.
            campaign.yaml:2:52: 'interruption' must be passive, active, time-sensitive or critical, not 'time_sensitive'. Did you mean 'time-sensitive'?
            """),
        MistakeCase(
            "a relevance beyond 1, and one that is a text",
            "content: {title: Hi, relevance: 80}\nvariants: {a: {share: 50, content: {relevance: \"0.5\"}}, b: {share: 50, content: {relevance: high}}}\n",
            """
            campaign.yaml:1:33: 'relevance' must be a number from 0 to 1, not '80'. For example: relevance: 0.8.
            campaign.yaml:2:48: 'relevance' must be a number, not a text in quotes. Remove the quotes.
            campaign.yaml:2:93: 'relevance' must be a number from 0 to 1, not 'high'. For example: relevance: 0.8.
            """),
        MistakeCase(
            "texts of the app without a key, with a key that does not exist, and with arguments that are no list",
            "content: {localized: {title: {args: [a]}, zzz: A, body: {key: SALE, args: Anna}}}\n",
            """
            campaign.yaml:1:30: the key 'key' is missing in the text of the app. Add it, for example: key: SALE.
            campaign.yaml:1:43: unknown key 'zzz' in 'localized'. Valid here: title, subtitle, body.
            campaign.yaml:1:75: 'args' must be a list of texts, not 'Anna'. For example: args: ["{{ first_name }}"].
            """),
        MistakeCase(
            "no texts of the app",
            "content: {title: Hi, localized: {}}\n",
            """
            campaign.yaml:1:33: 'localized' is empty. For example: localized: {title: SALE_TITLE, body: {key: SALE_TEXT, args: ["{{ first_name }}"]}}.
            """),
        MistakeCase(
            "a silent push that would disturb",
            "content: {silent: true, interruption: active}\n",
            "campaign.yaml:1:39: a silent push has no 'interruption'. Remove it, or remove 'silent' if people should see the push."
        ),
        MistakeCase(
            "what others call these keys",
            "content: {title: Hi, interruption-level: active, relevance_score: 1, filter_criteria: work}\n",
            """
            campaign.yaml:1:22: unknown key 'interruption-level' in 'content'. Volley calls it 'interruption'.
            campaign.yaml:1:50: unknown key 'relevance_score' in 'content'. Volley calls it 'relevance'.
            campaign.yaml:1:70: unknown key 'filter_criteria' in 'content'. Volley calls it 'filter'.
            """),
        MistakeCase(
            "a colon without space within a group",
            "content: {title:Hi}\n",
            "campaign.yaml:1:11: a space is missing after the ':' of 'title:Hi'. Write it as 'name: value'."),
    ]
}
