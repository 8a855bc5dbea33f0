//! Money moves between accounts, never out of the bank: what every emission must show while it does.

use std::{sync::Arc, thread};

use dice::Rng;
use pollster::block_on;
use resqlite::{
    Database, Options, Result, Value, WriteResult,
    binding::Integers,
    live::{LiveQueryRequest, Maintenance, Subscription},
};

use crate::{
    key::keyed,
    listening::{Fold, Notes},
    streams::wait_until_quiet,
};

const ACCOUNTS: i64 = 24;
const EACH: i64 = 100;
const TOTAL: i64 = ACCOUNTS * EACH;
const WRITERS: u64 = 3;
/// After each, all come to rest.
const ROUNDS: u64 = 10;
/// Of one writer in one round.
const TRANSFERS: usize = 40;

/// Each change of a balance is written down by a trigger, in the same transaction.
const SCHEMA: &str = "
    CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
    CREATE TABLE ledger(account INTEGER NOT NULL, amount INTEGER NOT NULL);
    CREATE INDEX by_account ON ledger(account);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 24)
        INSERT INTO account SELECT i, 100 FROM n;
    CREATE TRIGGER written_down AFTER UPDATE OF balance ON account
        BEGIN INSERT INTO ledger VALUES (NEW.id, NEW.balance - OLD.balance); END";

const ADD: &str = "UPDATE account SET balance = balance + ? WHERE id = ?";

type Audit = fn(&[Fold]) -> Result<(), String>;

/// Queries, and what holds of their results in every emission.
const STREAMS: [(&[&str], Audit); 5] = [
    (&["SELECT sum(balance) FROM account"], total_is_constant),
    (
        &["SELECT id, balance FROM account ORDER BY balance, id"],
        list_is_complete,
    ),
    (
        &[
            "SELECT sum(balance) FROM account WHERE id <= 12",
            "SELECT sum(balance) FROM account WHERE id > 12",
        ],
        halves_agree,
    ),
    (
        &[
            "SELECT balance FROM account WHERE id = 1",
            "SELECT coalesce(sum(amount), 0) FROM ledger WHERE account = 1",
        ],
        ledger_agrees,
    ),
    (&["SELECT balance FROM account WHERE id = 999"], is_empty),
];

fn integer(fold: &Fold, row: usize, column: usize) -> Result<i64, String> {
    match fold.rows.get(row).and_then(|row| row.get(column)) {
        Some(Value::Integer(value)) => Ok(*value),
        other => Err(format!("{other:?} is no balance")),
    }
}

fn expect(what: &str, is: i64, should_be: i64) -> Result<(), String> {
    if is == should_be {
        Ok(())
    } else {
        Err(format!("{what} is {is}, not {should_be}"))
    }
}

fn total_is_constant(parts: &[Fold]) -> Result<(), String> {
    expect("the total", integer(&parts[0], 0, 0)?, TOTAL)
}

fn list_is_complete(parts: &[Fold]) -> Result<(), String> {
    let rows = parts[0].rows.len();
    let sum: Result<i64, String> = (0..rows).map(|row| integer(&parts[0], row, 1)).sum();
    expect("the number of accounts", rows as i64, ACCOUNTS)?;
    expect("the sum of the list", sum?, TOTAL)
}

fn halves_agree(parts: &[Fold]) -> Result<(), String> {
    let sum = integer(&parts[0], 0, 0)? + integer(&parts[1], 0, 0)?;
    expect("the sum of both halves", sum, TOTAL)
}

fn ledger_agrees(parts: &[Fold]) -> Result<(), String> {
    let written_down = EACH + integer(&parts[1], 0, 0)?;
    expect("the balance", integer(&parts[0], 0, 0)?, written_down)
}

fn is_empty(parts: &[Fold]) -> Result<(), String> {
    expect("the number of rows", parts[0].rows.len() as i64, 0)
}

struct Watched {
    kind: usize,
    notes: Notes,
    subscription: Subscription,
}

fn watch(db: &Database, kind: usize, verify: f64) -> Watched {
    let (queries, audit) = STREAMS[kind];
    let request = LiveQueryRequest {
        queries: queries.iter().map(|&sql| (sql.into(), ().into())).collect(),
        integers: Integers::BigInt,
        verify,
        maintenance: Maintenance::Always,
    };
    let notes = Notes::default();
    let listener = notes.audited_listener(queries.len(), audit);
    let subscription = db.engine().subscribe(request, listener);
    Watched {
        kind,
        notes,
        subscription,
    }
}

impl Watched {
    fn check(&self) {
        let told = self.notes.lock();
        let queries = STREAMS[self.kind].0;
        assert!(told.problems.is_empty(), "{queries:?}: {:?}", told.problems);
        assert_eq!(told.error, None, "{queries:?}");
        assert_eq!(self.subscription.stats().missed, 0, "{queries:?}");
    }

    fn check_at_rest(&self, db: &Database) {
        self.check();
        let told = self.notes.lock();
        assert!(told.emissions > 0);
        for (sql, part) in STREAMS[self.kind].0.iter().zip(&told.parts) {
            let fresh = block_on(db.select(sql, ())).expect("the query works");
            assert!(
                part.equals(&Fold::of(&fresh)),
                "{sql}: {:?} is not {fresh:?}",
                part.rows
            );
        }
    }
}

/// One transfer, in one of the ways in which programs make them.
async fn transfer(db: &Database, rng: &mut Rng) -> Result<()> {
    let from = 1 + rng.below(ACCOUNTS as usize) as i64;
    let to = 1 + (from + rng.below(ACCOUNTS as usize - 1) as i64) % ACCOUNTS;
    let amount = rng.below(50) as i64;
    let sets = [
        vec![Value::Integer(-amount), from.into()],
        vec![amount.into(), to.into()],
    ];
    match rng.below(6) {
        0 => drop(db.execute_batch(ADD, &sets).await?),
        1 => {
            let sql = "UPDATE account SET balance = balance + CASE id WHEN ?1 THEN -?3 ELSE ?3 END \
                       WHERE id IN (?1, ?2)";
            db.execute(sql, [from.into(), to.into(), amount.into()]).await?;
        }
        2 => {
            let half = |amount: i64, id: i64| {
                format!("UPDATE account SET balance = balance + {amount} WHERE id = {id}")
            };
            db.exec(&format!("{}; {}", half(-amount, from), half(amount, to)))
                .await?;
        }
        way => in_steps(db, &sets, way).await?,
    }
    Ok(())
}

/// In a transaction with a savepoint that is undone, and sometimes all of it.
async fn in_steps(db: &Database, sets: &[Vec<Value>], way: usize) -> Result<()> {
    let transaction = db.begin(None).await?;
    transaction.execute(ADD, &sets[0][..]).await?;
    transaction.savepoint(1).await?;
    let lost: WriteResult = transaction.execute(ADD, &sets[0][..]).await?;
    assert_eq!(lost.changes, 1);
    transaction.rollback_to(1).await?;
    if way == 5 {
        return transaction.rollback().await;
    }
    transaction.execute(ADD, &sets[1][..]).await?;
    transaction.commit().await.map(drop)
}

fn write(db: &Database, seed: u64) {
    let mut rng = Rng(seed);
    for _ in 0..TRANSFERS {
        block_on(transfer(db, &mut rng)).expect("a transfer never fails");
    }
}

/// Subscribes and unsubscribes while the others write.
fn come_and_go(db: &Database, seed: u64) {
    let mut rng = Rng(seed);
    let mut open: Vec<Watched> = Vec::new();
    for _ in 0..TRANSFERS {
        if open.len() > 6 || (!open.is_empty() && rng.chance(40)) {
            let at = rng.below(open.len());
            open.swap_remove(at).check();
        }
        open.push(watch(db, rng.below(STREAMS.len()), 0.3));
        // Others' turn.
        block_on(db.select("SELECT 1", ())).expect("a query that works");
    }
    open.iter().for_each(Watched::check);
}

// G106
#[test]
fn no_emission_shows_money_that_is_on_its_way() {
    let first = dice::first_seed();
    for seed in first..first + dice::throws(30) {
        let options = Options {
            readers: Some(2 + seed as usize % 2),
            ..Options::default()
        };
        let db = Arc::new(block_on(Database::open(":memory:", keyed(options))).expect("the database opens"));
        block_on(db.exec(SCHEMA)).expect("the schema is right");
        let all: Vec<Watched> = (0..2 * STREAMS.len())
            .map(|number| watch(&db, number / 2, if number % 2 == 0 { 0.0 } else { 0.5 }))
            .collect();
        // A commit before it is known what a query depends on is not decoded for it.
        wait_until_quiet(db.engine()).expect("streams come to rest");
        for round in 0..ROUNDS {
            let seed = 1000 * seed + 10 * round;
            thread::scope(|scope| {
                for writer in 0..WRITERS {
                    let db = &db;
                    scope.spawn(move || write(db, seed + writer));
                }
                scope.spawn(|| come_and_go(&db, seed + WRITERS));
            });
            wait_until_quiet(db.engine()).expect("streams come to rest");
            all.iter().for_each(|watched| watched.check_at_rest(&db));
        }
        let balances = all[2].notes.lock().emissions as u64;
        assert!(balances > ROUNDS, "the list was told only {balances} times");
        assert_eq!(
            all[9].notes.lock().emissions,
            1,
            "what never changes is told once"
        );
        let stats = all[8].subscription.stats();
        assert_eq!(stats.reruns, 0, "no commit concerns an account that is not there");
        assert!(stats.skipped_by_key > ROUNDS);
    }
}
