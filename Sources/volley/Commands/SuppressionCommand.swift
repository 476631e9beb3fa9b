import Workspace
import Audience
import Base
import Campaigns
import Glibc
import PushServices
import Reports
import Runs

/// `volley suppression`: manages the devices that get no more pushes because their tokens are
/// invalid. Each command acts on the list of one app, for the environment that volley.yaml gives
/// it.
public enum SuppressionCommand {
    /// How many entries `list` shows.
    private static let shownEntries = 5
    /// How far another machine's clock, or its time zone, may be ahead.
    private static let clockErrorSeconds = 86_400.0

    /// The list of an app, or of one of its services if it has several.
    public struct ListChoice: Sendable {
        /// The name of an app; nil for the only one.
        public var app: String?
        /// The name of one of its services; nil for the only one.
        public var service: String?

        /// A choice.
        public init(app: String?, service: String?) { (self.app, self.service) = (app, service) }
    }

    /// Shows how many devices are suppressed, and why: of one service, or of all services of an
    /// app. No token is shown in full.
    public static func list(_ choice: ListChoice, options: CommonOptions, console: Console) throws -> ExitStatus {
        let contents = try lists(choice, options, console).map(Contents.init)
        if options.isJSON {
            let documents = contents.map(document)
            // An app with one service still has one document.
            try console.out(contents.count == 1 ? documents[0] : .object(pairs: [("lists", .array(documents))]))
        } else {
            // All lists of an app are in one file.
            let place = contents.contains { $0.count > 0 } ? ["List: \(contents[0].list.place)"] : []
            try console.out((contents.map(text) + place).joined(separator: "\n\n"))
        }
        return .done
    }

    /// What a list holds, in short.
    private struct Contents {
        let list: SuppressionList
        let reasons: [(reason: String, devices: Int)]
        let newest: [SuppressedDevice]
        var count: Int { reasons.reduce(0) { $0 + $1.devices } }

        init(_ list: SuppressionList) throws {
            self.list = list
            // A person's file may have tokens in any column.
            var devices: [String: Int] = [:], order: [String] = []
            for entry in try list.reasons() {
                let shown = TargetRedaction.withoutTargets(entry.reason)
                if devices[shown] == nil { order.append(shown) }
                devices[shown, default: 0] += entry.devices
            }
            reasons = order.map { ($0, devices[$0, default: 0]) }
            newest = try list.newest(shownEntries).map { device in
                var device = device
                device.reason = TargetRedaction.withoutTargets(device.reason)
                return device
            }
        }
    }

    /// A file of devices: tokens one a line, or a CSV or TSV with a column of tokens, and perhaps
    /// `reason` and `invalid_since`.
    public struct DeviceFile: Sendable {
        /// Its path.
        public var path: String
        /// The reason for devices for which the file names none; nil for a standard one.
        public var reason: String?
        /// Whether the file may be an export, with columns that lists of tokens do not have.
        public var mayBeExport: Bool

        /// A file.
        public init(path: String, reason: String?, mayBeExport: Bool) {
            self.path = path
            self.reason = reason
            self.mayBeExport = mayBeExport
        }
    }

    /// Adds the devices of a file.
    public static func add(_ devices: DeviceFile, to choice: ListChoice, options: CommonOptions, console: Console)
        throws -> ExitStatus
    {
        let file = devices.path
        let (list, settings, isInTouch) = try self.list(choice, options, console)
        guard FilePaths.exists(file) else {
            if let problem = FilePaths.misencoded(file) ?? FileAccess.lookupProblem(file) { throw problem }
            throw Diagnostic(
                "there is no such file", file: file,
                remedy: FilePaths.nearest(to: file).map { "Did you mean \($0)?" }
                    ?? "Paths are relative to the folder that you are in.")
        }
        let now = Timestamp.now()
        let reason = devices.reason ?? "Imported"
        var read = 0
        let change = try list.add(at: now) { entries in
            let latest = now.adding(seconds: clockErrorSeconds)
            try TokenList.read(
                file, targets: list.targets, columns: settings.columns, latest: latest,
                allowsExport: devices.mayBeExport
            ) {
                entry in
                read += 1
                try entries.add(
                    entry.token, reason: entry.reason.isEmpty ? reason : entry.reason,
                    invalidSince: entry.invalidSince ?? now)
            }
        }
        if isInTouch { exchange(settings, options, console) }
        let answer = document(
            list,
            [
                ("read", .integer(Int64(read))), ("added", .integer(Int64(change.added))),
                ("renewed", .integer(Int64(change.renewed))),
            ])
        var parts = ["\(TextFormat.devices(change.added)) added"]
        if change.renewed > 0 {
            parts.append("\(TextFormat.count(change.renewed)) now known to be invalid more recently")
        }
        let rest = read - change.added - change.renewed
        if rest > 0 { parts.append("\(TextFormat.count(rest)) known before") }
        let done = "\(name(list)): \(parts.joined(separator: ", "))"
        return console.answer(options.isJSON ? answer.indentedText : done, done: "\(done).")
    }

    /// Writes all entries as CSV. Only this command shows whole tokens.
    /// - Parameters:
    ///   - output: a file, which only its owner may read; `-` or nil for standard output, if it is
    ///     not a terminal or `-` is given.
    ///   - isForExcel: `--excel`: whether the CSV is laid out for Excel.
    public static func export(
        _ choice: ListChoice, output: String?, isForExcel: Bool = false, options: CommonOptions, console: Console
    ) throws -> ExitStatus {
        let list = try self.list(choice, options, console).list
        let file = output.flatMap { $0 == "-" || OutputSink.isStandardOutput($0) ? nil : $0 }
        try ResultFileCheck.check(
            file, option: "--output", what: "list", runsFolder: Project.catalog(options.project).place)
        guard output != nil || !console.outputIsTerminal else {
            throw Diagnostic(
                "an export holds whole \(list.targets.nouns), which a terminal should not show",
                remedy: "Name a file with --output FILE; --output - prints them anyway.")
        }
        let sink = try OutputSink(
            file: file, console: console, isPrivate: true, what: "list",
            remedy: "The list itself is unharmed; try another --output.")
        let form = isForExcel ? ExcelLocale.form : .plain
        var chunk = form.header(SuppressionList.exportColumns)
        var count = 0
        try list.forEach { device in
            CSVCell.append(device.token.text, form, to: &chunk)
            chunk.append(form.separator)
            CSVCell.append(device.reason, form, to: &chunk)
            // Excel does not convert times with T and Z.
            for moment in [device.invalidSince.descriptionWithMilliseconds, device.addedAt.description] {
                chunk.append(form.separator)
                chunk += moment.utf8
            }
            chunk.append(form.separator)
            CSVCell.append(device.run, form, to: &chunk)
            chunk += form.lineEnd
            count += 1
            guard chunk.count >= 1 << 16 else { return }
            try sink.write(chunk)
            chunk.removeAll(keepingCapacity: true)
        }
        try sink.write(chunk)
        try sink.finish()
        ExcelLocale.warn(ofLines: count, form, console)
        guard let file else { return .done }
        let done = "\(name(list)): \(TextFormat.devices(count)) in \(file)"
        let answer = document(list, [("devices", .integer(Int64(count))), ("output", .string(file))])
        return console.answer(options.isJSON ? answer.indentedText : done, done: "\(done).")
    }

    /// The devices to remove from a list.
    public enum Removal: Sendable {
        /// One device, by its token.
        case token(String)
        /// The devices in a file, which has the same form as for import.
        case file(String)
        /// All devices; `isConfirmed` (`--yes`) skips the question.
        case all(isConfirmed: Bool)
    }

    /// Removes devices, so that the next plan may include them again.
    public static func remove(_ removal: Removal, from choice: ListChoice, options: CommonOptions, console: Console)
        throws -> ExitStatus
    {
        let (list, settings, isInTouch) = try self.list(choice, options, console)
        defer { if isInTouch { exchange(settings, options, console) } }
        switch removal {
        case .token(let text):
            guard let token = list.targets.target(text) else {
                throw Diagnostic(list.targets.flaw(of: text) ?? "", remedy: list.targets.remedy)
            }
            guard try list.count() > 0, try list.remove({ try $0(token) }).removed > 0 else {
                throw Diagnostic("\(token.redacted) is not on the list of \(list.app) (\(list.environment))")
            }
            return show(list, named: 1, removed: 1, options, console)
        case .file(let file):
            let (named, removed) = try list.remove { remove in
                try TokenList.read(file, targets: list.targets, columns: settings.columns) { try remove($0.token) }
            }
            return show(list, named: named, removed: removed, options, console)
        case .all(let isConfirmed):
            guard try isConfirmed || isAgreed(list, console) else {
                console.warn("Nothing was removed.")
                return .wrong
            }
            let removed = try list.removeAll()
            return show(list, named: removed, removed: removed, options, console)
        }
    }

    private static func isAgreed(_ list: SuppressionList, _ console: Console) throws -> Bool {
        try console.checkCanAsk(
            unless: false, "--all", does: "removes",
            remedy: "Add --yes to remove without a question. Nothing was removed.")
        Interruption.install()
        return try console.confirms(
            "Remove all \(TextFormat.devices(try list.count())) from the list of \(list.app) (\(list.environment))?")
    }

    private static func show(
        _ list: SuppressionList, named: Int, removed: Int, _ options: CommonOptions, _ console: Console
    ) -> ExitStatus {
        let answer = document(
            list, [("removed", .integer(Int64(removed))), ("not_listed", .integer(Int64(named - removed)))])
        let rest = named > removed ? ", \(TextFormat.count(named - removed)) were not on the list" : ""
        let done = "\(name(list)): \(TextFormat.devices(removed)) removed\(rest)"
        return console.answer(options.isJSON ? answer.indentedText : done, done: "\(done).")
    }

    // MARK: - The list

    /// The app, its list for the environment in volley.yaml, and whether the store of several
    /// machines could be reached, if volley.yaml names one.
    private static func list(
        _ choice: ListChoice, _ options: CommonOptions, _ console: Console
    ) throws -> (list: SuppressionList, app: App, isInTouch: Bool) {
        let project = try project(options)
        let app = try project.app(calledOrOnly: choice.app)
        guard choice.service != nil || app.services.count == 1 else {
            throw Diagnostic(
                "the app '\(app.name.value)' has several services, and each has a list of its own", file: project.file,
                remedy: "Name one with --service: \(app.services.map(\.service.name).joined(separator: ", ")).")
        }
        let isInTouch = exchange(app, options, console)
        return (try lists(of: app, choice, project, options)[0], app, isInTouch)
    }

    /// The list of the service that was chosen, or those of all services of the app.
    private static func lists(_ choice: ListChoice, _ options: CommonOptions, _ console: Console) throws
        -> [SuppressionList]
    {
        let project = try project(options), app = try project.app(calledOrOnly: choice.app)
        exchange(app, options, console)
        return try lists(of: app, choice, project, options)
    }

    /// Brings the lists of an app, and those of other machines, up to date.
    /// - Returns: false if the store cannot be reached, which was reported: changes are exchanged
    ///   later.
    @discardableResult
    private static func exchange(_ app: App, _ options: CommonOptions, _ console: Console) -> Bool {
        guard let project = try? project(options), project.store != nil,
            let settings = try? RunSettings(app, projectFile: project.file, pushType: .alert),
            let warning = project.exchangeLists(of: app.name.value, settings, in: project.catalog(options.project))
        else { return true }
        console.show([warning])
        return false
    }

    private static func lists(
        of app: App, _ choice: ListChoice, _ project: Project, _ options: CommonOptions
    ) throws -> [SuppressionList] {
        let chosen = try choice.service.map { try app.service(called: $0).service.name }
        return try RunSettings(app, projectFile: project.file, pushType: .alert).services.filter {
            chosen == nil || $0.serviceName == chosen
        }.map {
            project.catalog(options.project).suppression(
                app: app.name.value, service: $0.service, environment: $0.listName)
        }
    }

    private static func project(_ options: CommonOptions) throws -> Project {
        guard let project = try Project.find(with: options.project) else {
            throw Diagnostic(
                "there is no volley.yaml here or above", remedy: "Name one with --config, or run `volley init`.")
        }
        return project
    }

    // MARK: - Messages

    private static func name(_ list: SuppressionList) -> String { "\(list.app) (\(list.environment))" }

    private static func document(_ list: SuppressionList, _ members: [(String, JSONValue)]) -> JSONValue {
        let head: [(String, JSONValue)] = [
            ("app", .string(list.app)), ("environment", .string(list.environment)), ("file", .string(list.place)),
        ]
        return .object(pairs: head + members)
    }

    private static func document(_ contents: Contents) -> JSONValue {
        let devices: [JSONValue] = contents.newest.map { device in
            .object(pairs: [
                ("device_token", .string(device.token.redacted)), ("reason", .string(device.reason)),
                ("invalid_since", .string(device.invalidSince.description)),
                ("added_at", .string(device.addedAt.description)),
                ("run", device.run.isEmpty ? .null : .string(device.run)),
            ])
        }
        return document(
            contents.list,
            [
                ("devices", .integer(Int64(contents.count))),
                ("reasons", .object(pairs: contents.reasons.map { ($0.reason, .integer(Int64($0.devices))) })),
                ("newest", .array(devices)),
            ])
    }

    private static func text(_ contents: Contents) -> String {
        let (list, count, reasons, newest) = (contents.list, contents.count, contents.reasons, contents.newest)
        guard count > 0 else { return "No device of \(name(list)) is suppressed." }
        var lines = [
            "\(TextFormat.devices(count)) of \(name(list)) \(TextFormat.plural(count, one: "is", many: "are")) suppressed.",
            "",
        ]
        let width = reasons.map(\.reason.count).max() ?? 0
        let digits = TextFormat.count(reasons.map(\.devices).max() ?? 0).count
        for (reason, devices) in reasons {
            let share = TextFormat.aligned(TextFormat.percent(Double(devices) / Double(count)), to: 7)
            lines.append(
                "  \(TextFormat.padded(reason, to: width))  \(TextFormat.aligned(TextFormat.count(devices), to: digits))  \(share)"
            )
        }
        lines += ["", "Newest"]
        for device in newest {
            let reason = TextFormat.padded(device.reason, to: newest.map(\.reason.count).max() ?? 0)
            lines.append("  \(device.token.redacted)  \(reason)  since \(device.invalidSince)  \(device.run)")
        }
        return lines.map { $0.last == " " ? String($0.dropLast(2)) : $0 }.joined(separator: "\n")
    }
}
