import Base
import Foundation
import MetricsPort
import Testing

/// The port for Prometheus, asked by curl.
@Suite("the port for metrics", .serialized)
struct MetricsPortTests {
    private func curl(_ arguments: String...) throws -> String {
        let process = Process(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        process.arguments = ["--silent", "--noproxy", "*", "--max-time", "10"] + arguments
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("gives the text, with the type that Prometheus knows, again and again on one connection")
    func text() throws {
        let port = try MetricsPort("127.0.0.1:0") { "volley_up 1\n" }
        defer { port.close() }
        let url = "http://\(port.address)/metrics"
        #expect(try curl(url, url) == "volley_up 1\nvolley_up 1\n")
        #expect(try curl("-o", "/dev/null", "-w", "%{http_code} %{content_type}", url) == "200 text/plain; version=0.0.4; charset=utf-8")
        #expect(try curl("-I", url).contains("content-length: 12"))
    }

    @Test("a long answer arrives whole, also where the connection ends with it")
    func long() throws {
        let line = "volley_up{campaign=\"\(String(repeating: "x", count: 1000))\"} 1\n"
        let port = try MetricsPort("127.0.0.1:0") { String(repeating: line, count: 8000) }
        defer { port.close() }
        for options in [["--http1.0"], ["-H", "Connection: close"]] {
            let size = try curl(
                options[0], options.count > 1 ? options[1] : "-s", "-o", "/dev/null", "-w", "%{size_download}",
                "http://\(port.address)/metrics")
            #expect(size == "\(8000 * line.utf8.count)")
        }
    }

    /// Connects without asking anything.
    private func connect(to address: String) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = UInt16(address.split(separator: ":")[1])?.bigEndian ?? 0
        name.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        _ = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }

    @Test("a crowd that connects, resets or stays is turned away, and afterwards the port answers", arguments: ["close", "reset", "stay"])
    func crowd(what: String) throws {
        let port = try MetricsPort("127.0.0.1:0") { "volley_up 1\n" }
        defer { port.close() }
        var staying: [Int32] = []
        for _ in 0..<400 {
            let descriptor = connect(to: port.address)
            if what == "stay" {
                staying.append(descriptor)
                continue
            }
            var linger = linger(l_onoff: what == "reset" ? 1 : 0, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
            close(descriptor)
        }
        for descriptor in staying { close(descriptor) }
        let end = Date(timeIntervalSinceNow: 20)
        var answer = ""
        while answer.isEmpty, Date() < end { answer = try curl("http://\(port.address)/metrics") }
        #expect(answer == "volley_up 1\n")
    }

    /// The descriptor of this process that listens there.
    private func listener(_ address: String) throws -> Int32 {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        return try #require(
            descriptors.first { descriptor in
                var name = sockaddr_in(), listens: Int32 = 0
                var size = socklen_t(MemoryLayout<sockaddr_in>.size), flag = socklen_t(MemoryLayout<Int32>.size)
                let isNamed = withUnsafeMutablePointer(to: &name) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) == 0 }
                }
                getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flag)
                return isNamed && listens == 1 && address.hasSuffix(":\(UInt16(bigEndian: name.sin_port))")
            })
    }

    @Test("a port that cannot take a connection any more is opened again, and stays closed once it was closed")
    func broken() throws {
        let port = try MetricsPort("127.0.0.1:0") { "volley_up 1\n" }
        for _ in 0..<2 {
            shutdown(try listener(port.address), Int32(SHUT_RDWR))
            let end = Date(timeIntervalSinceNow: 20)
            var answer = ""
            while answer.isEmpty, Date() < end { answer = try curl("http://\(port.address)/metrics") }
            #expect(answer == "volley_up 1\n")
        }
        port.close()
        #expect(try curl("http://\(port.address)/metrics").isEmpty)
    }

    @Test("knows nothing else, and takes nothing")
    func others() throws {
        let port = try MetricsPort("[::1]:0") { "secret" }
        defer { port.close() }
        #expect(port.address.hasPrefix("[::1]:"))
        #expect(try curl("-g", "http://\(port.address)/") == "The metrics are at /metrics.\n")
        #expect(try curl("-g", "-o", "/dev/null", "-w", "%{http_code}", "http://\(port.address)/metrics/x") == "404")
        #expect(try curl("-g", "-o", "/dev/null", "-w", "%{http_code}", "-d", "x=1", "http://\(port.address)/metrics") == "405")
    }

    @Test(
        "an address that is none, and one that is taken, are refused with their remedy",
        arguments: ["localhost:9464", "9464", "::1:9464", "127.0.0.1:65536"])
    func wrong(address: String) throws {
        let mistake = #expect(throws: Diagnostic.self) { _ = try MetricsPort(address) { "" } }
        #expect(mistake?.remedy?.contains("127.0.0.1:9464") ?? false)
        let port = try MetricsPort("127.0.0.1:0") { "" }
        defer { port.close() }
        let taken = #expect(throws: Diagnostic.self) { _ = try MetricsPort(port.address) { "" } }
        #expect(taken?.message == "Volley cannot listen at \(port.address): the address is already in use")
        #expect(taken?.remedy?.contains("--metrics") ?? false)
        let foreign = #expect(throws: Diagnostic.self) { _ = try MetricsPort("192.0.2.1:9464") { "" } }
        #expect(foreign?.message == "Volley cannot listen at 192.0.2.1:9464: this machine does not have the address")
    }
}
