import Glibc

/// Unbuffered, so that nothing is lost when a campaign traps.
enum Output {
    static func say(_ line: String, on descriptor: Int32 = STDOUT_FILENO) {
        var line = line + "\n"
        show(&line, on: descriptor)
    }

    /// Without a new line.
    static func show(_ text: inout String, on descriptor: Int32) {
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while let start = rest.baseAddress, !rest.isEmpty {
                let count = write(descriptor, start, rest.count)
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
