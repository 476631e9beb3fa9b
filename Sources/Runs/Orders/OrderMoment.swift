public import Base
import Glibc

/// How long a machine has been running, its sleep included (CLOCK_BOOTTIME), and since which start.
public struct Uptime: Hashable, Sendable {
    /// The start, by the number that the kernel gave it (/proc/sys/kernel/random/boot_id); blank if it cannot be read.
    public var start: String
    /// Since then.
    public var milliseconds: Int64

    /// An uptime.
    public init(start: String, milliseconds: Int64) {
        self.start = start
        self.milliseconds = milliseconds
    }

    /// The seconds between two moments since one start; nil if they cannot be compared: the machine was started again,
    /// or it is another one.
    func seconds(since earlier: Uptime) -> Double? {
        guard !start.isEmpty, start == earlier.start, milliseconds >= earlier.milliseconds else { return nil }
        return Double(milliseconds - earlier.milliseconds) / 1000
    }
}

/// A moment, by the clock and by the machine's uptime.
public struct OrderMoment: Hashable, Sendable {
    /// By the clock, which can be set.
    public var time: Timestamp
    /// By the uptime, which cannot.
    public var uptime: Uptime

    /// A moment.
    public init(time: Timestamp, uptime: Uptime) {
        self.time = time
        self.uptime = uptime
    }

    /// The present moment.
    public static func now() -> OrderMoment {
        var since = timespec()
        clock_gettime(CLOCK_BOOTTIME, &since)
        // A file of /proc has no size, but can be read like any other.
        let bytes = (try? RegularFile.bytes(of: "/proc/sys/kernel/random/boot_id", atMost: 64)) ?? []
        let start = String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
        return OrderMoment(
            time: .now(), uptime: Uptime(start: start, milliseconds: Int64(since.tv_sec) * 1000 + Int64(since.tv_nsec) / 1_000_000))
    }
}
