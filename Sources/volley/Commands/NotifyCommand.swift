import Workspace
import Base
import Campaigns
import Automation

/// `volley notify`: tests whether notices arrive.
public enum NotifyCommand {
    /// Sends each notice once, without the retries of real notices.
    /// - Parameter name: an app; nil for all of volley.yaml.
    /// - Returns: `done` if all notices arrived, else `wrong`.
    public static func run(app name: String?, options: CommonOptions, console: Console) throws -> ExitStatus {
        guard let project = try Project.find(with: options.project) else {
            throw Diagnostic("there is no volley.yaml here or above", remedy: "Name one with --config.")
        }
        let wanted = try name.map { try project.app(called: $0).name.value }
        let targets = project.noticeTargets.filter { wanted == nil || $0.app == nil || $0.app?.name.value == wanted }
        guard !targets.isEmpty else {
            throw Diagnostic(
                "there are no notices to send", file: project.file,
                remedy:
                    "Add, for example: notices: [{webhook: \"https://hooks.example.com/volley\", secret_env: VOLLEY_SECRET}]."
            )
        }
        Interruption.install()
        var documents: [JSONValue] = []
        var isWell = true, isShown = true
        for (app, target) in targets where !Interruption.process.isRequested {
            var notice = Notice(.test)
            notice.app = app?.name.value ?? wanted
            let (way, failure) = tell(notice, target, project, app, console)
            isWell = isWell && failure == nil
            documents.append(
                .object(pairs: [
                    ("to", .string(way)), ("app", app.map { .string($0.name.value) } ?? .null),
                    ("ok", .bool(failure == nil)),
                    ("message", failure.map { .string($0) } ?? .null),
                ]))
            let line = failure.map { "failed  \(way): \($0)" } ?? "ok      \(way)"
            if !options.isJSON { isShown = console.answer(line, done: "\(line).") == .done && isShown }
        }
        if options.isJSON {
            let answer = JSONValue.object(pairs: [("ok", .bool(isWell)), ("notices", .array(documents))])
            isShown =
                console.answer(answer.indentedText, done: isWell ? "All notices arrived." : "Not all notices arrived.")
                == .done
        }
        if Interruption.process.isRequested { return .interrupted }
        return !isWell ? .wrong : isShown ? .done : .doneWithFailures
    }

    private static func tell(
        _ notice: Notice, _ target: NoticeTarget, _ project: Project, _ app: App?, _ console: Console
    ) -> (way: String, failure: String?) {
        do {
            let way = try NoticeChannel(
                target, projectFile: project.file, proxy: app?.proxy ?? project.proxy, console.noticeObserver)
            switch way.attempt(notice, now: .now(), until: Interruption.process) {
            case .delivered: return (way.name, nil)
            case .failed(let failure, _), .refused(let failure): return (way.name, failure)
            }
        } catch {
            return ("\(target.position)", error.description)
        }
    }
}
