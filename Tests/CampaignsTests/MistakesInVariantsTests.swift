import Base
import Testing

@testable import Campaigns

@Suite("Variants and languages")
struct VariantReadingTests {
    @Test("are read with their shares in hundredths, in the order of the file")
    func read() throws {
        let (campaign, warnings) = try readPart(
            """
            content:
              title: Hi
              languages:
                zh-Hans: {title: "你好"}
                no: {title: Hei}
            variants:
              short: {share: 33.3, content: {title: Yo, badge: 2, languages: {zh-Hans: {title: "喂"}}}}
              long: {share: 56.65%}
              holdout: {share: 10.05}

            """)
        #expect(warnings.isEmpty)
        #expect(campaign.content.languages.map(\.language.value) == ["zh-Hans", "no"])
        #expect(campaign.content.languages[0].content.title?.value == "你好")
        #expect(campaign.variants.map(\.name.value) == ["short", "long", "holdout"])
        #expect(campaign.variants.map(\.share) == [3330, 5665, 1005])
        #expect(campaign.variants.map(\.isHoldout) == [false, false, true])
        #expect(campaign.variants[0].content?.badge == 2)
        #expect(campaign.variants[0].content?.languages.map(\.content.title?.value) == ["喂"])
        #expect(campaign.variants[1].content == nil)
    }

    @Test("each mistake is said at its place, with what to do", arguments: mistakes)
    func isSaid(_ mistake: MistakeCase) {
        #expect(found { () throws(Diagnostics) in try readPart(mistake.yaml) } == mistake.expected)
    }

    static let mistakes: [MistakeCase] = [
        MistakeCase(
            "shares that are too small",
            "variants:\n  a: {share: 45}\n  b: {share: 45.5}\n",
            "campaign.yaml:2:3: the shares of the variants add up to 90.5, not to 100. Raise them by 9.5 in all, or add holdout: {share: 9.5} for devices that get nothing."
        ),
        MistakeCase(
            "shares that are too large", "variants:\n  a: {share: 60}\n  b: {share: 60}\n",
            "campaign.yaml:2:3: the shares of the variants add up to 120, not to 100. Lower them by 20 in all."),
        MistakeCase(
            "a share of nothing", "variants:\n  a: {share: 0}\n  b: {share: 100}\n",
            "campaign.yaml:2:14: a share must be above 0 and at most 100, not '0'. For example: share: 45."),
        MistakeCase(
            "a share in words", "variants:\n  a: {share: half}\n  b: {share: 50}\n",
            "campaign.yaml:2:14: 'half' is not a share. Write a percentage, for example: share: 45."),
        MistakeCase(
            "a share as a fraction", "variants:\n  a: {share: 33.333}\n  b: {share: 50}\n",
            "campaign.yaml:2:14: '33.333' is finer than a hundredth of a percent. Write at most two digits after the point."
        ),
        MistakeCase(
            "no share", "variants:\n  a: {content: {title: Yo}}\n  b: {share: 50}\n",
            "campaign.yaml:2:6: the key 'share' is missing in the variant. Add it, for example: share: 50."),
        MistakeCase(
            "a holdout that says something",
            "variants:\n  holdout: {share: 10, content: {title: Yo}}\n  b: {share: 90}\n",
            "campaign.yaml:2:24: the devices of 'holdout' get nothing, so it has no content. Remove the content, or give the variant another name."
        ),
        MistakeCase(
            "nothing but a holdout", "variants: {holdout: {share: 100}}\n",
            "campaign.yaml:1:11: every device is in the holdout, so no device would get anything. For example: variants: {short: {share: 50, content: {body: \"20 % off.\"}}, long: {share: 50}}."
        ),
        MistakeCase(
            "a holdout in capitals", "variants: {Holdout: {share: 10}, b: {share: 90}}\n",
            "campaign.yaml:1:12: 'Holdout' must be written in lower-case letters. Write holdout."),
        MistakeCase(
            "a name with a blank", "variants: {very short: {share: 100}}\n",
            "campaign.yaml:1:12: the variant's name 'very short' may hold only letters a-z, digits, '-' and '_', at most 64. For example: short."
        ),
        MistakeCase(
            "text beside the share", "variants:\n  a: {share: 100, body: Yo}\n",
            "campaign.yaml:2:19: unknown key 'body' in the variant. It belongs in 'content'; check the indentation."),
        MistakeCase(
            "no variants", "variants: {}\n",
            "campaign.yaml:1:11: 'variants' is empty. For example: variants: {short: {share: 50, content: {body: \"20 % off.\"}}, long: {share: 50}}."
        ),
        MistakeCase(
            "a language by its name", "content:\n  title: Hi\n  languages: {german: {title: Hallo}}\n",
            "campaign.yaml:3:15: 'german' is not a language. Write a language tag such as de, pt-BR or zh-Hans; 'german' is 'de'."
        ),
        MistakeCase(
            "a language twice",
            "content:\n  title: Hi\n  languages:\n    pt-BR: {title: Oi}\n    pt_br: {title: Ola}\n",
            "campaign.yaml:5:5: 'pt_br' is the same language as 'pt-BR' in line 4. Keep one of them."),
        MistakeCase(
            "a language without text", "content:\n  title: Hi\n  languages:\n    de:\n",
            "campaign.yaml:4:8: the language is empty. For example: de: {body: \"…\"}."),
        MistakeCase(
            "a language with a badge", "content:\n  title: Hi\n  languages: {de: {badge: 3}}\n",
            "campaign.yaml:3:20: unknown key 'badge' in the language. It belongs in 'content'; check the indentation."),
        MistakeCase(
            "a language as text", "content:\n  title: Hi\n  languages: {de: Hallo}\n",
            "campaign.yaml:3:19: the language must be a group of keys, not 'Hallo'. For example: de: {body: \"…\"}."),
        MistakeCase(
            "a text for a payload by hand",
            "content:\n  payload: {aps: {alert: Hi}}\n  languages: {de: {title: Hallo}}\n",
            "campaign.yaml:3:20: the campaign's content is a payload written by hand, so 'title' cannot change it. Write the whole payload for these devices as 'payload'."
        ),
        MistakeCase(
            "a payload by hand for keys",
            "content:\n  title: Hi\n  languages: {de: {payload: {aps: {alert: Hallo}}}}\n",
            "campaign.yaml:3:20: 'payload' cannot be used here, because the campaign's content is not a payload. Write the keys that differ: title, body, …"
        ),
        MistakeCase(
            "a silent push with a text for a language", "content:\n  silent: true\n  languages: {de: {title: Hallo}}\n",
            "campaign.yaml:3:20: a silent push has no 'title'. Change 'data' or 'link', or remove 'silent' above."),
        MistakeCase(
            "a content of a variant that changes nothing", "variants: {a: {share: 100, content: {}}}\n",
            "campaign.yaml:1:37: nothing differs here. Write what these devices get instead, for example: body: \"…\"."),
        MistakeCase(
            "words of other languages for nothing", "variants: {kein-push: {share: 50}, excluded: {share: 50}}\n",
            """
            campaign.yaml:1:12: the devices of the variant 'kein-push' would get the campaign's text, as it changes nothing. For devices that get nothing write holdout; for others choose another name.
            campaign.yaml:1:36: the devices of the variant 'excluded' would get the campaign's text, as it changes nothing. For devices that get nothing write holdout; for others choose another name.
            """),
    ]
}
