public import Base
import Runs

/// A report as a page: one file that needs no network and no script, for a phone, a large screen or paper.
///
/// Every figure says in words what it is. Those that `report --format json` holds too carry `data-figure`, the names of the members that lead to
/// it with slashes between, and `data-value`, the number; tests compare them. Device tokens are shortened.
public struct ReportPage {
    let report: Report
    let madeBy: String
    let madeAt: Timestamp

    /// - Parameters:
    ///   - madeBy: who says so, with its version.
    ///   - madeAt: what the page shows is as of then.
    public init(_ report: Report, madeBy: String, madeAt: Timestamp) {
        (self.report, self.madeBy, self.madeAt) = (report, madeBy, madeAt)
    }

    var state: RunState { report.status.state }

    /// Whether anything can have come of it.
    var hasBegun: Bool { report.status.startedAt != nil }

    /// The document.
    public var html: HTML {
        PageStyle.document(
            title: "Report of \(report.plan.campaign)", style: "\(ReportStyle.sheet)\(report.missedForGood > 0 ? ReportStyle.missed : "")",
            """
            \(head)
            \(Chart.patterns)
            \(alert)
            \(tiles)
            \(outcomes)
            \(reasons)
            \(timeline)
            \(groups)
            \(planned)
            \(testDevices)
            \(speed)
            \(chain)
            \(earlierRuns)
            \(facts)
            <footer>Made by \(madeBy) at \(Self.moment(madeAt)) · times are UTC · device tokens are shortened</footer>
            """)
    }

    // MARK: - What came of it

    private var head: HTML {
        let plan = report.plan
        var chips: [HTML] = ["<span class=\"chip\">\(state.rawValue)</span>"]
        if plan.isTest { chips.append("<span class=\"chip\">test</span>") }
        if isSimulated { chips.append("<span class=\"chip\">simulator</span>") }
        if plan.retryOf != nil { chips.append("<span class=\"chip\">retry</span>") }
        let note: HTML = hasBegun && plan.audience > 0 ? "<p class=\"note\">\(whatGettingItMeans)</p>" : ""
        return """
            <header>
            <p class="eyebrow">Delivery report \(chips)</p>
            <h1 dir="auto">\(plan.campaign)</h1>
            <p class="\(report.missedForGood > 0 ? "lead missed" : "lead")" id="headline">\(missed)\(story)</p>
            \(note)
            </header>
            """
    }

    private var isSimulated: Bool { report.plan.settings["environment"]?.stringValue == "simulator" }

    private var whatGettingItMeans: String {
        if isSimulated { return "This run went to the built-in simulator, for practice: no device got anything." }
        return "“Got it” means that APNs, Apple’s push service, took the push over. A device that is switched off gets it later; "
            + "who looked at it, nobody can tell from here."
    }

    /// How many never got a chance, before all else.
    private var missed: HTML {
        let count = report.missedForGood
        guard count > 0 else { return "" }
        let devices = count == 1 ? "1 device was" : "\(TextFormat.count(count)) devices were"
        return "\(devices) never sent to: \(report.missedBecause("the push expired", isOne: count == 1)). "
    }

    /// The run in a few sentences, for whoever reads nothing else.
    private var story: HTML {
        let (plan, accepted) = (report.plan, report.count(.accepted))
        guard plan.audience > 0 else { return "Nobody was in the audience, so nothing was sent." }
        let all: HTML = "\(figure("audience", plan.audience)) \(plan.audience == 1 ? "device" : "devices")"
        guard state != .planned, hasBegun || state.hasEnded else { return "Planned for \(all), and not sent yet." }
        let beginning: HTML =
            switch state {
            case .running, .paused: "So far \(figure("outcomes/accepted", accepted)) of \(all) got it."
            case .finished where accepted == plan.audience:
                plan.audience == 1
                    ? "The one device got it.\(hidden("outcomes/accepted", accepted))\(hidden("audience", 1))" : "All \(all) got it."
            default: "\(figure("outcomes/accepted", accepted)) of \(all) got it."
            }
        let rest: [(Outcome, String, String)] = [
            report.doubtsTokens
                ? (.invalidToken, "had its token refused", "had their tokens refused")
                : (.invalidToken, "no longer has the app", "no longer have the app"), (.rejected, "was refused", "were refused"),
            (.failed, "could not be reached in time", "could not be reached in time"),
            (.unknown, "gave no answer", "gave no answer"),
            state == .running || state == .paused
                ? (.unsent, "is still to come", "are still to come") : (.unsent, "was never sent to", "were never sent to"),
        ]
        let isTold = report.missedForGood == report.count(.unsent)
        let parts = rest.filter { report.count($0.0) > 0 && !($0.0 == .unsent && isTold) }.sorted {
            report.count($0.0) > report.count($1.0)
        }.map { outcome, one, many in
            let count = report.count(outcome)
            return "\(figure("outcomes/\(outcome.name)", count)) \(count == 1 ? one : many)" as HTML
        }
        let list = parts.enumerated().map { place, part -> HTML in
            place == 0 ? part : place == parts.count - 1 ? " and \(part)" : ", \(part)"
        }
        return parts.isEmpty ? beginning : "\(beginning) \(HTML(joined: list))."
    }

    /// What keeps the run from being done, and what to do about it.
    private var alert: HTML {
        let id = report.plan.id
        let repeats = report.count(.failed) + report.count(.unknown)
        let reason: HTML = report.status.reason.isEmpty ? "" : "<p dir=\"auto\">\(report.status.reason)</p>"
        let (title, todo): (String, String) =
            switch state {
            case .planned: ("Not sent yet", "volley send --plan \(id)")
            case .running: ("Still running: these figures are as of \(Self.moment(madeAt))", "volley report \(id)")
            case .paused: ("Paused", "volley resume \(id)")
            case .stopped where report.blamesSettings: ("Why it stopped", "volley send \(report.plan.campaignFile)")
            case .stopped: ("Why it stopped", "volley resume \(id)")
            case .cancelled: ("Cancelled", "volley resume \(id)")
            case .finished: ("Some can be sent to again", "volley retry \(id)")
            }
        let words: HTML =
            switch state {
            case .planned: "This sends it:"
            case .running: "This makes a newer report:"
            case .paused: "This goes on where it paused:"
            case .stopped where report.blamesSettings:
                "This run keeps the settings that it was planned with. Once they are put right, this plans the campaign again and sends it\(report.count(.accepted) > 0 ? ", also to those who got it" : ""):"
            case .stopped: "Once that is put right, this goes on where it stopped; who got the push does not get it twice:"
            case .cancelled: "If it shall go on after all:"
            case .finished:
                "\(TextFormat.count(repeats)) \(repeats == 1 ? "device" : "devices") failed or gave no answer. Those without an answer may have got it. This sends to them again:"
            }
        let isDone = repeats + report.missedForGood == 0
        if state == .finished, isDone || report.isPruned || report.plan.isTest || report.chain.contains(where: { $0.retryOf == id }) {
            return ""
        }
        if report.isPruned {
            return """
                <section class="warnings"><h2>\(title)</h2>\(reason)<p>Its recipients were removed from the run file, so that nothing more can be sent from it.</p></section>
                """
        }
        let main: HTML = state == .finished && repeats == 0 ? "" : "<p>\(words) <code>\(todo)</code></p>"
        return "<section class=\"warnings\"><h2>\(title)</h2>\(reason)\(main)\(missedAdvice)</section>"
    }

    /// How those who were missed can still get it.
    private var missedAdvice: HTML {
        let count = report.missedForGood
        guard count > 0 else { return "" }
        let devices = count == 1 ? "1 device was" : "\(TextFormat.count(count)) devices were"
        let others = report.count(.unsent) > count ? ", and to those whom frequency left out" : ""
        return """
            <p>\(devices) never sent to. If the message still holds, and its expiry names no moment that has passed, this sends to \(count == 1 ? "it" : "them")\(others): \
            <code>volley retry \(report.plan.id) --outcome unsent</code></p>
            """
    }

    // MARK: - Figures

    private var tiles: HTML {
        let plan = report.plan
        var tiles = [
            tile(figure("audience", plan.audience), plan.audience == 1 ? "device" : "devices", "were to get it: one push for each device")
        ]
        if hasBegun, plan.audience > 0 {
            let accepted = report.count(.accepted)
            tiles.append(tile("\(percent(accepted))", "", "got it: APNs took the push over for delivery"))
            tiles.append(
                tile(
                    figure("outcomes/invalid_token", report.count(.invalidToken)), report.doubtsTokens ? "refused" : "gone",
                    report.doubtsTokens
                        ? "had their tokens refused; only those that are gone for certain are left out from now on"
                        : "have removed the app since; they are left out from now on"))
        }
        if let milliseconds = report.milliseconds {
            tiles.append(tile("\(TextFormat.duration(seconds: Double(milliseconds) / 1000))", "", "from the first push to the last answer"))
        }
        if let mean = report.meanPerSecond, report.figures.attempts > 0 {
            tiles.append(tile(figure("rate/mean_per_second", mean), "a second", "on average, pauses included"))
        }
        return "<section class=\"figures\" aria-label=\"The run in figures\">\(tiles)</section>"
    }

    private func tile(_ value: HTML, _ unit: String, _ note: String) -> HTML {
        "<div class=\"figure\"><p><b>\(value)</b> \(unit)</p><p class=\"note\">\(note)</p></div>"
    }

    // MARK: - Pieces

    /// A number that programs find too.
    func figure(_ path: String, _ number: Int) -> HTML {
        "<span data-figure=\"\(path)\" data-value=\"\(number)\">\(TextFormat.count(number))</span>"
    }

    /// A number that a sentence tells in words.
    private func hidden(_ path: String, _ number: Int) -> HTML {
        "<span data-figure=\"\(path)\" data-value=\"\(number)\" hidden></span>"
    }

    /// A part of the audience.
    func percent(_ count: Int) -> String { Self.percent(count, of: report.plan.audience) }

    static func percent(_ count: Int, of total: Int) -> String {
        TextFormat.percent(total == 0 ? 0 : Double(count) / Double(total))
    }

    /// `2026-12-01 09:00:00`
    static func moment(_ moment: Timestamp) -> String { String(moment.description.dropLast().replacing("T", with: " ")) }

    /// A number, its share and a bar: the cells behind a row's name.
    func cells(_ path: String, _ count: Int, of total: Int) -> HTML {
        let share = total == 0 ? 0 : Double(count) / Double(total)
        let width = count == 0 ? "0" : "\(max(0.5, (share * 1000).rounded() / 10))"
        return """
            <td>\(figure(path, count))</td><td class="share">\(TextFormat.percent(share))</td>\
            <td class="bar"><div style="width:\(width)%"></div></td>
            """
    }

    /// What a row means, below it.
    func explanation(_ text: String, isTrouble: Bool = false) -> HTML {
        text.isEmpty ? "" : "<tr class=\"why\(isTrouble ? " trouble" : "")\"><td colspan=\"4\">\(text)</td></tr>"
    }
}
