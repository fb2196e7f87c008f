extension ValueObserver: ExternalChangeObserver {
    /// Fetches again: what others have changed is not known. A fetch that runs is followed by one more, however many
    /// changes come.
    func databaseDidChangeElsewhere(_ db: Result<Database, any Error>) {
        switch db {
        case .success(let db): if !awaitsFirstFetch { regionDidChange(db) }
        case .failure(let error): emit(.failure(error))
        }
    }
}
