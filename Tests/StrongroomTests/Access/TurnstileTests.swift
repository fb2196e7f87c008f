import Dispatch
import Testing

@testable import Strongroom

@Suite("A turnstile")
struct TurnstileTests {
    /// A turnstile whose visitors are known by their names.
    private struct Lobby {
        var turnstile: Turnstile<String>

        init(limit: Int) { turnstile = Turnstile(limit: limit) }

        /// The fate of waiting visitors, in order. Refused visitors have an exclamation mark.
        mutating func turns() -> [String] {
            var names: [String] = []
            while let admission = turnstile.next() {
                switch admission {
                case .admitted(let name): names.append(name)
                case .refused(let name): names.append(name + "!")
                }
            }
            return names
        }

        mutating func append(_ names: String...) -> [Turnstile<String>.Ticket] {
            names.map { turnstile.append($0) }
        }
    }

    @Test("admits visitors up to its limit, and then in the order in which they came")
    func order() {
        var lobby = Lobby(limit: 2)
        #expect(lobby.turnstile.enter(.ordinary) == .admitted)
        #expect(lobby.turnstile.enter(.ordinary) == .admitted)
        #expect(lobby.turnstile.enter(.ordinary) == .mustWait)
        _ = lobby.append("a", "b", "c")
        #expect(lobby.turns() == [])
        lobby.turnstile.leave()
        #expect(lobby.turns() == ["a"])
        lobby.turnstile.leave()
        lobby.turnstile.leave()
        #expect(lobby.turns() == ["b", "c"])
        #expect(lobby.turnstile.inside == 2)
        #expect(lobby.turnstile.waiting.count == 0)
    }

    @Test("keeps the order of waiting visitors, even when there is room")
    func noOvertaking() {
        var lobby = Lobby(limit: 1)
        #expect(lobby.turnstile.enter(.ordinary) == .admitted)
        _ = lobby.append("a")
        lobby.turnstile.leave()
        #expect(lobby.turnstile.enter(.ordinary) == .mustWait)
        #expect(lobby.turns() == ["a"])
    }

    @Test("that refuses arrivals serves those that wait, and the owner")
    func refusedArrivals() {
        var lobby = Lobby(limit: 1)
        #expect(lobby.turnstile.enter(.ordinary) == .admitted)
        _ = lobby.append("a")
        lobby.turnstile.refuseArrivals()
        #expect(lobby.turnstile.enter(.ordinary) == .refused)
        lobby.turnstile.leave()
        #expect(lobby.turns() == ["a"])
        #expect(lobby.turnstile.enter(.ownerAtOnce) == .admitted)
    }

    @Test("admits a barrier alone, when no visitor is inside, and before later visitors")
    func barrier() {
        var lobby = Lobby(limit: 3)
        #expect(lobby.turnstile.enter(.ordinary) == .admitted)
        _ = lobby.turnstile.append(barrier: "barrier")
        #expect(lobby.turns() == [])
        #expect(lobby.turnstile.enter(.ordinary) == .mustWait)
        _ = lobby.append("a")
        lobby.turnstile.leave()
        #expect(lobby.turns() == ["barrier"])
        #expect(lobby.turnstile.isBarrierUp)
        #expect(lobby.turnstile.enter(.ordinary) == .mustWait)
        lobby.turnstile.lowerBarrier()
        #expect(lobby.turns() == ["a"])
        #expect(!lobby.turnstile.isBarrierUp)
    }

    @Test("admits one barrier after the other")
    func barriers() {
        var lobby = Lobby(limit: 1)
        _ = lobby.turnstile.append(barrier: "first")
        _ = lobby.turnstile.append(barrier: "second")
        #expect(lobby.turns() == ["first"])
        lobby.turnstile.lowerBarrier()
        #expect(lobby.turns() == ["second"])
    }

    @Test("lets the owner of a barrier pass the barrier and waiting visitors, but not the limit")
    func owner() {
        var lobby = Lobby(limit: 1)
        _ = lobby.turnstile.append(barrier: "barrier")
        #expect(lobby.turns() == ["barrier"])
        _ = lobby.append("a")
        #expect(lobby.turnstile.enter(.owner) == .admitted)
        #expect(lobby.turnstile.enter(.owner) == .mustWait)
        lobby.turnstile.append(owner: "owner")
        #expect(lobby.turns() == [])
        lobby.turnstile.leave()
        #expect(lobby.turns() == ["owner"])
        lobby.turnstile.lowerBarrier()
        #expect(lobby.turns() == [])
        lobby.turnstile.leave()
        #expect(lobby.turns() == ["a"])
    }

    @Test("lets the owner pass the limit while a visitor inside waits for the owner")
    func waitingInside() {
        var lobby = Lobby(limit: 1)
        #expect(lobby.turnstile.enter(.ordinary) == .admitted)
        lobby.turnstile.append(owner: "first")
        #expect(lobby.turns() == [])
        lobby.turnstile.setWaitingInside(true)
        #expect(lobby.turns() == ["first"])
        #expect(lobby.turnstile.enter(.owner) == .admitted)
        #expect(lobby.turnstile.inside == 3)
        lobby.turnstile.setWaitingInside(false)
        #expect(lobby.turnstile.enter(.owner) == .mustWait)
        #expect(lobby.turnstile.enter(.ownerAtOnce) == .admitted)
        for _ in 1...4 { lobby.turnstile.leave() }
        #expect(lobby.turnstile.inside == 0)
    }

    @Test("removes a visitor that withdraws, and admits visitors that waited only for it")
    func withdrawal() {
        var lobby = Lobby(limit: 2)
        #expect(lobby.turnstile.enter(.ordinary) == .admitted)
        let barrier = lobby.turnstile.append(barrier: "barrier")
        let tickets = lobby.append("a", "b")
        #expect(lobby.turnstile.withdraw(tickets[1]) == "b")
        #expect(lobby.turnstile.withdraw(tickets[1]) == nil)
        #expect(lobby.turns() == [])
        #expect(lobby.turnstile.withdraw(barrier) == "barrier")
        #expect(lobby.turns() == ["a"])
        #expect(lobby.turnstile.withdraw(tickets[0]) == nil)
    }

    @Test("keeps the order of the others, and no place for withdrawn visitors", arguments: [1, 2, 3, 50])
    func manyWithdrawals(keptOneOf step: Int) {
        var lobby = Lobby(limit: 1)
        #expect(lobby.turnstile.enter(.ordinary) == .admitted)
        let tickets = (0..<1000).map { lobby.turnstile.append("\($0)") }
        for number in (0..<1000).shuffled() where !number.isMultiple(of: step) {
            #expect(lobby.turnstile.withdraw(tickets[number]) == "\(number)")
        }
        let kept = (0..<1000).filter { $0.isMultiple(of: step) }.map(String.init)
        #expect(lobby.turnstile.waiting.count == kept.count)
        #expect(lobby.turnstile.waiting.capacity <= max(64, 4 * kept.count))
        var served: [String] = []
        for _ in kept {
            lobby.turnstile.leave()
            served += lobby.turns()
        }
        #expect(served == kept)
        #expect(lobby.turnstile.enter(.ordinary) == .mustWait)
        let late = lobby.turnstile.append("late")
        #expect(late > tickets[999])
        lobby.turnstile.leave()
        #expect(lobby.turns() == ["late"])
    }

    @Test("refuses the visitors of the owner that closes it, and admits them again if closing fails")
    func closing() {
        var lobby = Lobby(limit: 1)
        _ = lobby.turnstile.append(barrier: "barrier")
        #expect(lobby.turns() == ["barrier"])
        #expect(lobby.turnstile.beginClosing() == true)
        #expect(lobby.turnstile.enter(.owner) == .refused)
        #expect(lobby.turnstile.enter(.ownerAtOnce) == .refused)
        #expect(lobby.turnstile.enter(.ordinary) == .mustWait)
        lobby.turnstile.endClosing(isClosed: false)
        #expect(lobby.turnstile.enter(.owner) == .admitted)
    }

    @Test("that is closing admits only the last one, when those that came without asking have left")
    func lastOfClosing() {
        var lobby = Lobby(limit: 1)
        _ = lobby.turnstile.append(barrier: "barrier")
        #expect(lobby.turns() == ["barrier"])
        _ = lobby.append("a")
        #expect(lobby.turnstile.beginClosing() == true)
        lobby.turnstile.occupy(1)
        lobby.turnstile.setLast("last")
        #expect(lobby.turns() == [])
        lobby.turnstile.leave()
        #expect(lobby.turns() == ["last"])
        #expect(lobby.turnstile.lastVisitor == nil)
    }

    @Test("refuses all visitors when it is closed, including barriers and waiting ones")
    func closed() {
        var lobby = Lobby(limit: 1)
        _ = lobby.turnstile.append(barrier: "barrier")
        #expect(lobby.turns() == ["barrier"])
        _ = lobby.append("a")
        _ = lobby.turnstile.append(barrier: "late barrier")
        #expect(lobby.turnstile.beginClosing() == true)
        lobby.turnstile.endClosing(isClosed: true)
        #expect(lobby.turns() == [])
        lobby.turnstile.lowerBarrier()
        #expect(lobby.turns() == ["a!", "late barrier!"])
        for rank in [VisitorRank.ordinary, .owner, .ownerAtOnce] { #expect(lobby.turnstile.enter(rank) == .refused) }
        #expect(lobby.turnstile.inside == 0)
    }

    @Test("lets only ordinary visitors wait when it is locked, and admits the last one to an empty room")
    func locked() {
        var lobby = Lobby(limit: 1)
        #expect(lobby.turnstile.enter(.ordinary) == .admitted)
        _ = lobby.append("a")
        _ = lobby.turnstile.append(barrier: "barrier")
        lobby.turnstile.append(owner: "owner")
        #expect(lobby.turnstile.beginLocking() == true)
        #expect(lobby.turnstile.beginLocking() == false)
        #expect(lobby.turns() == ["owner!", "barrier!"])
        for rank in [VisitorRank.owner, .ownerAtOnce] { #expect(lobby.turnstile.enter(rank) == .refused) }
        #expect(lobby.turnstile.enter(.ordinary) == .mustWait)
        lobby.turnstile.setLast("last")
        #expect(lobby.turns() == [])
        lobby.turnstile.leave()
        #expect(lobby.turns() == ["last"])
        lobby.turnstile.endLocking(isClosed: false)
        #expect(lobby.turns() == ["a"])
    }

    @Test("is not closed while a lock waits for its barrier, nor locked while it is being closed")
    func lockedBarrier() {
        var lobby = Lobby(limit: 1)
        _ = lobby.turnstile.append(barrier: "barrier")
        #expect(lobby.turns() == ["barrier"])
        #expect(lobby.turnstile.beginLocking() == true)
        lobby.turnstile.setLast("last")
        #expect(lobby.turnstile.beginClosing() == false)
        #expect(lobby.turns() == [])
        lobby.turnstile.lowerBarrier()
        #expect(lobby.turns() == ["last"])
        lobby.turnstile.endLocking(isClosed: false)
        #expect(lobby.turnstile.beginClosing() == true)
        #expect(lobby.turnstile.beginLocking() == false)
    }

    @Test("counts visitors that came without asking")
    func occupation() {
        var lobby = Lobby(limit: 2)
        lobby.turnstile.occupy(2)
        #expect(lobby.turnstile.enter(.ordinary) == .mustWait)
        _ = lobby.turnstile.append(barrier: "barrier")
        lobby.turnstile.leave()
        #expect(lobby.turns() == [])
        lobby.turnstile.leave()
        #expect(lobby.turns() == ["barrier"])
    }
}

@Suite("A mutex")
struct MutexTests {
    @Test("gives its value to one thread after the other")
    func exclusion() {
        let count = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<10_000 { count.withLock { $0 += 1 } }
        }
        #expect(count.withLock { $0 } == 80_000)
    }

    @Test("gives a function in a structure back as it was, after any number of accesses")
    func functions() {
        struct Action { var call: @Sendable () -> Int }
        let action = Mutex(Action { 7 })
        for _ in 0..<500_000 { _ = action.withLock { $0.call } }
        let call = action.withLock(\.call)
        #expect(call() == 7)
    }

    @Test("is unlocked by an error, and releases its value")
    func release() {
        struct Refusal: Error {}
        let isGone = Shared(false)
        do {
            let value = Mutex(Farewell { isGone.update { $0 = true } })
            #expect(throws: Refusal.self) { try value.withLock { _ in throw Refusal() } }
            value.withLock { _ in }
            #expect(!isGone.value)
        }
        #expect(isGone.value)
    }
}
