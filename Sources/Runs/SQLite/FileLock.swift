import Glibc

/// What locks on files have in common (flock): the system releases them when their process dies.
enum FileLock {
    /// Whether some process holds a file's lock. Never takes it.
    static func isHeld(_ path: String) -> Bool {
        guard let descriptor = DatabaseFile.openLockToLook(path).descriptor else { return false }
        defer { close(descriptor) }
        // Getting a shared lock shows that no process holds the exclusive one; closing the file releases it.
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }

    /// Whether a file that was opened still has its name.
    static func isNamed(_ path: String, descriptor: Int32) -> Bool {
        var ours = stat()
        var named = stat()
        return fstat(descriptor, &ours) == 0 && stat(path, &named) == 0 && ours.st_ino == named.st_ino && ours.st_dev == named.st_dev
    }
}
