//! A bank with several clerks, who write, read and follow the same rows. Each can tell whether what it sees can be so: money moves
//! and is never lost, nothing is seen of what was undone, and nobody sees less than before.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    task::{Context, Waker},
    time::Duration,
};

use dice::Rng;
use resqlite::{
    CheckpointMode, CommitId, Database, Options, Row, Rows, Transaction, Value,
    binding::{InlineQuery, Integers, simulated},
    limits,
};
use resqlite_sqlite::{Connection, codes};
use shuttle::{
    future::block_on,
    thread::{self, JoinHandle},
};

use crate::support::{connect, keyed};

const ACCOUNTS: i64 = 4;
const TOTAL: i64 = 100 * ACCOUNTS;
/// The clerks and others who count as one.
pub const CLERKS: usize = 4;
/// A row with this number is the last change.
const LAST: i64 = 99;

pub const SCHEMA: &str = "
    CREATE TABLE account(id INTEGER PRIMARY KEY, amount INTEGER NOT NULL);
    INSERT INTO account VALUES (0, 100), (1, 100), (2, 100), (3, 100);
    CREATE TABLE written(clerk INTEGER PRIMARY KEY, n INTEGER NOT NULL);
    INSERT INTO written VALUES (0, 0), (1, 0), (2, 0), (3, 0);
    CREATE TABLE undone(a);
    CREATE TRIGGER last AFTER INSERT ON written BEGIN
        INSERT INTO account VALUES (99, 0);
        INSERT INTO undone VALUES (99);
    END";
const END: &str = "INSERT INTO written VALUES (99, 99)";
/// Changes nothing, but all who follow have to look.
const TOUCH: &str = "UPDATE account SET amount = amount; UPDATE written SET n = n; DELETE FROM undone";
const COUNT: &str = "UPDATE written SET n = n + 1 WHERE clerk = ?";

/// A question of which somebody follows the answer.
#[derive(Clone, Copy, Debug)]
struct Question {
    sql: &'static str,
    /// Holds for every answer before the last one.
    holds: fn(&[Vec<i64>]) -> bool,
    is_last: fn(&[Vec<i64>]) -> bool,
}

const QUESTIONS: [Question; 6] = [
    Question {
        sql: "SELECT id, amount FROM account ORDER BY id",
        holds: |rows| rows.iter().map(|row| row[1]).sum::<i64>() == TOTAL,
        is_last: |rows| rows.len() > ACCOUNTS as usize,
    },
    Question {
        sql: "SELECT sum(amount), count(*) FROM account",
        holds: |rows| rows == [[TOTAL, ACCOUNTS]],
        is_last: |rows| rows[0][1] > ACCOUNTS,
    },
    Question {
        sql: "SELECT clerk, n FROM written ORDER BY clerk",
        holds: |rows| rows.len() == CLERKS,
        is_last: |rows| rows.len() > CLERKS,
    },
    Question {
        sql: "SELECT clerk, n FROM written WHERE n >= 2 ORDER BY n DESC, clerk LIMIT 2",
        holds: |rows| rows.iter().all(|row| row[1] >= 2) && rows.is_sorted_by(|a, b| a[1] >= b[1]),
        is_last: |rows| rows.iter().any(|row| row[0] == LAST),
    },
    Question {
        sql: "SELECT count(*) FROM undone",
        holds: |rows| rows == [[0]],
        is_last: |rows| rows == [[1]],
    },
    Question {
        sql: "SELECT w.clerk, w.n, a.amount FROM written w JOIN account a ON a.id = w.clerk ORDER BY w.clerk",
        holds: |rows| rows.iter().map(|row| row[2]).sum::<i64>() == TOTAL,
        is_last: |rows| rows.len() > CLERKS,
    },
];

/// The bounds between which the count of a clerk is.
#[derive(Default)]
struct Counted {
    /// At least so often: it was told, or has seen it.
    least: AtomicI64,
    /// At most so often: it has tried.
    most: AtomicI64,
}

/// A process that has the bank's database open.
pub struct Bank {
    db: Database,
    counted: Vec<Counted>,
}

impl Bank {
    pub fn found(path: &str, options: Options) -> Arc<Self> {
        let bank = Self::open(path, options);
        block_on(bank.db.exec(SCHEMA)).unwrap();
        bank
    }

    /// Opens one that is there.
    pub fn open(path: &str, options: Options) -> Arc<Self> {
        let db = block_on(Database::open(path, keyed(options))).unwrap();
        let counted = (0..CLERKS).map(|_| Counted::default()).collect();
        Arc::new(Self { db, counted })
    }

    /// Somebody works for a while.
    pub fn employ(self: &Arc<Self>, clerk: usize, seed: u64, actions: usize) -> JoinHandle<()> {
        let bank = Arc::clone(self);
        thread::spawn(move || {
            let mut clerk = Clerk {
                bank: &bank,
                number: clerk,
                rng: Rng(seed),
                commit: CommitId::default(),
            };
            (0..actions).for_each(|_| clerk.acts());
        })
    }

    /// Somebody follows the answer to a question until the end. Returns the last one.
    pub fn follow(self: &Arc<Self>, seed: u64) -> JoinHandle<()> {
        let (bank, mut rng) = (Arc::clone(self), Rng(seed));
        thread::spawn(move || {
            (0..rng.below(30)).for_each(|_| thread::yield_now());
            let question = *rng.pick(&QUESTIONS);
            let mut live = bank.db.stream(question.sql, ());
            let gives_up = if rng.one_in(4) { rng.below(5) } else { usize::MAX };
            let mut before = None;
            for _ in 0..gives_up {
                let emitted = block_on(live.next()).unwrap().unwrap();
                let rows = integers(emitted.rows().iter());
                if (question.is_last)(&rows) {
                    let expected = bank.ask(question.sql);
                    return assert_eq!(rows, expected, "{}", question.sql);
                }
                assert!((question.holds)(&rows), "{}: {rows:?}", question.sql);
                if question.sql.contains("clerk, n FROM written ORDER BY clerk") {
                    bank.can_be(&rows, before.as_deref().unwrap_or_default());
                }
                assert_ne!(before.as_ref(), Some(&rows), "{}", question.sql);
                before = Some(rows);
            }
        })
    }

    /// Another program counts for a clerk.
    pub fn intrude(self: &Arc<Self>, path: &str, clerk: usize, times: usize) -> JoinHandle<()> {
        let (bank, path) = (Arc::clone(self), path.to_owned());
        thread::spawn(move || {
            let stranger = connect(&path).unwrap();
            for _ in 0..times {
                let counted = &bank.counted[clerk];
                counted.most.fetch_add(1, Relaxed);
                let sql = format!("UPDATE written SET n = n + 1 WHERE clerk = {clerk}");
                retried(&stranger, &sql);
                counted.least.fetch_add(1, Relaxed);
                thread::yield_now();
            }
        })
    }

    /// All have come to an end, and nothing is lost.
    pub fn end(self: Arc<Self>, clerks: Vec<JoinHandle<()>>, followers: Vec<JoinHandle<()>>, rng: &mut Rng) {
        clerks.into_iter().for_each(|clerk| clerk.join().unwrap());
        let rows = self.ask("SELECT clerk, n FROM written ORDER BY clerk");
        self.can_be(&rows, &[]);
        // The last change comes while some look.
        for _ in 0..rng.below(3) {
            block_on(self.db.exec(TOUCH)).unwrap();
            (0..rng.below(10)).for_each(|_| thread::yield_now());
        }
        block_on(self.db.execute(END, ())).unwrap();
        followers
            .into_iter()
            .for_each(|follower| follower.join().unwrap());
        let bank = Arc::into_inner(self).expect("all have ended");
        bank.comes_to_rest();
        block_on(bank.db.close()).unwrap();
    }

    /// After a while nobody holds anything, and connections that were too many are closed.
    fn comes_to_rest(&self) {
        simulated::sleep(4 * limits::THREAD_IDLE);
        let now = self.db.diagnostics();
        assert_eq!((now.leases, now.leases_queued, now.writes_queued), (0, 0, 0));
        assert_eq!((&now.lease_holders[..], &now.transaction), (&[][..], &None));
        // The writer, the watch for other programs, and callers on their own threads may each have one more.
        assert!(now.readers <= now.readers_max + 3, "{now:?}");
    }

    fn ask(&self, sql: &str) -> Vec<Vec<i64>> {
        integers(block_on(self.db.select(sql, ())).unwrap().iter())
    }

    /// Asks on the thread of the caller, if that is possible now.
    fn ask_here(&self, sql: &str, params: &[Value]) -> Option<Vec<Vec<i64>>> {
        let mut rows = Rows::default();
        let query = InlineQuery {
            sql: &sql.into(),
            params: &params.into(),
            integers: Integers::BigInt,
            first: false,
            columns: false,
        };
        let ran = self.db.engine().select_inline(&query, |ran| {
            rows.extend(ran.layout, &ran.batch.to_bytes());
            true
        });
        ran.ok().map(|()| integers(rows.iter()))
    }

    /// The clerks have counted so often, which somebody sees after he has seen `before`.
    fn can_be(&self, rows: &[Vec<i64>], before: &[Vec<i64>]) {
        for (clerk, counted) in self.counted.iter().enumerate() {
            let (n, before) = (rows[clerk][1], before.get(clerk).map_or(0, |row| row[1]));
            let most = counted.most.load(Relaxed);
            assert!(
                before <= n && n <= most,
                "clerk {clerk}: {before} <= {n} <= {most}"
            );
        }
    }
}

struct Clerk<'a> {
    bank: &'a Bank,
    number: usize,
    rng: Rng,
    /// The commit of its last write.
    commit: CommitId,
}

impl Clerk<'_> {
    fn acts(&mut self) {
        match self.rng.below(12) {
            0 | 1 => self.counts(),
            2 => self.moves_money(),
            3 => self.works_in_a_transaction(),
            4 => self.takes_too_long(),
            5 => self.looks_twice(),
            6 => self.looks_row_by_row(),
            7 => self.gives_up(),
            8 => self.copies(),
            9 => self.checkpoints(),
            _ => self.looks(),
        }
    }

    fn counted(&self) -> &Counted {
        &self.bank.counted[self.number]
    }

    fn count(&self) -> [Value; 1] {
        self.counted().most.fetch_add(1, Relaxed);
        [Value::Integer(self.number as i64)]
    }

    fn has_counted(&mut self, commit: CommitId) {
        self.counted().least.fetch_add(1, Relaxed);
        assert!(commit > self.commit, "{commit:?} after {:?}", self.commit);
        self.commit = commit;
    }

    fn counts(&mut self) {
        let written = block_on(self.bank.db.execute(COUNT, self.count())).unwrap();
        self.has_counted(written.commit);
    }

    fn moves_money(&mut self) {
        let sql = "UPDATE account SET amount = amount + iif(id = ?1, -?3, ?3) WHERE id IN (?1, ?2)";
        let (from, amount) = (
            self.rng.below(ACCOUNTS as u64) as i64,
            self.rng.below(50_u64) as i64,
        );
        let to = (from + 1) % ACCOUNTS;
        let params = [from, to, amount].map(Value::Integer);
        block_on(self.bank.db.execute(sql, params)).unwrap();
    }

    /// Sees its own work, and no other's.
    fn works(&mut self, transaction: &Transaction) {
        let amount = self.rng.below(50_u64) as i64;
        let [take, give] = [
            "UPDATE account SET amount = amount - ? WHERE id = 0",
            "UPDATE account SET amount = amount + ? WHERE id = 1",
        ];
        let params = || [Value::Integer(amount)];
        block_on(transaction.execute(take, params())).unwrap();
        let total = block_on(transaction.select("SELECT sum(amount) FROM account", ())).unwrap();
        assert_eq!(integers(total.iter()), [[TOTAL - amount]]);
        block_on(transaction.execute(give, params())).unwrap();
    }

    fn works_in_a_transaction(&mut self) {
        let transaction = block_on(self.bank.db.begin(None)).unwrap();
        self.works(&transaction);
        if self.rng.one_in(2) {
            let count = self.count();
            block_on(transaction.execute(COUNT, count)).unwrap();
            let commit = block_on(transaction.commit()).unwrap();
            return self.has_counted(commit);
        }
        block_on(transaction.exec("INSERT INTO undone VALUES (1)")).unwrap();
        match self.rng.one_in(2) {
            true => block_on(transaction.rollback()).unwrap(),
            false => drop(transaction),
        }
    }

    fn takes_too_long(&mut self) {
        let transaction = block_on(self.bank.db.begin(Some(Duration::from_millis(50)))).unwrap();
        let _ = block_on(transaction.exec("INSERT INTO undone VALUES (1)"));
        simulated::sleep(Duration::from_millis(60));
        let error = block_on(transaction.commit()).unwrap_err();
        assert_eq!(error.code(), "RESQLITE_TIMEOUT", "{error}");
    }

    fn looks(&mut self) {
        let sql = "SELECT (SELECT sum(amount) FROM account), (SELECT count(*) FROM undone),
            (SELECT n FROM written WHERE clerk = ?)";
        let params = [Value::Integer(self.number as i64)];
        let mut here = None;
        for _ in 0..self.rng.below(6) {
            here = here.or_else(|| self.bank.ask_here(sql, &params));
            thread::yield_now();
        }
        let rows =
            here.unwrap_or_else(|| integers(block_on(self.bank.db.select(sql, params)).unwrap().iter()));
        assert_eq!(rows[0][..2], [TOTAL, 0]);
        let (n, counted) = (rows[0][2], self.counted());
        let (least, most) = (counted.least.load(Relaxed), counted.most.load(Relaxed));
        assert!(least <= n && n <= most, "{least} <= {n} <= {most}");
        counted.least.store(n, Relaxed);
    }

    fn looks_twice(&mut self) {
        let snapshot = block_on(self.bank.db.snapshot()).unwrap();
        let all = "SELECT * FROM written UNION ALL SELECT * FROM account";
        let looks = [(); 2].map(|()| {
            (0..self.rng.below(20)).for_each(|_| thread::yield_now());
            integers(block_on(snapshot.select(all, ())).unwrap().iter())
        });
        assert_eq!(looks[0], looks[1]);
        self.looks();
    }

    fn looks_row_by_row(&mut self) {
        let mut cursor = block_on(self.bank.db.iterate("SELECT amount FROM account", (), 1)).unwrap();
        let mut amounts = Vec::new();
        while let Some(rows) = block_on(cursor.next_batch()).unwrap() {
            amounts.extend(integers(rows.iter()).into_iter().flatten());
            if self.rng.one_in(8) {
                return;
            }
            thread::yield_now();
        }
        assert_eq!(amounts.iter().sum::<i64>(), TOTAL);
    }

    fn copies(&mut self) {
        let bytes = block_on(self.bank.db.serialize()).unwrap();
        let copy = block_on(Database::open_bytes(bytes, Options::default())).unwrap();
        let total = block_on(copy.select("SELECT sum(amount) FROM account", ())).unwrap();
        assert_eq!(integers(total.iter()), [[TOTAL]]);
        block_on(copy.close()).unwrap();
    }

    fn checkpoints(&mut self) {
        let modes = [
            CheckpointMode::Passive,
            CheckpointMode::Full,
            CheckpointMode::Restart,
            CheckpointMode::Truncate,
        ];
        let mode = self.rng.one_of(&modes);
        // Somebody may read for longer than it waits.
        if let Err(error) = block_on(self.bank.db.checkpoint(mode)) {
            assert_eq!(error.code(), "SQLITE_BUSY", "{mode:?}: {error}");
        }
    }

    /// It asks for something and does not wait for the answer.
    fn gives_up(&mut self) {
        let db = &self.bank.db;
        let mut asked: Pin<Box<dyn Future<Output = ()>>> = match self.rng.below(3) {
            0 => {
                let count = self.count();
                Box::pin(async move { drop(db.execute(COUNT, count).await) })
            }
            1 => Box::pin(async { drop(db.select("SELECT * FROM account", ()).await) }),
            _ => Box::pin(async { drop(db.begin(None).await) }),
        };
        let _ = asked.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        (0..self.rng.below(20)).for_each(|_| thread::yield_now());
    }
}

/// Tries until nobody else writes.
pub fn retried(stranger: &Connection, sql: &str) {
    while let Err(error) = stranger.execute_script(sql) {
        assert_eq!(error.code() & 0xff, codes::BUSY, "{error}");
        thread::yield_now();
    }
}

/// The rows, all of whose values are integers.
pub fn integers<'a>(rows: impl Iterator<Item = Row<'a>>) -> Vec<Vec<i64>> {
    let integer = |value: &Value| match value {
        Value::Integer(integer) => *integer,
        other => panic!("{other:?} is no integer"),
    };
    rows.map(|row| row.values().iter().map(integer).collect())
        .collect()
}
