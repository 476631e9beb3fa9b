import HTTP2
import Testing

@Suite("HTTP/2 error codes")
struct HTTP2ErrorCodeTests {
    @Test("codes carry the names of the RFC")
    func names() {
        #expect(HTTP2ErrorCode.refusedStream.name == "REFUSED_STREAM")
        #expect(HTTP2ErrorCode(rawValue: 11).name == "ENHANCE_YOUR_CALM")
    }
}
