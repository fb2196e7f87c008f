import Testing

@testable import Strongroom

/// The state table of the article "Layers and invariants", each event in each state.
@Suite("The phase of a connection's encryption")
struct CipherPhaseTests {
    enum Event: String, CaseIterable {
        case keyWasGiven, formatWasGiven, refuse, beginDerivation, derivationFailed
        case defaultsWereHeld, endSetUp, abandonSetUp, beginHeaderChange, endHeaderChange
    }

    private static let stages = ["setting up", "holding", "open", "changing"]
    private static let requests = ["none", "derivation", "refusal"]

    /// The next stage. Events that are not listed leave it as it is.
    private static let nextStage: [Event: [String: String]] = [
        .defaultsWereHeld: ["setting up": "holding"],
        .endSetUp: ["setting up": "open", "holding": "open"],
        .abandonSetUp: ["holding": "setting up"],
        .beginHeaderChange: ["open": "changing"],
        .endHeaderChange: ["changing": "open"],
    ]

    /// The next request. Events that are not listed leave it as it is.
    private static let nextRequest: [Event: [String: String]] = [
        .keyWasGiven: ["none": "derivation", "refusal": "derivation"],
        .formatWasGiven: ["none": "derivation"],
        .refuse: ["none": "refusal", "derivation": "refusal"],
        .beginDerivation: ["derivation": "none"],
        .derivationFailed: ["none": "derivation"],
    ]

    private static let refusal = DatabaseError(.SQLITE_MISUSE, message: "refused")

    private static func phase(_ stage: String, _ request: String) -> CipherPhase {
        var phase = CipherPhase()
        if stage == "holding" { phase.defaultsWereHeld() }
        if ["open", "changing"].contains(stage) { _ = phase.endSetUp() }
        if stage == "changing" { phase.beginHeaderChange() }
        if request == "derivation" { phase.keyWasGiven() }
        if request == "refusal" { phase.refuse(with: refusal) }
        return phase
    }

    private static func words(_ phase: CipherPhase) -> [String] {
        let stage =
            switch phase.stage {
            case .settingUp(holdsDefaults: false): "setting up"
            case .settingUp(holdsDefaults: true): "holding"
            case .open: "open"
            case .changingHeader: "changing"
            }
        let request =
            switch phase.request {
            case .none: "none"
            case .derivation: "derivation"
            case .refusal: "refusal"
            }
        return [stage, request]
    }

    /// Returns true if the event releases SQLCipher's defaults.
    private static func apply(_ event: Event, to phase: inout CipherPhase) throws -> Bool {
        switch event {
        case .keyWasGiven: phase.keyWasGiven()
        case .formatWasGiven: phase.formatWasGiven()
        case .refuse: phase.refuse(with: refusal)
        case .beginDerivation: try phase.beginDerivation()
        case .derivationFailed: phase.derivationFailed()
        case .defaultsWereHeld: phase.defaultsWereHeld()
        case .endSetUp: return phase.endSetUp()
        case .abandonSetUp: return phase.abandonSetUp()
        case .beginHeaderChange: phase.beginHeaderChange()
        case .endHeaderChange: phase.endHeaderChange()
        }
        return false
    }

    @Test("changes as its state table says, with each event in each state", arguments: Event.allCases)
    func table(event: Event) throws {
        for stage in Self.stages {
            for request in Self.requests {
                var phase = Self.phase(stage, request)
                #expect(Self.words(phase) == [stage, request])
                var releases = false
                if event == .beginDerivation, request == "refusal" {
                    let refused = phase
                    let error = #expect(throws: DatabaseError.self) {
                        var phase = refused
                        try phase.beginDerivation()
                    }
                    #expect(error?.message == "refused")
                } else {
                    releases = try Self.apply(event, to: &phase)
                }
                let next = [
                    Self.nextStage[event]?[stage] ?? stage, Self.nextRequest[event]?[request] ?? request,
                ]
                #expect(Self.words(phase) == next, "\(event) in \(stage), \(request)")
                #expect(releases == (stage == "holding" && [.endSetUp, .abandonSetUp].contains(event)))
            }
        }
    }

    @Test("permits in each state what the table permits")
    func questions() {
        for stage in Self.stages {
            for request in Self.requests {
                let phase = Self.phase(stage, request)
                #expect(phase.isPending == (request != "none"))
                #expect(phase.isOpen == ["open", "changing"].contains(stage))
                #expect(phase.lacksDefaults == (stage == "setting up"))
            }
        }
    }

    @Test("keeps the latest refusal, and the defaults held once for each release")
    func sequences() {
        var phase = CipherPhase()
        phase.refuse(with: Self.refusal)
        phase.formatWasGiven()
        phase.refuse(with: DatabaseError(.SQLITE_MISUSE, message: "again"))
        let refused = phase
        let error = #expect(throws: DatabaseError.self) {
            var phase = refused
            try phase.beginDerivation()
        }
        #expect(error?.message == "again")
        phase.defaultsWereHeld()
        phase.defaultsWereHeld()
        let ends = [phase.abandonSetUp(), phase.abandonSetUp(), phase.endSetUp()]
        #expect(ends == [true, false, false])
        phase.defaultsWereHeld()
        let laterEnd = phase.endSetUp()
        #expect(!laterEnd)
    }
}
