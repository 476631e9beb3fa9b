package import Workspace
import Base
import Campaigns
import PushServices
package import Runs

/// The present volley.yaml, for a run that was planned earlier.
package struct CurrentProject {
    let project: Project
    /// The run's app; nil if the file no longer has it.
    let app: App?
    /// Warnings from reading the file.
    let warnings: [Diagnostic]
    private let plan: RunPlan
    /// Whether another machine has planned the run, with its own volley.yaml.
    private let isOfOtherMachine: Bool

    /// Whether the app requires approval.
    var demandsApproval: Bool { app?.needsApproval == true }

    private init(_ plan: RunPlan, file: String) throws {
        (self.plan, isOfOtherMachine) = (plan, false)
        let (project, warnings) = try Project.read(file: file)
        self.project = project
        app = project.app(named: plan.app)
        self.warnings = warnings
    }

    /// The present volley.yaml of a machine that helps to send a run of another one.
    init(_ plan: RunPlan, _ project: Project) {
        (self.plan, self.project, warnings, isOfOtherMachine) = (plan, project, [], true)
        app = project.app(named: plan.app)
    }

    /// Reads the file that counts: the one that was named, or else the plan's own.
    /// - Throws: what is wrong with the file, or that it is missing.
    package init(of run: RunFile, in choice: ProjectChoice) throws {
        guard let file = choice.file ?? Self.own(run).first else { throw Self.isMissing(run) }
        try self.init(run.plan, file: file)
    }

    /// Reads all files that count for a run: a named file does not replace the plan's own.
    /// - Throws: what is wrong with one of the files, or that none was found.
    static func all(of run: RunFile, in choice: ProjectChoice) throws -> [CurrentProject] {
        let first = try CurrentProject(of: run, in: choice)
        let others = try own(run).filter { !FilePaths.areOneFile($0, first.project.file) }.map {
            try CurrentProject(run.plan, file: $0)
        }
        // A file that was found, not named, may belong to another project.
        return [first] + others.filter { FilePaths.exists(run.plan.projectFile) || choice.file == nil || $0.app != nil }
    }

    /// The file that counts for stopping a run, which needs little of it; nil if none exists.
    static func file(of run: RunFile, in choice: ProjectChoice) -> String? { choice.file ?? own(run).first }

    /// The plan's own file. If it is missing, its folder may have been moved: then the files count
    /// that a search finds from this folder and from the run's.
    private static func own(_ run: RunFile) -> [String] {
        if FilePaths.exists(run.plan.projectFile) { return [run.plan.projectFile] }
        return ["", run.catalog.place].compactMap { Project.find(startingAt: $0) }
    }

    private static func isMissing(_ run: RunFile) -> Diagnostic {
        Diagnostic(
            "volley.yaml is no longer at \(run.plan.projectFile), where it was when this run was planned, and there is none in this folder, in the folder of "
                + "the run, or above them. So it is not known whether the run may still go to the same place, and whether it needs approval",
            file: run.place, remedy: "Name the file with --config FILE. Nothing was sent.", [.ask(.nameProject)])
    }

    /// Compares the destination and sender of a plan with the present file. What a person previewed
    /// must not go elsewhere, and a plan must not go where the file no longer sends. A key is
    /// identified by its id, its team and its public half, wherever its file is now.
    /// - Parameter hasBegun: whether devices may have the push, so that another plan is no way out.
    ///   Then id and team say which key it is: the service itself refuses every other key under
    ///   them, and the right one may be what was put in place of a wrong one.
    /// - Throws: `Diagnostic` with every difference.
    func checkUnchanged(_ settings: RunSettings, hasBegun: Bool = false) throws {
        guard let app = app?.sending(asThrough: settings.service) else {
            throw changed(
                ["the app '\(plan.app)' is \(isOfOtherMachine ? "missing here" : "no longer there")"], in: project)
        }
        let now = try RunSettings(app, projectFile: project.file, pushType: settings.pushType)
        let gone = settings.services.filter { then in !now.services.contains { $0.serviceName == then.serviceName } }
        if settings.services.count > 1, !gone.isEmpty {
            throw changed(
                gone.map {
                    "\($0.service.displayName) is \(isOfOtherMachine ? "not" : "no longer") among the services of '\(plan.app)'"
                },
                in: project)
        }
        // A service that the app got since then changes nothing about the others.
        let services = settings.services.map { then in
            (then, now: now.services.first { $0.serviceName == then.serviceName } ?? now.firstService)
        }
        let changes = services.flatMap { then, now in
            let changes = Self.changes(from: then, to: now, of: now.service, isOfOtherMachine: isOfOtherMachine)
            // Several services have keys of the same name.
            return settings.services.count > 1 ? changes.map { "for \(now.service.displayName), \($0)" } : changes
        }
        guard changes.isEmpty else { throw changed(changes, in: project) }
        if hasBegun { return }
        for (then, now) in services { try checkKey(then.credential, now.credential, now.service) }
    }

    /// Checks that the plan of another machine was approved if this machine's volley.yaml requires
    /// that of its app.
    func checkApproval(_ approval: RunApproval?) throws {
        guard demandsApproval, approval == nil else { return }
        throw changed(["'\(plan.app)' requires approval here, and the plan was not approved there"], in: project)
    }

    /// What sets the present settings apart from those of a plan, in the words of the app's
    /// service.
    static func changes(
        from then: ServiceSettings, to now: ServiceSettings, of service: any PushService, isOfOtherMachine: Bool = false
    ) -> [String] {
        let topic = service.account.topic.key
        var changes: [String] = []
        func compare(_ name: String, isSame: Bool, then: String, now: String) {
            guard !isSame else { return }
            changes.append(
                isOfOtherMachine ? "\(name) is \(then) there and \(now) here" : "\(name) was \(then) and is \(now) now")
        }
        compare(
            "the service", isSame: then.serviceName == now.serviceName, then: then.serviceName, now: now.serviceName)
        let environments = (then.environment, now.environment)
        compare(
            "the environment", isSame: environments.0.isSame(as: environments.1), then: environments.0.inFull,
            now: environments.1.inFull)
        compare("the \(topic)", isSame: then.topic == now.topic, then: then.topic, now: now.topic)
        for form in service.account.credentials {
            let both = [then.credential, now.credential].map { credential in
                credential.flatMap { $0.form == form.key ? $0 : nil }
            }
            let texts = both.map { $0?.inFull(form) ?? "none" }
            // If the secret is where it was, the fields next to it are named.
            let beside = texts[0] == texts[1] ? form.fieldsBeside.filter { both[0]?[$0] != both[1]?[$0] } : []
            for field in beside {
                compare(
                    "the \(field.key)", isSame: false, then: both[0]?[field] ?? "none", now: both[1]?[field] ?? "none")
            }
            compare(
                "the \(form.key)", isSame: !beside.isEmpty || isSame(both[0], both[1], form), then: texts[0],
                now: texts[1])
        }
        return changes
    }

    /// Checks that volley.yaml names the account that took the pushes of a plan: another one has no
    /// record of them, or reports other pushes. Where its secret is does not matter.
    /// - Throws: `Diagnostic` with every difference.
    func checkAccount(_ then: ServiceSettings, pushType: PushType) throws {
        let service = then.service
        guard let app = app?.sending(asThrough: service),
            let now = try RunSettings(app, projectFile: project.file, pushType: pushType).services.first(where: {
                $0.serviceName == then.serviceName
            })
        else { throw otherAccount("the app '\(plan.app)' no longer sends through \(service.displayName)") }
        var changes: [String] = []
        func compare(_ name: String, _ then: String?, _ now: String?) {
            if then != now { changes.append("the \(name) was \(then ?? "none") and is \(now ?? "none") now") }
        }
        compare(service.account.topic.key, then.topic, now.topic)
        // Public names of the account that stand with its secret.
        let form = then.credential.flatMap { service.account.credential($0.form) }
        for field in form?.fieldsBeside ?? [] { compare(field.key, then.credential?[field], now.credential?[field]) }
        guard changes.isEmpty else { throw otherAccount(changes.joined(separator: "; ")) }
    }

    /// What a service of a plan is asked about for statistics in addition to its topic; nil if
    /// volley.yaml does not name it now.
    func countedApp(of then: ServiceSettings) -> String? {
        app?.services.first { $0.service.name == then.serviceName }?.countedApp?.value
    }

    private func otherAccount(_ change: String) -> Diagnostic {
        Diagnostic(
            "\(change), and only the account that took the pushes knows what became of them", file: project.file,
            remedy:
                "Name a file that still has that account with --config FILE, or undo the change. What was said before is kept."
        )
    }

    /// The settings of a plan, with the files that volley.yaml names now where these mean the same
    /// credentials. Since the plan was made, a secret may have been moved, or rotated behind a
    /// symbolic link.
    func withPresentFiles(_ settings: RunSettings) -> RunSettings {
        guard let app = app?.sending(asThrough: settings.service),
            let now = try? RunSettings(app, projectFile: project.file, pushType: settings.pushType)
        else {
            return settings
        }
        var settings = settings
        for (number, then) in settings.services.enumerated() {
            guard let now = now.services.first(where: { $0.serviceName == then.serviceName }) else { continue }
            if let credential = now.credential, let form = now.service.account.credential(credential.form),
                Self.isSame(then.credential, credential, form)
            {
                for file in form.files { settings.services[number].credential?.values[file.key] = credential[file] }
            }
            if then.environment.isSame(as: now.environment) { settings.services[number].environment = now.environment }
        }
        return settings
    }

    /// Whether both are the same credential. A signing key is known by its id and its issuer,
    /// wherever its file is; everything else also by its file. Plans of older versions name files
    /// with their symbolic links resolved.
    private static func isSame(_ then: FrozenCredential?, _ now: FrozenCredential?, _ form: CredentialForm) -> Bool {
        guard let then, let now else { return then == nil && now == nil }
        guard then.form == now.form, form.fields.allSatisfy({ $0.kind == .file || then[$0] == now[$0] }) else {
            return false
        }
        if case .signingKey = form.kind { return true }
        return form.files.allSatisfy { field in
            guard let old = then[field], let new = now[field] else { return then[field] == now[field] }
            return FilePaths.areOneFile(old, new) || FilePaths.areCopies(old, new)
        }
    }

    /// Checks that the key's file still holds the key that the plan was made with.
    private func checkKey(_ then: FrozenCredential?, _ now: FrozenCredential?, _ service: any PushService)
        throws(Diagnostic)
    {
        // A file that cannot be read is reported when the run is sent with it.
        guard let frozen = then?.fingerprint, let now, let present = now.fingerprinted(service).fingerprint,
            present != frozen,
            let form = service.account.credential(now.form)
        else { return }
        throw Self.differentKey(now, form, run: plan.id)
    }

    /// A file that holds a different key now.
    static func differentKey(_ key: FrozenCredential, _ form: CredentialForm, run: String) -> Diagnostic {
        let name = form.keyID?.key ?? "id", id = "\(name) \(key[form.keyID] ?? "")"
        return Diagnostic(
            "this file holds a different key, under the same \(id), than when \(run) was planned",
            file: key[form.files.first],
            remedy:
                "If it is the key that the \(id) belongs to, plan the campaign again. If not, put that key back; or correct `\(name)` in "
                + "volley.yaml, and plan the campaign again. Nothing was sent.")
    }

    private func changed(_ changes: [String], in project: Project) -> Diagnostic {
        guard !isOfOtherMachine else {
            return Diagnostic(
                "this machine's volley.yaml is not that of the machine that planned \(plan.id): \(changes.joined(separator: "; "))",
                file: project.file,
                remedy:
                    "Give both machines the same settings, then start `volley work` again. Nothing was sent from here.")
        }
        return Diagnostic(
            "this file was changed after \(plan.id) was planned: \(changes.joined(separator: "; "))",
            file: project.file,
            remedy: "Plan the campaign again, or undo the change. Nothing was sent.")
    }
}

extension FilePaths {
    /// Whether two files hold the same: another machine keeps its authority, or its certificate, at
    /// another path.
    fileprivate static func areCopies(_ one: String, _ other: String) -> Bool {
        guard let (one, other) = try? (read(one), read(other)) else { return false }
        return one == other
    }
}

extension FrozenEnvironment {
    /// Whether both are the same server, trusted through the same authority's file. Plans of older
    /// versions name the file with its symbolic links resolved; if that file is missing, the file
    /// that is named now counts.
    fileprivate func isSame(as now: FrozenEnvironment) -> Bool {
        guard case .server(let host, let port, let authority?) = self, case .server(host, port, let present?) = now
        else {
            return self == now
        }
        return !FilePaths.exists(authority) || FilePaths.areOneFile(authority, present)
            || FilePaths.areCopies(authority, present)
    }

    fileprivate var inFull: String {
        if case .named(let server) = self, let region = server.region { return "\(name) (\(region))" }
        guard case .server(_, _, let authority?) = self else { return name }
        return "\(name) (ca \(authority))"
    }
}

extension FrozenCredential {
    /// Where the credential is, and what identifies it.
    fileprivate func inFull(_ form: CredentialForm) -> String {
        let place =
            self[form.files.first] ?? self[form.variable].map { "the variable \(SecretText.variable($0))" } ?? ""
        guard let id = self[form.keyID] else {
            return self[form.passphraseVariable].map { "\(place) (passphrase in \(SecretText.variable($0)))" } ?? place
        }
        return "\(id)\(form.issuer.map { " of \($0.key) \(self[$0] ?? "")" } ?? "") in \(place)"
    }
}
