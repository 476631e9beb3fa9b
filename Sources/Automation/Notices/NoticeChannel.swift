public import Base
public import Campaigns
import Cryptography
import Delivery

/// One receiver of notices, ready for use: its paths are resolved and its secret is read.
public struct NoticeChannel: Sendable {
    /// The result of an attempt to deliver a notice.
    public enum Attempt: Hashable, Sendable {
        case delivered
        /// Another attempt may succeed, after `retryAfterSeconds` if the server named a time.
        case failed(String, retryAfterSeconds: Int?)
        /// No further attempt would succeed.
        case refused(String)
    }

    fileprivate enum Kind: Sendable {
        case webhook(url: String, secret: [UInt8]?, authority: String?, proxy: ProxyAddress?)
        case command(CommandHook)
    }

    fileprivate let kind: Kind
    /// The receiver's name in messages. A webhook's path may be a secret, so it is not shown.
    public let name: String

    /// - Parameters:
    ///   - proxy: the proxy that volley.yaml names for the app, or for all apps.
    ///   - projectFile: the file that paths are relative to.
    /// - Throws: a `Diagnostic` if the secret is missing or the proxy cannot be used.
    public init(
        _ target: NoticeTarget, projectFile: String, proxy: ProxySetting?, _ observer: NoticeObserver,
        _ variables: ProxyChoice.Variables = ProxyChoice.variables
    ) throws(Diagnostic) {
        func path(_ text: SourceText) -> String {
            FilePaths.anchored(FilePaths.resolve(text.value, besideFile: projectFile))
        }
        switch target.way {
        case .command(let words):
            var arguments = words.map(\.value)
            if arguments[0].contains("/") { arguments[0] = path(words[0]) }
            let program = SecretText.program(words[0].value)
            name = "the command \(program)"
            let folder = FilePaths.folder(of: projectFile)
            kind = .command(
                CommandHook(
                    arguments: arguments, folder: folder, say: { observer(.output($1, program: program, line: $0)) }))
        case .webhook(let url, let secretVariable, let authority):
            var secret: [UInt8]?
            if let secretVariable {
                guard let value = variables(secretVariable.value) else {
                    throw Diagnostic(
                        "the environment variable \(SecretText.variable(secretVariable.value)), which must hold the secret of this webhook, is not set",
                        at: secretVariable.position,
                        remedy: SecretText.remedy(
                            forUnset: secretVariable.value, noun: "secret", "Set it where you start volley.")
                            + " Until then this webhook gets no notices.")
                }
                secret = Array(value.utf8)
            }
            let (host, port, isLocal) = Self.parts(of: url.value)
            let chosen = isLocal ? nil : try ProxyChoice.choose(proxy, host: host, port: port, variables)
            name = "the webhook at \(host):\(port)"
            kind = .webhook(url: url.value, secret: secret, authority: authority.map(path), proxy: chosen?.address)
        }
    }

    /// The host and port of a checked address, and whether it is this machine, for which no proxy
    /// is used.
    private static func parts(of url: String) -> (host: String, port: Int, isLocal: Bool) {
        let isPlain = url.lowercased().hasPrefix("http://")
        let parts = HostPort(url.dropFirst(isPlain ? 7 : 8).prefix { $0 != "/" && $0 != "?" })
        let host = parts.plainHost
        return (
            host, parts.port ?? (isPlain ? 80 : 443),
            host.lowercased() == "localhost" || host == "::1" || host.hasPrefix("127.")
        )
    }

    /// Tries once to deliver a notice, and blocks the calling thread: about ten seconds at most for
    /// a webhook.
    /// - Parameters:
    ///   - now: the time that goes into the signature.
    ///   - cancellation: when it is requested, a command is killed.
    public func attempt(_ notice: Notice, now: Timestamp, until cancellation: Cancellation) -> Attempt {
        switch kind {
        case .command(let hook): return hook.run(notice, until: cancellation).map(Attempt.refused) ?? .delivered
        case .webhook(let url, let secret, let authority, let proxy):
            // Read again for each attempt, so that a corrected file is used at once.
            if let authority {
                do throws(Diagnostic) { try CertificateAuthorityFile.check(authority) } catch {
                    return .failed(error.description, retryAfterSeconds: nil)
                }
            }
            let body = Array(notice.json.text.utf8)
            var headers = [(name: "Volley-Event", value: notice.event.rawValue), (name: "Volley-Id", value: notice.id)]
            if let secret { headers.append(("Volley-Signature", Self.signature(of: body, secret: secret, at: now))) }
            let post = WebhookPost(
                url: url, headers: headers, body: body, certificateAuthorityFile: authority, proxy: proxy)
            return Self.judge(post.run())
        }
    }

    /// `t=<epoch seconds>,v1=<hex HMAC-SHA256 of "t.body">`
    static func signature(of body: [UInt8], secret: [UInt8], at now: Timestamp) -> String {
        let code = HMACSHA256.code(of: Array("\(now.epochSeconds).".utf8) + body, key: secret)
        return "t=\(now.epochSeconds),v1=\(SHA256.hex(code))"
    }

    /// Decides what an answer means. Another attempt is worthwhile after no answer, after 5xx, and
    /// after the two statuses that request it (RFC 9110 section 15.5.9, RFC 6585 section 4).
    static func judge(_ answer: WebhookPost.Answer) -> Attempt {
        switch answer {
        case .failed(let text): .failed(text, retryAfterSeconds: nil)
        case .answered(let status, _) where (200..<300).contains(status): .delivered
        case .answered(let status, let wait) where status >= 500 || status == 408 || status == 429:
            .failed("it answered \(status). \(advice(status))", retryAfterSeconds: wait)
        case .answered(let status, _) where (300..<400).contains(status):
            .refused(
                "it answered \(status), a redirect, which Volley does not follow. Write the address that it leads to into volley.yaml"
            )
        case .answered(let status, _): .refused("it answered \(status). \(advice(status))")
        }
    }

    /// What to do about a status, without a full stop. Source: RFC 9110 section 15.5 and 15.6, RFC
    /// 6585 section 4.
    private static func advice(_ status: Int) -> String {
        switch status {
        case 401, 403:
            "Check the address and the secret (`secret_env`) of the webhook in volley.yaml: its server does not accept this sender"
        case 404, 405, 410:
            "Check the path in the address of the webhook in volley.yaml: its server takes no notices there"
        case 407: "Check the user and the password of the proxy"
        case 413: "Its server, or one in front of it, does not take a body of this size: raise its limit"
        case 429: "Its server takes no more requests for now: raise its limit, or send it fewer notices"
        case 408, 500...: "Its server could not handle the notice now: its log says why"
        default: "Its server does not accept the notice: its log says why"
        }
    }
}
