import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Invariants 7 and 16: what would wait for itself is served, or stops with a message.
@Suite("Accesses inside of others", .timeLimit(.minutes(5)))
struct NestedAccessTests {
    private static func places(_ kind: WriterKind) -> [NestedPlace] {
        // A queue calls its set-up function once, before there is a queue.
        NestedPlace.allCases.filter { kind == .pool || $0 != .prepareDatabase }
    }

    private static let allPlaces: [(kind: WriterKind, place: NestedPlace)] =
        [WriterKind.queue, .pool].flatMap { kind in places(kind).map { (kind, $0) } }

    private static let refusals: [(kind: WriterKind, place: NestedPlace, call: NestedCall)] =
        allPlaces.flatMap { kind, place in
            NestedCall.allCases.filter { $0.refusal(in: place, of: kind) != nil }.map { (kind, place, $0) }
        }

    @Test("are served where that is safe", arguments: allPlaces)
    func served(_ kind: WriterKind, _ place: NestedPlace) async {
        await #expect(processExitsWith: .success) {
            [isQueue = (kind == .queue) as Bool, place = place as NestedPlace] in
            let kind = isQueue ? WriterKind.queue : .pool
            for call in NestedCall.allCases where call.refusal(in: place, of: kind) == nil {
                print("\(kind) \(place) \(call)")
                let fixture = try NestedFixture(kind)
                let isMade = start {
                    // An interruption may reach the statement around; no other error is one of the call's.
                    do {
                        try place.enter(fixture) { try call.make(fixture.writer) }
                    } catch {
                        if call != .interrupt { fatalError("\(kind) \(place) \(call): \(error)") }
                    }
                }
                guard isMade.opens(within: 30) else { fatalError("\(kind) \(place) \(call) waits for ever") }
                // Nothing is left behind: the database goes on, and closes.
                let isClosed = start {
                    fixture.preparation.update { $0 = nil }
                    _ = try! fixture.writer.barrierWriteWithoutTransaction { try $0.countWines() }
                    _ = try! fixture.writer.read { try $0.countWines() }
                    try! fixture.writer.close()
                }
                guard isClosed.opens(within: 30) else {
                    fatalError("\(kind) \(place) \(call) leaves the database blocked")
                }
            }
        }
    }

    private static let chosenRefusals = Form.pairwise("accesses inside of others that are refused", of: refusals) {
        ["\($0.kind)", "\($0.place)", "\($0.call)"]
    }

    @Test("stop the program with a message where they are a mistake", arguments: chosenRefusals)
    func refused(_ kind: WriterKind, _ place: NestedPlace, _ call: NestedCall) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [isQueue = (kind == .queue) as Bool, place = place as NestedPlace, call = call as NestedCall] in
            let fixture = try NestedFixture(isQueue ? .queue : .pool)
            let isMade = start { try! place.enter(fixture) { try call.make(fixture.writer) } }
            // Neither a hang nor a return is a failure of the process.
            _ = isMade.opens(within: 30)
            exit(0)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let words = try #require(call.refusal(in: place, of: kind))
        #expect(text.contains(words), "\(text.suffix(600))")
    }

    @Test("are refused in a set-up function that opens connections without end")
    func endlessSetups() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let fixture = try NestedFixture(.pool)
            fixture.preparation.update { $0 = { _ = try (fixture.writer as! DatabasePool).makeSnapshot() } }
            try await fixture.writer.read { _ in }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("is called again each time"))
    }

    @Test("are refused in a busy callback, where SQLite allows no use of the connection")
    func busyCallback() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = Shared<DatabaseQueue?>(nil)
            var configuration = Configuration.encrypted()
            configuration.busyMode = .callback { _ in
                _ = try? queue.value?.unsafeReentrantRead { try $0.countWines() }
                return false
            }
            let fixture = try QueueFixture(configuration)
            queue.update { $0 = fixture.queue }
            let other = try DatabaseQueue(path: fixture.queue.path, configuration: .encrypted())
            try await other.write { db in
                try db.insertWine()
                try fixture.queue.write { try $0.insertWine() }
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("was used inside of the busy callback"))
    }
}
