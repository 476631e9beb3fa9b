import Base
import Foundation
import TestServers
import Testing

@testable import Automation

/// The port for Prometheus, read by curl and by clients that misbehave.
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

    @Test("gives the text, with the type that Prometheus knows, to one client after the other")
    func text() throws {
        let port = try MetricsPort("127.0.0.1:0") { "volley_up 1\n" }
        defer { port.close() }
        let url = "http://\(port.address)/metrics"
        #expect(try curl(url, url) == "volley_up 1\nvolley_up 1\n")
        #expect(
            try curl("-o", "/dev/null", "-w", "%{http_code} %{content_type}", url)
                == "200 text/plain; version=0.0.4; charset=utf-8")
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

    /// A connection to the port, to which some bytes were sent.
    private func connect(to address: String, sending text: String = "") throws -> Int32 {
        let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
        let descriptor = try #require(Sockets.connect(port))
        if !text.isEmpty { _ = Sockets.write(Array(text.utf8), to: descriptor) }
        return descriptor
    }

    /// What the port sends until it closes the connection; nil if it sends nothing for ten seconds
    /// without closing it.
    private func everything(from descriptor: Int32) -> String? {
        var bytes: [UInt8] = [], piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&watched, 1, 10_000) > 0 else { return nil }
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
        }
    }

    @Test(
        "a crowd that connects, resets or stays does not keep Prometheus out, whatever it sends",
        arguments: [
            ("close", ""), ("reset", ""), ("stay", ""), ("stay", "GET /metr"),
            ("stay", "GET /metrics HTTP/1.1\r\nHost: here\r\n"),
            ("close", "GET /metrics HTTP/1.1\r\n\r\n"), ("reset", "GET /metrics HTTP/1.1\r\n\r\n"),
        ])
    func crowd(what: String, sent: String) throws {
        let port = try MetricsPort("127.0.0.1:0") { "volley_up 1\n" }
        defer { port.close() }
        var staying: [Int32] = []
        defer { for descriptor in staying { close(descriptor) } }
        for _ in 0..<400 {
            let descriptor = try connect(to: port.address, sending: sent)
            if what == "stay" {
                staying.append(descriptor)
                continue
            }
            var linger = linger(l_onoff: what == "reset" ? 1 : 0, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
            close(descriptor)
        }
        #expect(try curl("http://\(port.address)/metrics") == "volley_up 1\n")
    }

    @Test("clients that never read their answer do not keep Prometheus out, and closing the port waits for none")
    func unread() throws {
        let text = String(repeating: "volley_up 1\n", count: 350_000)
        let port = try MetricsPort("127.0.0.1:0") { text }
        var staying: [Int32] = []
        defer { for descriptor in staying { close(descriptor) } }
        for _ in 0..<20 {
            let descriptor = try connect(to: port.address)
            var room: Int32 = 4096
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout.size(ofValue: room)))
            _ = Sockets.write(Array("GET /metrics HTTP/1.1\r\n\r\n".utf8), to: descriptor)
            staying.append(descriptor)
        }
        #expect(
            try curl("-o", "/dev/null", "-w", "%{size_download}", "http://\(port.address)/metrics")
                == "\(text.utf8.count)")
        staying.append(try connect(to: port.address))
        let clock = ContinuousClock(), start = clock.now
        port.close()
        #expect(clock.now - start < .seconds(2))
        #expect(everything(from: try #require(staying.last)) == "")
    }

    @Test("a request that takes too long ends its connection, also if it comes byte by byte", arguments: [false, true])
    func slow(sends: Bool) throws {
        let port = try MetricsPort("127.0.0.1:0", requestSeconds: 0.3) { "volley_up 1\n" }
        defer { port.close() }
        let descriptor = try connect(to: port.address), end = Date(timeIntervalSinceNow: 20)
        defer { close(descriptor) }
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&watched, 1, 20) == 0, Date() < end {
            if sends { _ = Sockets.write([UInt8(ascii: "G")], to: descriptor) }
        }
        #expect(watched.revents != 0 && everything(from: descriptor) == "")
    }

    /// A connection of the port, and its client.
    private func pair() throws -> (connection: MetricsConnection, client: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
                == 0)
        return (MetricsConnection(ends[0], requestSeconds: 60), ends[1])
    }

    @Test(
        "the time for a request is not put off by its bytes; it has a most number of bytes, and so has what comes after it"
    )
    func limits() throws {
        let (connection, client) = try pair()
        defer { close(client) }
        let end = connection.endsAt
        for byte in "GET /metrics HTTP/1.1\r\nX: y\r\n".utf8 {
            #expect(Sockets.write([byte], to: client))
            connection.advance { "" }
            #expect(connection.endsAt == end && !connection.isAnswering && !connection.isOver)
        }
        var sent = 0
        func advance(until condition: () -> Bool) {
            while !condition(), sent < 1 << 20 {
                #expect(Sockets.write([UInt8](repeating: UInt8(ascii: "x"), count: 4096), to: client))
                sent += 4096
                connection.advance { "" }
            }
        }
        advance {
            var byte: UInt8 = 0
            return recv(client, &byte, 1, Int32(MSG_PEEK)) == 1
        }
        #expect(sent <= MetricsConnection.mostRequestBytes + 4096)
        #expect(everything(from: client) == String(decoding: MetricsRequest.refusal, as: UTF8.self))
        #expect(!connection.isOver)
        advance { connection.isOver }
        #expect(sent < 100_000)
    }

    @Test(
        "an answer that is not taken leaves the connection waiting, without calling for the text again; then it goes on"
    )
    func slowReader() throws {
        let (connection, client) = try pair()
        defer { close(client) }
        let text = String(repeating: "volley_up 1\n", count: 100_000)
        var calls = 0
        func advance() {
            connection.advance {
                calls += 1
                return text
            }
        }
        #expect(Sockets.write(Array("GET /metrics HTTP/1.1\r\n\r\n".utf8), to: client))
        advance()
        let end = connection.endsAt
        for _ in 0..<3 { advance() }
        #expect(connection.isAnswering && connection.awaitedEvents == Int16(POLLOUT) && connection.endsAt == end)
        var piece = [UInt8](repeating: 0, count: 65_536), received = 0
        while connection.isAnswering {
            received += max(0, recv(client, &piece, piece.count, 0))
            advance()
        }
        received += everything(from: client)?.utf8.count ?? 0
        #expect(received > text.utf8.count && received < text.utf8.count + 200 && calls == 1)
    }

    @Test(
        "requests of both versions are answered once, and the connection is closed",
        arguments: [
            (
                "GET /metrics HTTP/1.1\r\nHost: here\r\nConnection: keep-alive\r\n\r\n", "HTTP/1.1 200 OK",
                "volley_up 1\n"
            ),
            ("GET /metrics?x=1 HTTP/1.0\n\n", "HTTP/1.0 200 OK", "volley_up 1\n"),
            ("GET /metrics HTTP/1.1\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK", "volley_up 1\n"),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK", ""),
        ])
    func requests(sent: String, status: String, body: String) throws {
        let port = try MetricsPort("127.0.0.1:0") { "volley_up 1\n" }
        defer { port.close() }
        let descriptor = try connect(to: port.address, sending: sent)
        defer { close(descriptor) }
        #expect(
            everything(from: descriptor)
                == "\(status)\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\ncontent-length: 12\r\nconnection: close\r\n\r\n"
                + body)
    }

    @Test(
        "what is no request, is too long, or has a body in chunks is refused",
        arguments: [
            "nonsense\r\n\r\n", "\r\n\r\n", "GET /metrics\r\n\r\n", "GET /metrics HTTP/2.0\r\n\r\n",
            "GET  /metrics HTTP/1.1\r\n\r\n",
            "G(T /metrics HTTP/1.1\r\n\r\n", "GET /metrics\u{1} HTTP/1.1\r\n\r\n",
            "GET /metrics HTTP/1.1\r\nno colon\r\n\r\n",
            "GET /metrics HTTP/1.1\r\nX: a\r\n b\r\n\r\n", "GET /metrics HTTP/1.1\r\nX : a\r\n\r\n",
            "GET /metrics HTTP/1.1\r\ntransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "GET /metrics HTTP/1.1\r\nX: " + String(repeating: "x", count: 20_000),
        ])
    func refused(sent: String) throws {
        let port = try MetricsPort("127.0.0.1:0") { "volley_up 1\n" }
        defer { port.close() }
        let descriptor = try connect(to: port.address, sending: sent)
        defer { close(descriptor) }
        #expect(
            everything(from: descriptor) == "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
    }

    /// The descriptors of this process with the port's address: the one that listens, and its
    /// connections.
    private func sockets(at address: String) throws -> [(descriptor: Int32, isListener: Bool)] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.compactMap {
            descriptor in
            var name = sockaddr_in(), listens: Int32 = 0
            var size = socklen_t(MemoryLayout<sockaddr_in>.size), flag = socklen_t(MemoryLayout<Int32>.size)
            let isNamed = withUnsafeMutablePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) == 0 }
            }
            getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flag)
            let isHere =
                isNamed && Int32(name.sin_family) == AF_INET
                && address.hasSuffix(":\(UInt16(bigEndian: name.sin_port))")
            return isHere ? (descriptor, listens == 1) : nil
        }
    }

    @Test("programs that Volley starts get none of the port's sockets")
    func inherited() throws {
        let port = try MetricsPort("127.0.0.1:0") { "volley_up 1\n" }
        defer { port.close() }
        let descriptor = try connect(to: port.address), end = Date(timeIntervalSinceNow: 20)
        defer { close(descriptor) }
        var sockets = try sockets(at: port.address)
        while sockets.count < 2, Date() < end { sockets = try self.sockets(at: port.address) }
        #expect(sockets.count == 2)
        for socket in sockets { #expect(fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0) }
    }

    @Test("a port that cannot take a connection any more is opened again, and stays closed once it was closed")
    func broken() throws {
        let port = try MetricsPort("127.0.0.1:0") { "volley_up 1\n" }
        for _ in 0..<2 {
            shutdown(try #require(try sockets(at: port.address).first { $0.isListener }).descriptor, Int32(SHUT_RDWR))
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
        #expect(
            try curl("-g", "-o", "/dev/null", "-w", "%{http_code}", "-d", "x=1", "http://\(port.address)/metrics")
                == "405")
        // What is not read of a body does not cost its answer.
        let long = String(repeating: "x", count: 50_000)
        #expect(try curl("-g", "-d", long, "http://\(port.address)/metrics") == "The metrics are at /metrics.\n")
    }

    @Test(
        "an address that is none, and one that is taken, are refused with their remedy",
        arguments: [
            "", "localhost:9464", "9464", ":9464", "::1:9464", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:",
            "127.1:9464",
            "[fe80::1%none0]:9464",
        ])
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
