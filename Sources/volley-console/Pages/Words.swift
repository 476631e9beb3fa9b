import Base
import Reports
import Runs

/// Words and small pieces that several pages share.
enum Words {
    /// A run's state, for people.
    static func state(_ state: RunState) -> String {
        switch state {
        case .planned: "planned"
        case .running: "being sent"
        case .paused: "paused"
        case .stopped: "stopped"
        case .finished: "finished"
        case .cancelled: "cancelled"
        }
    }

    /// A state as a chip; the colour says no more than the word.
    static func chip(_ state: RunState) -> HTML {
        "<span class=\"chip state \(state.rawValue)\">\(self.state(state))</span>"
    }

    /// The state of a run as a chip, and whether it is held, or in this state on this machine only.
    static func chips(of run: RunSummary) -> HTML {
        if run.orderToPassOn != nil {
            return "\(chip(run.state)) <span class=\"chip trouble\">not yet for other machines</span>"
        }
        return run.isHeld ? "\(chip(run.state)) <span class=\"chip trouble\">held</span>" : chip(run.state)
    }

    /// A moment in UTC, which the script completes with the viewer's own time.
    static func moment(_ moment: Timestamp) -> HTML {
        "<time datetime=\"\(moment.description)\">\(DateWords.utc(moment))</time>"
    }

    /// What is wrong or doubtful, with its remedy.
    static func warning(_ diagnostic: Diagnostic) -> HTML {
        "<section class=\"warnings\"><p dir=\"auto\">\(text(diagnostic))</p></section>"
    }

    /// A message as a sentence, with its remedy. Paths of the server are left to logs.
    static func text(_ diagnostic: Diagnostic, withPlace: Bool = true) -> HTML {
        let place: HTML = !withPlace ? "" : diagnostic.position.map { "Line \($0.line), column \($0.column): " } ?? ""
        let remedy: HTML = diagnostic.remedy(for: .console).map { " \(Prose.html($0))" } ?? ""
        return "\(place)\(Prose.html(capitalized(diagnostic.message(for: .console)))).\(remedy)"
    }

    /// A message as it begins a sentence. Paths and addresses keep their letters:
    /// `exports/devices.csv` is another file than `Exports/devices.csv`.
    static func capitalized(_ message: String) -> String {
        let first = message.prefix { $0 != " " }
        return first.dropLast().contains { "/.:".contains($0) } ? message : TextFormat.capitalized(message)
    }

    /// A text that follows a colon elsewhere, as a sentence.
    static func sentence(_ text: String) -> String {
        let text = capitalized(TextFormat.printable(text))
        return text.hasSuffix(".") ? text : text + "."
    }

    /// Outcomes as a bar with the numbers below it.
    static func outcomes(of run: RunSummary) -> HTML {
        guard let outcomes = run.outcomes else {
            return "<p class=\"note\">The results are being counted. This takes a moment for a large run.</p>"
        }
        let shown = Outcome.allCases.filter { outcomes[$0, default: 0] > 0 }
        let items: [HTML] = shown.map { outcome in
            "<li class=\"\(outcome.name)\"><b>\(TextFormat.count(outcomes[outcome, default: 0]))</b> \(word(outcome, of: run))</li>"
        }
        return "\(bar(of: run))<ul class=\"counts\">\(items)</ul>"
    }

    /// Outcomes as a bar.
    static func bar(of run: RunSummary) -> HTML {
        let whole = max(1, run.audience)
        var left = 0
        let rects: [HTML] = Outcome.allCases.filter { $0 != .unsent && run.count($0) > 0 }.map { outcome in
            let width = max(2, Int((Double(run.count(outcome)) / Double(whole) * 1000).rounded()))
            defer { left += width }
            return "<rect class=\"\(outcome.name)-bar\" x=\"\(left)\" width=\"\(width)\" height=\"10\"/>"
        }
        let percent = TextFormat.percent(Double(run.settled) / Double(whole))
        return """
            <svg class="whole progress" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="\(percent) done">\(rects)</svg>
            """
    }

    /// An outcome in a word. While a run continues, pushes without an answer still wait for it.
    static func word(_ outcome: Outcome, of run: RunSummary) -> String {
        switch outcome {
        case .accepted: "accepted"
        case .invalidToken: "without the app"
        case .rejected: "rejected"
        case .failed: "failed"
        case .unknown: run.isLive ? "waiting for an answer" : "unknown"
        case .unsent where run.isHeld: "not known since the backup"
        case .unsent: run.isLive || run.state == .planned ? "still to send" : "not sent"
        }
    }

    /// A link to a run, by its campaign's name.
    static func link(to run: RunSummary) -> HTML {
        "<a href=\"\(path(of: run.id))\" dir=\"auto\">\(run.campaign)</a>"
    }

    /// The page of a run.
    static func path(of run: String) -> String { "/runs/" + FormFields.encode(run) }

    /// The file of a campaign; blank where its name says it.
    static func file(of item: CampaignCache.Item) -> HTML {
        item.name.map { item.file == $0 + ".yaml" } ?? false ? "" : "<code dir=\"auto\">\(item.file)</code>"
    }

    /// The page of a campaign file.
    static func path(ofCampaign file: String) -> String { "/campaign" + FormFields.query([("file", file)]) }

    /// A section with a heading; empty when there is nothing in it.
    static func panel(_ title: HTML, id: String, _ content: HTML) -> HTML {
        "<section class=\"panel\" aria-labelledby=\"\(id)\"><h2 id=\"\(id)\">\(title)</h2>\(content)</section>"
    }

    /// The heading of a page.
    static func head(_ title: HTML, _ about: HTML = "") -> HTML {
        "<header><h1 dir=\"auto\">\(title)</h1>\(about.markup.isEmpty ? "" : "<div class=\"about\">\(about)</div>" as HTML)</header>"
    }
}

/// Dates as people say them.
enum DateWords {
    /// 0 is Sunday.
    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let hour = 3_600

    /// `Tuesday, 1 December 2026`
    static func day(of time: LocalTime) -> String {
        "\(weekdays[time.weekday]), \(time.date.day) \(months[time.date.month - 1]) \(time.date.year)"
    }

    /// `Tuesday, 1 December 2026, 09:00`, for a time of a schedule.
    static func time(_ occurrence: String) -> String {
        LocalTime(occurrence).map { "\(day(of: $0)), \($0.timeOfDay)" } ?? occurrence
    }

    /// `Tuesday, 1 December 2026, 09:00 UTC`; the script writes the viewer's own time in the same
    /// form.
    static func utc(_ moment: Timestamp) -> String { "\(time(String(moment.description.prefix(16)))) UTC" }

    /// `Tue, 09:00 UTC`, where the day is seen next to it.
    static func shortUTC(_ moment: Timestamp) -> String {
        LocalTime(String(moment.description.prefix(16))).map {
            "\(weekdays[$0.weekday].prefix(3)), \($0.timeOfDay) UTC"
        } ?? utc(moment)
    }

    /// `UTC+05:30`
    static func offset(seconds: Int) -> String {
        let (hours, minutes) = (abs(seconds) / hour, abs(seconds) % hour / 60)
        func padded(_ number: Int) -> String { TextFormat.zeroPadded(number, digits: 2) }
        return "UTC" + (seconds < 0 ? "−" : "+") + "\(padded(hours)):\(padded(minutes))"
    }
}
