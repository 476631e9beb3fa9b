// Both: which module the compiler attributes `timespec` to depends on the order in which it reads
// headers.
import CCurl
import Glibc

/// The clock for measuring intervals. It stops while the machine sleeps.
func monotonicNanoseconds() -> Int64 { nanoseconds(of: CLOCK_MONOTONIC) }

/// The clock for the age of tokens. It also counts while the machine sleeps, as a token ages then
/// too.
func bootNanoseconds() -> Int64 { nanoseconds(of: CLOCK_BOOTTIME) }

/// The CPU time that the calling thread has used.
func threadNanoseconds() -> Int64 { nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) }

private func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
