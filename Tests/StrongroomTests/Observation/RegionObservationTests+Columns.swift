import Strongroom
import Testing

extension RegionObservationTests {
    @Test(
        "A row that an update replaces is a change of its other columns, too",
        arguments: [
            "UPDATE OR REPLACE wine SET name = 'Chinon' WHERE id = 2",
            "UPDATE OR REPLACE wine SET id = 1 WHERE id = 2",
            "UPDATE OR REPLACE plain SET name = 'Chinon' WHERE id = 2",
            "UPDATE OR REPLACE plain SET id = 1 WHERE id = 2",
            "UPDATE OR REPLACE text SET rowid = 1 WHERE rowid = 2",
            "UPDATE replacing SET name = 'Chinon' WHERE id = 2",
        ])
    func replacementsInUpdates(_ sql: String) throws {
        let fixture = try QueueFixture(), tables = ["wine", "plain", "replacing", "text"]
        try fixture.queue.write { db in
            try db.execute(
                sql: """
                    ALTER TABLE wine ADD COLUMN score;
                    CREATE UNIQUE INDEX names ON wine (name);
                    CREATE TABLE plain (id INTEGER PRIMARY KEY, name UNIQUE, score) WITHOUT ROWID;
                    CREATE TABLE replacing (id INTEGER PRIMARY KEY, name UNIQUE ON CONFLICT REPLACE, score);
                    CREATE VIRTUAL TABLE text USING fts5(name, score);
                    """)
            for table in tables {
                let key = table == "text" ? "rowid" : "id"
                try db.execute(
                    sql: "INSERT INTO \(table) (\(key), name, score) VALUES (1, 'Chinon', 90), (2, 'Bandol', 91)")
            }
        }
        let regions = tables.map { SQLRequest<Int>(sql: "SELECT score FROM \($0)") }
        let (changes, cancellable) = observe(regions[0], regions[1], regions[2], regions[3], in: fixture.queue)
        try fixture.queue.write { try $0.execute(sql: sql) }
        #expect(changes.value == 1)
        cancellable.cancel()
    }

    @Test(
        "Rows that stay after a conflict count, even if SQLite doesn't report them",
        arguments: [
            "INSERT OR FAIL INTO plain VALUES (3), (1)",
            "UPDATE OR FAIL plain SET id = CASE id WHEN 2 THEN 5 ELSE 1 END WHERE id > 1",
            "INSERT OR FAIL INTO text (rowid, name) VALUES (3, 'a'), (1, 'b')",
        ], [false, true])
    func rowsThatStay(_ sql: String, isInTransaction: Bool) throws {
        let fixture = try QueueFixture()
        try fixture.queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE plain (id INTEGER PRIMARY KEY) WITHOUT ROWID; INSERT INTO plain VALUES (1), (2), (4);
                    CREATE VIRTUAL TABLE text USING fts5(name); INSERT INTO text (rowid, name) VALUES (1, 'a');
                    """)
        }
        let (changes, cancellable) = observe(
            SQLRequest<Int>(sql: "SELECT id FROM plain"), SQLRequest<Int>(sql: "SELECT rowid FROM text"),
            in: fixture.queue)
        try fixture.queue.writeWithoutTransaction { db in
            if isInTransaction { try db.execute(sql: "BEGIN") }
            #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
            if isInTransaction { try db.execute(sql: "COMMIT") }
        }
        #expect(changes.value == 1)
        cancellable.cancel()
    }

    @Test(
        "A generated column changes with the columns that it is made of",
        arguments: ["virtual", "stored", "chained", "indexed", "keyed"])
    func generatedColumns(_ column: String) throws {
        let fixture = try QueueFixture()
        try fixture.queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE price (
                        id INTEGER PRIMARY KEY, net, note,
                        virtual AS (net * 2), stored AS (net * 3) STORED, chained AS (virtual + stored),
                        indexed AS (net + 1), keyed AS (id + 1));
                    CREATE INDEX byPrice ON price (indexed);
                    INSERT INTO price (id, net) VALUES (1, 5);
                    """)
        }
        let (changes, cancellable) = observe(
            SQLRequest<Int>(sql: "SELECT \(column) FROM price ORDER BY \(column)"), in: fixture.queue)
        try fixture.queue.write { db in
            try db.execute(sql: column == "keyed" ? "UPDATE price SET id = 2" : "UPDATE price SET net = 6")
        }
        #expect(changes.value == 1)
        cancellable.cancel()
    }

    @Test("The result of a full-text search changes with each column of its table")
    func searchResults() throws {
        let fixture = try QueueFixture()
        try fixture.queue.write { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE text USING fts5(name);
                    INSERT INTO text (rowid, name) VALUES (1, 'Chinon');
                    """)
        }
        let (changes, cancellable) = observe(
            SQLRequest<Int>(sql: "SELECT rowid FROM text WHERE text MATCH 'Bandol'"), in: fixture.queue)
        try fixture.queue.write { try $0.execute(sql: "UPDATE text SET name = 'Bandol'") }
        #expect(changes.value == 1)
        cancellable.cancel()
    }
}
