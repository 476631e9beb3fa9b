import Accounts
import Base
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix

/// What a route answers, before it becomes bytes.
enum Answer: Sendable {
    /// A page of the console.
    case page(Page)
    /// To another page of the console (303), after a form or where one must sign in.
    /// - Parameter cookies: values of `Set-Cookie`.
    case redirect(String, cookies: [String] = [])
    /// For scripts.
    case json(JSONValue)
    /// A style sheet or script, whose path changes with its content.
    case asset(Asset)
    /// A file to download.
    /// - Parameter write: writes it, part by part; may block.
    case download(name: String, type: String, write: @Sendable (_ part: ([UInt8]) throws -> Void) throws -> Void)
}

/// A page of the console, without what all pages have.
struct Page: Sendable {
    var status: HTTPResponse.Status = .ok
    /// What the browser calls it.
    var title: String
    /// The entry of the navigation that it belongs to; nil for none.
    var place: Place?
    var content: HTML
    /// The part of the documentation about it; nil for that of its entry in the navigation.
    var help: HelpPart?
    /// Values of `Set-Cookie`.
    var cookies: [String] = []
    /// The visit after the answer, if that gives the session a new secret: the forms of the page
    /// belong to the new one.
    var visit: Visit?

    /// The navigation's entries.
    enum Place: String, CaseIterable, Sendable {
        case today = "Today"
        case campaigns = "Campaigns"
        case calendar = "Calendar"
        case runs = "Runs"
        case suppression = "Suppression"
        case users = "Users"
        case activity = "Activity"
        case system = "System"

        /// Where it leads.
        var path: String { self == .today ? "/" : "/" + rawValue.lowercased() }

        /// What one needs to see it.
        var right: Right {
            switch self {
            case .today, .campaigns, .calendar: .seeCampaigns
            case .runs: .readReports
            case .suppression: .manageSuppression
            case .users: .manageUsers
            case .activity, .system: .seeSystem
            }
        }
    }
}

extension Answer {
    /// The same with all that every page of the console has around its content.
    func laidOut(for visit: Visit, _ site: Site) -> Answer {
        guard case .page(var page) = self else { return self }
        page.content = Layout.document(page, page.visit ?? visit, site)
        return .page(page)
    }

    /// As Hummingbird sends it.
    var response: Response {
        switch self {
        case .page(let page): return Self.response(page.content, page.status, cookies: page.cookies)
        case .redirect(let path, let cookies):
            var headers: HTTPFields = [.location: path]
            for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
            return Response(status: .seeOther, headers: headers)
        case .json(let value):
            return Response(
                status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: value.text)))
        case .asset(let asset):
            return Response(
                status: .ok, headers: [.contentType: asset.type, .cacheControl: "public, max-age=31536000, immutable"],
                body: .init(byteBuffer: ByteBuffer(string: asset.text)))
        case .download(let name, let type, let write):
            let headers: HTTPFields = [
                .contentType: type, .contentDisposition: "attachment; filename=\"\(Self.fileName(name))\"",
            ]
            return Response(status: .ok, headers: headers, body: .init { try await Download(write).send(to: &$0) })
        }
    }

    /// A whole document.
    static func response(
        _ document: HTML, _ status: HTTPResponse.Status, cookies: [String] = [], headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = "text/html; charset=utf-8"
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: document.markup)))
    }

    /// Only characters that every system and every header accepts.
    private static func fileName(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.map {
                    $0.isASCII
                        && ($0.properties.isAlphabetic || $0.properties.numericType != nil
                            || "-._".unicodeScalars.contains($0))
                        ? $0 : "-"
                }))
    }
}

/// Sends what a thread writes, part by part: the thread waits until a part was taken, so that
/// memory does not grow with the file.
struct Download: Sendable {
    typealias Write = @Sendable (_ part: ([UInt8]) throws -> Void) throws -> Void

    private struct Part {
        var bytes: [UInt8]
        var taken: EventLoopPromise<Void>
    }

    private let write: Write

    init(_ write: @escaping Write) { self.write = write }

    /// - Throws: whatever writing throws: the answer is cut off then, which a browser notices.
    func send(to writer: inout any ResponseBodyWriter) async throws {
        let (parts, continuation) = AsyncThrowingStream<Part, any Error>.makeStream()
        let (loop, write) = (MultiThreadedEventLoopGroup.singleton.any(), write)
        try detachThread {
            do {
                try write { bytes in
                    let part = Part(bytes: bytes, taken: loop.makePromise())
                    if case .terminated = continuation.yield(part) { part.taken.fail(CancellationError()) }
                    try part.taken.futureResult.wait()
                }
                continuation.finish()
            } catch { continuation.finish(throwing: error) }
        }
        for try await part in parts {
            do { try await writer.write(ByteBuffer(bytes: part.bytes)) } catch {
                part.taken.fail(error)
                throw error
            }
            part.taken.succeed()
        }
        try await writer.finish(nil)
    }
}
