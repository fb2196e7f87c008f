import Testing

@testable import Strongroom

/// The decisions of an observation that do not depend on threads.
@Suite("The state of a value observation")
struct ValueObserverStateTests {
    private func makeState() -> ValueObserverState<ValueReducers.Fetch<Int>> {
        ValueObserverState(sink: ValueSink(schedule: { $0() }, onError: { _ in }, onChange: { _ in }))
    }

    @Test("A change schedules a fetch if none is to come, and makes one that runs be followed by one more")
    func fetches() {
        var state = makeState()
        let whileScheduled = state.requestFetch()
        state.fetchState = .running
        let whileRunning = [state.requestFetch(), state.requestFetch()]
        let afterChanges = state.finishFetch()
        state.fetchState = .running
        let afterNoChange = state.finishFetch()
        let whileIdle = state.requestFetch()
        #expect(!whileScheduled)
        #expect(whileRunning == [false, false])
        #expect(afterChanges)
        #expect(!afterNoChange)
        #expect(whileIdle)
    }

    @Test("One thread reduces at a time, until nothing is left")
    func reducing() throws {
        var state = makeState()
        state.fetched = [.success(1), .success(2)]
        var begun = [state.beginReducing(), state.beginReducing()]
        let first = try state.nextFetched()?.get()
        begun.append(state.beginReducing())
        let rest = [try state.nextFetched()?.get(), try state.nextFetched()?.get()]
        begun.append(state.beginReducing())
        #expect(first == 1)
        #expect(rest == [2, nil])
        #expect(begun == [true, false, false, true])
    }

    @Test("A region is new if it is not the former one")
    func regions() {
        var state = makeState()
        let isNew = ["player", "player", "wine"].map { state.updateRegion(DatabaseRegion(table: $0)) }
        #expect(isNew == [true, false, true])
    }

    @Test("A cancellation and an error end the observation")
    func ends() {
        var state = makeState()
        #expect(state.isActive)
        state.hasFailed = true
        #expect(!state.isActive)
        state.hasFailed = false
        state.sink = nil
        #expect(!state.isActive)
    }
}
