import Base
import GRDB
import Glibc

/// Writes a run file again from what a store keeps of it, in a folder that is removed with this
/// value unless the run is put in its place.
package final class RebuiltRun {
    private let id: String
    private let path: String
    private let audience: Int
    private let catalog: RunsFolder
    private let scratch: ScratchFolder
    private var database: DatabaseQueue?
    private var digest = RecipientsDigest()
    private var next = 0

    /// - Parameters:
    ///   - bytes: the bare file.
    ///   - id: the run's.
    ///   - catalog: where it will be.
    /// - Throws: `Mistake`: the bytes are damaged; `Diagnostic`: the file cannot be written.
    package init(bare bytes: [UInt8], of id: String, in catalog: RunsFolder) throws {
        (self.id, self.catalog, scratch) = (id, catalog, try catalog.scratchFolder())
        path = DatabaseFile.path(id, in: scratch.path)
        try RunFile.write(bytes, to: path)
        guard let run = try? RunFile(path: path, readOnly: true), run.plan.id == id, run.hasDigest else {
            throw RunFile.damagedBareFile
        }
        audience = run.plan.audience
        run.close()
        var configuration = Configuration()
        // Speed over safety: until it has its place, losing the file costs nothing.
        configuration.prepareDatabase { db in
            for pragma in [
                "journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "cache_size = -16000",
            ] {
                try db.execute(sql: "PRAGMA \(pragma)")
            }
        }
        database = try RunDiagnostics.translating(path, .planning) {
            try DatabaseQueue(path: path, configuration: configuration)
        }
    }

    deinit { try? database?.close() }

    /// Stores the next recipients. `body` calls its argument with each of them.
    package func add(_ body: ((StoredRecipient) throws -> Void) throws -> Void) throws {
        guard let database else { preconditionFailure("the recipients are complete") }
        try RunDiagnostics.translating(path, .planning) {
            try database.write { db in
                let insert = try PreparedStatement(db, sql: RunSchema.upsertRecipients(1))
                try body { try put($0, insert) }
            }
        }
    }

    private func put(_ recipient: StoredRecipient, _ insert: PreparedStatement) throws {
        digest.add(
            next,
            (
                recipient.token, recipient.registrationID, recipient.alias, recipient.language, recipient.variant,
                recipient.fields
            ))
        try insert.bind(next, at: 1)
        try insert.bind(recipient.token, at: 2)
        try insert.bind(recipient.registrationID, at: 3)
        try insert.bind(recipient.alias, at: 4)
        try insert.bind(recipient.language, at: 5)
        try insert.bind(recipient.variant, at: 6)
        try insert.bind(recipient.fields, at: 7)
        try insert.execute()
        next += 1
    }

    /// Ends the recipients, which must be those that were planned.
    /// - Returns: the run. Its outcomes can be recorded in it before it is put in its place.
    /// - Throws: `Diagnostic`: they are others.
    package func complete() throws -> RunFile {
        let planned = try RunDiagnostics.translating(path, .planning) {
            try database?.write { try $0.first("SELECT recipients_digest FROM run") { try $0.string(0) } }
        }
        guard next == audience, planned == digest.text else {
            throw RunDiagnostics.damaged(path, what: "its recipients are not those that were planned")
        }
        try RunDiagnostics.translating(path, .planning) { try database?.close() }
        database = nil
        let run = try RunFile(path: path)
        run.noteUnchanged()
        return run
    }

    /// Gives the run its place among others. Nothing is replaced.
    /// - Returns: where it is.
    /// - Throws: `Diagnostic`: there is something of its name.
    package func place(_ run: RunFile) throws -> String {
        try run.closeIntoOneFile()
        try DatabaseFile.synchronize(path)
        let final = catalog.place(of: id)
        // link fails when the name is taken, where rename would replace another run.
        guard link(path, final) == 0 || (errno != EEXIST && rename(path, final) == 0) else {
            throw errno == EEXIST
                ? Diagnostic(
                    "there is already a run with this id", file: final, remedy: "Name another folder with --into.")
                : RunDiagnostics.system("cannot name the run", path: final, errno: errno, activity: .planning)
        }
        unlink(path)
        try DatabaseFile.synchronize(RunDiagnostics.folder(of: final))
        return final
    }
}
