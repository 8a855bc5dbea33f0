//! Statements that fail, most of them after they have already changed something.

/// The tables, with everything that can make a write fail.
pub(super) const SCHEMA: &str = "
    CREATE TABLE plain(a);
    CREATE TABLE source(x); INSERT INTO source VALUES (1), (2), ('x{');
    CREATE TABLE numbers(g, x); INSERT INTO numbers VALUES (1, 1), (2, 9223372036854775807), (2, 1);
    CREATE TABLE lists(x); INSERT INTO lists VALUES ('[1, 2]'), ('{');
    CREATE TABLE pair(a, b);
    CREATE TABLE large(x); INSERT INTO large VALUES ('a'), (zeroblob(900000));
    CREATE TABLE typed(n INT) STRICT; INSERT INTO typed VALUES (1), (2), (3);
    CREATE TABLE typed_key(id INTEGER PRIMARY KEY, n INT, t TEXT) STRICT;
    INSERT INTO typed_key VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c');
    CREATE TABLE typed_text_key(k TEXT PRIMARY KEY, v INT) STRICT, WITHOUT ROWID;
    INSERT INTO typed_text_key VALUES ('a', 1), ('b', 2), ('c', 3);
    CREATE TABLE typed_any(a ANY, n INT) STRICT;
    CREATE TABLE one(id INTEGER PRIMARY KEY, u UNIQUE, v); INSERT INTO one VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3);
    CREATE TABLE two(id INTEGER PRIMARY KEY, a UNIQUE, b UNIQUE); INSERT INTO two VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);
    CREATE TABLE text_key(k TEXT PRIMARY KEY, v CHECK (v < 5)) WITHOUT ROWID;
    INSERT INTO text_key VALUES ('a', 1), ('b', 2), ('c', 3);
    CREATE TABLE no_null(a NOT NULL); INSERT INTO no_null VALUES (1), (2), (3);
    CREATE TABLE checked(a CHECK (a < 5));
    CREATE TABLE numbered(id INTEGER PRIMARY KEY AUTOINCREMENT, a CHECK (a < 5));
    CREATE TABLE stored(a, g AS (json_extract(a, '$.x')) STORED);
    CREATE TABLE indexed(a, g AS (abs(a)) VIRTUAL); CREATE INDEX indexed_g ON indexed(g);
    INSERT INTO indexed VALUES (1), (2);
    CREATE TABLE by_expression(a); CREATE INDEX expression ON by_expression(abs(a));
    INSERT INTO by_expression VALUES (1), (2), (3);
    CREATE TABLE in_part(a); CREATE INDEX part ON in_part(a) WHERE abs(a) > 0;
    CREATE TABLE or_fail(id INTEGER PRIMARY KEY, u UNIQUE ON CONFLICT FAIL);
    CREATE TABLE or_fail_null(a NOT NULL ON CONFLICT FAIL);
    CREATE TABLE or_replace(id INTEGER PRIMARY KEY, u UNIQUE ON CONFLICT REPLACE, n CHECK (n < 5));
    INSERT INTO or_replace VALUES (1, 1, 1), (2, 2, 2);
    CREATE TABLE or_rollback(id INTEGER PRIMARY KEY, u UNIQUE ON CONFLICT ROLLBACK);
    CREATE TABLE parent(id INTEGER PRIMARY KEY); INSERT INTO parent VALUES (1), (2), (3);
    CREATE TABLE child(p REFERENCES parent); INSERT INTO child VALUES (3);
    CREATE TABLE owner(id INTEGER PRIMARY KEY); INSERT INTO owner VALUES (1), (2);
    CREATE TABLE owned(p REFERENCES owner ON DELETE CASCADE); INSERT INTO owned VALUES (1), (2);
    CREATE TABLE guarded(p REFERENCES owner ON DELETE RESTRICT); INSERT INTO guarded VALUES (2);
    CREATE TABLE seen(x); CREATE TABLE watched(x);
    CREATE TRIGGER before_watched BEFORE INSERT ON watched BEGIN
        INSERT INTO seen VALUES (new.x);
        SELECT CASE new.x WHEN 1 THEN RAISE(FAIL, 'no') WHEN 2 THEN RAISE(ABORT, 'no') WHEN 3 THEN RAISE(ROLLBACK, 'no') END;
    END;
    CREATE VIEW shown AS SELECT a FROM plain;
    CREATE TRIGGER into_shown INSTEAD OF INSERT ON shown BEGIN
        INSERT INTO plain VALUES (new.a); SELECT RAISE(FAIL, 'no') WHERE new.a = 3;
    END;
    CREATE VIRTUAL TABLE words USING fts5(a); INSERT INTO words VALUES ('a');
    CREATE VIRTUAL TABLE old_words USING fts4(a);
    CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1, +note); INSERT INTO boxes VALUES (1, 0, 1, 'q'), (2, 0, 1, 'r');
";

/// The names of all tables, one a row.
pub(super) const TABLES: &str = "SELECT name FROM pragma_table_list
    WHERE schema = 'main' AND type <> 'view' AND name NOT LIKE 'sqlite%' ORDER BY name";

/// The length of values. A longer value makes a statement fail.
pub(super) const LENGTH_MAX: i32 = 1_000_000;

/// Statements, each of which fails on the tables of [`SCHEMA`].
pub(super) const FAILING: &[&str] = &[
    // A value of the wrong type.
    "INSERT INTO typed VALUES (1), (2), ('x')",
    "INSERT INTO typed SELECT x FROM source",
    "INSERT OR IGNORE INTO typed VALUES (1), ('x')",
    "INSERT OR FAIL INTO typed VALUES (1), ('x')",
    "INSERT OR REPLACE INTO typed_key VALUES (1, 1, 'z'), (9, 'x', 'z')",
    "INSERT OR REPLACE INTO typed_key VALUES (1, 'x', 'z')",
    "INSERT INTO typed_key(n, t) VALUES (1, 'a'), ('x', 'b')",
    "INSERT INTO typed_key(n, t) VALUES ('x', 'b')",
    "INSERT INTO typed_key(id, n) VALUES (7, 1), (1, 1) ON CONFLICT(id) DO UPDATE SET n = 'x'",
    "INSERT INTO typed_key(id, n) VALUES (1, 1) ON CONFLICT(id) DO UPDATE SET n = 'x'",
    "INSERT INTO typed_text_key VALUES ('d', 1), ('e', 'x')",
    "INSERT INTO typed_any VALUES (1, 1), (2, 'x')",
    "INSERT INTO typed_key(n) VALUES (1), ('x') RETURNING id",
    "UPDATE typed SET n = CASE n WHEN 3 THEN 'x' ELSE 7 END",
    "UPDATE typed_key SET n = CASE id WHEN 3 THEN 'x' ELSE 7 END",
    "UPDATE typed_key SET n = 'x' WHERE id = 1",
    "UPDATE typed_key SET n = source.x FROM source WHERE typed_key.id = source.rowid",
    "UPDATE typed_text_key SET v = CASE k WHEN 'c' THEN 'x' ELSE 7 END",
    "INSERT INTO one(id) VALUES (7), ('text')",
    "INSERT INTO one(id) VALUES ('text')",
    // A function or aggregate that fails.
    "INSERT INTO plain SELECT json(x) FROM source",
    "INSERT INTO plain VALUES (1), (json('{'))",
    "INSERT INTO plain VALUES (json('{'))",
    "INSERT INTO plain VALUES (1), ((SELECT json('{')))",
    "INSERT INTO plain SELECT sum(x) FROM numbers GROUP BY g",
    "INSERT INTO plain SELECT sum(x) OVER (PARTITION BY g ORDER BY rowid) FROM numbers",
    "INSERT INTO plain SELECT value FROM lists, json_each(lists.x)",
    "INSERT INTO plain SELECT 1 FROM source WHERE x IN (SELECT value FROM json_each(x))",
    "INSERT INTO plain SELECT 1 FROM words WHERE words MATCH '\"'",
    "UPDATE one SET v = abs(CASE id WHEN 3 THEN -9223372036854775808 ELSE 1 END)",
    "UPDATE two SET a = 10 + (SELECT sum(x) FROM numbers WHERE g = two.a)",
    "UPDATE OR REPLACE one SET u = 'z', v = abs(CASE id WHEN 3 THEN -9223372036854775808 ELSE 1 END)",
    "DELETE FROM one WHERE abs(CASE id WHEN 3 THEN -9223372036854775808 ELSE 1 END) > 0",
    "DELETE FROM two WHERE (SELECT sum(x) FROM numbers WHERE g = two.a) IS NOT 7",
    "INSERT INTO stored(a) VALUES ('{\"x\": 1}'), ('{')",
    "INSERT INTO indexed(a) VALUES (1), (-9223372036854775808)",
    "INSERT INTO indexed(a) VALUES (-9223372036854775808)",
    "UPDATE indexed SET a = CASE a WHEN 2 THEN -9223372036854775808 ELSE 5 END",
    "INSERT INTO by_expression VALUES (1), (-9223372036854775808)",
    "UPDATE by_expression SET a = CASE a WHEN 3 THEN -9223372036854775808 ELSE 5 END",
    "UPDATE by_expression SET a = -9223372036854775808 WHERE rowid = 1",
    "INSERT INTO in_part VALUES (1), (-9223372036854775808)",
    "INSERT INTO one(u) VALUES ('x') RETURNING json('{')",
    "INSERT INTO plain SELECT x FROM source RETURNING json(a)",
    "CREATE TABLE fresh AS SELECT sum(x) FROM numbers GROUP BY g",
    // A value or a row that is too large.
    "INSERT INTO plain SELECT x || x FROM large",
    "INSERT INTO pair SELECT x, x FROM large",
    "INSERT INTO plain VALUES (1), (zeroblob(3000000))",
    "UPDATE large SET x = x || x",
    // Constraints.
    "INSERT INTO one(u) VALUES ('x'), ('y'), ('a')",
    "INSERT OR ABORT INTO one(u) SELECT * FROM (VALUES ('x'), ('y'), ('a'))",
    "INSERT OR FAIL INTO one(u) VALUES ('x'), ('y'), ('a')",
    "INSERT OR ROLLBACK INTO one(u) VALUES ('x'), ('y'), ('a')",
    "UPDATE one SET u = 'z'",
    "UPDATE OR FAIL one SET u = 'z'",
    "UPDATE OR ROLLBACK one SET u = 'z'",
    "UPDATE OR IGNORE no_null SET a = CASE a WHEN 3 THEN json('{') ELSE 9 END",
    "UPDATE no_null SET a = CASE a WHEN 3 THEN NULL ELSE 9 END",
    "INSERT INTO no_null VALUES (1), (NULL)",
    "INSERT INTO checked VALUES (1), (9)",
    "INSERT INTO numbered(a) VALUES (1), (2), (9)",
    "INSERT INTO text_key VALUES ('x', 1), ('y', 9)",
    "UPDATE text_key SET v = v + 3",
    "INSERT INTO or_fail(u) VALUES (1), (2), (1)",
    "INSERT INTO or_fail_null VALUES (1), (NULL)",
    "INSERT INTO or_replace(u, n) VALUES (1, 3), (2, 9)",
    "INSERT INTO or_rollback(u) VALUES (1), (2), (1)",
    "INSERT OR REPLACE INTO two VALUES (9, 1, 2), (10, 3, json('{'))",
    "INSERT INTO one(u) VALUES ('x'), ('a') ON CONFLICT(u) DO UPDATE SET v = json('{')",
    "INSERT INTO one(u) VALUES ('x'), ('a') ON CONFLICT(u) DO UPDATE SET u = 'b'",
    "INSERT INTO child VALUES (1), (9)",
    "INSERT INTO child VALUES (9)",
    "DELETE FROM parent",
    "UPDATE parent SET id = id + 10",
    "DELETE FROM owner",
    "DELETE FROM owner WHERE id = 2",
    // Triggers.
    "INSERT INTO watched VALUES (7), (1)",
    "INSERT INTO watched VALUES (1)",
    "INSERT INTO watched VALUES (7), (2)",
    "INSERT INTO watched VALUES (7), (3)",
    "INSERT INTO shown VALUES (1), (3)",
    "INSERT INTO shown VALUES (3)",
    // Virtual tables.
    "INSERT INTO words(rowid, a) VALUES (5, 'b'), (1, 'c')",
    "INSERT INTO words(rowid, a) VALUES (1, 'c')",
    "INSERT INTO words SELECT json(x) FROM source",
    "INSERT INTO old_words(docid, a) VALUES (5, 'b'), (5, 'c')",
    "INSERT INTO boxes VALUES (7, 0, 1, 'a'), (8, 5, 1, 'b')",
    "UPDATE boxes SET x0 = CASE id WHEN 2 THEN 9 ELSE 0.5 END",
    "UPDATE boxes SET note = json(CASE id WHEN 2 THEN '{' ELSE '1' END)",
];

/// Writes of one row, which need no savepoint.
pub(super) const PLAIN: &[&str] = &[
    "INSERT INTO plain VALUES (?)",
    "INSERT INTO plain(a) VALUES (json(?))",
    "INSERT INTO one(u, v) VALUES (?, ?)",
    "INSERT OR IGNORE INTO one VALUES (?, ?, ?)",
    "INSERT INTO one(u, v) VALUES (?, ?) ON CONFLICT(u) DO UPDATE SET v = excluded.v",
    "INSERT INTO two VALUES (?, ?, ?)",
    "INSERT INTO typed_key VALUES (?, ?, ?)",
    "INSERT INTO text_key VALUES (?, ?)",
    "INSERT INTO by_expression VALUES (?)",
    "INSERT INTO child VALUES (?)",
    "UPDATE one SET v = ? WHERE id = ?",
    "UPDATE one SET v = ? WHERE u = ?",
    "UPDATE one SET u = ? WHERE id = ?",
    "UPDATE typed_key SET n = ? WHERE id = ?",
    "UPDATE text_key SET v = ? WHERE k = ?",
    "DELETE FROM one WHERE id = ?",
    "DELETE FROM one WHERE u = ?",
    "DELETE FROM text_key WHERE k = ?",
];
