import Glibc

/// What locks on files have in common (flock): the system gives them back when their process dies.
enum FileLock {
    /// Whether some process holds a file's lock. Looks only; never takes it.
    static func isHeld(_ path: String) -> Bool {
        guard let descriptor = RunFile.openLockToLook(path).descriptor else { return false }
        defer { close(descriptor) }
        // A shared lock that is had shows that nobody holds the other; closing the file gives it back.
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }

    /// Whether a file that was opened still has its name.
    static func isNamed(_ path: String, _ descriptor: Int32) -> Bool {
        var ours = stat()
        var named = stat()
        return fstat(descriptor, &ours) == 0 && stat(path, &named) == 0 && ours.st_ino == named.st_ino && ours.st_dev == named.st_dev
    }
}
