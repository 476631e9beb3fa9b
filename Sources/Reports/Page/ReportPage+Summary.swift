public import Base
import PushServices
public import Runs

/// The first screen: the result, the audience, the time, the place, and the text as people read it.
extension ReportPage {
    var summary: HTML {
        let share: HTML =
            hasBegun && report.plan.audience > 0
            ? "<p class=\"big\"><b>\(percent(report.count(.accepted)))</b> \(report.service.choosesDevices ? "of its calls accepted" : "accepted")\(asOf)</p>\(whole)"
            : ""
        let note: HTML = hasBegun && report.plan.audience > 0 ? "<p class=\"note\">\(whatGettingItMeans)</p>" : ""
        return """
            <section class="panel hero" aria-label="The run at a glance">
            <div>
            \(share)
            <p class="\(report.missedForGood > 0 ? "lead missed" : "lead")" id="headline">\(missed)\(story)</p>
            \(note)
            \(Self.facts(answers))
            </div>
            \(card)
            </section>
            """
    }

    /// The moment of the share, unless it can no longer change.
    private var asOf: HTML {
        if report.isHeld { return " by the backup" }
        return state == .running || state == .paused ? " so far" : ""
    }

    private var whatGettingItMeans: String {
        if report.service.choosesDevices {
            return "An accepted call says that \(report.takers) took the push over, for as many devices as it finds."
        }
        if isSimulated { return "This run went to the built-in simulator, for practice: no device got anything." }
        return
            "“Accepted” means that \(report.guide.introduction.replacing("'", with: "’"))\(report.services.isEmpty ? "," : "") took the push over. A device that is switched off gets it later; "
            + "whether someone looked at it cannot be told from here."
    }

    // MARK: - In words

    /// How many were never sent to, as the first fact.
    private var missed: HTML {
        guard let missed = report.missedPushes else { return "" }
        let devices = TextFormat.counted(missed.count, one: "\(noun) was", many: "\(noun)s were")
        return "\(devices) never sent to: \(missed.because("the push expired")). "
    }

    /// The run in a few sentences, for readers that read nothing else.
    private var story: HTML {
        let (plan, accepted) = (report.plan, report.count(.accepted))
        if report.service.choosesDevices, plan.audience > 0, hasOutcomes { return calls }
        guard plan.audience > 0 else { return "There was no \(noun) in the audience, so nothing was sent." }
        let all: HTML = "\(figure("audience", number: plan.audience)) \(TextFormat.plural(plan.audience, one: noun))"
        guard report.isHeld || state != .planned && (hasBegun || state.hasEnded) else {
            return "Planned for \(all), and not sent yet."
        }
        let by = "accepted by \(report.acceptors) for"
        let beginning: HTML =
            switch state {
            case _ where report.isHeld:
                "By the backup of \(report.backupMoment) \(by) \(figure("outcomes/accepted", number: accepted)) of \(all)."
            case .running, .paused: "So far \(by) \(figure("outcomes/accepted", number: accepted)) of \(all)."
            case .finished where accepted == plan.audience:
                plan.audience == 1
                    ? "\(TextFormat.capitalized(by)) the one device.\(hidden("outcomes/accepted", number: accepted))\(hidden("audience", number: 1))"
                    : "\(TextFormat.capitalized(by)) all \(all)."
            default: "\(TextFormat.capitalized(by)) \(figure("outcomes/accepted", number: accepted)) of \(all)."
            }
        let rest: [(Outcome, String, String)] = [
            report.doubtsTokens
                ? (
                    .invalidToken, "had its \(report.shortNoun) refused",
                    "had their \(report.shortNoun)s refused"
                )
                : report.guide.areActivities
                    ? (.invalidToken, "had its activity end before", "had their activities end before")
                    : (.invalidToken, "no longer has the app", "no longer have the app"),
            (.rejected, "was refused", "were refused"),
            (.failed, "could not be reached in time", "could not be reached in time"),
            (.unknown, "gave \(report.guide.noAnswer)", "gave \(report.guide.noAnswer)"),
            report.isHeld
                ? (.unsent, "may have got it since", "may have got it since")
                : state == .running || state == .paused
                    ? (.unsent, "is still to come", "are still to come")
                    : (.unsent, "was never sent to", "were never sent to"),
        ]
        let isTold = report.missedForGood == report.count(.unsent)
        let parts = rest.filter { report.count($0.0) > 0 && !($0.0 == .unsent && isTold) }.sorted {
            report.count($0.0) > report.count($1.0)
        }.map { outcome, one, many in
            let count = report.count(outcome)
            return
                "\(figure("outcomes/\(outcome.name)", number: count)) \(TextFormat.plural(count, one: one, many: many))"
                as HTML
        }
        let list = parts.enumerated().map { place, part -> HTML in
            place == 0 ? part : place == parts.count - 1 ? " and \(part)" : ", \(part)"
        }
        return parts.isEmpty ? beginning : "\(beginning) \(HTML(joined: list))."
    }

    /// The same where the service chose the devices.
    private var calls: HTML {
        let (all, accepted) = (report.plan.audience, report.count(.accepted))
        let figures: HTML = "\(figure("outcomes/accepted", number: accepted)) of \(figure("audience", number: all))"
        let calls: HTML =
            "\(report.takers) accepted \(figures) \(TextFormat.plural(all, one: report.service.recipientNoun))"
        let choice = "It chooses the devices, and it alone knows how many they are."
        guard report.isHeld else { return "\(calls). \(choice)" }
        let unsent: HTML = "\(figure("outcomes/unsent", number: report.notKnownSinceBackup)) may have gone out since"
        return "By the backup of \(report.backupMoment) \(calls); \(unsent). \(choice)"
    }

    /// The audience as one bar.
    private var whole: HTML {
        let total = report.plan.audience
        var left = 0.0
        let parts = Outcome.allCases.filter { report.count($0) > 0 }
        let rects: [HTML] = parts.map { outcome in
            // A width of half a hundredth is still visible.
            let width = max(5, Double(report.count(outcome)) / Double(total) * 1000)
            defer { left += width }
            return """
                <rect class="\(outcome.name)" x="\(String(Int(left)))" y="0" width="\(String(Int(width.rounded(.up))))" height="24"><title>\(outcome.name): \(TextFormat.count(report.count(outcome)))</title></rect>
                """
        }
        let words = parts.map { "\($0.name) \(percent(report.count($0)))" }.joined(separator: ", ")
        let legend = parts.map { outcome in
            (
                outcome,
                "\(report.guide.title(outcome)) \(percent(report.count(outcome)))" as HTML
            )
        }
        return """
            <svg class="whole" viewBox="0 0 \(String(Int(left.rounded(.up)))) 24" preserveAspectRatio="none" role="img" aria-label="Outcomes: \(words)">\(rects)</svg>
            \(Chart.legend(legend))
            """
    }

    // MARK: - Audience, time, place

    private var answers: [(name: String, value: HTML)] {
        [("To", audienceInWords)].compactMap { name, words in words.map { (name, $0) } } + [
            ("When", time), ("Where", place),
        ]
    }

    /// nil if the plan does not say.
    private var audienceInWords: HTML? {
        let plan = report.plan
        if plan.isTest { return "The test devices of \(plan.app)" }
        if let first = plan.retryOf {
            let outcomes = (try? plan.settings.get())?.retriedOutcomes.map { $0.map(\.name).sorted() } ?? []
            let which = outcomes.isEmpty ? "" : ", those that were \(outcomes.joined(separator: " or "))"
            return "Again to devices of \(first)\(which)\(plan.leftOutOfRetry.map { "; \($0)" } ?? "")"
        }
        return plan.preview["in_words"]?["audience"]?.stringValue.map { "\($0)" }
    }

    private var time: HTML {
        let status = report.status
        guard let start = status.startedAt else {
            return "Not \(report.isHeld ? "by the backup" : "yet"); planned \(Self.moment(report.plan.plannedAt)) UTC"
        }
        guard let end = status.finishedAt else { return "Since \(Self.moment(start)) UTC" }
        let length = report.milliseconds.map {
            " UTC, \(TextFormat.duration(seconds: Double($0) / 1000)) from the first push to the last answer"
        }
        // On the same day, the time of day is enough.
        let isSameDay = Self.moment(start).prefix(10) == Self.moment(end).prefix(10)
        return
            "\(Self.moment(start)) – \(isSameDay ? String(Self.moment(end).dropFirst(11)) : Self.moment(end))\(length ?? " UTC; the clock was set back meanwhile")"
    }

    private var place: HTML { "\(report.plan.app) \(badges)" }

    // MARK: - What they read

    private var card: HTML {
        let texts = PlannedText.all(in: report.plan)
        guard let text = texts.max(by: { $0.recipients < $1.recipients }) else { return "" }
        let place = text.place(among: texts)
        let which =
            texts.count == 1
            ? "" : "What most devices read: \(place). One of \(texts.count) texts; the others are below. "
        let who = report.service.choosesDevices ? "every device" : "the first of its devices"
        let how = text.isExample ? "As \(who) gets it." : "As the campaign file has it."
        return "<aside>\(PushCard(app: report.plan.app, text.push).html)<p class=\"note\">\(which)\(how)</p></aside>"
    }

    /// All texts of a campaign that has several.
    var texts: HTML {
        let texts = PlannedText.all(in: report.plan)
        guard texts.count > 1 else { return "" }
        // A retry goes to some of the devices that its first run was planned for.
        let hasCounts = report.plan.retryOf == nil && !report.plan.isTest
        func matrix(_ texts: [PlannedText]) -> HTML {
            TextMatrix(
                texts.map {
                    TextMatrix.Cell(
                        variant: $0.variant, language: $0.language, recipients: hasCounts ? $0.recipients : nil,
                        cards: [PushCard(app: report.plan.app, $0.push).html])
                }
            ).html
        }
        let services = texts.map(\.service).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let matrices: [HTML] =
            services.count == 1
            ? [matrix(texts)]
            : services.map { name in "<h3>\(name)</h3>\(matrix(texts.filter { $0.service == name }))" }
        return """
            <section class="panel folds"><h2>What it said</h2>
            \(FoldedSection("All \(texts.count) texts, by \(services.count == 1 ? "" : "service, ")language and variant", HTML(matrices)).html)</section>
            """
    }
}

/// A text of a run's campaign, as its plan keeps it.
struct PlannedText {
    /// The service that takes it, as a sentence names it; blank where one takes all pushes.
    var service: String
    /// Blank without variants.
    var variant: String
    /// Blank for the text above `languages`.
    var language: String
    /// Devices that were to get it.
    var recipients: Int
    /// As the first of its recipients gets it, otherwise as in the campaign.
    var push: ShownPush
    /// Whether it is what a recipient gets.
    var isExample: Bool

    /// In the order of the campaign; empty for plans that keep none.
    static func all(in plan: RunPlan) -> [PlannedText] {
        let (samples, services) = (array(plan.preview["samples"]), plan.services)
        return array(plan.preview["messages"]).compactMap { message in
            let (variant, language) = (message["variant"]?.stringValue ?? "", message["language"]?.stringValue ?? "")
            let taker = services.first { $0.name == message["service"]?.stringValue } ?? plan.service
            let example = samples.first { sample in
                ["variant", "language", "service"].allSatisfy {
                    (sample[$0]?.stringValue ?? "") == (message[$0]?.stringValue ?? "")
                }
            }
            let push = example?["payload"].map(taker.shown)
            let texts = ["title", "subtitle", "body"].map { message[$0]?.stringValue ?? "" }
            guard push != nil || texts != ["", "", ""] else { return nil }
            return PlannedText(
                service: services.count > 1 ? taker.displayName : "",
                variant: variant, language: language, recipients: Int(message["recipients"]?.integerValue ?? 0),
                push: push ?? ShownPush(title: texts[0], subtitle: texts[1], body: texts[2]), isExample: push != nil)
        }
    }

    private static func array(_ value: JSONValue?) -> [JSONValue] {
        if case .array(let values)? = value { values } else { [] }
    }

    /// Its place among the others, for people: `German, variant short`.
    func place(among texts: [PlannedText]) -> String {
        let language = language.isEmpty ? "every other language" : LanguageName.english(language) ?? language
        return [
            service, texts.contains { !$0.language.isEmpty } ? language : "",
            variant.isEmpty ? "" : "variant \(variant)",
        ].filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

/// The texts of a plan as phones show them, to embed in another page with `PageStyle.sheet`.
public enum PlannedTextCards {
    /// More are told, not shown.
    private static let most = 30

    /// A card for each text, with its audience; blank for a plan that keeps none.
    /// - Parameter first: only the first card, with how many others there are.
    public static func html(of plan: RunPlan, first: Bool = false) -> HTML {
        let texts = PlannedText.all(in: plan)
        let shown = first ? 1 : most
        let cards: [HTML] = texts.prefix(shown).map { text in
            let place = text.place(among: texts)
            let who: HTML =
                "\(place.isEmpty ? "" : "\(TextFormat.capitalized(place)): ")\(TextFormat.devices(text.recipients))"
            return
                "<div class=\"text\"><p class=\"note\" dir=\"auto\">\(who)</p>\(PushCard(app: plan.app, text.push).html)</div>"
        }
        guard !cards.isEmpty else { return "" }
        let more = TextFormat.counted(texts.count - shown, one: "more text", many: "more texts")
        let rest: HTML = texts.count > shown ? "<p class=\"note\">And \(more).</p>" : ""
        return "<div class=\"texts\">\(cards)</div>\(rest)"
    }
}
