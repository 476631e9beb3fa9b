import Glibc

/// Signals that Volley does not use, and that would end it: their default action in POSIX is
/// termination.
public enum IgnoredSignals {
    /// The signals that the command line ignores. Hooks get their default actions back.
    public static let all = [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF]
}
