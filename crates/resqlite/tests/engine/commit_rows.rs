//! Commit events with rows: whoever applies them to a copy of the tables has the tables.

use std::{
    collections::BTreeMap,
    sync::mpsc::{self, Receiver},
};

use dice::Rng;
use resqlite::{
    Options, Value,
    events::{Changes, CommitEvent, CommitListener, RowEvent, RowState, Unlisted},
    limits,
    live::{RowDetail, RowKey},
};

use crate::support::{Fixture, block_on, next_integers, summary_of};

pub(crate) const SCHEMA: &str = "
    CREATE TABLE plain(id INTEGER PRIMARY KEY, v, w UNIQUE);
    CREATE TABLE free(v, w);
    CREATE TABLE named(k PRIMARY KEY, v);
    CREATE TABLE pair(a, b, v, PRIMARY KEY(b, a)) WITHOUT ROWID;
    CREATE TABLE child(id INTEGER PRIMARY KEY, parent REFERENCES plain ON DELETE CASCADE ON UPDATE CASCADE);
    CREATE TABLE computed(id INTEGER PRIMARY KEY, v, s AS (v || 'x') STORED, t AS (v || 'y'));
    CREATE TRIGGER copy AFTER INSERT ON plain BEGIN
        INSERT OR REPLACE INTO pair VALUES (new.id % 3, new.v, new.w);
        UPDATE computed SET v = new.v WHERE id = new.id % 4;
    END;
    CREATE TRIGGER gone BEFORE DELETE ON free BEGIN
        DELETE FROM named WHERE v = old.v;
    END";

/// The tables with the names of their keys.
pub(crate) const TABLES: [(&str, &[&str]); 6] = [
    ("plain", &["id"]),
    ("free", &["rowid"]),
    ("named", &["k"]),
    ("pair", &["b", "a"]),
    ("child", &["id"]),
    ("computed", &["id"]),
];

struct Events {
    listener: CommitListener,
    told: Receiver<CommitEvent>,
    tell: mpsc::Sender<CommitEvent>,
}

impl Events {
    fn of(fixture: &Fixture, detail: RowDetail) -> Self {
        let (tell, told) = mpsc::channel();
        Self {
            listener: fixture.db.engine().listen_to_commits(Some(detail)),
            told,
            tell,
        }
    }

    fn next(&self) -> CommitEvent {
        let tell = self.tell.clone();
        self.listener.next(move |event| {
            let _ = tell.send(event.unwrap());
        });
        self.told.recv().unwrap()
    }

    /// The changes of the only table of the next event.
    fn only(&self) -> Changes {
        let mut tables = self.next().tables.expect("the tables are known");
        assert_eq!(tables.len(), 1, "{tables:?}");
        tables.remove(0).changes.expect("changes were asked for")
    }
}

pub(crate) type Named = Vec<(String, Value)>;
pub(crate) type Mirror = BTreeMap<String, Named>;

/// `1` and `1.0` are one key.
pub(crate) fn key_of(values: &[Value]) -> String {
    let normal = |value: &Value| match value {
        Value::Real(real) if *real as i64 as f64 == *real => Value::Integer(*real as i64),
        other => other.clone(),
    };
    format!("{:?}", values.iter().map(normal).collect::<Vec<_>>())
}

/// The name of a row in a mirror.
pub(crate) fn name_of(key: &RowKey<Value>, is_key_declared: bool) -> String {
    match key {
        RowKey::Columns(key) => key_of(key),
        RowKey::Rowid(rowid) if is_key_declared => format!("rowid {:?}", Value::Integer(*rowid)),
        RowKey::Rowid(rowid) => key_of(&[Value::Integer(*rowid)]),
    }
}

/// The stored columns of a table, by key; by rowid where the key has a NULL.
pub(crate) fn load(fixture: &Fixture, (table, key): (&str, &[&str])) -> Mirror {
    let rowid = if table == "pair" { "0" } else { "rowid" };
    let rows = fixture.select(&format!("SELECT {rowid}, {}, * FROM {table}", key.join(", ")));
    let names = rows.columns().to_vec();
    let mirrored = rows.iter().map(|row| {
        let values = row.values();
        let mut name = key_of(&values[1..=key.len()]);
        if values[1..=key.len()].contains(&Value::Null) {
            name = format!("rowid {:?}", values[0]);
        }
        let image = names.iter().map(ToString::to_string).zip(values.to_vec());
        let image = image.skip(1 + key.len()).filter(|(column, _)| column != "t");
        (name, image.collect())
    });
    mirrored.collect()
}

fn apply(mirror: &mut Mirror, row: &RowEvent) {
    let values = |state: &RowState| match state {
        RowState::Absent => None,
        RowState::Present => panic!("images were asked for"),
        RowState::Values(values) => {
            let names = row.names.columns.iter().map(|(_, name)| name.to_string());
            Some(names.zip(values.to_vec()).collect::<Named>())
        }
    };
    let key = name_of(&row.key, !row.names.key.is_empty());
    assert_eq!(
        mirror.get(&key),
        values(&row.old).as_ref(),
        "the row before: {row:?}"
    );
    match values(&row.new) {
        Some(new) => mirror.insert(key, new),
        None => mirror.remove(&key),
    };
}

fn columns<const N: usize>(values: [Value; N]) -> RowKey<Value> {
    RowKey::Columns(values.into())
}

/// Its key, and whether it was there before and is there after.
fn told(row: &RowEvent) -> (RowKey<Value>, bool, bool) {
    let is_there = |state: &RowState| *state != RowState::Absent;
    (row.key.clone(), is_there(&row.old), is_there(&row.new))
}

fn value(random: &mut Rng) -> String {
    match random.below(9) {
        0 => "NULL".into(),
        1 => "x'00ff'".into(),
        2 => "9223372036854775807".into(),
        3 => "1.0".into(),
        4 => "'a'".into(),
        5 => "'B'".into(),
        _ => random.below(6).to_string(),
    }
}

fn statement(random: &mut Rng) -> String {
    let small = random.below(8);
    let other = random.below(8);
    let (a, b) = (value(random), value(random));
    match random.below(16) {
        0 => format!("INSERT INTO plain(v, w) VALUES ({a}, {b})"),
        1 => format!("INSERT OR REPLACE INTO plain VALUES ({small}, {a}, {b})"),
        2 => format!("UPDATE OR REPLACE plain SET id = {small}, w = {a} WHERE id = {other}"),
        3 => format!("UPDATE plain SET v = {a} WHERE id > {small}"),
        4 => format!("DELETE FROM plain WHERE id = {small}"),
        5 => format!("INSERT INTO free VALUES ({a}, {b})"),
        6 => format!("DELETE FROM free WHERE v = {a} OR rowid = {small}"),
        7 => format!("UPDATE free SET rowid = {small} WHERE rowid = {other}"),
        8 => format!("INSERT INTO named VALUES ({a}, {b}) ON CONFLICT DO UPDATE SET v = excluded.v"),
        9 => format!("UPDATE OR IGNORE named SET k = {a} WHERE v = {b}"),
        10 => format!("INSERT OR REPLACE INTO pair VALUES ({small} % 3, {a}, {b})"),
        11 => format!("UPDATE OR REPLACE pair SET a = {small} % 3, b = {a} WHERE a = {other} % 3"),
        12 => format!("INSERT INTO child(parent) SELECT id FROM plain WHERE id >= {small}"),
        13 => format!("INSERT INTO computed(id, v) VALUES ({small}, {a}) ON CONFLICT DO UPDATE SET v = {b}"),
        14 => format!("DELETE FROM computed WHERE id <> {small}"),
        _ => "DELETE FROM pair".into(),
    }
}

/// A transaction of a few statements, some of which fail, some of which are undone.
fn transaction(fixture: &Fixture, random: &mut Rng) {
    let done = block_on(fixture.db.transaction(async |tx| {
        for _ in 0..=random.below(4) {
            let _ = tx.execute(&statement(random), ()).await;
            if random.below(3) == 0 {
                tx.savepoint(1).await?;
                for _ in 0..=random.below(3) {
                    let _ = tx.execute(&statement(random), ()).await;
                }
                match random.below(2) {
                    0 => tx.rollback_to(1).await?,
                    _ => tx.release(1).await?,
                }
            }
        }
        Ok(())
    }));
    done.unwrap();
}

pub(crate) fn commit_something(fixture: &Fixture, random: &mut Rng) {
    match random.below(40) {
        0 => drop(block_on(
            fixture
                .db
                .execute("ALTER TABLE free ADD COLUMN more DEFAULT 7", ()),
        )),
        1 => drop(block_on(
            fixture.db.execute("ALTER TABLE free DROP COLUMN more", ()),
        )),
        2 => drop(block_on(fixture.db.exec("VACUUM"))),
        3..15 => drop(block_on(fixture.db.execute(&statement(random), ()))),
        _ => transaction(fixture, random),
    }
}

// G256
#[test]
fn a_mirror_that_applies_the_events_equals_the_tables() {
    let first = dice::first_seed();
    let (mut applied, mut reloaded) = (0, 0);
    for seed in first..first + dice::throws(40) {
        let random = &mut Rng(seed);
        let fixture = Fixture::new(SCHEMA);
        let events = Events::of(&fixture, RowDetail::Images);
        let mut mirrors = TABLES.map(|table| load(&fixture, table));
        let mut seen = fixture.db.engine().last_commit();
        for _ in 0..60 {
            for _ in 0..=random.below(3) {
                commit_something(&fixture, random);
            }
            while seen < fixture.db.engine().last_commit() {
                let event = events.next();
                seen = event.last;
                for (mirror, table) in mirrors.iter_mut().zip(TABLES) {
                    let told = |told: &&resqlite::events::TableEvent| told.name.table() == table.0;
                    match event.tables.as_ref().map(|tables| tables.iter().find(told)) {
                        Some(None) if !event.schema_changed => {}
                        Some(Some(told)) if matches!(told.changes, Some(Changes::Rows(_))) => {
                            let Some(Changes::Rows(rows)) = &told.changes else {
                                continue;
                            };
                            rows.iter().for_each(|row| apply(mirror, row));
                            applied += rows.len();
                        }
                        _ => {
                            *mirror = load(&fixture, table);
                            reloaded += 1;
                        }
                    }
                }
            }
            for (mirror, table) in mirrors.iter().zip(TABLES) {
                assert_eq!(*mirror, load(&fixture, table), "{} with seed {seed}", table.0);
            }
        }
    }
    assert!(
        !dice::throws_all() || applied > 500 && reloaded > 0,
        "{applied} applied, {reloaded} reloaded"
    );
}

fn values(state: &RowState) -> &[Value] {
    match state {
        RowState::Values(values) => values,
        other => panic!("{other:?} has no values"),
    }
}

fn listed(changes: Changes) -> Vec<RowEvent> {
    match changes {
        Changes::Rows(rows) => rows,
        Changes::Unlisted(why) => panic!("{why:?}"),
    }
}

// G256
#[test]
fn several_commits_tell_the_first_image_and_the_last() {
    let fixture =
        Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a'), (2, 'b')");
    let events = Events::of(&fixture, RowDetail::Images);
    for sql in [
        "UPDATE t SET v = 'x' WHERE id = 1",
        "UPDATE t SET v = 'y' WHERE id = 1",
        "INSERT INTO t VALUES (3, 'c'); DELETE FROM t WHERE id = 3",
        "UPDATE t SET v = 'z' WHERE id = 2; UPDATE t SET v = 'b' WHERE id = 2",
    ] {
        fixture.exec(sql);
    }
    let rows = listed(events.only());
    assert_eq!(rows.len(), 1, "what nobody can have seen is not told: {rows:?}");
    assert_eq!(values(&rows[0].old), [Value::from(1), "a".into()]);
    assert_eq!(values(&rows[0].new), [Value::from(1), "y".into()]);
}

// G256
#[test]
fn what_can_be_read_between_two_commits_is_told_even_if_it_is_undone() {
    for detail in [RowDetail::Images, RowDetail::Keys] {
        let fixture = Fixture::new(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        );
        let events = Events::of(&fixture, detail);
        for sql in [
            "INSERT INTO t VALUES (3, 'c')",
            "UPDATE t SET v = 'x' WHERE id = 2",
            "DELETE FROM t WHERE id = 3",
            "UPDATE t SET v = 'b' WHERE id = 2",
        ] {
            fixture.run(sql);
        }
        let rows = listed(events.only());
        let keys: Vec<_> = rows.iter().map(|row| row.key.clone()).collect();
        assert_eq!(keys, [columns([3.into()]), columns([2.into()])]);
        assert_eq!(
            (&rows[0].old, &rows[0].new),
            (&RowState::Absent, &RowState::Absent)
        );
        assert_eq!(rows[1].old, rows[1].new);
        assert_ne!(rows[1].new, RowState::Absent);
    }
}

// G300
#[test]
fn a_row_from_before_a_real_column_was_added_had_a_real_in_it() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)");
    fixture.exec("ALTER TABLE t ADD COLUMN price REAL DEFAULT 5");
    let events = Events::of(&fixture, RowDetail::Images);
    fixture.run("DELETE FROM t");
    let rows = listed(events.only());
    assert_eq!(values(&rows[0].old), [Value::from(1), 5.0.into()]);
}

#[test]
fn keys_come_without_images() {
    let fixture = Fixture::new(
        "CREATE TABLE t(a, b, v, PRIMARY KEY(b, a)) WITHOUT ROWID; INSERT INTO t VALUES (1, 2, 3)",
    );
    let events = Events::of(&fixture, RowDetail::Keys);
    fixture.run("UPDATE t SET v = 4");
    let rows = listed(events.only());
    let names: Vec<_> = rows[0].names.key.iter().map(|(_, name)| &**name).collect();
    assert_eq!(names, ["b", "a"]);
    assert_eq!(rows[0].key, columns([2.into(), 1.into()]));
    assert_eq!(
        (&rows[0].old, &rows[0].new),
        (&RowState::Present, &RowState::Present)
    );
}

// G256
#[test]
fn a_change_of_the_key_is_a_row_that_is_gone_and_one_that_is_new() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a')");
    let events = Events::of(&fixture, RowDetail::Keys);
    fixture.run("UPDATE t SET id = 2");
    let rows = listed(events.only());
    assert_eq!(told(&rows[0]), (columns([1.into()]), true, false));
    assert_eq!(told(&rows[1]), (columns([2.into()]), false, true));
}

// G317
#[test]
fn rows_whose_key_has_a_null_are_told_by_their_rowid() {
    let fixture = Fixture::new("CREATE TABLE t(id TEXT PRIMARY KEY, v)");
    let events = Events::of(&fixture, RowDetail::Keys);
    fixture.run("INSERT INTO t VALUES (NULL, 1), (NULL, 2)");
    let rows = listed(events.only());
    assert_eq!(rows[0].names.rowid.as_deref(), Some("rowid"));
    assert_eq!(
        rows.iter().map(told).collect::<Vec<_>>(),
        [(RowKey::Rowid(1), false, true), (RowKey::Rowid(2), false, true)]
    );
    fixture.run("UPDATE t SET id = 'a' WHERE v = 1");
    let rows = listed(events.only());
    assert_eq!(
        rows.iter().map(told).collect::<Vec<_>>(),
        [
            (RowKey::Rowid(1), true, false),
            (columns(["a".into()]), false, true)
        ]
    );
}

// G257
#[test]
fn a_table_with_too_many_changed_rows_says_so() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY)");
    let events = Events::of(&fixture, RowDetail::Keys);
    let insert = |rows: usize| {
        fixture.run(&format!(
            "INSERT INTO t SELECT value + (SELECT count(*) FROM t) FROM generate_series(1, {rows})"
        ));
    };
    insert(limits::EVENT_ROWS);
    assert_eq!(listed(events.only()).len(), limits::EVENT_ROWS);
    insert(limits::EVENT_ROWS + 1);
    assert_eq!(events.only(), Changes::Unlisted(Unlisted::Many));
}

#[test]
fn a_table_with_too_many_changed_rows_leaves_room_for_others() {
    let fixture =
        Fixture::new("CREATE TABLE many(id INTEGER PRIMARY KEY); CREATE TABLE some(id INTEGER PRIMARY KEY)");
    let events = Events::of(&fixture, RowDetail::Keys);
    let rows = limits::EVENT_ROWS + 1;
    fixture.run(&format!(
        "INSERT INTO many SELECT value FROM generate_series(1, {rows})"
    ));
    fixture.run("INSERT INTO some VALUES (1)");
    let tables = events.next().tables.unwrap();
    let changes: Vec<_> = tables.into_iter().map(|table| table.changes.unwrap()).collect();
    assert_eq!(changes[0], Changes::Unlisted(Unlisted::Many));
    assert_eq!(listed(changes[1].clone()).len(), 1);
}

// G257
#[test]
fn a_table_with_too_large_rows_says_so() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY, v)");
    let events = Events::of(&fixture, RowDetail::Images);
    fixture.run(&format!(
        "INSERT INTO t VALUES (1, zeroblob({}))",
        limits::EVENT_BYTES
    ));
    assert_eq!(events.only(), Changes::Unlisted(Unlisted::Many));
    fixture.run("INSERT INTO t VALUES (2, 'small')");
    assert_eq!(listed(events.only()).len(), 1);
}

// G257
#[test]
fn a_transaction_that_was_open_when_the_listener_began_has_unknown_rows() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY)");
    let _another = fixture.db.engine().listen_to_commits(None);
    let transaction = block_on(fixture.db.begin(None)).unwrap();
    block_on(transaction.execute("INSERT INTO t VALUES (1)", ())).unwrap();
    let events = Events::of(&fixture, RowDetail::Keys);
    block_on(transaction.commit()).unwrap();
    assert_eq!(events.only(), Changes::Unlisted(Unlisted::Unknown));
    fixture.run("INSERT INTO t VALUES (2)");
    assert_eq!(listed(events.only()).len(), 1);
}

// G257
#[test]
fn rows_that_cannot_be_told_apart_are_not_listed() {
    let fixture = Fixture::new(
        "CREATE TABLE keyed(rowid PRIMARY KEY, _rowid_, oid); CREATE TABLE hidden(rowid, _rowid_, oid)",
    );
    let events = Events::of(&fixture, RowDetail::Keys);
    fixture.run("INSERT INTO keyed VALUES (1, 2, 3)");
    assert_eq!(listed(events.only()).len(), 1);
    fixture.run("INSERT INTO keyed VALUES (NULL, 2, 3)");
    assert_eq!(events.only(), Changes::Unlisted(Unlisted::Key));
    fixture.run("INSERT INTO hidden VALUES (1, 2, 3)");
    assert_eq!(events.only(), Changes::Unlisted(Unlisted::Key));
}

// G257
#[test]
fn a_rollback_that_would_need_more_memory_than_allowed_lists_no_rows() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY)");
    let events = Events::of(&fixture, RowDetail::Keys);
    block_on(fixture.db.transaction(async |tx| {
        tx.execute("INSERT INTO t VALUES (-1)", ()).await?;
        tx.savepoint(1).await?;
        for id in 0..resqlite_live::limits::SAVED_STATES + 2 {
            tx.execute("INSERT INTO t VALUES (?)", [(id as i64).into()])
                .await?;
        }
        tx.rollback_to(1).await
    }))
    .unwrap();
    assert_eq!(fixture.integers("SELECT count(*) FROM t"), [1]);
    assert_eq!(events.only(), Changes::Unlisted(Unlisted::Many));
}

// G256
#[test]
fn rows_of_tables_that_live_queries_read_are_told() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a')");
    let mut live = fixture.db.stream("SELECT id FROM t WHERE v = 'b'", ());
    assert!(next_integers(&mut live).is_empty());
    let events = Events::of(&fixture, RowDetail::Images);
    fixture.run("UPDATE t SET v = 'b'");
    assert_eq!(next_integers(&mut live), [1]);
    assert_eq!(
        values(&listed(events.only())[0].new),
        [Value::from(1), "b".into()]
    );
}

// G256
#[test]
fn rows_of_attached_databases_are_told() {
    let fixture = Fixture::new("");
    let other = fixture.file("other.db");
    fixture.exec(&format!("ATTACH '{other}' AS other; CREATE TABLE other.t(v)"));
    let events = Events::of(&fixture, RowDetail::Images);
    // What was attached since the last look for external commits may count as one of them.
    let tables = loop {
        fixture.run("INSERT INTO other.t VALUES ('c')");
        if let Some(tables) = events.next().tables {
            break tables;
        }
    };
    assert_eq!(tables[0].name.schema(), "other");
    let rows = listed(tables[0].changes.clone().unwrap());
    assert_eq!(values(&rows[0].new), ["c".into()]);
}

// G258
#[test]
fn nothing_is_recorded_once_the_listener_is_gone() {
    let fixture = Fixture::new("CREATE TABLE t(id INTEGER PRIMARY KEY)");
    let images = |id| {
        let summary = summary_of(&fixture.db, id);
        let (_, change) = summary.tables().next().unwrap();
        change.watched.images.len()
    };
    let _without_rows = fixture.db.engine().listen_to_commits(None);
    assert_eq!(images(fixture.run("INSERT INTO t VALUES (1)").commit), 0);
    let events = Events::of(&fixture, RowDetail::Images);
    assert_eq!(images(fixture.run("INSERT INTO t VALUES (2)").commit), 1);
    drop(events);
    assert_eq!(images(fixture.run("INSERT INTO t VALUES (3)").commit), 0);
}

// G256
#[test]
fn commits_before_and_after_a_foreign_change_of_the_table_are_not_merged() {
    let options = Options {
        watch_external: Some(false),
        ..Options::default()
    };
    let fixture = Fixture::with("CREATE TABLE t(id INTEGER PRIMARY KEY, v)", options);
    let events = Events::of(&fixture, RowDetail::Images);
    fixture.run("INSERT INTO t(id, v) VALUES (1, 10)");
    fixture
        .stranger()
        .execute_script(
            "DROP TABLE t; CREATE TABLE t(v, w, id INTEGER PRIMARY KEY); INSERT INTO t(id, v) VALUES (1, 10)",
        )
        .unwrap();
    fixture.run("UPDATE t SET v = 11");
    assert!(matches!(events.only(), Changes::Unlisted(Unlisted::Schema)));
    fixture.run("UPDATE t SET v = 12");
    assert!(matches!(events.only(), Changes::Rows(rows) if rows.len() == 1));
}
