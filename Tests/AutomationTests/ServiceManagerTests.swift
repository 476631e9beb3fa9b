import Foundation
import Testing

@testable import Automation

@Suite("The manager of services")
struct ServiceManagerTests {
    private func flaw(_ socket: String?, _ watchdog: String? = nil, process: String? = nil) -> String? {
        ServiceManager(socket: socket, watchdogMicroseconds: watchdog, watchdogProcess: process).flaw
    }

    /// A socket that takes messages, for as long as the body runs.
    private func listening(at name: String, _ body: () -> Void) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) {
            $0.copyBytes(from: name.utf8)
            if name.hasPrefix("@") { $0[0] = 0 }
        }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(2 + name.utf8.count))
            }
        }
        try #require(bound == 0)
        body()
    }

    @Test("without one nothing is said; its socket may be a path or an abstract name")
    func reachable() throws {
        #expect(flaw(nil) == nil && flaw(nil, "abc") == nil)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("volley-notify-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["\(folder.path)/s", "@volley-\(UUID().uuidString)"] {
            try listening(at: name) {
                #expect(flaw(name) == nil && flaw(name, "30000000") == nil)
                #expect(
                    ServiceManager(socket: name, watchdogMicroseconds: "30000000", watchdogProcess: nil).secondsPerSign
                        == 15)
                for odd in ["abc", "0", "-5", "1e6", "30s"] {
                    #expect(flaw(name, odd)?.contains("WATCHDOG_USEC is '\(odd)'") == true)
                }
                // Meant for another process.
                #expect(flaw(name, "abc", process: "1") == nil)
            }
        }
    }

    @Test(
        "a socket that cannot be reached is said at the start",
        arguments: [
            "/nonexistent/notify", "@volley-is-not-there", "relative", "vsock:2:1234", "/tmp",
            "/" + String(repeating: "a", count: 150),
        ])
    func unreachable(name: String) {
        #expect(flaw(name)?.contains("NOTIFY_SOCKET is '\(name)'") == true, "\(flaw(name) ?? "")")
    }
}
