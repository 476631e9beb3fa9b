import Audience
import Base
import Content
import PushServices
import Testing

@testable import Planning

@Suite("Why payloads could not be rendered")
struct RenderCauseTests {
    @Test("a cause keeps its number, and columns beyond those that can be told apart share one")
    func numbers() {
        var seen: Set<Int> = []
        for column in 0..<101 {
            for flaw in RenderCause.Flaw.allCases {
                let cause = RenderCause.column(column, flaw)
                #expect(RenderCause(group: cause.group) == cause && seen.insert(cause.group).inserted)
            }
        }
        #expect(RenderCause.column(128, .blank).group == RenderCause.otherColumn.group)
        for cause in [RenderCause.blankText, .longText, .otherColumn] {
            #expect(RenderCause(group: cause.group) == cause && seen.insert(cause.group).inserted)
        }
        #expect(seen.allSatisfy { (0..<RecipientCheck.groupLimit).contains($0) })
    }

    @Test("every failure to render has a cause, a payload that is too large has none")
    func failures() {
        let place = SourcePosition(file: "c.yaml", line: 1, column: 1)
        func cause(_ failure: RenderFailure) -> RenderCause? { RenderCause(failure) { $0 == "b" ? 1 : nil } }
        #expect(cause(.blank(column: "b", place: place)) == .column(1, .blank))
        #expect(cause(.notADate(column: "b", place: place)) == .column(1, .notADate))
        #expect(cause(.notANumber(column: "b", place: place)) == .column(1, .notANumber))
        #expect(cause(.blank(column: "x", place: place)) == .otherColumn)
        #expect(cause(.blankText(place: place)) == .blankText)
        #expect(cause(.gap(column: "b", place: place)) == .column(1, .gap))
        #expect(cause(.tooLong(PayloadLimit(50, .characters, of: "title", at: place), count: 51)) == .longText)
        #expect(cause(.tooLarge(bytes: 5000)) == nil)
    }
}
