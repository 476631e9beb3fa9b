import Glibc

/// What this machine is called in the store, for messages and pages.
enum MachineName {
    /// The name of the machine.
    static var host: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "?" }
        return withUnsafeBytes(of: name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// With this process.
    static var process: String { "\(host), process \(getpid())" }
}
