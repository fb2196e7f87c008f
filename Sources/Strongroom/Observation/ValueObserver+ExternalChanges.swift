extension ValueObserver: ExternalChangeObserver {
    /// Fetches again, because the changes of others are not known. If a fetch is running, one more follows it, however
    /// many changes come.
    func databaseDidChangeElsewhere(_ db: Result<Database, any Error>) {
        switch db {
        case .success(let db): if !awaitsFirstFetch { regionDidChange(db) }
        case .failure(let error): emit(.failure(error))
        }
    }
}
