import Glibc

/// Signals that mean nothing to Volley and would end it: POSIX gives their default action as termination.
public enum IgnoredSignals {
    /// Those that the command line ignores, and hooks do not.
    public static let all = [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF]
}
