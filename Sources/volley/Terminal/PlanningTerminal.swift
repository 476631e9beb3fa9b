import Audience
import Base
import Logs
import Planning

/// Shows planning as lines on a terminal.
extension Console {
    var planningObserver: PlanningObserver { Observer { self.show($0) } }

    func show(_ event: PlanningEvent, about subject: LogSubject = .none) {
        switch event {
        case .sources(let project, let exports):
            detail("volley.yaml: \(project); exports: \(exports.joined(separator: ", "))", about: subject)
        case .suppressed(let count, let list): detail("\(TextFormat.count(count)) devices are suppressed by \(list)", about: subject)
        case .querying(let reached): if showsProgress { progress(reached.line) }
        case .reading(let reached, let seconds): if showsProgress { progress(reached.line(seconds: seconds)) }
        case .readingSomewhere: progress("reading the exports")
        case .readingAgain: detail("reading the exports again, for samples of texts that few devices get", about: subject)
        case .readingEnds: clearProgress()
        case .lint(let lint):
            show(lint.shown, about: subject)
            for (warning, reason) in lint.silenced { detail("silenced: \(warning.description): \(reason)", about: subject) }
        case .warnings(let warnings): show(warnings, about: subject)
        case .testSkipped(let device, let token, let text, let failure):
            warn("\(device) (\(token)) is not sent \(text): \(failure)", about: subject)
        }
    }
}

extension QueryProgress {
    /// `asking warehouse  120,000 rows  9.1 MB`
    fileprivate var line: String {
        guard rows > 0 else { return "asking \(database)" }
        return "asking \(database)  \(TextFormat.count(rows)) rows  \(TextFormat.bytes(bytes))"
    }
}

extension ScanProgress {
    /// `reading  45.2 %  9,040 rows  120,000 rows/s  4,000 recipients  1.2 s left`
    fileprivate func line(seconds elapsed: Double) -> String {
        let seconds = max(elapsed, 0.001)
        let share = bytesTotal > 0 ? Double(bytesRead) / Double(bytesTotal) : 0
        var line = "reading  \(TextFormat.percent(share))  \(TextFormat.count(rows)) rows"
        line += "  \(TextFormat.count(Int(Double(rows) / seconds))) rows/s  \(TextFormat.count(recipients)) recipients"
        if let settled { return line + "  settling  \(TextFormat.percent(settled))" }
        if share > 0.01 { line += "  \(TextFormat.duration(seconds: seconds / share - seconds)) left" }
        return line
    }
}
