import Testing

@testable import Delivery

@Suite("What libcurl hears of a socket")
struct SocketInterestTests {
    /// EPOLLIN and EPOLLOUT (epoll_ctl(2)).
    private let read: UInt32 = 1, write: UInt32 = 4, millisecond: Int64 = 1_000_000

    @Test("a socket that takes nothing rests, longer each time, and only from being written to")
    func rest() {
        var interest = SocketInterest(read | write)
        #expect(!interest.note(write, moved: false, at: 0) && !interest.note(write, moved: false, at: 0))
        #expect(interest.note(write, moved: false, at: 0) && interest.events == read && interest.restsUntil == millisecond)
        #expect(!interest.wake(at: millisecond - 1) && interest.events == read)
        #expect(interest.wake(at: millisecond) && interest.events == read | write)
        var rests: [Int64] = []
        for _ in 0..<8 {
            #expect(interest.note(write, moved: false, at: 0))
            rests.append((interest.restsUntil ?? 0) / millisecond)
            #expect(interest.wake())
        }
        #expect(rests == [2, 4, 8, 16, 16, 16, 16, 16])
    }

    @Test("something to read, or a body that moves, ends the rest at once", arguments: [true, false])
    func ends(moved: Bool) {
        var interest = SocketInterest(read | write)
        for _ in 0..<3 { _ = interest.note(write, moved: false, at: 0) }
        #expect(interest.events == read)
        #expect(interest.note(moved ? write : read, moved: moved, at: 1) && interest.events == read | write)
        // It counts from the beginning.
        #expect(!interest.note(write, moved: false, at: 2) && !interest.note(write, moved: false, at: 2))
    }

    @Test("what libcurl wants meanwhile holds after the rest, and a socket that it only reads from is not written to")
    func change() {
        var interest = SocketInterest(read | write)
        for _ in 0..<3 { _ = interest.note(write, moved: false, at: 0) }
        interest.change(to: read)
        #expect(interest.wake() && interest.events == read)
        interest.change(to: write)
        #expect(interest.events == write)
    }
}
