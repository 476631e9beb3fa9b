import Foundation
import TestServers

/// A proxy that Volley opens a tunnel through.
enum ForwardProxy: String {
    case squid, tinyproxy, danted, microsocks

    /// The missing program on this machine; nil if nothing is missing.
    var missing: String? { ServerProcess.path(of: rawValue) == nil ? rawValue : nil }

    /// How Volley addresses it.
    var scheme: String {
        switch self {
        case .squid, .tinyproxy: "http"
        case .danted, .microsocks: "socks5h"
        }
    }

    /// Starts it.
    /// - Parameter folder: gets its configuration and logs.
    func start(port: Int, in folder: String) throws -> ServerProcess {
        switch self {
        case .squid:
            // As root it becomes the user `proxy` and writes as that user.
            chmod(folder, 0o755)
            let own = "\(folder)/squid"
            mkdir(own, 0o777)
            chmod(own, 0o777)
            return try start(
                """
                http_port 127.0.0.1:\(port)
                http_access allow all
                cache deny all
                cache_mem 8 MB
                access_log none
                cache_log \(own)/cache.log
                pid_filename \(own)/pid
                coredump_dir \(own)
                mime_table \(path("/usr/share/squid/mime.conf"))
                icon_directory \(path("/usr/share/squid/icons"))
                error_directory \(path("/usr/share/squid/errors/en"))
                unlinkd_program /bin/false
                pinger_enable off
                visible_hostname localhost
                sslproxy_session_cache_size 0

                """, ["-n", Self.squidName(port), "-N", "-f"], port: port, in: folder)
        case .tinyproxy:
            return try start(
                """
                Listen 127.0.0.1
                Port \(port)
                Allow 127.0.0.1
                Timeout 600
                MaxClients 100
                LogFile "\(folder)/tinyproxy.log"
                PidFile "\(folder)/tinyproxy.pid"

                """, ["-d", "-c"], port: port, in: folder)
        case .danted:
            return try start(
                """
                logoutput: \(folder)/danted.log
                internal: 127.0.0.1 port = \(port)
                external: lo
                clientmethod: none
                socksmethod: none
                \(getuid() == 0 ? "user.privileged: root\nuser.unprivileged: root" : "")
                client pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
                socks pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }

                """, ["-p", "\(folder)/danted.pid", "-f"], port: port, in: folder)
        case .microsocks:
            return try start(nil, ["-i", "127.0.0.1", "-p", "\(port)"], port: port, in: folder)
        }
    }

    /// Removes what a killed proxy leaves behind: squid's shared memory.
    func removeTraces(port: Int) {
        guard self == .squid else { return }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/shm")) ?? []
        for name in names where name.hasPrefix(Self.squidName(port) + "-") { unlink("/dev/shm/\(name)") }
    }

    /// Squids with the same name share their memory, even with another user's, where they fail.
    private static func squidName(_ port: Int) -> String { "volley\(port)" }

    private func path(_ installed: String) -> String {
        ForeignPrograms.has(installed) ? installed : ForeignPrograms.unpacked + installed
    }

    /// - Parameter configuration: is written to a file, which becomes the last argument.
    private func start(_ configuration: String?, _ options: [String], port: Int, in folder: String) throws
        -> ServerProcess
    {
        let file = "\(folder)/\(rawValue).conf"
        try configuration?.write(toFile: file, atomically: true, encoding: .utf8)
        let arguments = options + (configuration == nil ? [] : [file])
        return try ForeignPrograms.start(rawValue, arguments, port: port, log: "\(folder)/\(rawValue).out")
    }
}
