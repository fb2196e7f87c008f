import Testing

@testable import Strongroom

@Suite("The operators of observations")
struct ObservationOperatorTests {
    @Test("A function that finds duplicates is called at the same depth of the stack for all values")
    func depth() throws {
        let addresses = Shared<[UInt]>([])
        let observation = ValueObservation.tracking { _ in 0 }.removeDuplicates { _, _ in
            var local = 0
            withUnsafeMutablePointer(to: &local) { pointer in
                addresses.update { $0.append(UInt(bitPattern: pointer)) }
            }
            return false
        }
        var reducer = observation.makeReducer()
        for n in 0...1_000 { _ = try reducer._value(n) }
        let all = addresses.value
        #expect(all.count == 1_000)
        #expect(try #require(all.max()) - #require(all.min()) < 4_096)
    }
}
