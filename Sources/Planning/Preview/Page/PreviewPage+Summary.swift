import Audience
import Base
import PushServices
import Reports

/// The first screen: how many devices get what, when, where, and under which rules.
extension PreviewPage {
    var summary: HTML {
        let rows: [HTML] = answers.map { "<dt>\($0.name)</dt><dd dir=\"auto\">\($0.value)</dd>" }
        let count = preview.audience.audience
        return """
            <section class="panel hero" aria-label="The campaign at a glance">
            <div>
            <p class="big"><b>\(figure("audience", number: count))</b> \(whoGetsIt)</p>
            <p class="lead" dir="auto">\(preview.words.audience)</p>
            <dl class="facts">\(rows)</dl>
            </div>
            \(card)
            </section>
            """
    }

    private var whoGetsIt: String {
        let count = preview.audience.audience, service = preview.service
        return preview.calls == nil
            ? "\(TextFormat.plural(count, one: "device")) would get it"
            : "\(TextFormat.plural(count, one: service.recipientNoun)) to \(service.displayName), which chooses the devices"
    }

    private var answers: [(name: String, value: HTML)] {
        var answers: [(String, HTML)] = [
            ("Where", "\(preview.app) \(badge.html)"), ("When", "\(preview.schedule?.headline ?? "when it is sent")"),
            ("Takes", duration),
            ("Expires", "\(preview.words.expiry)"),
        ]
        if let priority = preview.words.priority { answers.append(("Priority", "\(priority)")) }
        answers.append(("Frequency", "\(preview.words.frequency)"))
        if preview.calls == nil { answers.append(("Export", exports)) }
        if preview.services.count > 1 { answers.append(("Services", services)) }
        if let bytes = preview.payloadBytes {
            let size =
                bytes.min == bytes.max
                ? "\(bytes.max) bytes each" : "\(bytes.min)–\(bytes.max) bytes, half of them at most \(bytes.p50)"
            if face == .terminal { answers.append(("Payload", "\(size)")) }
        }
        if let comparison = preview.comparison {
            answers.append(("Last run", "\(comparison.text), planned at \(moment(comparison.plannedAt))"))
        }
        return answers
    }

    private var duration: HTML {
        guard preview.longest.pace != nil, let seconds = preview.secondsAtPace else {
            return "no pace is set: as fast as the server allows"
        }
        let calls = preview.services.count == 1 ? preview.longest.callWords.map { "\($0), " } ?? "" : ""
        return "\(calls)\(TextFormat.duration(seconds: seconds)) \(preview.longest.paceWords)"
    }

    /// How many devices each service reaches, and how long that takes; they are sent to in
    /// parallel.
    private var services: HTML {
        let parts: [HTML] = preview.services.enumerated().map { number, service in
            let time = service.secondsAtPace.map { seconds in ", \(TextFormat.duration(seconds: seconds))" } ?? ""
            let unit = TextFormat.plural(service.calls, one: "call", many: "calls")
            let calls: HTML =
                service.callWords == nil ? "" : ", \(figure("services/\(number)/calls", number: service.calls)) \(unit)"
            let count = figure("services/\(number)/audience", number: service.recipients)
            return "<li>\(service.service.displayName) (\(service.destination)): \(count)\(calls)\(time)</li>"
        }
        return "<ul class=\"plain\">\(parts)</ul>"
    }

    /// How old the exports are: the oldest and the newest.
    private var exports: HTML {
        if let database = preview.words.database { return "asked of the database \(database) for this preview" }
        let known = preview.words.exports.compactMap(\.writtenAt).sorted()
        guard let oldest = known.first, let newest = known.last else { return "of unknown age" }
        let age = age(of: oldest)
        guard preview.words.exports.count > 1 else { return "written \(age) ago, at \(moment(oldest))" }
        let span = age == self.age(of: newest) ? age : "\(self.age(of: newest)) to \(age)"
        return
            "\(TextFormat.count(preview.words.exports.count)) files, written \(span) ago, the oldest at \(moment(oldest))"
    }

    private func age(of moment: Timestamp) -> String {
        let seconds = max(0, madeAt.epochSeconds - moment.epochSeconds)
        for (unit, length) in [("day", Int64(86_400)), ("hour", 3600), ("minute", 60)] where seconds >= length {
            return "\(seconds / length) \(TextFormat.plural(seconds / length, one: unit))"
        }
        return "less than a minute"
    }

    private var card: HTML {
        let groups = preview.groups.messages
        let number = groups.indices.max { groups[$0].recipients < groups[$1].recipients } ?? 0
        guard groups.count > 1, let sample = preview.samples.first(where: { $0.message == number }) else {
            return preview.samples.first.map { aside($0, words: "As \(recipient($0)) gets it.") } ?? ""
        }
        return aside(
            sample,
            words: "What most devices read: \(name(number)). One of \(groups.count) texts; the others are below.")
    }

    private func aside(_ sample: PreviewSample, words: String) -> HTML {
        "<aside>\(PushCard(app: preview.app, sample.service.shown(sample.shownPayload)).html)<p class=\"note\">\(words)</p></aside>"
    }

    private func recipient(_ sample: PreviewSample) -> String {
        preview.calls == nil ? "the device \(sample.token.redacted)" : "every device"
    }

    private func name(_ number: Int) -> String {
        let group = preview.groups.messages[number]
        let language =
            group.language.isEmpty ? "every other language" : LanguageName.english(group.language) ?? group.language
        if group.variant.isEmpty, preview.groups.texts.isEmpty, !group.service.isEmpty { return group.service }
        if group.variant.isEmpty { return group.service.isEmpty ? language : "\(group.service), \(language)" }
        return preview.groups.texts.isEmpty ? "variant \(group.variant)" : "\(language), variant \(group.variant)"
    }
}
