// Which of the two owns `timespec` to the compiler depends on the order in which it reads headers.
import CCurl
import Glibc

/// The clock that intervals are measured with; stands still while the machine sleeps.
func monotonicNanoseconds() -> Int64 { nanoseconds(of: CLOCK_MONOTONIC) }

/// The same, but counting while the machine sleeps: a token grows old then as well.
func bootNanoseconds() -> Int64 { nanoseconds(of: CLOCK_BOOTTIME) }

/// What the calling thread has used of a core.
func threadNanoseconds() -> Int64 { nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) }

private func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
