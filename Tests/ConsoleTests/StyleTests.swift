import Testing

@testable import volley_console

@Suite("the style of the console")
struct StyleTests {
    @Test("texts are as large as the person's browser wants them: no size is in pixels, except on paper")
    func textSizes() {
        let sizes = Asset.style.text.matches(of: #/font(?:-size)?:[^;}]*?[0-9]+px/#).map { String($0.output) }
        #expect(sizes == ["font-size: 12px"])
    }
}
