import Glibc

/// Writes all bytes to a descriptor, even if it is a pipe or a terminal that does not block and
/// accepts only as many bytes as fit.
public enum WriteAll {
    /// - Returns: 0, or errno.
    public static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if count == 0 {
                    return EIO
                } else if errno == EAGAIN {
                    waitForRoom(descriptor)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }

    /// Waits until the other end reads or closes, or a signal comes.
    private static func waitForRoom(_ descriptor: Int32) {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&polled, 1, -1)
    }
}
