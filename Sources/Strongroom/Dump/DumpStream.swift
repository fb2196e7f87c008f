/// The output of a dump: the stream of the caller, or standard output.
public struct DumpStream: TextOutputStream {
    private var base: (any TextOutputStream)?
    private var owesMargin = false

    init(_ base: (any TextOutputStream)?) {
        self.base = base
    }

    /// Writes a text.
    public mutating func write(_ string: String) {
        if string.isEmpty { return }
        if owesMargin {
            owesMargin = false
            send("\n")
        }
        send(string)
    }

    /// Separates the next output, if any, by an empty line.
    public mutating func margin() {
        owesMargin = true
    }

    private mutating func send(_ string: String) {
        if base == nil {
            print(string, terminator: "")
        } else {
            base?.write(string)
        }
    }
}
