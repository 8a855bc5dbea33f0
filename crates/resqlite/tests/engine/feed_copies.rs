//! A copy that is folded from a change feed has what the database has, whatever is written.

use std::collections::BTreeMap;

use dice::Rng;
use resqlite::{
    Value, ValueRef,
    feeds::{ChangeFeed, FeedCommit, FeedOptions},
    live::RowKey,
    log::{EntryTable, Operation, Position, ToldChange},
};

use crate::{
    commit_rows::{Mirror, Named, SCHEMA, TABLES, commit_something, load, name_of},
    support::{Fixture, block_on},
};

/// A table that is made with its content, and dropped again.
const MADE: (&str, &[&str]) = ("made", &["rowid"]);

/// The rows of each table, and how often the tables had to be read again.
struct Copy {
    tables: BTreeMap<&'static str, Mirror>,
    is_stale: bool,
    reads: usize,
    changes: usize,
}

impl Copy {
    fn of(fixture: &Fixture) -> Self {
        let mut copy = Self {
            tables: BTreeMap::new(),
            is_stale: true,
            reads: 0,
            changes: 0,
        };
        copy.read(fixture);
        copy
    }

    fn read(&mut self, fixture: &Fixture) {
        self.tables = contents(fixture);
        self.is_stale = false;
        self.reads += 1;
    }

    fn apply(&mut self, commit: &FeedCommit) {
        self.is_stale |= commit.gap.is_some();
        for operation in commit.entry.operations() {
            match operation {
                Operation::Sql(sql) if sql.starts_with("CREATE TABLE") => {
                    self.tables.insert(MADE.0, Mirror::new());
                }
                Operation::Sql(sql) if sql.starts_with("DROP TABLE") => drop(self.tables.remove(MADE.0)),
                Operation::Sql(_) => self.is_stale = true,
                operation => {
                    let Some((table, changes)) = operation.told() else {
                        continue;
                    };
                    for change in changes.iter().flatten() {
                        self.change(table, change);
                    }
                }
            }
        }
    }

    fn change(&mut self, table: &EntryTable, change: &ToldChange<'_>) {
        let Some(rows) = self.tables.get_mut(table.name.as_str()) else {
            return;
        };
        let key = match &change.key {
            RowKey::Columns(values) => {
                RowKey::Columns(values.iter().map(|value| Value::from(*value)).collect())
            }
            RowKey::Rowid(rowid) => RowKey::Rowid(*rowid),
        };
        let key = name_of(&key, !table.primary_key.is_empty());
        let image = |values: &Vec<ValueRef<'_>>| -> Named {
            let names = table.columns.iter().map(|column| column.name.clone());
            names
                .zip(values.iter().map(|value| Value::from(*value)))
                .collect()
        };
        if !self.is_stale {
            let old = change.old.as_ref().map(image);
            assert_eq!(
                rows.get(&key),
                old.as_ref(),
                "the row before, {key} of {}",
                table.name
            );
        }
        match &change.new {
            Some(new) => rows.insert(key, image(new)),
            None => rows.remove(&key),
        };
        self.changes += 1;
    }
}

fn contents(fixture: &Fixture) -> BTreeMap<&'static str, Mirror> {
    let is_made = fixture.integers("SELECT count(*) FROM sqlite_schema WHERE name = 'made'") == [1];
    let tables = TABLES.into_iter().chain(is_made.then_some(MADE));
    tables.map(|table| (table.0, load(fixture, table))).collect()
}

fn write(fixture: &Fixture, random: &mut Rng) {
    let script = match random.below(24) {
        0 => "DROP TABLE IF EXISTS made; CREATE TABLE made AS SELECT * FROM free",
        1 => "DROP TABLE IF EXISTS made",
        2 => "UPDATE OR IGNORE free SET rowid = rowid + 100 WHERE rowid < 100",
        3 => {
            "INSERT INTO named VALUES (NULL, 1), (NULL, 2); UPDATE OR IGNORE named SET k = v WHERE k IS NULL AND v = 2"
        }
        4 => "BEGIN; UPDATE free SET v = 1; COMMIT",
        _ => return commit_something(fixture, random),
    };
    fixture.exec(script);
}

/// Folds all that was committed into the copy.
fn fold(fixture: &Fixture, feed: &mut ChangeFeed, copy: &mut Copy) {
    let newest = Position(fixture.integers("SELECT position FROM _resqlite_position")[0] as u64);
    while feed.position() < newest {
        copy.apply(&block_on(feed.next()).unwrap());
    }
    if copy.is_stale {
        copy.read(fixture);
    }
}

/// A throw is a round.
// G317
#[test]
fn a_copy_that_is_folded_from_a_feed_equals_the_database() {
    let (rounds, first) = (dice::throws(30), dice::first_seed());
    let (mut changes, mut reads) = (0, 0);
    for seed in first..first + rounds {
        let random = &mut Rng(seed);
        let fixture = Fixture::new(SCHEMA);
        let mut feed = block_on(fixture.db.feed(FeedOptions::named("copy"))).unwrap();
        let mut copy = Copy::of(&fixture);
        for step in 0..60 {
            for _ in 0..=random.below(3) {
                write(&fixture, random);
            }
            fold(&fixture, &mut feed, &mut copy);
            assert_eq!(copy.tables, contents(&fixture), "seed {seed}, step {step}");
        }
        changes += copy.changes;
        reads += copy.reads;
    }
    println!("{changes} changes, {reads} times read again");
    assert!(!dice::throws_all() || changes as u64 > 300 * rounds && reads as u64 > rounds);
}
