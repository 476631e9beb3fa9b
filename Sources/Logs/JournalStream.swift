import Base
import Glibc

/// Whether standard error leads into the journal of systemd.
public enum JournalStream {
    /// Compares the file that the variable JOURNAL_STREAM names by device and inode with standard
    /// error: a child with its messages going elsewhere also inherits the variable. Source:
    /// systemd.exec(5).
    public static var isStandardError: Bool {
        guard let text = EnvironmentVariables["JOURNAL_STREAM"] else { return false }
        var status = stat()
        return fstat(STDERR_FILENO, &status) == 0 && text == "\(status.st_dev):\(status.st_ino)"
    }
}
