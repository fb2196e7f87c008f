extension Workload {
    public static let customerCount: Int64 = 59

    public static let selectTracks = """
        SELECT Track.TrackId, Track.Name, Album.Title, Artist.Name AS Artist, Genre.Name AS Genre, Track.Milliseconds
        FROM Track JOIN Album ON Album.AlbumId = Track.AlbumId
        JOIN Artist ON Artist.ArtistId = Album.ArtistId JOIN Genre ON Genre.GenreId = Track.GenreId
        WHERE Track.TrackId <= ? ORDER BY Artist.Name, Album.Title, Track.TrackId
        """
    public static let selectInvoiceLines = """
        SELECT Invoice.InvoiceId, Invoice.InvoiceDate, InvoiceLine.Quantity, InvoiceLine.UnitPrice, Track.Name
        FROM Invoice JOIN InvoiceLine ON InvoiceLine.InvoiceId = Invoice.InvoiceId
        JOIN Track ON Track.TrackId = InvoiceLine.TrackId WHERE Invoice.CustomerId = ?
        """

    /// A database of chinook's shape and size, for machines without the original.
    public static let chinook = """
        CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name TEXT);
        CREATE TABLE Album (AlbumId INTEGER PRIMARY KEY, Title TEXT NOT NULL, ArtistId INTEGER NOT NULL \
        REFERENCES Artist);
        CREATE TABLE Genre (GenreId INTEGER PRIMARY KEY, Name TEXT);
        CREATE TABLE Track (TrackId INTEGER PRIMARY KEY, Name TEXT NOT NULL, AlbumId INTEGER REFERENCES Album,
            GenreId INTEGER REFERENCES Genre, Composer TEXT, Milliseconds INTEGER NOT NULL, Bytes INTEGER, \
            UnitPrice NUMERIC NOT NULL);
        CREATE TABLE Customer (CustomerId INTEGER PRIMARY KEY, FirstName TEXT NOT NULL, LastName TEXT NOT NULL, \
        Country TEXT, Email TEXT NOT NULL);
        CREATE TABLE Invoice (InvoiceId INTEGER PRIMARY KEY, CustomerId INTEGER NOT NULL \
        REFERENCES Customer, InvoiceDate TEXT NOT NULL,
            BillingCountry TEXT, Total NUMERIC NOT NULL);
        CREATE TABLE InvoiceLine (InvoiceLineId INTEGER PRIMARY KEY, InvoiceId INTEGER NOT NULL REFERENCES Invoice,
            TrackId INTEGER NOT NULL REFERENCES Track, UnitPrice NUMERIC NOT NULL, Quantity INTEGER NOT NULL);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 275)
            INSERT INTO Artist SELECT i, 'The Artists of Room ' || i FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 347)
            INSERT INTO Album SELECT i, 'Songs Behind the Door, Volume ' || i, 1 + i * 7 % 275 FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25)
            INSERT INTO Genre SELECT i, 'Genre ' || i FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3503)
            INSERT INTO Track SELECT i, 'A Track of the Name ' || i, 1 + i / 11, 1 + i * 3 % 25, 'Composer ' || i % 400,
                100000 + i * 7919 % 300000, i * 32000, 0.99 + i % 2 FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
            INSERT INTO Customer SELECT i, 'First ' || i, 'Last ' || i, 'Country ' || i % 24, \
            'customer' || i || '@example.com' FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 412)
            INSERT INTO Invoice SELECT i, 1 + i % 59, date('2020-01-01', i || ' days'), 'Country ' || i % 24, i % 25 \
            FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2240)
            INSERT INTO InvoiceLine SELECT i, 1 + i * 412 / 2241, 1 + i * 7919 % 3503, 0.99 + i % 2, 1 FROM n;
        CREATE INDEX AlbumOfArtist ON Album (ArtistId);
        CREATE INDEX TrackOfAlbum ON Track (AlbumId);
        CREATE INDEX TrackOfGenre ON Track (GenreId);
        CREATE INDEX InvoiceOfCustomer ON Invoice (CustomerId);
        CREATE INDEX LineOfInvoice ON InvoiceLine (InvoiceId);
        CREATE INDEX LineOfTrack ON InvoiceLine (TrackId);
        """
}
