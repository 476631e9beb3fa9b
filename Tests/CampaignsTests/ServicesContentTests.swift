import Base
import Foundation
import PushServices
import Testing

@testable import Campaigns

@Suite("What single services get of a campaign's content")
struct ServicesContentTests {
    /// The findings about a part of a campaign for an app with several services.
    private func findings(_ part: String, _ services: [any PushService] = [APNs(), RongCloud()]) -> String {
        found { () throws(Diagnostics) in
            try Campaign.read(source: completed(part), file: "campaign.yaml", services: services, now: now)
        }
    }

    private func content(_ yaml: String) throws -> MessageContent {
        try Campaign.read(source: completed(yaml), file: "campaign.yaml", services: [APNs(), RongCloud()], now: now).0
            .content
    }

    @Test(
        "null takes a key away for one service, whichever way YAML writes it",
        arguments: ["null", "~", "Null", "null # none there"])
    func removed(null: String) throws {
        let yaml =
            "content:\n  title: A\n  image: https://a.example/b.png\n  services:\n    rongcloud:\n      image: \(null)\n      body: B\n"
        let own = try #require(try content(yaml).services.first?.content)
        #expect(own.removed == [.image] && own.image == nil && own.body?.value == "B")
        #expect(findings(yaml).isEmpty)
    }

    @Test("the table in docs/services.md is what the services say of each key; RECORD_DOCS=1 writes it")
    func table() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("docs/services.md")
        let services = PushServices.all
        let head = ["key of `content`"] + services.map(\.displayName)
        let cells = ContentKey.allCases.map { key in
            ["`\(key.rawValue)`"] + services.map { $0.rules.carried[key] ?? "no" }
        }
        let table =
            ["| \(head.joined(separator: " | ")) |", String(repeating: "|---", count: head.count) + "|"]
            + cells.map { "| \($0.joined(separator: " | ")) |" }
        var lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("| key of `content`") })
        let end = lines[start...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
        guard Array(lines[start..<end]) != table else { return }
        if ProcessInfo.processInfo.environment["RECORD_DOCS"] != nil {
            lines.replaceSubrange(start..<end, with: table)
            try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        }
        Issue.record("docs/services.md differs:\n\(table.joined(separator: "\n"))")
    }

    @Test("how phones show a push is read, whatever a variant or a service changes of it")
    func presentation() throws {
        let read = try Campaign.read(
            source: completed(
                """
                content:
                  interruption: passive
                  relevance: 1
                  target_content: "{{ page }}"
                  filter: work
                  localized: {title: HI, body: {key: SALE, args: ["{{ name }}", 20]}}
                  services: {apns: {interruption: active, localized: null, title: Hi}}

                """), file: "campaign.yaml", services: [APNs(), FCM()], now: now)
        let content = read.0.content
        #expect(
            content.interruption?.value == "passive" && content.targetContent?.value == "{{ page }}"
                && content.filter?.value == "work")
        guard case .integer(1, _)? = content.relevance else { return #expect(Bool(false)) }
        #expect(
            content.localized[.title]?.key.value == "HI"
                && content.localized[.body]?.arguments.map(\.value) == ["{{ name }}", "20"])
        let own = try #require(content.services.first?.content)
        let apns = content.overlaid(by: own)
        #expect(
            apns.interruption?.value == "active" && apns.localized.isEmpty && apns.title?.value == "Hi"
                && apns.filter?.value == "work")
    }

    @Test("a service that has no such key is named")
    func withoutPresentation() {
        #expect(
            findings("content: {title: A, body: B, relevance: 0.5}\n").contains(
                "campaign.yaml:1:30: warning: RongCloud has no 'relevance', so devices there get the push without it. If that is fine, write "
                    + "below 'content' services: {rongcloud: {relevance: null}}. [not-carried]"))
        #expect(
            findings("content: {title: A, body: B, interruption: passive}\n", [Getui()]).contains(
                "campaign.yaml:1:30: Getui has no 'interruption'. Remove it."))
        #expect(findings("content: {title: A, body: B, interruption: passive}\n", [JPush(), RongCloud()]).isEmpty)
    }

    @Test("every key that a service may change can be taken away")
    func everyKey() throws {
        let keys = ContentKey.removable.map(\.rawValue).sorted()
        #expect(Set(keys + ["payload", "languages"]) == Set(CampaignKeys.variantContent.valid))
        let nulls = keys.map { "\($0): null" }.joined(separator: ", ")
        let own = try content("content: {title: A, services: {apns: {\(nulls)}}}\n").services.first?.content
        #expect(own?.removed == ContentKey.removable)
    }

    private static let mistakes = [
        MistakeCase(
            "a value that was forgotten", "content:\n  title: A\n  services:\n    rongcloud:\n      body:\n",
            "campaign.yaml:5:12: 'body' has no value. For example: body: \"20 % off everything.\"; null leaves it out for RongCloud."
        ),
        MistakeCase(
            "null where all services are meant", "content: {title: null, body: B}\n",
            "campaign.yaml:1:18: 'title' has no value. For example: title: \"Spring sale\"."),
        MistakeCase(
            "null for a payload", "content: {title: A, body: B, services: {apns: {payload: null}}}\n",
            "campaign.yaml:1:57: 'payload' is empty. For example: payload: {aps: {alert: Hello}}."),
        MistakeCase(
            "a key that the service does not have",
            "content: {title: A, body: B, services: {rongcloud: {sound: default}}}\n",
            "campaign.yaml:1:53: RongCloud has no 'sound'. Remove it."),
        MistakeCase(
            "an unknown key is answered by those that the service has",
            "content: {title: A, body: B, services: {rongcloud: {zzzzz: 1}}}\n",
            """
            campaign.yaml:1:53: unknown key 'zzzzz' in 'rongcloud'. Valid here: title, body, badge, category, thread, image, link, data, interruption, languages, makers, harmony.
            """),
        MistakeCase(
            "a key of single services, where it is for all",
            "content: {title: A, body: B, makers: {oppo: {category: A}}}\n",
            """
            campaign.yaml:1:30: unknown key 'makers' in 'content'. Some services have it (Getui, JPush, RongCloud): write it below the \
            service, under 'content': services: {getui: {makers: {…}}}.
            """),
        MistakeCase(
            "what services call HarmonyOS",
            "content: {title: A, body: B, services: {rongcloud: {harmonyOS: {category: A}}}}\n",
            "campaign.yaml:1:53: unknown key 'harmonyOS' in 'rongcloud'. Volley calls it 'harmony'."),
        MistakeCase(
            "also in its languages",
            "content: {title: A, body: B, services: {rongcloud: {languages: {de: {zzzzz: 1, body: C}}}}}\n",
            "campaign.yaml:1:70: unknown key 'zzzzz' in the language. Valid here: title, body, image, link, data."),
    ]

    @Test("what only one service has is a mistake next to a payload by hand, which would leave it out")
    func besidePayload() {
        let yaml =
            "content: {title: A, body: B, services: {getui: {payload: {push_message: {transmission: x}}, makers: {vivo: {category: A}}}}}\n"
        #expect(
            findings(yaml, [APNs(), Getui()]).contains(
                "campaign.yaml:1:93: 'payload' is the whole push written by hand, so 'makers' cannot be used with it. Write it into the payload,"
            ))
    }

    @Test("mistakes", arguments: mistakes)
    func isReported(_ mistake: MistakeCase) { #expect(findings(mistake.yaml) == mistake.expected) }

    @Test("the remedy for what a service does not have can be followed, and ends the warning")
    func notCarried() throws {
        #expect(
            findings("content: {title: A, body: B, sound: default}\n") == """
                campaign.yaml:1:30: warning: RongCloud has no 'sound', so devices there get the push without it. If that is fine, write \
                below 'content' services: {rongcloud: {sound: null}}. [not-carried]
                """)
        #expect(
            findings("content: {title: A, body: B, sound: default, services: {rongcloud: {sound: null}}}\n").isEmpty)
        // Where a service has its own text instead of one that it does not carry.
        let subtitle = "content: {title: A, body: B, subtitle: C"
        #expect(
            findings(subtitle + "}\n").contains(
                "; or let their text say the same: services: {rongcloud: {subtitle: null, body: \"…\"}}. [not-carried]")
        )
        #expect(findings(subtitle + ", services: {rongcloud: {subtitle: null, body: B C}}}\n").isEmpty)
        // Texts of languages and variants are about the same devices.
        let more =
            "languages: {de: {sound: a.caf}}, services: {rongcloud: {sound: null}}}\n"
            + "variants: {a: {share: 100, content: {sound: b.caf}}}\n"
        #expect(findings("content: {title: A, body: B, \(more)").isEmpty)
    }

    /// Findings about the delivery of a campaign through these services.
    private func findings(_ delivery: String, own: String = "", through services: [any PushService]) throws -> [String]
    {
        let content = "content: {title: A, body: B\(own.isEmpty ? "" : ", services: {jpush: {\(own)}}")}\n"
        let read = try Campaign.read(
            source: completed("\(content)delivery: {\(delivery)}\n"), file: "campaign.yaml", services: services,
            now: now)
        return read.1.filter { $0.name == .notCarried }.map(\.description)
    }

    @Test("what JPush carries out on phones of one system only is a warning, unless no others are reached through it")
    func systems() throws {
        let allowance = #"If that is fine, allow it: allow: [{warning: not-carried, reason: "…"}]. [not-carried]"#
        #expect(
            try findings("expires: 4h, priority: normal, collapse: a", through: [JPush()]) == [
                "campaign.yaml:2:12: warning: JPush lets no push to an iPhone expire, so iPhones may get it later than 'expires' allows. "
                    + allowance,
                "campaign.yaml:2:25: warning: JPush has a priority for Android only, so iPhones get the push without it. "
                    + allowance,
                "campaign.yaml:2:43: warning: JPush passes 'collapse' on to iPhones only, so Android phones show the earlier push beside "
                    + "this one. Android replaces the push whose number (msg_id) you name, below 'content': services: {jpush: {options: "
                    + "{override_msg_id: …}}}. " + allowance,
            ])
        // What works is no loss.
        #expect(try findings("priority: high", through: [JPush()]).isEmpty)
        #expect(
            try findings("expires: 4h, priority: normal", through: [APNs(), JPush()]).isEmpty,
            "iPhones are reached through APNs")
        #expect(try findings("expires: 4h", through: [FCM(), JPush()]).count == 1)
        #expect(try findings("collapse: a", own: "options: {override_msg_id: 7}", through: [JPush()]).isEmpty)
        #expect(
            try findings("collapse: a", own: "options: {classification: 1}", through: [APNs(), JPush()]).count == 1)
    }

    @Test("a key of delivery is for all services, so that its warning can only be allowed")
    func delivery() throws {
        let part = "content: {title: A, body: B}\ndelivery: {priority: normal}\n"
        #expect(
            findings(part) == """
                campaign.yaml:2:12: warning: RongCloud has no 'priority', so devices there get the push without it. If that is fine, \
                allow it: allow: [{warning: not-carried, reason: "…"}]. [not-carried]
                """)
        let allowed = try Campaign.read(
            source: completed(part + "allow: [{warning: not-carried, reason: \"Only iPhones rank pushes.\"}]\n"),
            file: "campaign.yaml",
            services: [APNs(), RongCloud()], now: now)
        #expect(allowed.0.allowed.map(\.name) == [WarningName.notCarried])
    }
}
