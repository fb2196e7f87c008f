// Stubs of what Foundation and Dispatch have on Apple's platforms only. Typechecked as a part of Strongroom.
import Dispatch
import Foundation

let O_EVTONLY: CInt = 0x0000_8000

protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {
    var data: DispatchSource.FileSystemEvent { get }
}

extension DispatchSource {
    static func makeFileSystemObjectSource(
        fileDescriptor: CInt, eventMask: FileSystemEvent, queue: DispatchQueue?
    ) -> any DispatchSourceFileSystemObject { fatalError("a stub") }
}

class NSFileCoordinator {
    struct ReadingOptions: OptionSet {
        let rawValue: UInt
        static let withoutChanges = ReadingOptions(rawValue: 1 << 0)
    }

    struct WritingOptions: OptionSet {
        let rawValue: UInt
        static let forMerging = WritingOptions(rawValue: 1 << 2)
    }

    init(filePresenter: (any NSObjectProtocol)?) {}

    func coordinate(
        readingItemAt url: URL, options: ReadingOptions, error: inout NSError?, byAccessor reader: (URL) -> Void
    ) {}

    func coordinate(
        writingItemAt url: URL, options: WritingOptions, error: inout NSError?, byAccessor writer: (URL) -> Void
    ) {}
}
