import Testing

@testable import PostgresRuns

@Suite("members of a run")
struct MemberTests {
    @Test("a member is dead when its beat stood still for half a minute of the observer's own, connected time")
    func watch() {
        var watch = MemberWatch()
        for second in 0..<30 { #expect(watch.look(at: ["a": 1, "b": Int64(second)], Double(second)).isEmpty) }
        #expect(watch.look(at: ["a": 1, "b": 30], 30) == [.init(member: "a", beat: 1)])
        #expect(watch.look(at: ["a": 2, "b": 30], 31).isEmpty, "it beats again")
        // The observer slept for an hour, and then could not reach the database for another.
        #expect(watch.look(at: ["a": 2, "b": 30], 3_631).isEmpty)
        watch.disconnected()
        #expect(watch.look(at: ["a": 2, "b": 30], 7_231).isEmpty)
        #expect(watch.look(at: ["b": 30], 7_232).isEmpty && watch.look(at: ["a": 2, "b": 30], 7_233).isEmpty, "gone, and there again")
    }

    @Test("in another life of the database silences begin anew, as beats may have been forgotten")
    func watchAcrossLives() {
        var watch = MemberWatch()
        for second in 0..<30 { #expect(watch.look(at: ["a": 1], life: 1, Double(second)).isEmpty) }
        #expect(watch.look(at: ["a": 1], life: 2, 30).isEmpty)
        for second in 31..<60 { #expect(watch.look(at: ["a": 1], life: 2, Double(second)).isEmpty) }
        #expect(watch.look(at: ["a": 1], life: 2, 60) == [.init(member: "a", beat: 1)])
    }

    @Test("nothing is handed over ten seconds after the last beat was sent, however late its answer came")
    func gate() {
        var gate = SubmissionGate()
        #expect(!gate.isOpen(at: 0))
        gate.beat(begunAt: 5)
        #expect(gate.isOpen(at: 14.9) && !gate.isOpen(at: 15))
        gate.beat(begunAt: 4)
        #expect(gate.isOpen(at: 14.9), "an answer that overtook another takes nothing back")
    }

    @Test("who shrinks does so first, and a beat that comes late changes nothing")
    func parts() {
        var parts = PaceParts(pace: 100)
        #expect(parts.beat(of: "a", number: 1, used: 0, wants: true) == 100)
        #expect(parts.beat(of: "b", number: 1, used: 0, wants: true) == 0, "a may be using all of it")
        #expect(parts.beat(of: "a", number: 2, used: 100, wants: true) == 50)
        #expect(parts.beat(of: "b", number: 2, used: 0, wants: true) == 0, "a still says that it uses all")
        #expect(parts.beat(of: "a", number: 3, used: 50, wants: true) == 50)
        #expect(parts.beat(of: "b", number: 3, used: 0, wants: true) == 50)
        #expect(parts.beat(of: "a", number: 2, used: 0, wants: false) == nil && parts.mostUsed == 100)
        parts.remove("a")
        #expect(parts.beat(of: "b", number: 4, used: 50, wants: true) == 100)
    }

    @Test("a part of a pace counts as used for a second after it was taken away")
    func use() {
        var use = PaceUse()
        use.take(100, at: 0)
        use.take(40, at: 10)
        #expect(use.current == 40 && use.used(at: 10.9) == 100 && use.used(at: 11) == 40)
    }

    @Test("an entry keeps its number until the database has it")
    func numbers() {
        var numbers = JournalNumbers()
        #expect(numbers.take() == 1)
        numbers.lost()
        #expect(numbers.state == .unsure(1) && numbers.take() == 1)
        numbers.acknowledged()
        #expect(numbers.take() == 2 && numbers.confirmed == 1)
    }
}
