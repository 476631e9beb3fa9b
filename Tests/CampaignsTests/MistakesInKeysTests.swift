import Base
import Testing

@testable import Campaigns

@Suite("Keys and names")
struct MistakesInKeysTests {
    @Test("each is said at its place, with what to do", arguments: mistakes)
    func isSaid(_ mistake: MistakeCase) {
        #expect(found { () throws(Diagnostics) in try readPart(mistake.yaml) } == mistake.expected)
    }

    static let mistakes: [MistakeCase] = [
        MistakeCase(
            "a misspelt key",
            "desciption: x\ndelivery: {expiers: 4h}\n",
            """
            campaign.yaml:1:1: unknown key 'desciption' at the top level. Did you mean 'description'?
            campaign.yaml:2:12: unknown key 'expiers' in 'delivery'. Did you mean 'expires'?
            """),
        MistakeCase(
            "a misplaced key",
            #"""
            title: Hi
            content:
              body: x
              expires: 4h

            """#,
            """
            campaign.yaml:1:1: unknown key 'title' at the top level. It belongs in 'content'; check the indentation.
            campaign.yaml:4:3: unknown key 'expires' in 'content'. It belongs in 'delivery'; check the indentation.
            """),
        MistakeCase(
            "a key like no other",
            "frobnicate: 1\n",
            """
            campaign.yaml:1:1: unknown key 'frobnicate' at the top level. Valid here: name, app, description, audience, content, activity, variants, delivery, schedule, allow.
            """),
        MistakeCase(
            "a key without space within a group",
            "audience: {tags:[a]}\n",
            """
            campaign.yaml:1:16: a space is missing after the ':'. Write it as 'name: value'; if the ':' belongs to a text, put the whole text in quotes.
            """),
        MistakeCase(
            "a name with capitals and spaces",
            "name: Spring Sale 2026!\n",
            """
            campaign.yaml:1:7: the name 'Spring Sale 2026!' may hold only lower-case letters a-z, digits and hyphens. Write name: spring-sale-2026.
            """),
        MistakeCase(
            "a name in Chinese",
            "name: 双十一\n",
            """
            campaign.yaml:1:7: the name '双十一' may hold only lower-case letters a-z, digits and hyphens. For example: name: spring-sale.
            """),
        MistakeCase(
            "a name of 70 characters",
            "name: spring-spring-spring-spring-spring-spring-spring-spring-spring-spring-\n",
            """
            campaign.yaml:1:7: the name 'spring-spring-spring-spring-spring-spring-spring-spring-spri…' is longer than 64 characters. Write name: spring-spring-spring-spring-spring-spring-spring-spring-spring-s.
            """),
        MistakeCase(
            "a name that is a list",
            "name: [a]\n",
            "campaign.yaml:1:7: 'name' must be a text, not a list. For example: name: spring-sale."),
        MistakeCase(
            "a name that is empty",
            "name:\n",
            "campaign.yaml:1:6: 'name' has no value. For example: name: spring-sale."),
        MistakeCase(
            "an app that is blank",
            "app: \"  \"\n",
            "campaign.yaml:1:6: 'app' is blank. For example: app: shop."),
        MistakeCase(
            "audience is a text",
            "audience: discount\n",
            """
            campaign.yaml:1:11: 'audience' must be a group of keys, not 'discount'. For example: audience: {tags: [discount]}.
            """),
        MistakeCase(
            "content is empty",
            "content:\n",
            "campaign.yaml:1:9: 'content' is empty. For example: content: {title: Hello, body: \"How are you?\"}."),
        MistakeCase(
            "delivery is a list",
            "delivery: [4h]\n",
            "campaign.yaml:1:11: 'delivery' must be a group of keys, not a list. For example: delivery: {expires: 4h}."),
    ]
}
