@main
struct StrongroomCommand {
    static func main() {}
}
