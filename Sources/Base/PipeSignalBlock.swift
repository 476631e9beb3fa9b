import Glibc

/// Blocks SIGPIPE in this thread: a write to a connection or a pipe that the peer closed must be an
/// error, and must not end the process. libcurl leaves signals alone if CURLOPT_NOSIGNAL is set,
/// and OpenSSL writes without MSG_NOSIGNAL.
public func withPipeSignalBlocked<Result>(_ body: () -> Result) -> Result {
    var pipe = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &pipe, &before)
    defer {
        // A pending signal would be delivered as soon as it is unblocked.
        var noWait = timespec()
        if sigismember(&before, SIGPIPE) == 0 { while sigtimedwait(&pipe, nil, &noWait) == SIGPIPE {} }
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    return body()
}
