//! Threads write while maintained results are told: every emission shows one committed state.
//!
//! Each transaction changes several tables that a query joins, in ways that hold only together. A result into which rows
//! of two states were mixed breaks one of these rules.

use std::{collections::BTreeMap, sync::Arc, thread};

use dice::Rng;
use pollster::block_on;
use resqlite::{
    Database, Options, Result, Value,
    binding::Integers,
    live::{LiveQueryRequest, Maintenance, Subscription},
};
use resqlite_live::limits::SAVED_STATES;
use resqlite_sqlite::{Access, Connection};

use crate::{
    listening::{Fold, Notes},
    streams::{wait_for, wait_until_quiet},
    world::{all_or_nothing, path_in},
};

const ACCOUNTS: usize = 24;
const TOTAL: i64 = 100 * ACCOUNTS as i64;
const SCHEDULES: u64 = 40;
const WRITERS: u64 = 4;
/// Of one writer.
const TRANSFERS: usize = 60;

/// An owner's total is that of the accounts, and who owes has a warning.
const SCHEMA: &str = "
    CREATE TABLE owner(id INTEGER PRIMARY KEY, total INTEGER NOT NULL);
    CREATE TABLE account(id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, balance INTEGER NOT NULL);
    CREATE TABLE warning(account INTEGER PRIMARY KEY) WITHOUT ROWID;
    CREATE INDEX by_owner ON account(owner);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 24)
        INSERT INTO account SELECT i, i % 6, 100 FROM n;
    INSERT INTO owner SELECT owner, sum(balance) FROM account GROUP BY owner;
    CREATE TRIGGER moved AFTER UPDATE ON account BEGIN
        UPDATE owner SET total = total - OLD.balance WHERE id = OLD.owner;
        UPDATE owner SET total = total + NEW.balance WHERE id = NEW.owner;
        DELETE FROM warning WHERE account = NEW.id;
        INSERT INTO warning SELECT NEW.id WHERE NEW.balance < 0;
    END";

const ADD: &str = "UPDATE account SET balance = balance + ? WHERE id = ?";

/// A query, and by what its rows are ordered.
type Query = (&'static str, fn(&Line) -> (i64, i64));

/// Columns: account, balance, owner, the owner's total, the warning. The rows of each query must have its own order.
const QUERIES: [Query; 4] = [
    (
        "SELECT a.id, balance, owner, total, w.account FROM account AS a JOIN owner AS o ON o.id = a.owner \
         LEFT JOIN warning AS w ON w.account = a.id ORDER BY balance, a.id",
        |line| (line.balance, line.account),
    ),
    (
        "SELECT a.id, balance, o.id, total, w.account FROM owner AS o JOIN account AS a ON o.id = a.owner \
         LEFT JOIN warning AS w ON w.account = a.id ORDER BY total DESC, a.id",
        |line| (-line.total, line.account),
    ),
    (
        "SELECT a.id, a.balance, a.owner, o.total, w.account FROM account AS a \
         LEFT JOIN warning AS w ON w.account = a.id LEFT JOIN owner AS o ON o.id = a.owner ORDER BY a.id DESC",
        |line| (-line.account, 0),
    ),
    (
        "SELECT a.id, b.balance, b.owner, total, w.account FROM account AS a JOIN account AS b ON a.id = b.id \
         JOIN owner AS o ON o.id = b.owner LEFT JOIN warning AS w ON w.account = b.id ORDER BY a.owner, b.balance",
        |line| (line.owner, line.balance),
    ),
];

struct Line {
    account: i64,
    balance: i64,
    owner: i64,
    total: i64,
    is_warned: bool,
}

fn line(row: &[Value]) -> std::result::Result<Line, String> {
    let [
        Value::Integer(account),
        Value::Integer(balance),
        Value::Integer(owner),
        Value::Integer(total),
        warning,
    ] = row
    else {
        return Err(format!("{row:?} is no account"));
    };
    Ok(Line {
        account: *account,
        balance: *balance,
        owner: *owner,
        total: *total,
        is_warned: *warning != Value::Null,
    })
}

/// Whether the rows can be those of one state.
fn audit(kind: usize, part: &Fold) -> std::result::Result<(), String> {
    let lines: Vec<Line> = part
        .rows
        .iter()
        .map(|row| line(row))
        .collect::<std::result::Result<_, _>>()?;
    let mut totals: BTreeMap<i64, i64> = BTreeMap::new();
    for line in &lines {
        *totals.entry(line.owner).or_default() += line.balance;
    }
    if lines.len() != ACCOUNTS || totals.values().sum::<i64>() != TOTAL {
        return Err(format!("{} accounts have {totals:?}", lines.len()));
    }
    for line in &lines {
        if totals[&line.owner] != line.total || line.is_warned != (line.balance < 0) {
            return Err(format!(
                "account {} of {} does not fit {:?}",
                line.account, line.owner, part.rows
            ));
        }
    }
    match lines.is_sorted_by_key(QUERIES[kind].1) {
        true => Ok(()),
        false => Err(format!("the order is wrong: {:?}", part.rows)),
    }
}

/// A stream of groups beside the totals and the warnings that they must fit. The first one has a row for each owner who
/// has accounts.
const GROUPS: [&str; 4] = [
    "SELECT owner, sum(balance), count(*), min(balance) FROM account GROUP BY owner ORDER BY sum(balance) DESC",
    "SELECT count(*), sum(balance), count(*) FILTER (WHERE balance < 0), count(owner) FROM account",
    "SELECT id, total FROM owner ORDER BY id",
    "SELECT account FROM warning",
];

fn audit_groups(parts: &[Fold]) -> std::result::Result<(), String> {
    let integer = |value: &Value| match value {
        Value::Integer(integer) => *integer,
        other => panic!("{other:?} is no integer"),
    };
    let rows = |part: usize| {
        parts[part]
            .rows
            .iter()
            .map(|row| row.iter().map(integer).collect::<Vec<_>>())
    };
    let [groups, totals]: [BTreeMap<i64, i64>; 2] =
        [0, 2].map(|part| rows(part).map(|row| (row[0], row[1])).collect());
    let accounts: i64 = rows(0).map(|row| row[2]).sum();
    let is_possible = |row: Vec<i64>| row[3] * row[2] <= row[1];
    let fits = |(owner, total): (&i64, &i64)| groups.get(owner).copied().unwrap_or(0) == *total;
    let all = vec![
        ACCOUNTS as i64,
        TOTAL,
        parts[3].rows.len() as i64,
        ACCOUNTS as i64,
    ];
    let holds = totals.iter().all(fits)
        && accounts == ACCOUNTS as i64
        && rows(0).all(is_possible)
        && rows(0).map(|row| -row[1]).is_sorted()
        && rows(1).eq([all]);
    match holds {
        true => Ok(()),
        false => Err(format!("{groups:?} {totals:?} {:?}", parts[1].rows)),
    }
}

fn watch_groups(db: &Database) -> Vec<Watched> {
    let request = LiveQueryRequest {
        queries: GROUPS.iter().map(|&sql| (sql.into(), ().into())).collect(),
        integers: Integers::BigInt,
        verify: 0.0,
        maintenance: Maintenance::Always,
    };
    let notes = Notes::default();
    let listener = notes.audited_listener(GROUPS.len(), audit_groups);
    let subscription = db.engine().subscribe(request, listener);
    vec![Watched { notes, subscription }]
}

fn watch_joins(db: &Database) -> Vec<Watched> {
    let kinds: [&[usize]; 6] = [&[0], &[1], &[2], &[3], &[0, 2], &[3, 1, 2]];
    kinds.into_iter().map(|kinds| watch(db, kinds)).collect()
}

struct Watched {
    notes: Notes,
    subscription: Subscription,
}

/// A stream of one of the queries, or of all: then all show the same state.
fn watch(db: &Database, kinds: &'static [usize]) -> Watched {
    let request = LiveQueryRequest {
        queries: kinds
            .iter()
            .map(|&kind| (QUERIES[kind].0.into(), ().into()))
            .collect(),
        integers: Integers::BigInt,
        verify: 0.0,
        maintenance: Maintenance::Always,
    };
    let notes = Notes::default();
    let listener = notes.audited_listener(kinds.len(), move |parts| {
        for (&kind, part) in kinds.iter().zip(parts) {
            audit(kind, part)?;
        }
        let balances = |part: &Fold| {
            let balances = part.rows.iter().filter_map(|row| line(row).ok());
            balances
                .map(|line| (line.account, line.balance))
                .collect::<BTreeMap<_, _>>()
        };
        match parts.iter().all(|part| balances(part) == balances(&parts[0])) {
            true => Ok(()),
            false => Err("the queries of one stream show different states".into()),
        }
    });
    let subscription = db.engine().subscribe(request, listener);
    Watched { notes, subscription }
}

/// A stream of a query whose rows must follow no rule here.
fn watch_one(db: &Database, sql: &str) -> Watched {
    let request = LiveQueryRequest {
        queries: vec![(sql.into(), ().into())],
        integers: Integers::BigInt,
        verify: 0.0,
        maintenance: Maintenance::Always,
    };
    let notes = Notes::default();
    let subscription = db.engine().subscribe(request, notes.listener(1));
    wait_until_quiet(db.engine()).expect("streams come to rest");
    Watched { notes, subscription }
}

async fn transfer(db: &Database, rng: &mut Rng) -> Result<()> {
    let from = 1 + rng.below(ACCOUNTS);
    let to = 1 + (from + rng.below(ACCOUNTS - 1)) % ACCOUNTS;
    let (from, to, amount) = (from as i64, to as i64, rng.below(90) as i64);
    let set = |amount: i64, id: i64| vec![Value::Integer(amount), id.into()];
    match rng.below(4) {
        0 | 1 => drop(
            db.execute_batch(ADD, &[set(-amount, from), set(amount, to)])
                .await?,
        ),
        2 => {
            let sql = "UPDATE account SET owner = (owner + ?) % 6 WHERE id IN (?, ?)";
            db.execute(sql, [amount.into(), from.into(), to.into()]).await?;
        }
        _ => {
            let transaction = db.begin(None).await?;
            for (amount, id) in [(-amount, from), (amount - 1, to), (1, to)] {
                transaction.execute(ADD, &set(amount, id)[..]).await?;
            }
            transaction.commit().await?;
        }
    }
    Ok(())
}

fn open(path: &str, readers: usize, watch_external: bool) -> Arc<Database> {
    let options = Options {
        readers: Some(readers),
        watch_external: Some(watch_external),
        ..Options::default()
    };
    let db = block_on(Database::open(path, options)).expect("the database opens");
    block_on(db.exec(SCHEMA)).expect("the schema is right");
    Arc::new(db)
}

fn check(db: &Database, all: &[Watched]) {
    wait_until_quiet(db.engine()).expect("streams come to rest");
    for watched in all {
        let told = watched.notes.lock();
        assert!(told.problems.is_empty(), "{:?}", told.problems[0]);
        assert_eq!(told.error, None);
    }
}

// G137
#[test]
fn every_emission_of_a_maintained_result_is_one_state() {
    look_at_transfers(watch_joins);
}

// G144
#[test]
fn every_emission_of_maintained_groups_is_one_state() {
    look_at_transfers(watch_groups);
}

fn look_at_transfers(watch: fn(&Database) -> Vec<Watched>) {
    let (mut maintained, first) = (0, dice::first_seed());
    for seed in first..first + dice::throws(SCHEDULES) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = if seed % 2 == 0 {
            ":memory:".into()
        } else {
            path_in(&folder, "main.db")
        };
        let db = open(&path, 1 + seed as usize % 3, true);
        let all = watch(&db);
        wait_until_quiet(db.engine()).expect("streams come to rest");
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let db = &db;
                scope.spawn(move || {
                    let mut rng = Rng(seed.wrapping_mul(100) + writer);
                    for _ in 0..TRANSFERS {
                        block_on(transfer(db, &mut rng)).expect("a transfer never fails");
                    }
                });
            }
        });
        check(&db, &all);
        let stats = all.iter().map(|watched| watched.subscription.stats());
        for stats in stats {
            maintained += stats.maintained;
        }
    }
    assert!(!dice::throws_all() || maintained > 0, "no re-run was maintained");
}

/// The engine is not told of what somebody else commits; its own next commit brings it to light, as a whole.
// G137
#[test]
fn a_maintained_result_holds_all_or_nothing_of_a_foreign_commit() {
    look_at_foreign_commits(watch_joins, None);
}

// G144
#[test]
fn maintained_groups_hold_all_or_nothing_of_a_foreign_commit() {
    look_at_foreign_commits(watch_groups, None);
}

/// Commits that do not reach the file must not be taken for the foreign one.
// G137
#[test]
fn commits_to_temporary_tables_hide_no_foreign_commit() {
    let elsewhere = ("CREATE TEMP TABLE scratch(a)", "INSERT INTO scratch VALUES (1)");
    look_at_foreign_commits(watch_joins, Some(elsewhere));
    look_at_foreign_commits(watch_groups, Some(elsewhere));
}

// G137
#[test]
fn commits_to_attached_databases_hide_no_foreign_commit() {
    let attach = "ATTACH '{folder}/other.db' AS other; CREATE TABLE other.scratch(a)";
    let elsewhere = (attach, "INSERT INTO other.scratch VALUES (1)");
    look_at_foreign_commits(watch_joins, Some(elsewhere));
}

/// `elsewhere`: what is made first, and a write that the engine makes elsewhere after each foreign commit.
fn look_at_foreign_commits(watch: fn(&Database) -> Vec<Watched>, elsewhere: Option<(&str, &str)>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = path_in(&folder, "main.db");
    let db = open(&path, 2, false);
    let all = watch(&db);
    if let Some((create, _)) = elsewhere {
        let create = create.replace("{folder}", folder.path().to_str().expect("a path in UTF-8"));
        block_on(db.exec(&create)).expect("there is another place");
    }
    let stranger = Connection::open(&path, Access::ReadWriteCreate, None).expect("another connection");
    let mut rng = Rng(1);
    for _ in 0..20 {
        block_on(transfer(&db, &mut rng)).expect("a transfer never fails");
        check(&db, &all);
        let (from, to) = (1 + rng.below(12), 13 + rng.below(12));
        let moved = format!(
            "UPDATE account SET balance = balance - 7 WHERE id = {from}; \
             UPDATE account SET balance = balance + 7 WHERE id = {to}"
        );
        all_or_nothing(&stranger, &moved).expect("the stranger can write");
        if let Some((_, write)) = elsewhere {
            block_on(db.exec(write)).expect("there can be written");
        }
        block_on(transfer(&db, &mut rng)).expect("a transfer never fails");
        check(&db, &all);
    }
    let maintained: u64 = all
        .iter()
        .map(|watched| watched.subscription.stats().maintained)
        .sum();
    assert!(maintained > 0, "nothing was maintained");
}

/// The log holds a limited number of bytes. For commits that it has dropped, the whole statement runs.
// G139
#[test]
fn more_commits_than_the_log_holds_are_one_step_as_a_whole() {
    const QUERY: &str = "SELECT id, length(body) FROM t WHERE body >= 'a' ORDER BY id";
    let db = block_on(Database::open(":memory:", Options::default())).expect("the database opens");
    let insert = |id: i64, length: usize| {
        let row = [id.into(), "b".repeat(length).into()];
        block_on(db.execute("INSERT INTO t VALUES (?, ?)", row)).expect("a row can be written");
    };
    block_on(db.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)")).expect("the schema is right");
    let Watched { notes, subscription } = watch_one(&db, QUERY);
    notes.lock().set_lag(true);
    insert(0, 1);
    wait_for("the emission is held back", || notes.lock().unacknowledged).expect("it comes");
    for id in 1..10 {
        insert(id, if id < 3 { 1 } else { 6 << 20 });
    }
    {
        let mut told = notes.lock();
        told.set_lag(false);
        told.unacknowledged = false;
    }
    subscription.delivered();
    wait_until_quiet(db.engine()).expect("streams come to rest");
    let fresh = block_on(db.select(QUERY, ())).expect("the query works");
    let told = notes.lock();
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    assert_eq!(told.parts[0].rows.len(), 10);
    assert!(told.parts[0].equals(&Fold::of(&fresh)));
}

/// Rows that come after the first run count, too.
// G139
#[test]
fn rows_that_become_too_many_are_not_kept() {
    is_kept_until_it_is_too_large("SELECT id FROM t ORDER BY body, id", 24_000_000, 3);
}

// G139
#[test]
fn groups_that_become_too_large_are_not_kept() {
    is_kept_until_it_is_too_large("SELECT count(*) FROM t GROUP BY body", 8_000_000, 6);
}

/// `row`: the size of each row in bytes, of which two are kept; `enough`: the number of rows that are too large.
fn is_kept_until_it_is_too_large(query: &str, row: i64, enough: i64) {
    let db = block_on(Database::open(":memory:", Options::default())).expect("the database opens");
    block_on(db.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)")).expect("the schema is right");
    let watched = watch_one(&db, query);
    let insert = |id: i64| {
        let sql = "INSERT INTO t VALUES (?1, printf('%08d%.*c', ?1, ?2, 'x'))";
        block_on(db.execute(sql, [id.into(), row.into()])).expect("a row can be written");
        wait_until_quiet(db.engine()).expect("streams come to rest");
        watched.subscription.stats().maintained
    };
    insert(1);
    assert!(insert(2) > 0, "nothing was maintained");
    let most = (3..=enough).map(insert).max();
    let after = insert(enough + 1);
    assert_eq!(after, most.unwrap_or_default(), "all of it is kept");
    let told = watched.notes.lock();
    assert!(told.problems.is_empty(), "{:?}", told.problems);
    assert_eq!(told.parts[0].rows.len() as i64, enough + 1);
}

/// A savepoint with very many statements is undone for the log only in part.
// G144
#[test]
fn undone_work_that_the_log_tells_is_not_counted() {
    const QUERY: &str = "SELECT count(*), sum(id) FROM t";
    let db = block_on(Database::open(":memory:", Options::default())).expect("the database opens");
    block_on(db.exec("CREATE TABLE t(id INTEGER PRIMARY KEY)")).expect("the schema is right");
    let watched = watch_one(&db, QUERY);
    let insert = async |id: usize| {
        let row = [(id as i64).into()];
        db.execute("INSERT INTO t VALUES (?)", row).await
    };
    for id in [1, 2, 3] {
        block_on(insert(id)).expect("a row can be written");
        wait_until_quiet(db.engine()).expect("streams come to rest");
    }
    let maintained = watched.subscription.stats().maintained;
    assert!(maintained > 0, "nothing was maintained");
    block_on(db.transaction(async |transaction| {
        let insert = async |id: usize| {
            let row = [(id as i64).into()];
            transaction.execute("INSERT INTO t VALUES (?)", row).await
        };
        insert(4).await?;
        transaction.savepoint(1).await?;
        for id in 5..SAVED_STATES + 7 {
            insert(id).await?;
        }
        transaction.rollback_to(1).await
    }))
    .expect("a transaction never fails");
    wait_until_quiet(db.engine()).expect("streams come to rest");
    let told = watched.notes.lock();
    assert_eq!(told.parts[0].rows, [[4, 10].map(Value::Integer).to_vec()]);
    assert_eq!(
        watched.subscription.stats().maintained,
        maintained,
        "the whole query ran"
    );
}
