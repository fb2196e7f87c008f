import Foundation
import TestSupport
import Testing

@Suite("The scripts of the package")
struct ScriptTests {
    private static let folder = Program.packageFolder.appendingPathComponent("scripts")

    /// All but lists and parts of programs, by their path below `scripts`.
    private static let scripts = Result {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: folder.path + "/" + path, isDirectory: &isFolder)
            return !isFolder.boolValue && !path.contains(".")
        }.sorted()
    }

    @Test("The scripts of the package that everyone needs are at the top, and the others in check and measure")
    func places() throws {
        let scripts = try Self.scripts.get()
        let top = scripts.filter { !$0.contains("/") }
        #expect(top == ["bench", "bootstrap", "campaign", "demo", "install", "package-deb", "release", "site", "test"])
        #expect(scripts.count > 12)
        #expect(scripts.filter { $0.contains("/") }.allSatisfy { $0.hasPrefix("check/") || $0.hasPrefix("measure/") })
    }

    @Test("The scripts of the package print their usage with --help, and do nothing")
    func help() async throws {
        for script in try Self.scripts.get() {
            let outcome = try await Program(script: script, "--help").run()
            #expect(outcome.status == 0, "\(script): \(outcome.errors)")
            #expect(outcome.output.contains("scripts/\(script)"), "\(script)")
            #expect(outcome.errors.isEmpty, "\(script)")
        }
    }

    @Test("The scripts of the package that its pages and its own files name exist")
    func names() throws {
        let scripts = try Set(Self.scripts.get())
        let catalog = "Sources/Strongroom/Strongroom.docc"
        let articles = try FileManager.default.subpathsOfDirectory(
            atPath: Program.packageFolder.appendingPathComponent(catalog).path)
        let pages = articles.filter { $0.hasSuffix(".md") }.map { "\(catalog)/\($0)" }
        var count = 0
        for file in pages + ["README.md", ".github/SECURITY.md", ".github/CONTRIBUTING.md", ".ci/run"]
            + scripts.map({ "scripts/\($0)" })
        {
            let text = try String(contentsOf: Program.packageFolder.appendingPathComponent(file), encoding: .utf8)
            for match in text.matches(of: /\bscripts\/([a-z][a-z\/-]*[a-z])/) {
                count += 1
                let name = String(match.1)
                #expect(scripts.contains(name) || ["check", "measure"].contains(name), "\(file): scripts/\(name)")
            }
        }
        #expect(count > 60)
    }
}

/// `scripts/test` with tests that do what their names say.
@Suite("The script that runs the tests", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/stat")))
struct TestScriptTests {
    private let scratch: TemporaryFolder

    /// Lists tests in `list`, and runs those of the suites that filters name.
    private static let program = #"""
        #!/bin/bash
        here=$(dirname "$0")
        case "$*" in *--list-tests*) exec cat "$here/list" ;; esac
        filters=()
        while [ $# -gt 0 ]; do
            case $1 in
            --filter) filters+=("$2") ;;
            --event-stream-output-path) events=$2 ;;
            esac
            shift
        done
        tell() {
            printf '{"kind":"event","payload":{"kind":"%s","instant":{"absolute":1},"testID":"%s/F.swift:1:1"}}\n' \
                "$1" "$2" >> "$events"
        }
        status=0
        while read -r name; do
            for filter in "${filters[@]}"; do
                [[ $name =~ $filter ]] || continue
                case $name in *lost*) continue ;; esac
                tell testStarted "$name"
                case $name in
                *crashes*) kill -SEGV $$ ;;
                *fails*) tell issueRecorded "$name"; status=1 ;;
                *leaves*) sleep 600 & echo $! > "$here/left" ;;
                esac
                tell testEnded "$name"
            done
        done < "$here/list"
        exit $status
        """#

    init() throws {
        scratch = try TemporaryFolder()
        try scratch.write(Data(Self.program.utf8), to: "StrongroomPackageTests.xctest")
        #expect(chmod(scratch.path("StrongroomPackageTests.xctest"), 0o755) == 0)
    }

    private func run(_ tests: [String], _ more: String...) async throws -> Outcome {
        try scratch.write(Data(tests.map { "M.\($0)\n" }.joined().utf8), to: "list")
        var program = Program(script: "test", "--built", scratch.path)
        program.arguments += more
        return try await program.run()
    }

    private func lastLine(_ outcome: Outcome) -> Substring? { outcome.output.split(separator: "\n").last }

    @Test("The script that runs the tests counts all that are listed, and ends with a line of sums")
    func passes() async throws {
        let outcome = try await run(["A/one()", "A/two()", "B/three(_:)"])
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(lastLine(outcome) == "3 passed, 0 failed, 0 skipped")
    }

    @Test("The script that runs the tests runs those that match --filter, and none that match --skip")
    func filters() async throws {
        let tests = ["A/one()", "A/two()", "B/one(_:)", "C/one()"]
        let outcome = try await run(tests, "--filter", "one", "--filter", "two", "--skip", #"M\.C/"#)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(lastLine(outcome) == "3 passed, 0 failed, 0 skipped")
        #expect(try await run(tests, "--filter", "nothing").status != 0)
    }

    @Test("The script that runs the tests fails for an issue, for a test that did not run, and for one that crashes")
    func failures() async throws {
        for (name, words) in [("fails", "M.A/fails()"), ("lost", "did not run"), ("crashes", "ended its process")] {
            let outcome = try await run(["A/one()", "A/\(name)()", "B/three()"])
            #expect(outcome.status == 1, "\(outcome.output)\(outcome.errors)")
            #expect(lastLine(outcome) == "2 passed, 1 failed, 0 skipped", "\(outcome.output)")
            #expect(outcome.output.contains("✘ M.A/\(name)()") && outcome.output.contains(words), "\(outcome.output)")
        }
    }

    @Test("The script that runs the tests repeats them beside busy loops until one fails, and records failures")
    func untilFailure() async throws {
        let passing = try await run(["A/one()"], "--until-failure", "2")
        #expect(passing.status == 0 && lastLine(passing) == "passed 2 times", "\(passing.output)\(passing.errors)")
        for _ in 1...2 {
            let failing = try await run(["A/one()", "A/fails()"], "--until-failure")
            #expect(failing.status == 1 && lastLine(failing) == "failed in round 1", "\(failing.output)")
        }
        let record = scratch.text("tests-failed.txt").split(separator: "\n")
        #expect(record.count == 2 && record.allSatisfy { $0.contains(" M.A/fails():") }, "\(record)")
    }

    /// Returns true if a process has ended within ten seconds. It may wait for its new parent to collect its status.
    private func hasEnded(_ process: pid_t) async throws -> Bool {
        for _ in 0..<1000 {
            guard let state = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
            if state.contains(") Z ") { return true }
            try await Task.sleep(nanoseconds: 10_000_000)
        }
        return false
    }

    @Test("The script that runs the tests ends what a test leaves behind")
    func leftOver() async throws {
        #expect(try await run(["A/leaves()"]).status == 0)
        let left = try #require(pid_t(scratch.text("left").trimmingCharacters(in: .newlines)))
        #expect(try await hasEnded(left))
    }
}

/// `scripts/release` in a repository whose other scripts do what the test wants.
@Suite("The script that collects the evidence of a release", .enabled(if: (try? Program("git")) != nil))
struct ReleaseScriptTests {
    private let scratch: TemporaryFolder

    init() async throws {
        scratch = try TemporaryFolder()
        for folder in ["scripts/check", "Sources/StrongroomCLI", "Tests/StrongroomTests"] {
            try FileManager.default.createDirectory(
                atPath: scratch.path(folder), withIntermediateDirectories: true)
        }
        let original = Program.packageFolder.appendingPathComponent("scripts/release").path
        try FileManager.default.copyItem(atPath: original, toPath: scratch.path("scripts/release"))
        try scratch.write(Data("static let strongroom = \"1.2.3\"\n".utf8), to: "Sources/StrongroomCLI/Versions.swift")
        try scratch.write(Data(".build\n".utf8), to: ".gitignore")
        try script("demo", "echo '1. Shown.'; echo run >> ../runs")
        try script("test", "echo '5 tests of 2 suites in 1 s'; echo '4 passed, 1 failed, 0 skipped'; exit 1")
        try script("check/apple", "exit 0")
        try await git("init", "--quiet")
        try await git("add", "-A")
        try await git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "all")
    }

    private func script(_ name: String, _ body: String) throws {
        try scratch.write(Data("#!/bin/bash\n\(body)\n".utf8), to: "scripts/\(name)")
        #expect(chmod(scratch.path("scripts/\(name)"), 0o755) == 0)
    }

    private func git(_ arguments: String...) async throws {
        var program = try Program("git", "-C", scratch.path)
        program.arguments += arguments
        #expect(try await program.run().status == 0)
    }

    private func release(_ steps: String...) async throws -> Outcome {
        var program = try Program("python3", scratch.path("scripts/release"), "--page", scratch.path(".build/page.md"))
        program.arguments += steps
        return try await program.run()
    }

    @Test("The script that collects the evidence of a release runs each step in a clean clone, and once for a commit")
    func resumed() async throws {
        for _ in 1...2 { #expect(try await release("demo").status == 0) }
        #expect(scratch.text(".build/evidence/runs") == "run\n")
        let page = scratch.text(".build/page.md")
        #expect(page.contains("| `scripts/demo` | 1. Shown. |"))
        #expect(page.contains("## What did not run") && page.contains("- `scripts/bench life`: A day"))
    }

    @Test("The script that collects the evidence of a release keeps what its page says of a machine that is gone")
    func otherMachine() async throws {
        #expect(try await release("demo", "apple").status == 1)
        let rows = scratch.text(".build/page.md").split(separator: "\n").filter { $0.hasPrefix("| ") }
        try FileManager.default.removeItem(atPath: scratch.path(".build/evidence"))
        #expect(try await release("tests-1").status == 1)
        let page = scratch.text(".build/page.md")
        #expect(rows.count == 4 && rows.allSatisfy { page.contains($0 + "\n") }, "\(page)")
        #expect(page.contains("4 passed, 1 failed, 0 skipped"))
    }

    @Test(
        "The script that collects the evidence of a release fails for a step that fails, or says nothing it can quote")
    func failures() async throws {
        let outcome = try await release("tests-1", "apple")
        #expect(outcome.status == 1 && outcome.errors.contains("failed: tests-1, apple"))
        #expect(
            scratch.text(".build/page.md").contains(
                "**failed** 5 tests of 2 suites in 1 s 4 passed, 1 failed, 0 skipped"))
    }

    @Test("The script that collects the evidence of a release measures again what has changed, but for documents")
    func measured() async throws {
        let rows = ["GRDB 7.10 | Ratio | |", "1 | 0.9 (0.8-1.1) | |", "1 | 1.2 (1.1-1.4) | behind |"]
        try script("bench", rows.map { "echo '| \($0)'" }.joined(separator: "\n") + "\necho run >> ../runs")
        for (file, runs) in [("scripts/x", 1), ("README.md", 1), ("Tests/StrongroomTests/x", 1), ("Sources/x", 2)] {
            try scratch.write(Data("changed".utf8), to: file)
            try await git("add", "-A")
            try await git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", file)
            #expect(try await release("life").status == 0)
            #expect(scratch.text(".build/evidence/runs") == String(repeating: "run\n", count: runs), "\(file)")
        }
        #expect(scratch.text(".build/page.md").contains("| `scripts/bench life` | 1 of 2 figures: behind |"))
    }

    @Test(
        "The script that collects the evidence of a release refuses a tree with changes, and a step that is not there")
    func refused() async throws {
        #expect(try await release("nothing").errors.contains("there is no step nothing"))
        try scratch.write(Data("changed".utf8), to: "scripts/demo")
        #expect(try await release("demo").errors.contains("changes that no commit has"))
    }

    @Test("The script that collects the evidence of a release leaves a step alone at which another run is")
    func sameStep() async throws {
        #expect(try await release("demo").status == 0)
        try Data("log".utf8).write(to: URL(fileURLWithPath: scratch.path(".build/evidence/demo.log")))
        let log = open(scratch.path(".build/evidence/demo.log"), O_RDONLY)
        #expect(flock(log, LOCK_EX) == 0)
        #expect(try await release("--again", "demo").output.contains("another run is at it"))
        #expect(scratch.text(".build/evidence/demo.log") == "log" && scratch.text(".build/evidence/runs") == "run\n")
        close(log)
        #expect(try await release("--again", "demo").status == 0)
        #expect(scratch.text(".build/evidence/runs") == "run\nrun\n")
    }

    @Test("The script that collects the evidence of a release leaves the clone alone in which another run works")
    func simultaneous() async throws {
        #expect(try await release("demo").status == 0)
        let lock = open(scratch.path(".build/evidence/lock"), O_RDONLY)
        #expect(flock(lock, LOCK_SH) == 0)
        #expect(try await release("demo").status == 0)
        try scratch.write(Data("changed".utf8), to: "scripts/demo")
        try await git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-a", "-m", "changed")
        #expect(try await release("demo").errors.contains("another run works on another commit"))
        close(lock)
        try script("demo", "echo '2. Shown again.'")
        try await git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-a", "-m", "again")
        #expect(try await release("demo").status == 0)
    }

    @Test(
        "The script that collects the evidence of a release waits for the processes of a step before it is stopped",
        arguments: [false, true])
    func stopped(whileItStarts isStarting: Bool) async throws {
        try script("demo", "trap 'sleep 1; exit' TERM; echo $$ > ../step; while :; do sleep 0.1; done")
        try await git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-a", "-m", "long")
        if isStarting {
            let slow = """
                import subprocess, time
                start = subprocess.Popen.__init__
                def slowly(process, *arguments, **options):
                    start(process, *arguments, **options)
                    if options.get("start_new_session"): time.sleep(2)
                subprocess.Popen.__init__ = slowly
                """
            // The folder is ignored by Git.
            try FileManager.default.createDirectory(atPath: scratch.path(".build"), withIntermediateDirectories: true)
            try scratch.write(Data(slow.utf8), to: ".build/sitecustomize.py")
        }
        // Foundation starts programs with the signals blocked that the thread blocks.
        let unblocked = "import os, signal, sys; signal.pthread_sigmask(2, []); os.execvp(sys.argv[1], sys.argv[1:])"
        let program = try Program(
            "python3", "-c", unblocked, "bash", "-c",
            """
            cd "$0"
            PYTHONPATH=.build python3 scripts/release --page .build/page.md demo & run=$!
            until [ -s .build/evidence/step ]; do sleep 0.1; done
            kill $run; wait $run; echo $?
            kill -0 $(cat .build/evidence/step) 2>/dev/null || echo ended
            """, scratch.path)
        #expect(try await program.run().output.hasSuffix("143\nended\n"))
    }
}
