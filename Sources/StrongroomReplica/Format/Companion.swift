/// The files beside a database. This module does not import `Strongroom`, whose `CompanionFile` describes them.
enum Companion: String {
    case log = "-wal"
    case index = "-shm"
    case journal = "-journal"
    case salt = "-salt"
    case nextSalt = "-salt-next"
    case keys = "-keys"
    case nextKeys = "-keys-next"
}
