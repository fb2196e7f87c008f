import Dispatch
import Foundation
import Testing

@testable import Strongroom

@Suite("The line of a connection's accesses", .timeLimit(.minutes(1)))
struct AccessLineTests {
    @Test("Accesses that block and accesses that run later have their turns in order of arrival")
    func order() {
        let line = AccessLine(qos: .default), turns = Shared<[Int]>([])
        let holds = Gate(), mayEnd = Gate()
        var isDone: [Gate] = []
        let first = start {
            line.sync {
                holds.open()
                mayEnd.pass()
            }
        }
        holds.pass()
        for number in 0..<10 {
            if number.isMultiple(of: 3) {
                let done = Gate()
                line.async(priority: number == 3 ? .background : .medium) {
                    turns.update { $0.append(number) }
                    done.open()
                }
                isDone.append(done)
            } else {
                let waiting = line.waiting
                isDone.append(start { line.sync { turns.update { $0.append(number) } } })
                while line.waiting == waiting { usleep(100) }
            }
        }
        #expect(turns.value == [])
        mayEnd.open()
        for gate in isDone + [first] { gate.pass() }
        #expect(turns.value == Array(0..<10))
    }

    @Test("Work that stays in holds runs before all that comes after it, though the others run past the line")
    func staysInHolds() async throws {
        let line = AccessLine(qos: .default), turns = Shared<[Int]>([]), isDone = Gate()
        // Work that was there before the line is held, and work that comes later.
        let begun = Gate(), mayEnd = Gate()
        line.async {
            begun.open()
            mayEnd.pass()
        }
        begun.pass()
        line.async(staysInHolds: true) { turns.update { $0.append(1) } }
        let awaitLine = line.hold(limit: 0)
        mayEnd.open()
        awaitLine()
        line.async(staysInHolds: true) { turns.update { $0.append(2) } }
        line.sync { turns.update { $0.append(0) } }
        line.release()
        line.async {
            turns.update { $0.append(3) }
            isDone.open()
        }
        try await onThread { isDone.pass() }
        #expect(turns.value == [0, 1, 2, 3])
    }

    @Test("Work that runs past a line that is held needs one thread, however much there is")
    func manyPassHolds() async throws {
        let line = AccessLine(qos: .default), threads = Shared<Set<String>>([]), count = Shared(0), isDone = Gate()
        let work: @Sendable () -> Void = {
            threads.update { _ = $0.insert("\(pthread_self())") }
            usleep(500)
            if count.update({ count in
                count += 1
                return count
            }) == 100 {
                isDone.open()
            }
        }
        let begun = Gate(), mayEnd = Gate()
        line.async {
            begun.open()
            mayEnd.pass()
        }
        begun.pass()
        for _ in 1...50 { line.async(work) }
        let awaitLine = line.hold(limit: 0)
        for _ in 1...50 { line.async(work) }
        try await onThread { isDone.pass() }
        #expect(threads.value.count < 10)
        mayEnd.open()
        awaitLine()
        line.release()
    }

    @Test("Work that has ended is released, though its thread goes on with the work that follows")
    func releasesEndedWork() async throws {
        let line = AccessLine(qos: .default), isReleased = Gate(), isDone = Gate()
        do {
            let farewell = Farewell { isReleased.open() }, mayEnd = Gate()
            line.async {
                withExtendedLifetime(farewell) {}
                mayEnd.pass()
            }
            line.async {
                isReleased.pass()
                isDone.open()
            }
            mayEnd.open()
        }
        try await onThread { isDone.pass() }
    }

    @Test("An access without waiters runs on the calling thread, and an error leaves the line free")
    func error() {
        struct Refusal: Error {}
        let line = AccessLine(qos: .default), caller = pthread_self()
        #expect(throws: Refusal.self) {
            try line.sync {
                #expect(pthread_equal(pthread_self(), caller) != 0)
                throw Refusal()
            }
        }
        line.sync {}
        #expect(line.waiting == 0)
    }
}

@Suite("The library's own threads", .timeLimit(.minutes(1)))
struct WorkersTests {
    @Test("Each work begins, however many are blocked, and idle threads are used again")
    func begins() {
        let workers = Workers(), mayEnd = Gate()
        let hasBegun = (0..<40).map { _ in Gate() }, threads = Shared<Set<String>>([])
        let note: @Sendable () -> Void = { threads.update { _ = $0.insert("\(pthread_self())") } }
        for begun in hasBegun {
            workers.run {
                note()
                begun.open()
                mayEnd.pass()
            }
        }
        for begun in hasBegun { begun.pass() }
        #expect(threads.value.count == hasBegun.count)
        mayEnd.open()
        while workers.idleCount < hasBegun.count { usleep(100) }
        for _ in 0..<100 {
            let isDone = Gate()
            workers.run {
                note()
                isDone.open()
            }
            isDone.pass()
        }
        #expect(threads.value.count == hasBegun.count)
    }

    @Test("Work releases what it holds before its thread is idle")
    func releases() {
        let workers = Workers(), isReleased = Gate()
        do {
            let farewell = Farewell { isReleased.open() }
            workers.run { withExtendedLifetime(farewell) {} }
        }
        isReleased.pass()
    }

    @Test("Work runs once, whether its thread still looks for it, or sleeps")
    func looksAndSleeps() {
        let workers = Workers(), counts = Shared([0, 0, 0])
        DispatchQueue.concurrentPerform(iterations: 3) { giver in
            for number in 0..<2000 {
                let isDone = Gate()
                workers.run {
                    counts.update { $0[giver] += 1 }
                    isDone.open()
                }
                isDone.pass()
                // Around the longest look, and shorter, and longer.
                if number % 3 > 0 { usleep([20, 95, 300][giver]) }
            }
        }
        #expect(counts.value == [2000, 2000, 2000])
    }

    @Test("Work that comes before its thread sleeps needs no signal, and work that comes later does")
    func signals() {
        let place = WaitingPlace()
        #expect(!place.look())
        #expect(place.end())
        place.wake(looksAgain: true)
        #expect(!place.end())
        #expect(place.look())
        #expect(!place.look())
        #expect(place.end())
        place.wake(looksAgain: false)
        #expect(!place.look() && place.end())
    }

    /// Looks for work as a thread that has served a task. Again with a new place while a thread of another test looks.
    private func lookAfterTask(patience: UInt32, at place: Shared<WaitingPlace?>) -> Bool {
        while true {
            let next = WaitingPlace(patience: patience)
            place.update { $0 = next }
            WaitingPlace.expectWork()
            let isGiven = next.look()
            if next.lookCount > 0 { return isGiven }
        }
    }

    @Test("A thread looks for work only after it has served a task that waited")
    func looksAfterTask() throws {
        let other = WaitingPlace(patience: 1000)
        #expect(!other.look() && other.lookCount == 0)
        let latest = Shared<WaitingPlace?>(nil)
        #expect(!lookAfterTask(patience: 1000, at: latest))
        let place = try #require(latest.value)
        #expect(place.end())
        place.wake(looksAgain: true)
        #expect(!place.look() && place.lookCount == 1)
    }

    @Test("While a thread looks for work, others sleep")
    func looksAlone() async throws {
        // Four seconds, which end when the thread gets work.
        let patience: UInt32 = 4_000_000_000, latest = Shared<WaitingPlace?>(nil)
        async let isGiven = onThread { lookAfterTask(patience: patience, at: latest) }
        #expect(try await eventually { latest.value?.lookCount == 1 })
        let second = WaitingPlace(patience: patience)
        WaitingPlace.expectWork()
        #expect(!second.look() && second.lookCount == 0)
        #expect(latest.value?.end() == false)
        #expect(try await isGiven)
    }

    @Test("A thread ends after some seconds without work")
    func ends() async throws {
        let workers = Workers(idleTime: .milliseconds(1))
        for _ in 0..<20 {
            let isDone = Gate()
            workers.run { isDone.open() }
            try await onThread { isDone.pass() }
        }
        #expect(try await eventually { workers.idleCount == 0 })
    }
}

@Suite("Work with a limit of threads", .timeLimit(.minutes(1)))
struct LimitedWorkTests {
    @Test("As much as the limit runs at a time, and the rest in its order")
    func limit() {
        let work = LimitedWork(limit: 3), mayEnd = Gate(), isDone = Gate()
        let hasBegun = (0..<3).map { _ in Gate() }, order = Shared<[Int]>([])
        for begun in hasBegun {
            work.run {
                begun.open()
                mayEnd.pass()
            }
        }
        for begun in hasBegun { begun.pass() }
        // One thread is free for the rest.
        let holds = Gate(), last = 50
        for _ in 0..<2 { work.run { holds.pass() } }
        for number in 0...last {
            work.run {
                order.update { $0.append(number) }
                if number == last { isDone.open() }
            }
        }
        #expect(order.value.isEmpty)
        mayEnd.open()
        isDone.pass()
        #expect(order.value == Array(0...last))
        holds.open()
    }

    @Test("Work that is given after the last one has ended runs, too")
    func afterTheLast() {
        let work = LimitedWork(limit: 1)
        for _ in 0..<1000 {
            let isDone = Gate()
            work.run { isDone.open() }
            isDone.pass()
        }
    }

    @Test("Work is released before the next one begins")
    func releases() {
        let work = LimitedWork(limit: 1), isReleased = Shared(false), isDone = Gate(), mayEnd = Gate()
        work.run { mayEnd.pass() }
        do {
            let farewell = Farewell { isReleased.update { $0 = true } }
            work.run { withExtendedLifetime(farewell) {} }
        }
        work.run {
            #expect(isReleased.value)
            isDone.open()
        }
        mayEnd.open()
        isDone.pass()
    }
}
