import Testing

@testable import Delivery

@Suite("What libcurl hears of a socket")
struct SocketInterestTests {
    /// EPOLLIN and EPOLLOUT (epoll_ctl(2)).
    private let read: UInt32 = 1, write: UInt32 = 4, millisecond: Int64 = 1_000_000

    /// Notes several times in a row that the socket can be written to without effect.
    /// - Returns: whether that changed what to watch, each time.
    private func write(_ interest: inout SocketInterest, times: Int) -> [Bool] {
        (0..<times).map { _ in interest.note(write, moved: false, at: 0) }
    }

    @Test("a socket that takes nothing rests, longer each time, and only from being written to")
    func rest() {
        var interest = SocketInterest(read | write)
        let noted = write(&interest, times: 3)
        #expect(noted == [false, false, true] && interest.events == read && interest.restsUntil == millisecond)
        let early = interest.wake(at: millisecond - 1)
        #expect(!early && interest.events == read)
        let due = interest.wake(at: millisecond)
        #expect(due && interest.events == read | write)
        let rests = (0..<8).map { _ -> Int64 in
            let noted = write(&interest, times: 1)
            #expect(noted == [true])
            defer { _ = interest.wake() }
            return (interest.restsUntil ?? 0) / millisecond
        }
        #expect(rests == [2, 4, 8, 16, 16, 16, 16, 16])
    }

    @Test("something to read, or a body that moves, ends the rest at once", arguments: [true, false])
    func ends(moved: Bool) {
        var interest = SocketInterest(read | write)
        _ = write(&interest, times: 3)
        #expect(interest.events == read)
        let changed = interest.note(moved ? write : read, moved: moved, at: 1)
        #expect(changed && interest.events == read | write)
        // It counts from the beginning.
        let again = write(&interest, times: 3)
        #expect(again == [false, false, true])
    }

    @Test("what libcurl wants meanwhile holds after the rest, and a socket that it only reads from is not written to")
    func change() {
        var interest = SocketInterest(read | write)
        _ = write(&interest, times: 3)
        interest.change(to: read)
        let changed = interest.wake()
        #expect(changed && interest.events == read)
        interest.change(to: write)
        #expect(interest.events == write)
    }
}
