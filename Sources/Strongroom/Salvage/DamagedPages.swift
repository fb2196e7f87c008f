/// The times at which a version of a page was that of the committed database. See ``DamagedLog``.
struct PageTimes: Equatable {
    var from: Int
    /// The first time at which it was not. `Int.max` if it is the version of now.
    var to: Int

    static let always = PageTimes(from: 0, to: .max)

    func intersection(_ other: PageTimes) -> PageTimes? {
        let both = PageTimes(from: max(from, other.from), to: min(to, other.to))
        return both.from < both.to ? both : nil
    }
}

/// An authentic version of a page.
struct PageVersion {
    enum Place {
        case file
        case frame(Int)
        case journal(Int64)
    }

    var place: Place
    var times: PageTimes
    /// True if no newer version is known, damaged or not.
    var isNewest = true
    /// True if the page may also be that of a damaged frame: it proves nothing about other pages.
    var isAmbiguous = false
}

/// The pages of a damaged database: which are authentic, of what kind each one is, and its versions in file and log.
///
/// Memory: one byte for each page, and some for each frame of the log.
final class DamagedPages {
    /// The state of the newest version of a page.
    enum State: UInt8 {
        /// The page is damaged, or absent.
        case ruined
        /// All bytes are zero: the page is damaged, or unused, and was never written.
        case blank
        /// The page is authentic, and of no b-tree.
        case other
        case tableLeaf, tableInterior, indexLeaf, indexInterior

        var kind: BTreeKind? {
            switch self {
            case .ruined, .blank, .other: nil
            case .tableLeaf: .tableLeaf
            case .tableInterior: .tableInterior
            case .indexLeaf: .indexLeaf
            case .indexInterior: .indexInterior
            }
        }
    }

    /// The marks of a page: a set of bits beside its state.
    enum Mark: UInt8 {
        case visited = 8
        case emitted = 16
        case spare = 32
        case hasParent = 64
        case counted = 128
    }

    let files: DamagedFiles
    let format: PageFormat?
    let pageSize: Int
    private(set) var usable: Int
    private(set) var header: DatabaseHeader?
    private(set) var encoding = TextEncoding.utf8Text
    /// The number of pages of which file or log have at least a part.
    private(set) var count = 0
    /// The number of pages that the database had, as far as it is known.
    private(set) var expectedCount = 0
    /// The number of overflow pages that were read. In a sound database, each belongs to one row.
    var overflowReadCount = 0
    /// True if the log belongs to another database, and was left out.
    private(set) var hasForeignLog = false
    private var log = DamagedLog()
    private var journal = DamagedJournal()
    private var states: [UInt8] = []

    init(_ files: DamagedFiles, _ format: PageFormat?, pageSize: Int) {
        (self.files, self.format, self.pageSize) = (files, format, pageSize)
        usable = pageSize - (format?.reserve ?? 0)
        if let file = files.journal { journal = DamagedJournal(file, format, pageSize: pageSize) }
        if let file = files.log, journal.pageCount == nil { log = DamagedLog(file, format, pageSize: pageSize) }
        guard isAuthenticated, log.isForeign else { return }
        hasForeignLog = true
        log = DamagedLog()
    }

    /// True if pages carry an HMAC.
    var isAuthenticated: Bool { format?.authenticates == true }

    // MARK: - States

    /// Authenticates the newest version of all pages, and determines their kinds.
    func examine(_ progress: (Int, Int) throws -> Void) throws {
        let inFile = Int((files.size + Int64(pageSize) - 1) / Int64(pageSize))
        count = max(inFile, log.committedFrames.keys.max() ?? 0)
        // A damaged frame may name any page.
        count = min(count, inFile + log.knownFrames.count)
        states = [UInt8](repeating: State.ruined.rawValue, count: count + 1)
        readHeader()
        // Without a proof, the header must not hide pages.
        let proven = journal.provenPageCount(stated: header?.pageCount, isAuthenticated: isAuthenticated)
        let stated = isAuthenticated ? header?.pageCount : nil
        if let known = log.pageCount ?? proven ?? stated, known < count { count = known }
        expectedCount = log.pageCount ?? proven ?? header?.pageCount ?? count
        expectedCount = max(count, min(expectedCount, 1 << 32))
        let scan = PageScan(format, pageSize: pageSize)
        try scan.run(
            numbers: 1...max(1, min(count, inFile)),
            isNeeded: { [self] in
                $0 <= count && log.committedFrames[$0] == nil && journal.offsets[$0] == nil
                    && !journal.lostPages.contains($0)
                    && $0 != lockBytePage
            },
            read: { [files] in files.read(at: $0, into: $1) },
            found: { [self] in states[$0] = $1.rawValue },
            progress: { try progress($0, count) })
        for number in Array(log.committedFrames.keys) + Array(journal.offsets.keys) where number <= count {
            states[number] = newestState(number).rawValue
        }
    }

    private func newestState(_ number: Int) -> State {
        guard let newest = versions(of: number).first, newest.isNewest, let page = bytes(number, newest) else {
            return .ruined
        }
        return State(page, number: number)
    }

    private func readHeader() {
        guard let version = versions(of: 1).first, let page = bytes(1, version), let found = DatabaseHeader(page) else {
            return
        }
        header = found
        encoding = found.encoding
        if pageSize - found.reserve >= 480, format == nil || found.reserve >= format!.reserve {
            usable = pageSize - found.reserve
        }
    }

    /// Sets the encoding that rows of the schema have shown.
    func use(_ encoding: TextEncoding) {
        if header == nil { self.encoding = encoding }
    }

    var lockBytePage: Int { 0x4000_0000 / pageSize + 1 }

    func state(_ number: Int) -> State {
        guard number > 0, number <= count else { return .ruined }
        return State(rawValue: states[number] & 7) ?? .ruined
    }

    func has(_ mark: Mark, _ number: Int) -> Bool {
        number > 0 && number <= count && states[number] & mark.rawValue != 0
    }

    func set(_ mark: Mark, _ number: Int) {
        if number > 0, number <= count { states[number] |= mark.rawValue }
    }

    /// True for the pages of the pointer map, which look like any others.
    /// <https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages>
    func isPointerMap(_ number: Int) -> Bool {
        guard header?.hasPointerMap == true, number >= 2 else { return false }
        return (number - 2) % (usable / 5 + 1) == 0
    }

    // MARK: - Versions

    /// Returns the authentic versions of a page, newest first.
    func versions(of number: Int) -> [PageVersion] {
        if journal.lostPages.contains(number) { return [] }
        if let offset = journal.offsets[number] { return [PageVersion(place: .journal(offset), times: .always)] }
        guard let frames = log.committedFrames[number] else {
            guard number > 0, isFileAuthentic(number) else { return [] }
            return [PageVersion(place: .file, times: cut(.always))]
        }
        var found: [PageVersion] = []
        for (index, frame) in frames.enumerated().reversed() where log.knownFrames[frame - 1].isAuthentic {
            let isNewest = index == frames.count - 1
            found.append(PageVersion(place: .frame(frame), times: times(index, frames), isNewest: isNewest))
        }
        if let newest = found.first, newest.isNewest { return found }
        if let inFile = fileVersion(of: number, frames) { found.append(inFile) }
        return found.sorted { $0.times.from > $1.times.from }
    }

    private func times(_ index: Int, _ frames: [Int]) -> PageTimes {
        let from = log.time(of: frames[index])
        return cut(PageTimes(from: from, to: index + 1 < frames.count ? log.time(of: frames[index + 1]) : .max))
    }

    /// Returns the times until a commit may have changed any page.
    private func cut(_ times: PageTimes) -> PageTimes {
        var times = times
        if let first = log.cuts.first(where: { $0 > times.from }) { times.to = min(times.to, first) }
        if log.cuts.contains(times.from), times.from > 0 { times.to = times.from }
        return times
    }

    /// Returns the version in the file of a page that has frames. A checkpoint may have copied one of them.
    private func fileVersion(of number: Int, _ frames: [Int]) -> PageVersion? {
        guard isFileAuthentic(number), let page = raw(number, .file) else { return nil }
        var hasLost = false
        for (index, frame) in frames.enumerated().reversed() {
            let other = raw(number, .frame(frame))
            // Each writing has another initialization vector: pages of different versions agree nowhere.
            let equal = other.map { zip($0, page).reduce(0) { $0 + ($1.0 == $1.1 ? 1 : 0) } } ?? 0
            if equal > pageSize / 2, format != nil || equal == pageSize {
                return log.knownFrames[frame - 1].isAuthentic
                    ? nil
                    : PageVersion(place: .file, times: times(index, frames), isNewest: index == frames.count - 1)
            }
            if !log.knownFrames[frame - 1].isAuthentic { hasLost = true }
        }
        let times = cut(PageTimes(from: 0, to: log.time(of: frames[0])))
        return PageVersion(place: .file, times: times, isNewest: false, isAmbiguous: hasLost)
    }

    private func isFileAuthentic(_ number: Int) -> Bool {
        guard let page = raw(number, .file) else { return false }
        return page.withUnsafeBytes { page in
            !page.isZero && (format.map { $0.isAuthentic(page, number: number) } ?? true)
        }
    }

    /// Returns the authentic versions of a page of the database, newest first.
    func known(_ number: Int) -> [PageVersion] {
        guard number > 0, number <= count, number != lockBytePage else { return [] }
        // Most pages have one version, whose authenticity is known.
        if log.knownFrames.isEmpty, journal.pageCount == nil {
            let state = self.state(number)
            return state == .ruined || state == .blank ? [] : [PageVersion(place: .file, times: .always)]
        }
        return versions(of: number)
    }

    // MARK: - Bytes

    /// Returns the content of a page. Nil if it can't be read.
    func bytes(_ number: Int, _ version: PageVersion) -> [UInt8]? {
        guard let raw = raw(number, version.place) else { return nil }
        guard let format else { return raw }
        return [UInt8](unsafeUninitializedCapacity: pageSize) { clear, filled in
            let done = raw.withUnsafeBytes { page in
                format.decrypt(page, number: number, length: pageSize, into: UnsafeMutableRawBufferPointer(clear))
            }
            filled = done ? pageSize : 0
        }
    }

    private func raw(_ number: Int, _ place: PageVersion.Place) -> [UInt8]? {
        var isRead = false
        let page = [UInt8](unsafeUninitializedCapacity: pageSize) { bytes, filled in
            let room = UnsafeMutableRawBufferPointer(bytes)
            switch place {
            case .file: isRead = files.read(at: Int64(number - 1) * Int64(pageSize), into: room)
            case .frame(let frame):
                isRead = files.log?.read(at: DamagedLog.offset(of: frame, pageSize: pageSize), into: room) == true
            case .journal(let offset): isRead = files.journal?.read(at: offset, into: room) == true
            }
            filled = isRead ? pageSize : 0
        }
        return isRead ? page : nil
    }

    /// Returns a page of a b-tree. Nil if it is none.
    func bTreePage(_ number: Int, _ version: PageVersion) -> BTreePage? {
        var page = bytes(number, version).flatMap { BTreePage($0, number: number, usable: usable) }
        if !isAuthenticated { page?.rejectOverlaps() }
        return page
    }
}

extension DamagedPages.State {
    /// Creates the state of an authentic page.
    init(_ page: some Collection<UInt8>, number: Int) {
        let first = page.dropFirst(number == 1 ? 100 : 0).first ?? 0
        self =
            switch BTreeKind(rawValue: first) {
            case .tableLeaf: .tableLeaf
            case .tableInterior: .tableInterior
            case .indexLeaf: .indexLeaf
            case .indexInterior: .indexInterior
            case nil: .other
            }
    }
}
