import Base
import HTTPTypes
import Hummingbird
import NIOCore

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
            let headers: HTTPFields = [.contentType: type, .contentDisposition: "attachment; filename=\"\(Self.fileName(name))\""]
            return Response(status: .ok, headers: headers, body: .init { try await Download(write).send(to: &$0) })
        }
    }

    /// A whole document.
    static func response(_ document: HTML, _ status: HTTPResponse.Status, cookies: [String] = [], headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = "text/html; charset=utf-8"
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: document.markup)))
    }

    /// Only what no system and no header minds.
    private static func fileName(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.map {
                    $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil || "-._".unicodeScalars.contains($0))
                        ? $0 : "-"
                }))
    }
}
