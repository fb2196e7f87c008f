import Foundation
import Testing

/// The order of the shim, which `strongroom_connection.h` draws, and its door to Swift.
@Suite("The shim")
struct ShimTests {
    private static let package = SourceDocumentation.packageFolder

    /// The texts of the files in a folder, by their paths in it.
    private static func texts(in folder: String, _ endings: [String]) throws -> [String: String] {
        let folder = package.appendingPathComponent(folder)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try Dictionary(
            uniqueKeysWithValues: paths.filter { path in endings.contains { path.hasSuffix($0) } }.map {
                ($0, try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
            })
    }

    // MARK: - C

    @Test("The files of C call each other in one direction")
    func direction() throws {
        let calls = ShimCalls(try Self.texts(in: "Shim/CStrongroom", [".c", ".h"]))
        print(calls)
        #expect(calls.uses.values.reduce(0) { $0 + $1.count } > 30)
        #expect(calls.uses["connection/opening.c"]?.contains("connection/vfs.c") == true)
        #expect(References(calls.uses).cycles == [])
    }

    @Test("The folders of C refer to each other in one direction")
    func folders() throws {
        let calls = ShimCalls(try Self.texts(in: "Shim/CStrongroom", [".c"]))
        func folder(_ path: String) -> String { String(path.prefix { $0 != "/" }) }
        var uses: [String: Set<String>] = [:]
        for (file, others) in calls.uses {
            uses[folder(file), default: []].formUnion(others.map(folder).filter { $0 != folder(file) })
        }
        #expect(uses.keys.contains("connection") && uses.keys.contains("pages"))
        #expect(References(uses).cycles == [])
    }

    @Test("An inline function reads no structure of another header")
    func inlineFunctions() throws {
        let headers = try Self.texts(in: "Shim/CStrongroom", [".h"])
        let readers = headers.filter { ShimCalls.inlineBodies(in: $0.value).contains { $0.contains("->") } }
        #expect(readers.keys.sorted() == ["include/strongroom_connection.h"])
        #expect(readers.values.allSatisfy { $0.contains("typedef struct strongroom_connection {") })
    }

    @Test("A circle of calls is found")
    func detection() {
        let calls = ShimCalls([
            "a/one.c": "#include \"two.h\"\n\nint one(int x) {\n    // three()\n    return two(x);\n}\n",
            "a/two.h": "int two(int x);\nstatic inline int half(int x) {\n    return three(x) / 2;\n}\n",
            "b/two.c": "static int own(void) { return 1; }\nint two(int x) {\n    return half(x) + own();\n}\n",
            "b/three.c": "int three(int x) {\n    return one(\"two(\", x);\n}\n",
        ])
        #expect(
            calls.uses == [
                "a/one.c": ["b/two.c"], "a/two.h": ["b/three.c"], "b/two.c": ["a/two.h"], "b/three.c": ["a/one.c"],
            ])
        #expect(References(calls.uses).cycles == [["a/one.c", "a/two.h", "b/two.c", "b/three.c"]])
        #expect(
            ShimCalls.inlineBodies(in: "static inline int half(int x) {\n    return x->y;\n}\n") == [
                "\n    return x->y;\n"
            ])
    }

    // MARK: - Swift

    @Test("Functions of C are called in the folder Shim alone", arguments: ["sqlite3", "strongroom"])
    func door(prefix: String) throws {
        let call = try Regex("\\b\(prefix)_[a-z0-9_]+\\b *\\(")
        let sources = try Self.texts(in: "Sources/Strongroom", [".swift"]).mapValues { SourceCode($0).text }
        let callers = sources.filter { $0.value.contains(call) }.keys.sorted()
        print("\(prefix)_: \(callers.count) files")
        #expect(callers.count > 5)
        #expect(callers.allSatisfy { $0.hasPrefix("Shim/") }, "\(callers.filter { !$0.hasPrefix("Shim/") })")
    }

    @Test("No file outside of the folder Shim imports the shim")
    func imports() throws {
        let sources = try Self.texts(in: "Sources/Strongroom", [".swift"])
        let importers = sources.filter { $0.value.contains("import CStrongroom\n") }.keys.sorted()
        #expect(importers.count > 5)
        #expect(importers.allSatisfy { $0.hasPrefix("Shim/") }, "\(importers.filter { !$0.hasPrefix("Shim/") })")
    }
}
