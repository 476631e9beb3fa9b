import Base
import Foundation
import Reports
import Runs
import Synchronization
import TestCommands

@testable import Planning

/// The output of `volley check`, `volley preview` and `volley plan` in a folder, from the stages
/// that they call: no process is started. Paths are shown as from within the folder, lines are 100
/// columns wide, as without a terminal.
extension ProjectFolder {
    /// The result of a command, like `VolleyBinary.Result` for a process.
    struct Said {
        var status: Int32
        var output = ""
        var errors = ""

        /// The output as JSON.
        func json() throws -> JSONValue { try JSONValue(parsing: output) }
    }

    /// `volley check FILE`.
    func check(_ file: String = "campaign.yaml") throws -> Said {
        let result = try Planning.check(campaign(file), at: .now(), asking: Cancellation())
        return Said(
            status: result.errors.isEmpty ? 0 : 2, output: result.approval(of: file).map { lines([$0]) } ?? "",
            errors: lines(((result.lint?.shown ?? []) + result.errors).map(\.description)))
    }

    /// `volley preview FILE`.
    /// - Parameters:
    ///   - samples: `--show`.
    ///   - isJSON: `--json`.
    ///   - isVerbose: `--verbose`, of which only what is printed of the preview counts.
    func preview(
        _ file: String = "campaign.yaml", samples: Int? = nil, isJSON: Bool = false, isVerbose: Bool = false
    ) throws -> Said {
        try said(isJSON: isJSON) { options in
            var preview = try Planning.preview(campaign(file), samples: samples, options, at: .now())
            // A line breaks where a person's does.
            for place in preview.notes.indices { preview.notes[place].text = named(preview.notes[place].text) }
            return isJSON ? preview.json.indentedText : preview.text(width: 100, colour: false, isVerbose: isVerbose)
        }
    }

    /// The page of a preview of `campaign.yaml`.
    func previewPage(for face: TextMedium) throws -> String {
        let options = PlanOptions(observer: PlanningObserver { _ in }, cancellation: try Cancellation())
        let preview = try Planning.preview(campaign("campaign.yaml"), samples: nil, options, at: .now())
        return PreviewPage(preview: preview, madeAt: .now(), for: face).html.markup
    }

    /// `volley plan FILE`, without the lines about the run.
    /// - Parameter isJSON: `--json`; otherwise nothing is printed.
    func plan(_ file: String = "campaign.yaml", isJSON: Bool = false) throws -> Said {
        try said(isJSON: isJSON) { options in
            let planned = try Planning.plan(campaign(file), for: .keeping, options, at: .now())
            planned.run.close()
            return isJSON ? planned.preview.json.indentedText : nil
        }
    }

    /// `volley preview FILE --why WHO`.
    func explain(_ who: String, _ file: String = "campaign.yaml", isJSON: Bool = false) throws -> Said {
        try said(isJSON: isJSON) { options in
            var explanation = try Planning.explain(who, campaign(file), options, at: .now())
            for device in explanation.devices.indices {
                for row in explanation.devices[device].rows.indices { shorten(&explanation.devices[device].rows[row]) }
            }
            return isJSON ? explanation.json.indentedText : explanation.text(width: 100, colour: false)
        }
    }

    private func said(isJSON: Bool, _ command: (PlanOptions) throws -> String?) throws -> Said {
        let shown = ShownDiagnostics()
        let options = PlanOptions(observer: PlanningObserver { shown.add($0) }, cancellation: try Cancellation())
        do {
            let text = try command(options)
            return Said(status: 0, output: lines(text.map { [$0] } ?? []), errors: lines(shown.all.map(\.description)))
        } catch {
            let mistakes = Diagnostics(explaining: error).all
            let document = JSONValue.object(pairs: [("errors", .array(mistakes.map(\.json)))])
            return Said(
                status: 2, output: isJSON ? lines([document.indentedText]) : "",
                errors: lines((shown.all + mistakes).map(\.description)))
        }
    }

    private func shorten(_ row: inout Explanation.Row) {
        for step in row.steps.indices { row.steps[step].text = named(row.steps[step].text) }
    }

    private func campaign(_ file: String) -> CampaignFile { CampaignFile(url.appendingPathComponent(file).path) }

    private func lines(_ texts: [String]) -> String { named(texts.map { TextFormat.printable($0) + "\n" }.joined()) }

    private func named(_ text: String) -> String { text.replacing(url.path + "/", with: "") }
}

/// The warnings that planning gave its observer.
private final class ShownDiagnostics: Sendable {
    private let found = Mutex<[Diagnostic]>([])

    var all: [Diagnostic] { found.withLock { $0 } }

    func add(_ event: PlanningEvent) {
        switch event {
        case .lint(let lint): found.withLock { $0 += lint.shown }
        case .warnings(let warnings): found.withLock { $0 += warnings }
        default: break
        }
    }
}
