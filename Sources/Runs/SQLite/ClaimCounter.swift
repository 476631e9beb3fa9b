import Base
import Glibc
import Synchronization

/// How many claims of a run were made (`RunClaims.made`), kept next to it while it is sent
/// (`RUN.sqlite.claimed`): after a kill it shows whether the run file has lost its newest part,
/// because SQLite's files next to it were removed or an older copy was restored. If the counter is
/// missing after a kill, it is unknown how far the run was, and the run cannot be resumed
/// (`SendingHistory.Entry.claimed`).
///
/// A few bytes of fixed width, overwritten in place: a mark survives the process at once, costs no
/// transaction, and waits for no other run. It survives the machine's power a moment later: the run
/// file is synchronised with every claim, and a mark that is lost only shows less.
///
/// As it may be restored from a backup together with the run file, the record itself
/// (`SendingHistory`) is told every two seconds.
public final class ClaimCounter: Sendable {
    private static let digits = 20

    /// The file of a run.
    public static func file(of run: String) -> String { run + ".claimed" }

    private static let recordInterval = Duration.seconds(2)

    private let run: String
    private let history: SendingHistory
    private let path: String
    private let epoch: String
    private let descriptor: Mutex<Int32>
    private let noted = Mutex(0)
    private let recordedAt = Mutex(ContinuousClock.now)

    /// Creates the file on the disk, in place of the file of an earlier epoch.
    /// - Throws: `Diagnostic`: it cannot be written.
    public init(_ run: RunFile, epoch: String, claimed: Int) throws {
        self.run = run.plan.id
        history = run.catalog.history
        path = Self.file(of: run.path)
        self.epoch = epoch
        unlink(path)
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path, code: errno) }
        self.descriptor = Mutex(descriptor)
        try note(claimed)
        // A later command has to read it, whatever the umask is.
        guard fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0 else { throw Self.failure(path, code: errno) }
        try DatabaseFile.synchronize(RunDiagnostics.folder(of: path))
    }

    deinit { close() }

    /// The most claims that were noted: the file may be put back to what it was.
    var made: Int { noted.withLock { $0 } }

    /// Notes the number of claims made so far. Must return before the last of them goes onto the
    /// wire.
    /// - Throws: `Diagnostic`: it cannot be written.
    public func note(_ claimed: Int) throws {
        noted.withLock { $0 = max($0, claimed) }
        let code: Int32 = descriptor.withLock { descriptor in
            guard descriptor >= 0 else { return EBADF }
            let text = Self.text(epoch, claimed: claimed)
            // So few bytes of a file are written whole or not at all.
            let count = pwrite(descriptor, text, text.count, 0)
            return count == text.count ? 0 : count < 0 ? errno : EIO
        }
        guard code == 0 else { throw Self.failure(path, code: code) }
        let isDue = recordedAt.withLock { last in
            let now = ContinuousClock.now
            guard now - last >= Self.recordInterval else { return false }
            last = now
            return true
        }
        if isDue { history.note(claimed: claimed, of: run, in: epoch) }
    }

    func close() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { Glibc.close(descriptor) }
            descriptor = -1
        }
    }

    private static func text(_ epoch: String, claimed: Int) -> [UInt8] {
        Array("\(epoch) \(TextFormat.zeroPadded(claimed, digits: digits))\n".utf8)
    }

    /// How many claims of a run were made so far, in an epoch of it; nil when the file is missing,
    /// of another epoch, or cannot be read.
    static func claimed(_ run: String, epoch: String) -> Int? {
        guard let bytes = try? RegularFile.bytes(of: file(of: run), atMost: 200) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[0] == epoch else { return nil }
        return Int(words[1])
    }

    /// Removes the counter of a run that no longer needs it.
    static func remove(_ run: String) { unlink(file(of: run)) }

    private static func failure(_ path: String, code: Int32) -> Diagnostic {
        RunDiagnostics.system("cannot note how many devices are claimed", path: path, errno: code, activity: .sending)
    }
}
