import Runs
import Testing

@testable import Cluster

@Suite("a database that forgets")
struct ForgettingTests {
    private typealias Row = CommitMemory.Row

    @Test("a worker misses what was acknowledged to it before the beat began, each thread by itself")
    func own() {
        var memory = CommitMemory()
        memory.beatBegins(of: "a", acknowledged: Row(claims: 2, outcomes: 1))
        #expect(
            memory.look(at: ["a": Row(claims: 3, outcomes: 1)], changes: 1) == 0, "one that is not acknowledged yet")
        memory.beatBegins(of: "a", acknowledged: Row(claims: 2, outcomes: 3))
        #expect(
            memory.look(at: ["a": Row(claims: 3, outcomes: 2)], changes: 1) == 1,
            "the claim does not make up for the outcomes")
        #expect(memory.look(at: ["a": Row(claims: 2, outcomes: 3)], changes: 1) == 1, "it has seen the claim")
        #expect(memory.look(at: [:], changes: 1) == 7, "its row, and everything of it")
        #expect(memory.look(at: ["a": Row(claims: 3, outcomes: 3)], changes: 1) == 0)
    }

    @Test("a worker is a survivor for others, for deaths and for what was ordered")
    func others() {
        var memory = CommitMemory()
        memory.beatBegins(of: "a", acknowledged: Row())
        #expect(memory.look(at: ["a": Row(), "b": Row(claims: 5), "c": Row(isDead: true)], changes: 4) == 0)
        #expect(memory.look(at: ["a": Row(), "b": Row(claims: 3), "c": Row(isDead: true)], changes: 4) == 2)
        #expect(memory.look(at: ["a": Row(), "b": Row(claims: 5), "c": Row()], changes: 4) == 1, "it lives again")
        #expect(
            memory.look(at: ["a": Row(), "b": Row(claims: 5), "c": Row(isDead: true)], changes: 3) == 1,
            "an order is gone")
        #expect(
            memory.look(at: ["a": Row(), "b": Row(claims: 5), "c": Row(isDead: true), "d": Row()], changes: 5) == 0)
    }

    @Test(
        "after a database came up again nobody goes on before all living workers have confirmed, and eleven seconds have passed"
    )
    func recoveryBarrier() {
        var first = RecoveryBarrier(publishedIn: 1)
        first.join("a")
        #expect(first.isOver(living: ["a"], at: 0), "nothing can have been forgotten")
        var call = RecoveryBarrier()
        #expect(!call.isOver(living: [], at: 100), "nobody has looked")
        #expect(call.look(new: 7, at: 100) == 7 && call.look(new: 8, at: 101) == 7)
        call.confirm("a", epoch: 1, isSurvivor: true)
        #expect(!call.present.contains("a") && !call.isSurvivorConfirmed, "that was another life")
        call.confirm("a", epoch: 7, isSurvivor: true)
        #expect(!call.isOver(living: ["a", "b"], at: 200), "b has not confirmed")
        #expect(call.isOver(living: ["a"], at: 111) && !call.isOver(living: ["a"], at: 110.9), "b is on record as dead")
        call.join("c")
        #expect(call.isOver(living: ["a", "c"], at: 111), "who joins has nothing to miss")
    }

    @Test("an epoch goes on only once a survivor has confirmed it; when nobody is left who could, the run has to stop")
    func survivors() {
        var call = RecoveryBarrier()
        _ = call.look(new: 7, at: 100)
        call.join("c")
        call.confirm("c", epoch: 7, isSurvivor: false)
        #expect(!call.isOver(living: ["c"], at: 200), "it has nothing to compare")
        #expect(
            !call.lacksSurvivors(0, at: 110.9) && call.lacksSurvivors(0, at: 111) && !call.lacksSurvivors(1, at: 200))
        call.confirm("a", epoch: 7, isSurvivor: true)
        #expect(call.isOver(living: ["a", "c"], at: 111) && !call.lacksSurvivors(0, at: 111))
        #expect(
            !RecoveryBarrier(publishedIn: 1).lacksSurvivors(0, at: 100) && !RecoveryBarrier().lacksSurvivors(0, at: 100)
        )
    }

    @Test("the run's file is a survivor of what it has taken over, and of workers that it knows")
    func file() {
        var memory = CommitMemory([
            FetchMark(sender: 4, writer: 0, number: 3), FetchMark(sender: 4, writer: 1, number: 2),
            FetchMark(sender: 9, writer: 0, number: 0),
        ])
        let all = ["4": Row(claims: 3, outcomes: 5), "9": Row()]
        #expect(memory.missing(in: all) == 0)
        #expect(memory.missing(in: ["4": Row(claims: 1, outcomes: 5), "9": Row()]) == 2)
        #expect(memory.missing(in: ["4": Row(claims: 3, outcomes: 2)]) == 1, "a member that joined")
        #expect(memory.look(at: all, changes: 3) == 0)
        #expect(memory.look(at: ["4": Row(claims: 3, outcomes: 4), "9": Row()], changes: 3) == 1)
    }
}
