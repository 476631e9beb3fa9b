import Base
import CCurl
import Glibc

/// An epoll instance, closed with its owner.
struct EpollHandle: ~Copyable {
    let descriptor: Int32

    /// - Throws: a `Diagnostic` when no more files can be opened.
    init() throws(Diagnostic) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        if descriptor < 0 { throw Diagnostic.noMoreFiles(errno) }
    }

    deinit { close(descriptor) }

    /// Watches a descriptor until it is closed.
    func watch(_ watched: Int32, for events: UInt32, named name: UInt64) {
        var event = epoll_event(events: events, data: epoll_data_t(u64: name))
        epoll_ctl(descriptor, EPOLL_CTL_ADD, watched, &event)
    }

    /// Waits for events, at most the given time, and returns their number.
    func wait(_ events: inout [epoll_event], milliseconds: Int32) -> Int {
        Int(max(0, epoll_wait(descriptor, &events, Int32(events.count), milliseconds)))
    }
}
