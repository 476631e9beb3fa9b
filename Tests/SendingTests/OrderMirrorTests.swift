import Runs
import Testing

@testable import Sending

@Suite("orders between a run's file and the store")
struct OrderMirrorTests {
    @Test("what changed since both agreed is carried to the other; a cancellation always")
    func steps() {
        #expect(OrderMirror.step(file: .goOn, store: .goOn, known: .goOn) == nil)
        #expect(OrderMirror.step(file: .pause, store: .goOn, known: .goOn) == .intoStore(.pause))
        #expect(OrderMirror.step(file: .goOn, store: .pause, known: .goOn) == .intoFile(.pause))
        #expect(OrderMirror.step(file: .goOn, store: .pause, known: .pause) == .intoStore(.goOn))
        #expect(OrderMirror.step(file: .pause, store: .goOn, known: .pause) == .intoFile(.goOn))
        for other in [RunOrder.pause, .goOn] {
            for known in [RunOrder.pause, .goOn] {
                #expect(OrderMirror.step(file: .cancel, store: other, known: known) == .intoStore(.cancel))
                #expect(OrderMirror.step(file: other, store: .cancel, known: known) == .intoFile(.cancel))
            }
        }
    }

    @Test("a pause and a cancellation hold on this machine before the store can be told; going on waits until all may")
    func pending() {
        #expect(
            OrderMirror.pending(.intoStore(.pause)) == .pause && OrderMirror.pending(.intoStore(.cancel)) == .cancel)
        for step in [OrderMirror.Step.intoStore(.goOn), .intoFile(.pause), nil] {
            #expect(OrderMirror.pending(step) == nil)
        }
    }
}
