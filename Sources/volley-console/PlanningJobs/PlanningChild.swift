import ArgumentParser
import Base
import Campaigns
import Glibc
import Planning
import Reports
import Runs
import Workspace

/// The process that reads exports for a page: a child of the console with limits of its own, so
/// that an export of millions, or a file that is not an export, affects no other page. It writes a
/// piece of a page to standard output.
enum PlanningChild {
    /// A question about a campaign file.
    enum Question: String, CaseIterable, ExpressibleByArgument {
        case preview
        /// Why a device gets it or not; the device is read from standard input.
        case why
        /// Which tags the devices have, as JSON.
        case tags
        /// What a text that is read from standard input, and is not saved yet, would send, as JSON
        /// (`DraftPreview`).
        case draft
        /// Which devices an alias has in the exports of an app, both read from standard input, as
        /// JSON. The file is volley.yaml.
        case alias
        /// What the result of a device in a run was; run and device are read from standard input,
        /// as JSON. The file is volley.yaml.
        case recipient
    }

    /// Its exit code when the campaign has mistakes: then they are what it wrote.
    static let hasMistakes: Int32 = 2
    /// What a child may use: the console's machine has other work.
    private static let memory = MemoryBudget("1G"), dataBytes: UInt = 3 << 30, processorSeconds: UInt = 300
    /// What is read from standard input: a device, or the source of a campaign.
    private static let longestInput = Route.campaignBodyLimit
    /// More tags than a person would read.
    private static let mostTags = 500

    /// Answers, and ends the process.
    static func answer(_ question: Question, file: String, _ choice: ProjectChoice) -> Int32 {
        limit(__rlimit_resource_t(UInt32(RLIMIT_DATA.rawValue)), to: dataBytes)
        limit(__rlimit_resource_t(UInt32(RLIMIT_CPU.rawValue)), to: processorSeconds)
        var campaign = CampaignFile(file, in: choice)
        campaign.isConfined = true
        do {
            let options = try PlanOptions(observer: Observer { _ in }, cancellation: Cancellation(), memory: memory)
            let now = Timestamp.now()
            switch question {
            case .preview:
                let preview = try Planning.preview(campaign, samples: nil, options, at: now)
                let form =
                    "/campaign/form" + FormFields.query([("file", String(file.split(separator: "/").last ?? ""))])
                write(
                    PreviewPage(preview: preview, madeAt: now, for: .console) { warnings in
                        WarningWords.items(warnings.map { WarningWords($0) }, form: form)
                    }.content)
            case .why:
                write(try explain(input(), campaign, options, at: now).html)
            case .recipient:
                let question = try JSONValue(parsing: input())
                let run = try Project.catalog(ProjectChoice(file: file, runs: choice.runs)).open(
                    question["run"]?.stringValue ?? "")
                defer { run.close() }
                write(DeviceExplanation.html(try recipients(named: question["device"]?.stringValue ?? "", in: run)))
            case .tags:
                let counts = try tagCounts(campaign, most: mostTags, options, at: now)
                write(Array(CountedTags(counts).json.text.utf8))
            case .draft:
                campaign.text = input()
                let preview = try draftPreview(campaign, samples: DraftPreview.samplesOfText, options, at: now)
                write(Array(DraftPreview.json(of: preview).text.utf8))
            case .alias:
                let question = try JSONValue(parsing: input())
                let found = try devices(
                    ofAlias: question["alias"]?.stringValue ?? "", app: question["app"]?.stringValue ?? "",
                    project: ProjectChoice(file: file, runs: choice.runs), options, at: now)
                let items = found.map { device in
                    JSONValue.object(pairs: [
                        ("service", .integer(Int64(device.service))), ("target", .string(device.target.text)),
                    ])
                }
                write(Array(JSONValue.array(items).text.utf8))
            }
            return 0
        } catch {
            let mistakes = Diagnostics(explaining: error).all.map(CampaignsPage.finding)
            write("<ul class=\"findings\">\(mistakes)</ul>")
            return hasMistakes
        }
    }

    private static func input() -> String {
        var bytes = [UInt8](repeating: 0, count: longestInput)
        let count = pread(STDIN_FILENO, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    private static func write(_ piece: HTML) { write(Array(piece.markup.utf8)) }

    private static func write(_ bytes: [UInt8]) { _ = WriteAll.write(bytes, to: STDOUT_FILENO) }

    private static func limit(_ resource: __rlimit_resource_t, to most: UInt) {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, most)
        setrlimit(resource, &limit)
    }
}
