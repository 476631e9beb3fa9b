import Glibc
import Synchronization

/// The variables of this process's environment.
///
///     let folder = EnvironmentVariables["TZDIR"] ?? "/usr/share/zoneinfo"
public enum EnvironmentVariables {
    private static let replaced = Mutex<[String: String]>([:])

    /// The value of a variable; nil if it is not set.
    public static subscript(name: String) -> String? {
        replaced.withLock { $0[name] } ?? getenv(name).map { String(cString: $0) }
    }

    /// The value of a variable; nil if it is not set or empty.
    public static func filled(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// Gives a variable another value within this process, but not for its children; nil for its own again. setenv(3) may do so only while there
    /// is no other thread: getenv(3) then reads freed memory.
    package static func replace(_ name: String, with value: String?) { replaced.withLock { $0[name] = value } }
}
