//! What an engine is asked to write while its disk is recorded.

use std::{
    path::Path,
    sync::{Arc, mpsc},
};

use dice::Rng;
use resqlite::{
    CommitId, Durability, Options, Params, Result,
    binding::{
        ColumnLayout, Engine, Handle, Integers, Outcome, ParamSets, Reply, RowBatch, Session, Token, Write,
        WriteOp,
    },
};
use resqlite_sqlite::fault_vfs::{Call, Event, Plan, Tap, What};

use crate::key::keyed;

/// Writes of one kind, or of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    Normal,
    Full,
    Mixed,
    /// Of both, on a disk that fails now and then.
    Failing,
    /// Of full durability, on such a disk.
    FailingFull,
}

impl Promise {
    pub fn is_full(self) -> bool {
        matches!(self, Self::Full | Self::FailingFull)
    }

    pub fn disk_fails(self) -> bool {
        matches!(self, Self::Failing | Self::FailingFull)
    }
}

/// A write, and what its caller was told.
#[derive(Debug, Clone, Copy)]
pub struct Told {
    pub number: i64,
    /// The commit that holds it, counted anew whenever the file is opened; `None`: it was refused.
    pub commit: Option<(u32, CommitId)>,
    /// How many events there had been when its caller was told.
    pub position: usize,
    /// Whether it was promised to outlive a power cut.
    pub full: bool,
}

/// What happened.
pub struct Recorded {
    pub events: Vec<Event>,
    /// In the order in which they were asked for.
    pub told: Vec<Told>,
}

pub const FILE: &str = "a.db";
/// How many rows there are that writes replace in turn.
pub const KEYS: i64 = 17;
const STEPS: usize = 18;
/// Bytes of a large write: more pages than the engine leaves in the log, if they are small.
const LARGE: i64 = 550_000;

/// A write is a row in `log`, by which others change. The text of a row comes from the number of the write.
const SCHEMA: &str = "
    CREATE TABLE log(id INTEGER PRIMARY KEY, big BLOB);
    CREATE TABLE item(k INTEGER PRIMARY KEY, v INTEGER UNIQUE, pad TEXT);
    CREATE TABLE tally(n INTEGER, total INTEGER);
    INSERT INTO tally VALUES (0, 0);
    CREATE TRIGGER logged AFTER INSERT ON log BEGIN
        INSERT OR REPLACE INTO item
        VALUES (new.id % 17, new.id, printf('%.*c', 20 + new.id * new.id * 31 % 2900, char(65 + new.id % 26)));
        UPDATE tally SET n = n + 1, total = total + new.id;
    END";
const WRITE: &str = "INSERT INTO log VALUES (?1, zeroblob(?2))";

/// The number of the commit, and how many events there had been.
type Answer = (Result<CommitId>, usize);

/// Tells, on the engine's thread.
struct Teller {
    tap: Arc<Tap>,
    told: mpsc::Sender<Answer>,
}

impl Reply for Teller {
    fn rows(&mut self, _: &Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
        true
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        let commit = outcome.map(|outcome| match outcome {
            Outcome::Written(_, written) => written.commit,
            _ => CommitId::default(),
        });
        // Nobody listens to the end of a transaction that was dropped.
        let _ = self.told.send((commit, self.tap.position()));
    }
}

/// Waits for what it tells.
struct Waiting {
    number: i64,
    full: bool,
    told: mpsc::Receiver<Answer>,
}

struct Run {
    opened: u32,
    engine: Arc<Engine>,
    tap: Arc<Tap>,
    rng: Rng,
    promise: Promise,
    last: i64,
    told: Vec<Told>,
}

/// Writes at random from an empty folder on.
pub fn run(folder: &Path, seed: u64, promise: Promise) -> Recorded {
    let tap = Arc::new(Tap::on(folder).expect("a folder"));
    tap.record();
    let mut rng = Rng(seed);
    let page_size = *rng.pick(&[512, 1024, 4096]);
    let options = keyed(Options {
        pragmas: vec![("page_size".into(), page_size.to_string())],
        ..Options::default()
    });
    let path = folder.join(FILE);
    let path = path.to_str().expect("UTF-8");
    let (mut last, mut told) = (0, Vec::new());
    for opened in 0..rng.between(1, 2) as u32 {
        let handle = Handle::open(path, &options).expect("nothing fails");
        let mut run = Run {
            opened,
            engine: Arc::clone(handle.engine()),
            tap: Arc::clone(&tap),
            rng: Rng(rng.any()),
            promise,
            last,
            told: Vec::new(),
        };
        if opened == 0 {
            run.make(WriteOp::Script(SCHEMA.into()))
                .expect("nothing fails yet");
        }
        for _ in 0..STEPS {
            run.fail_soon();
            run.step();
            tap.heal();
        }
        last = run.last;
        told.append(&mut run.told);
        drop(run);
        handle.close();
    }
    Recorded {
        events: tap.recorded(),
        told,
    }
}

impl Run {
    fn step(&mut self) {
        let group = self.rng.between(2, 7);
        match self.rng.below(20) {
            0..9 => self.write_together(1),
            9..13 => self.write_together(group),
            13..16 => self.transaction(),
            16 => {
                self.statement("UPDATE log SET big = NULL");
                self.statement("VACUUM");
            }
            _ => {
                let how = *self
                    .rng
                    .pick(&["PASSIVE", "PASSIVE", "FULL", "RESTART", "TRUNCATE"]);
                self.statement(&format!("PRAGMA wal_checkpoint({how})"));
            }
        }
    }

    fn statement(&mut self, sql: &str) {
        let (sql, params) = (sql.into(), Params::default());
        let done = self.make(WriteOp::Execute { sql, params });
        assert!(done.is_ok() || self.promise.disk_fails(), "{done:?}");
    }

    fn teller(&self) -> (Box<Teller>, mpsc::Receiver<Answer>) {
        let (told, hear) = mpsc::channel();
        let tap = Arc::clone(&self.tap);
        (Box::new(Teller { tap, told }), hear)
    }

    fn promises_full(&mut self) -> bool {
        match self.promise {
            Promise::Normal => false,
            Promise::Full | Promise::FailingFull => true,
            Promise::Mixed | Promise::Failing => self.rng.chance(40),
        }
    }

    /// Lets a call fail during the next step.
    fn fail_soon(&mut self) {
        if self.promise.disk_fails() && self.rng.chance(60) {
            let call = *self
                .rng
                .pick(&[Call::Write, Call::Write, Call::Sync, Call::Truncate, Call::ShmMap]);
            let failure = *self.rng.pick(call.failures());
            let after = self.rng.below(if call == Call::Write { 16 } else { 2 }) as u64;
            let times = self.rng.between(1, 8) as u64;
            let what = What::One(call, failure);
            self.tap.inject(Plan { what, after, times });
        }
    }

    /// Something that writes nothing which is counted.
    fn make(&mut self, work: WriteOp) -> Result<CommitId> {
        let (reply, hear) = self.teller();
        let full = self.promises_full();
        self.engine.write(write(work, full), reply);
        heard(&hear).0
    }

    /// A caller has been told.
    fn note(&mut self, number: i64, (done, position): Answer, full: bool) {
        assert!(done.is_ok() || self.promise.disk_fails(), "{done:?}");
        let commit = done.ok().map(|commit| (self.opened, commit));
        self.told.push(Told {
            number,
            commit,
            position,
            full,
        });
    }

    /// The next write: small mostly, sometimes of many pages.
    fn work(&mut self) -> (i64, WriteOp) {
        self.last += 1;
        let number = self.last;
        let big = if self.rng.chance(3) {
            LARGE
        } else {
            self.rng.below(600) as i64
        };
        let params = Params::from([number.into(), big.into()]);
        let work = if self.rng.chance(25) {
            WriteOp::Batch {
                sql: WRITE.into(),
                first: ParamSets { count: 1, params },
                more: None,
            }
        } else {
            WriteOp::Execute {
                sql: WRITE.into(),
                params,
            }
        };
        (number, work)
    }

    /// Queues writes behind a transaction that holds the writer, so that they form one group.
    fn write_together(&mut self, count: usize) {
        let (reply, holds_the_writer) = self.teller();
        let session = (count > 1).then(|| self.engine.begin(None, Durability::Normal, reply));
        let asked: Vec<_> = (0..count)
            .map(|_| {
                let ((number, work), (reply, told)) = (self.work(), self.teller());
                let full = self.promises_full();
                self.engine.write(write(work, full), reply);
                Waiting { number, full, told }
            })
            .collect();
        drop((session, holds_the_writer));
        for Waiting { number, full, told } in asked {
            self.note(number, heard(&told), full);
        }
    }

    /// Several writes, of which some are undone by a savepoint or all by a rollback.
    fn transaction(&mut self) {
        let full = self.promises_full();
        let (reply, begun) = self.teller();
        let session = self.engine.begin(None, durability(full), reply);
        let mut numbers = Vec::new();
        let mut done = heard(&begun);
        for nested in 0..self.rng.between(1, 4) {
            let undone = nested > 0 && self.rng.chance(40);
            let (number, work) = self.work();
            if done.0.is_ok() {
                done = self.write_in(&session, work, undone);
            }
            if !undone {
                numbers.push(number);
            }
        }
        let (reply, ended) = self.teller();
        if done.0.is_err() || self.rng.chance(20) {
            // What is rolled back is never there, and so not noted.
            session.end(reply);
            drop(heard(&ended));
            return;
        }
        session.commit(reply);
        let (done, position) = heard(&ended);
        for number in numbers {
            self.note(number, (done.clone(), position), full);
        }
    }

    fn write_in(&self, session: &Session, work: WriteOp, undone: bool) -> Answer {
        let (reply, mut done) = self.teller();
        if undone {
            let (reply, begun) = self.teller();
            session.savepoint(1, reply);
            if let (Err(error), position) = heard(&begun) {
                return (Err(error), position);
            }
        }
        session.write(write(work, false), reply);
        if undone {
            heard(&done).0.ok();
            let (reply, back) = self.teller();
            session.rollback_to(1, reply);
            done = back;
        }
        heard(&done)
    }
}

fn heard(told: &mpsc::Receiver<Answer>) -> Answer {
    told.recv().expect("every request is answered")
}

fn write(work: WriteOp, full: bool) -> Write {
    Write {
        op: work,
        durability: durability(full),
        integers: Integers::BigInt,
        token: Token::default(),
        tag: None,
    }
}

fn durability(full: bool) -> Durability {
    if full {
        Durability::Full
    } else {
        Durability::Normal
    }
}
