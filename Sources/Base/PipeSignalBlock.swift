import Glibc

/// Keeps SIGPIPE from this thread: writing to a connection or a pipe that the peer closed must be an error, not the end of the process. libcurl
/// leaves signals alone when it is told so (CURLOPT_NOSIGNAL), and OpenSSL writes without MSG_NOSIGNAL.
public func withPipeSignalBlocked<Result>(_ body: () -> Result) -> Result {
    var pipe = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &pipe, &before)
    defer {
        // One that is pending would strike as soon as it is let in again.
        var noWait = timespec()
        if sigismember(&before, SIGPIPE) == 0 { while sigtimedwait(&pipe, nil, &noWait) == SIGPIPE {} }
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    return body()
}
