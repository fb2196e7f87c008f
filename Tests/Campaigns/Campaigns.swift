import CStrongroomFaults
import Foundation
import Logging
import Strongroom
import TestSupport

/// Campaigns NAME FOLDER [OPTIONS]: see `scripts/campaign`.
@main
struct Campaigns {
    static func main() throws {
        // A shell that has ended reads no more statements.
        signal(SIGPIPE, SIG_IGN)
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            Campaign.random = SeededGenerator(seed: options.seed)
            try run(options)
        } catch let error as Usage {
            FileHandle.standardError.write(Data("\(error.message)\n".utf8))
            exit(2)
        }
    }

    private static func run(_ options: Options) throws {
        // Errors name what fails.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        switch options.campaign {
        case "serve": return try OtherProcess.serve(options)
        case "core": return try ClearText.dumpCore(options)
        case "work":
            var worker = try Worker(options)
            return try worker.run()
        default: break
        }
        let campaign = try Campaign(options)
        switch options.campaign {
        case "calls": try FailingCalls(campaign: campaign).run()
        case "power": try PowerCuts(campaign: campaign).run()
        case "turns":
            strongroom_faults_install()
            try Interleavings(campaign: campaign).run()
        case "memory":
            guard strongroom_faults_install_allocator() == 0 else { throw Usage("SQLite is in use already") }
            try Memory(campaign: campaign).run()
        case "kills": try Kills(campaign: campaign).run()
        case "clear-text": try ClearText(campaign: campaign).run()
        case "salvage": try Salvages(campaign: campaign).run()
        case "soak": try Soak(campaign: campaign).run()
        default: throw Usage("there is no campaign \(options.campaign)")
        }
        campaign.end()
    }
}
