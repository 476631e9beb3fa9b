import Base
import Testing

@testable import Campaigns

@Suite("Names of devices that do not want pushes")
struct OptOutTests {
    @Test(
        "are seen in many languages and spellings",
        arguments: [
            "unsubscribed", "Unsubscribed", "unsubscribe", "email_unsubscribed", "push:unsubscribed",
            "unsubscribed-2026", "pushUnsubscribed", "opt-out", "optout", "OPTED_OUT", "push opt out", "do_not_disturb",
            "DND", "dnc",
            "don't-disturb", "no-push", "push_off", "unsub", "abgemeldet", "Newsletter-abgemeldet", "nicht stören",
            "keine Werbung",
            "désabonné", "de\u{301}sabonne\u{301}s", "desinscrit", "disiscritti", "uitgeschreven", "отписались",
            "не беспокоить", "退订",
            "un-subscribed", "Un_Subscribed", "un\u{A0}subscribed", "unsubsc\u{200B}ribed", "已退訂", "免打扰", "配信停止",
            "수신거부",
        ])
    func mean(name: String) { #expect(OptOutWords.mean(name)) }

    @Test(
        "are not seen in others",
        arguments: [
            "subscribed", "subscriber", "vip", "not-unsubscribed", "never_unsubscribed", "unsubscribed=false",
            "opt-out:no", "non-opt-out",
            "run subscriber", "un", "opt-in", "laptop-outlet", "liste des abonnés", "abonniert", "dndlovers", "sandbox",
            "订阅", "",
            "resubscribe-offer",
        ])
    func meanOthers(name: String) { #expect(!OptOutWords.mean(name)) }

    @Test(
        "cause a warning where they select devices",
        arguments: [
            "tags: [vip, unsubscribed]", "tags: {any: [vip], all: [opt-out]}",
            "tags: [vip], where: {status: unsubscribed}",
            "tags: [vip], where: {unsubscribed: \"true\"}", "tags: [vip], where: {opted_out: present}",
            "tags: [vip], where: {push_opt_in: [\"false\"]}",
        ])
    func selected(audience: String) throws {
        let warnings = try readPart("audience: {\(audience)}\n").1
        #expect(warnings.map(\.name) == [.optOutTargeted])
        #expect(warnings[0].position?.line == 1 && warnings[0].remedy?.contains("To leave them out") == true)
    }

    @Test("with a minus in front are left out by the tag without it")
    func minus() throws {
        let warnings = try readPart("audience: {tags: [vip, -unsubscribed]}\n").1
        #expect(warnings.first?.remedy?.contains("exclude: {tags: [\"unsubscribed\"]}") == true, "\(warnings)")
    }

    @Test(
        "are those that are left if the ones that want pushes are left out",
        arguments: [
            "tags: {any: [vip], none: [subscribed]}", "tags: [vip], exclude: {tags: [push-opt-in]}",
            "everyone: true, exclude: {tags: [Abonniert]}",
        ])
    func optInLeftOut(audience: String) throws {
        let warnings = try readPart("audience: {\(audience)}\n").1
        #expect(warnings.map(\.name) == [.optOutTargeted], "\(warnings)")
        #expect(warnings.first?.message.contains("it goes to those that do not") == true, "\(warnings)")
    }

    @Test(
        "cause none where they leave devices out",
        arguments: [
            "tags: [vip], exclude: {tags: [unsubscribed]}",
            "tags: [vip, unsubscribed], exclude: {tags: [unsubscribed]}",
            "tags: {any: [vip, opt-out], none: [opt-out]}", "tags: [vip], exclude: {tags: [premium_subscribed]}",
            "tags: {any: [vip], none: [opt-out]}",
            "tags: [vip], where: {unsubscribed: \"false\"}", "tags: [vip], where: {opted_out: missing}",
            "tags: [vip], where: {status: \"!= unsubscribed\"}", "tags: [vip], where: {push_opt_in: \"true\"}",
        ])
    func leftOut(audience: String) throws { #expect(try readPart("audience: {\(audience)}\n").1.isEmpty) }
}
