//! No SQL, no parameter and no schema ends the process: statements are answered, or refused.
//!
//! A throw is a statement.

mod kinds;

use std::fmt::Write;

use dice::Rng;
use resqlite::{Database, Error, Options, Params, Result, Value, live::MaintenanceExplanation};

use self::kinds::{Deep, KINDS};
use crate::support::{Fixture, block_on, open_with, single};

/// Ways to hand a statement over.
const ENTRIES: usize = 14;

async fn enter(db: &Database, entry: usize, deep: &Deep) -> Result<()> {
    let sql = &*deep.sql;
    let params = || {
        Params::from(
            deep.param
                .iter()
                .map(|text| Value::from(text.as_str()))
                .collect::<Vec<_>>(),
        )
    };
    match entry {
        0 => db.select(sql, params()).await.map(drop),
        1 => db.select_json(sql, params()).await.map(drop),
        2 => db.query(sql, params()).await.map(drop),
        3 => db.execute(sql, params()).await.map(drop),
        4 => {
            let set = deep.param.iter().map(|text| Value::from(text.as_str())).collect();
            db.execute_batch(sql, &[set]).await.map(drop)
        }
        5 => db.batch([(sql, params())]).await.map(drop),
        6 => db.exec(&format!("{sql};{sql}")).await,
        7 => db.describe(sql).await.map(drop),
        8 => db.explain_stream(sql, params()).await.map(drop),
        9 => db
            .stream(sql, params())
            .next()
            .await
            .expect("the database is open")
            .map(drop),
        10 => db
            .select(&format!("EXPLAIN QUERY PLAN {sql}"), params())
            .await
            .map(drop),
        11 => {
            db.transaction(async |step| step.query(sql, params()).await.map(drop))
                .await
        }
        12 => {
            let mut cursor = db.iterate(sql, params(), 10).await?;
            cursor.next_batch().await.map(drop)
        }
        _ => {
            db.exec(&format!("CREATE VIEW seen AS {sql}")).await?;
            db.stream("SELECT * FROM seen", ())
                .next()
                .await
                .expect("the database is open")
                .map(drop)
        }
    }
}

// G204
#[test]
fn whatever_is_deep_or_long_is_answered_or_refused() {
    let all = 10 * KINDS.len() as u64;
    let first = dice::first_seed();
    for seed in first..first + dice::throws(all) {
        let mut random = Rng(seed);
        let (kind, most, make) = KINDS[seed as usize % KINDS.len()];
        // Most bounds lie between two of these.
        let depths = [3, 63, 65, 300, 990, 1_010, 2_010, 40_000];
        let depth = depths[random.below(if dice::is_all() { 8 } else { 3 }) as usize].min(most);
        let entry = random.below(ENTRIES as u64) as usize;
        let is_untrusted = random.below(8) == 0;
        let deep = make(depth);
        // Before the statement, which may end the process.
        println!("{seed}: {kind} {depth}, entry {entry}, untrusted {is_untrusted}");
        let options = Options {
            untrusted: Some(is_untrusted),
            ..Options::default()
        };
        let db = open_with(":memory:", options).unwrap();
        // Where the schema itself is refused, the statement is too.
        let _ = block_on(db.exec(&deep.schema));
        let ended = block_on(enter(&db, entry, &deep));
        assert!(
            !matches!(ended, Err(Error::WorkerDied)),
            "seed {seed}: {}, {depth}, entry {entry}",
            kind
        );
        assert_eq!(block_on(db.select("SELECT 1", ())).unwrap().len(), 1);
        block_on(db.close()).unwrap();
    }
}

/// A database with what a statement of this kind and depth needs, and the statement.
fn made(kind: &str, depth: usize) -> (Fixture, Deep) {
    let deep = make(kind, depth);
    (Fixture::new(&deep.schema), deep)
}

fn make(kind: &str, depth: usize) -> Deep {
    let (_, _, make) = KINDS.iter().find(|(name, ..)| *name == kind).unwrap();
    make(depth)
}

// G204
#[test]
fn a_pattern_as_long_as_sqlite_takes_it_matches() {
    for kind in ["LIKE", "GLOB"] {
        let (fixture, deep) = made(kind, 24_900);
        let pattern = Value::from(deep.param.unwrap());
        let found = block_on(fixture.db.select(&deep.sql, [pattern])).unwrap();
        assert_eq!(single(&found), Value::Integer(1), "{kind}");
    }
}

// G204
#[test]
fn a_long_chain_of_generated_columns_has_its_value() {
    let (fixture, deep) = made("generated columns", 1_000);
    assert_eq!(single(&fixture.select(&deep.sql)), Value::Integer(1_001));
}

// G204
#[test]
fn a_live_query_of_a_long_chain_runs_again_for_every_change() {
    for kind in ["CTEs", "views"] {
        let (fixture, deep) = made(kind, 200);
        assert_eq!(single(&fixture.select(&deep.sql)), Value::Integer(1), "{kind}");
        let explained = block_on(fixture.db.explain_stream(&deep.sql, ())).unwrap();
        let why = "it has too many SELECTs inside each other";
        assert_eq!(explained.tables[0].why.as_deref(), Some(why), "{kind}");
        assert!(
            matches!(explained.maintenance, MaintenanceExplanation::Rerun(_)),
            "{kind}"
        );
        let mut live = fixture.db.stream(&deep.sql, ());
        assert_eq!(crate::support::next_integers(&mut live), [1], "{kind}");
        fixture.run("UPDATE t SET a = 2");
        assert_eq!(crate::support::next_integers(&mut live), [2], "{kind}");
    }
}

// G204
#[test]
fn views_with_expressions_are_merged_until_they_are_too_deep() {
    let (fixture, deep) = made("views of deep expressions", 3);
    assert_eq!(single(&fixture.select(&deep.sql)), Value::Integer(2_701));
    for (kind, depth) in [
        ("views of deep expressions", 9),
        ("views of deep conditions", 9),
        ("views that double an expression", 60),
        ("generated columns of deep expressions", 9),
        ("generated columns that double", 60),
    ] {
        let deep = make(kind, depth);
        let fixture = Fixture::new("");
        // A table with such columns cannot even be made.
        let made = block_on(fixture.db.exec(&deep.schema));
        let refused = made.map_or_else(|error| error, |()| fixture.fails(&deep.sql));
        let refused = refused.to_string();
        assert!(
            refused.contains("an expression that is too large"),
            "{kind}: {refused}"
        );
    }
}

// G204
#[test]
fn views_that_multiply_are_refused_at_once() {
    for kind in [
        "views that join the one before with itself",
        "views that ask the one before twice",
    ] {
        let (fixture, deep) = made(kind, 40);
        let refused = fixture.fails(&deep.sql).to_string();
        assert!(refused.contains("nested too deep"), "{kind}: {refused}");
        // A program that lists what there is must not wait for them either.
        let mut listed = String::new();
        for row in fixture
            .select("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
            .iter()
        {
            write!(listed, "{:?}", row.values()).unwrap();
        }
        assert!(listed.contains("\"t\""), "{kind}: {listed}");
    }
    let (fixture, deep) = made("compounds inside each other", 300);
    let refused = fixture.fails(&deep.sql).to_string();
    assert!(refused.contains("too many terms in compound SELECT"), "{refused}");
}
