import Glibc
import Synchronization

/// The variables of this process's environment.
///
///     let folder = EnvironmentVariables["TZDIR"] ?? "/usr/share/zoneinfo"
///
/// ```swift
/// let proxy = EnvironmentVariables.filled("https_proxy")
/// ```
public enum EnvironmentVariables {
    private static let replaced = Mutex<[String: String]>([:])

    /// The value of a variable; nil if it is not set.
    public static subscript(name: String) -> String? {
        replaced.withLock { $0[name] } ?? getenv(name).map { String(cString: $0) }
    }

    /// The value of a variable; nil if it is not set or empty.
    public static func filled(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// All of them as `NAME=value`, for a child.
    public static var all: [String] {
        let replaced = replaced.withLock(\.self)
        var entries: [String] = []
        var next = environ
        while let entry = next.pointee {
            entries.append(String(cString: entry))
            next += 1
        }
        guard !replaced.isEmpty else { return entries }
        return entries.filter { replaced[String($0.prefix { $0 != "=" })] == nil } + replaced.map { "\($0)=\($1)" }
    }

    /// Gives a variable another value, here and for `all`; nil for its own again. setenv(3) may do
    /// so only while there is no other thread: getenv(3) then reads freed memory.
    package static func replace(_ name: String, with value: String?) { replaced.withLock { $0[name] = value } }
}
