/// The data and the SQL that all programs share.
public enum Workload {
    public static let passphrase = "open sesame"

    /// A key that needs no derivation, for all work that is not about opening.
    public static let keySpec = "x'2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99'"
    /// A key as it is after a derivation: with the salt of its file.
    public static let derivedKeySpec =
        "x'2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d990f0e0d0c0b0a09080706050403020100'"
    /// The two keys between which a rotation goes to and fro.
    public static let rotationKeys = [
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
        "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100",
    ]

    /// Ten columns with short names, which Swift stores without an address: the hardest for records, because C needs no
    /// names.
    public static let columns = "i0, i1, i2, i3, i4, i5, i6, i7, i8, i9"

    /// The first of ten integers that are inserted as a row. Each takes one byte in the file, which makes C fastest.
    public static func small(_ n: Int64) -> Int64 { n % 100 }

    public static let tables = """
        CREATE TABLE wide (\(columns));
        CREATE TABLE many (a, b);
        CREATE TABLE point (id INTEGER PRIMARY KEY, value INTEGER);
        CREATE TABLE texts (title TEXT, body TEXT);
        CREATE TABLE blobs (data BLOB);
        CREATE TABLE mixed (
            identifier INTEGER PRIMARY KEY, document_title TEXT, body_text TEXT, createdAt TEXT, average_rating REAL,
            isFavorite INTEGER, optional_comment TEXT, documentUUID BLOB, document_kind TEXT, attributesAsJSON TEXT);
        CREATE TABLE inserted (\(columns));
        CREATE TABLE insertedTexts (title TEXT, body TEXT);
        CREATE TABLE insertedBlobs (data BLOB);
        """
    public static let clearInserted = "DELETE FROM inserted; DELETE FROM insertedTexts; DELETE FROM insertedBlobs;"
    public static let insertWide = "INSERT INTO wide VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    /// Rows as an application has them: two texts of 20 and 200 characters, a date, an optional text, a UUID, a case of
    /// an enumeration, attributes in JSON.
    public static let fillMixed = """
        WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers LIMIT \(mixedCount))
        INSERT INTO mixed
        SELECT n, printf('Document no. %07d', n), substr(replace(hex(zeroblob(50)), '00', 'Grüße '), 1, 200),
            strftime('%Y-%m-%d %H:%M:%f', 1700000000 + n, 'unixepoch'), n / 7.0, n % 2,
            CASE n % 3 WHEN 0 THEN 'a comment' END, randomblob(16), CASE n % 2 WHEN 0 THEN 'letter' ELSE 'invoice' END,
            json_object('color', 'green', 'pages', n % 100, 'tags', json_array('mail', 'paid'))
        FROM numbers
        """
    public static let insertMany = "INSERT INTO many VALUES (?, ?)"
    public static let insertPoint = "INSERT INTO point VALUES (?, ?)"
    public static let insertText = "INSERT INTO texts VALUES (?, ?)"
    public static let insertBlob = "INSERT INTO blobs VALUES (?)"
    public static let insert = "INSERT INTO inserted VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    public static let insertInsertedText = "INSERT INTO insertedTexts VALUES (?, ?)"
    public static let insertInsertedBlob = "INSERT INTO insertedBlobs VALUES (?)"
    public static let selectWide = "SELECT \(columns) FROM wide LIMIT ?"
    public static let selectMixed = "SELECT * FROM mixed LIMIT ?"
    public static let selectMany = "SELECT a, b FROM many LIMIT ?"
    public static let selectTexts = "SELECT title, body FROM texts LIMIT ?"
    public static let selectBlobs = "SELECT data FROM blobs LIMIT ?"
    public static let selectPoint = "SELECT value FROM point WHERE id = ?"
    public static let selectSeven = "SELECT value FROM point WHERE id = 7"
    public static let selectRange = "SELECT value FROM point WHERE id >= ? AND id < ?"
    public static let countInserted = "SELECT COUNT(*) FROM inserted"
    public static let countInsertedTexts = "SELECT COUNT(*) FROM insertedTexts"
    public static let countInsertedBlobs = "SELECT COUNT(*) FROM insertedBlobs"

    public static let wideCount: Int64 = 200_000
    public static let mixedCount: Int64 = 50_000
    public static let manyCount: Int64 = 1_000_000
    public static let pointCount: Int64 = 10_000
    public static let textCount: Int64 = 20_000
    public static let blobCount: Int64 = 2_000

    public static let title = "Verse über den Schlüssel, der nie verloren geht"
    public static let body = String(repeating: "Grüße aus dem Tresorraum: 金庫室からこんにちは. ", count: 8)
    public static let blobSize = 16_384

    /// Which row the `n`th point read asks for; its value is seven times its id.
    public static func pointID(_ n: Int64) -> Int64 {
        (n * 7919) % pointCount
    }

    public static let accessesPerReader: Int64 = 4_000
    public static let rangeLength: Int64 = 20
    public static let scansPerReader: Int64 = 100

    /// Where the `n`th read of twenty rows begins.
    public static func rangeStart(_ n: Int64) -> Int64 {
        pointID(n) % (pointCount - rangeLength)
    }

    /// The sum of the values that the first `count` of these reads find.
    static func rangesSum(_ count: Int64) -> Int64 {
        (0..<count).reduce(0) { $0 + 7 * (rangeLength * rangeStart($1) + rangeLength * (rangeLength - 1) / 2) }
    }

    /// The number of alternations of work without and with an observation.
    public static let turns = 12

    /// Three of these rows fill a page of 4096 bytes.
    public static let payloadSize = 1_300
    public static let payloadRowsPerMegabyte = 732
    public static let createPayload = "CREATE TABLE payload (data BLOB)"
    public static let insertPayload = "INSERT INTO payload VALUES (?)"
    public static let countPayload = "SELECT COUNT(*) FROM payload"
}
