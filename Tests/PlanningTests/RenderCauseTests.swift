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
        for column in 0..<98 {
            for flaw in RenderCause.Flaw.allCases {
                let cause = RenderCause.column(column, flaw)
                #expect(RenderCause(group: cause.group) == cause && seen.insert(cause.group).inserted)
            }
        }
        #expect(RenderCause.column(128, .blank).group == RenderCause.otherColumn.group)
        for cause in [RenderCause.blankText, .otherColumn] + (0..<16).map(RenderCause.long) {
            #expect(RenderCause(group: cause.group) == cause && seen.insert(cause.group).inserted)
        }
        #expect(RenderCause.long(16).group == RenderCause.otherColumn.group)
        #expect(seen.allSatisfy { (0..<RecipientCheck.groupLimit).contains($0) })
    }

    @Test("every failure to render has a cause, a payload that is too large has none")
    func failures() {
        let place = SourcePosition(file: "c.yaml", line: 1, column: 1)
        func cause(_ failure: RenderFailure) -> RenderCause? {
            RenderCause(failure, number: { $0 == "b" ? 1 : nil }, part: { $0.noun == "title" ? 3 : nil })
        }
        #expect(cause(.blank(column: "b", place: place)) == .column(1, .blank))
        #expect(cause(.notADate(column: "b", place: place)) == .column(1, .notADate))
        #expect(cause(.notANumber(column: "b", place: place)) == .column(1, .notANumber))
        #expect(cause(.blank(column: "x", place: place)) == .otherColumn)
        #expect(cause(.blankText(place: place)) == .blankText)
        #expect(cause(.gap(column: "b", place: place)) == .column(1, .gap))
        func tooLong(_ noun: String) -> RenderFailure {
            .tooLong(PayloadLimit(50, .characters, of: noun, service: "Getui", at: place), count: 51)
        }
        #expect(cause(tooLong("title")) == .long(3) && cause(tooLong("body")) == .otherColumn)
        #expect(cause(.tooLarge(bytes: 5000)) == nil)
    }
}
