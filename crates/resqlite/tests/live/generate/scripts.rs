//! Whole scripts.

use dice::Rng;

use super::{
    ddl,
    model::{Role, Schema},
    queries::{narrow_query, query},
    writes,
};
use crate::script::{Script, Setup, Step};

/// How long a script is.
#[derive(Clone, Copy)]
pub struct Size {
    pub steps: usize,
    /// Streams that are open at the same time, at most.
    pub streams: usize,
}

/// What scripts of one seed do at all. Each script leaves something out, so that what is left meets more often.
struct Features {
    /// One table or two, and queries that most commits do not concern, so that skipping is put to the test.
    narrow: bool,
    schema_changes: bool,
    transactions: bool,
    queues: bool,
    lags: bool,
    aux: bool,
    /// Somebody else writes to the file, and changes definitions.
    foreign: bool,
    /// So many of a hundred writes are meant to fail.
    failing: usize,
    checks: usize,
}

struct Maker {
    rng: Rng,
    schema: Schema,
    features: Features,
    size: Size,
    steps: Vec<Step>,
    open: Vec<usize>,
    streams: usize,
    /// The schema at BEGIN and at each savepoint, of the transaction that is open.
    saved: Vec<Schema>,
}

type Act = fn(&mut Maker);

/// The script of a seed.
pub fn script(seed: u64, size: Size) -> Script {
    script_with(seed, size, &[0, 0, 8])
}

/// A script in which much fails.
pub fn failing_script(seed: u64, size: Size) -> Script {
    script_with(seed, size, &[20, 40])
}

/// `failing`: so many of a hundred writes are meant to fail, one of these.
fn script_with(seed: u64, size: Size, failing: &[usize]) -> Script {
    let mut rng = Rng(seed);
    let narrow = rng.chance(40);
    let aux = rng.chance(25);
    let features = Features {
        narrow,
        schema_changes: rng.chance(if narrow { 20 } else { 60 }),
        transactions: rng.chance(if narrow { 40 } else { 70 }),
        queues: rng.chance(if narrow { 20 } else { 50 }),
        lags: rng.chance(30),
        aux,
        // With an attached database, its coming may be taken for the foreign commit that is waited for.
        foreign: !aux && rng.chance(20),
        failing: *rng.pick(failing),
        checks: *rng.pick(if narrow { &[100] } else { &[20, 60, 100] }),
    };
    let setup = Setup {
        file: features.aux || features.foreign || rng.chance(20),
        readers: rng.between(1, 3),
        statement_cache: *rng.pick(&[1, 3, 128, 128]),
        recursive_triggers: rng.chance(25),
        utf16: rng.chance(15),
        handles: *rng.pick(&[1, 1, 2, 3]),
    };
    let mut maker = Maker {
        rng,
        schema: Schema::default(),
        features,
        size,
        steps: Vec::new(),
        open: Vec::new(),
        streams: 0,
        saved: Vec::new(),
    };
    maker.start();
    while maker.steps.len() < size.steps {
        maker.step();
    }
    maker.finish();
    Script {
        setup,
        steps: maker.steps,
    }
}

impl Maker {
    fn start(&mut self) {
        if self.features.aux {
            self.attach();
        }
        let tables = if self.features.narrow { (1, 2) } else { (2, 4) };
        for sql in ddl::start(&mut self.rng, &mut self.schema, tables) {
            self.steps.push(Step::Script(sql));
        }
        self.fill();
        for _ in 0..self.rng.between(1, self.size.streams) {
            self.subscribe();
        }
        self.steps.push(Step::Check);
    }

    /// The first rows, parents before children.
    fn fill(&mut self) {
        for _ in 0..7 * self.schema.tables.len() {
            if let Some(batch) = writes::batch(&mut self.rng, &self.schema, 0) {
                self.steps.push(batch);
            }
        }
        let has_children = |schema: &Schema| {
            let is_child = |role: &Role| matches!(role, Role::Child { .. });
            schema
                .tables
                .iter()
                .any(|table| table.columns.iter().any(|column| is_child(&column.role)))
        };
        for _ in 0..if has_children(&self.schema) { 6 } else { 2 } {
            self.write();
        }
    }

    fn step(&mut self) {
        const ACTS: [(usize, Act); 13] = [
            (40, Maker::write),
            (8, Maker::batch),
            (6, Maker::script),
            (10, Maker::queue),
            (8, Maker::change_schema),
            (10, Maker::transaction_step),
            (8, Maker::subscribe),
            (5, Maker::unsubscribe),
            (3, Maker::lag),
            (2, Maker::attach_or_detach),
            (2, Maker::alone),
            (4, Maker::foreign),
            (1, Maker::reopen),
        ];
        let act = self.rng.weighted(&ACTS);
        let before = self.steps.len();
        act(self);
        let wrote =
            self.steps[before..].iter().any(Step::writes) || matches!(self.steps.last(), Some(Step::Commit));
        if wrote && self.rng.chance(self.features.checks) {
            self.steps.push(Step::Check);
        }
    }

    fn finish(&mut self) {
        if !self.saved.is_empty() {
            self.steps.push(Step::Commit);
        }
        self.steps.push(Step::Check);
    }

    fn write(&mut self) {
        if let Some(statement) = writes::write(&mut self.rng, &self.schema, self.features.failing) {
            self.steps.push(Step::Write(statement));
        }
    }

    fn queue(&mut self) {
        if !self.features.queues || !self.saved.is_empty() {
            return self.write();
        }
        for _ in 0..self.rng.between(1, 4) {
            if let Some(statement) = writes::write(&mut self.rng, &self.schema, self.features.failing) {
                self.steps.push(Step::Queue(statement));
            }
        }
    }

    fn batch(&mut self) {
        self.steps
            .extend(writes::batch(&mut self.rng, &self.schema, self.features.failing));
    }

    fn script(&mut self) {
        let count = self.rng.between(2, 4);
        let statements: Vec<String> = (0..count)
            .filter_map(|_| writes::literal(&mut self.rng, &self.schema, self.features.failing / 4))
            .collect();
        self.steps.push(Step::Script(statements.join("; ")));
    }

    fn change_schema(&mut self) {
        if self.features.schema_changes {
            let sql = ddl::change(&mut self.rng, &mut self.schema);
            self.steps.push(Step::Script(sql));
        }
    }

    fn transaction_step(&mut self) {
        if !self.features.transactions {
            return;
        }
        match self.saved.len() {
            0 => {
                self.steps.push(Step::Begin);
                self.saved.push(self.schema.clone());
                self.write();
            }
            1 if self.rng.chance(50) => self.end_transaction(),
            depth if depth < 4 && self.rng.chance(45) => {
                self.steps.push(Step::Savepoint);
                self.saved.push(self.schema.clone());
                self.write();
            }
            1 => self.end_transaction(),
            _ => self.end_savepoint(),
        }
    }

    fn end_transaction(&mut self) {
        let before = self.saved.pop();
        if self.rng.chance(65) {
            self.steps.push(Step::Commit);
        } else {
            self.steps.push(Step::Rollback);
            self.schema = before.unwrap_or_default();
        }
        self.saved.clear();
    }

    fn end_savepoint(&mut self) {
        let before = self.saved.pop();
        if self.rng.chance(45) {
            self.steps.push(Step::Release);
        } else {
            self.steps.push(Step::RollbackTo);
            self.schema = before.unwrap_or_default();
        }
    }

    fn subscribe(&mut self) {
        if self.open.len() >= self.size.streams {
            return self.unsubscribe();
        }
        // Readers see the schema of the last commit.
        let schema = self.saved.first().unwrap_or(&self.schema).clone();
        if schema.readable().is_empty() {
            return;
        }
        let make = if self.features.narrow { narrow_query } else { query };
        let count = self.rng.weighted(&[(8, 1), (2, 2), (1, 3)]);
        let queries = (0..count).map(|_| make(&mut self.rng, &schema)).collect();
        let stream = self.streams;
        self.streams += 1;
        self.open.push(stream);
        self.steps.push(Step::Subscribe { stream, queries });
    }

    fn unsubscribe(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let at = self.rng.below(self.open.len());
        let stream = self.open.remove(at);
        self.steps.push(Step::Unsubscribe(stream));
    }

    fn lag(&mut self) {
        if self.features.lags {
            self.steps.push(Step::Lag);
        }
    }

    fn attach(&mut self) {
        self.steps.push(Step::Attach);
        self.schema.has_aux = true;
    }

    /// What is in the file is forgotten by the generator: names that are taken cost some statements their success.
    fn attach_or_detach(&mut self) {
        if !self.features.aux || !self.saved.is_empty() {
            return;
        }
        if self.schema.has_aux {
            self.steps.push(Step::Detach);
            self.schema.detach();
        } else {
            self.attach();
        }
    }

    /// What cannot share a transaction.
    fn alone(&mut self) {
        if !self.saved.is_empty() {
            return;
        }
        let sql = *self.rng.pick(&[
            "PRAGMA user_version = 7",
            "PRAGMA user_version = 8",
            "PRAGMA application_id = 9",
            "PRAGMA incremental_vacuum",
            // All tables, whether this connection has asked them anything or not.
            "PRAGMA optimize = 0x10002",
            "VACUUM",
            "VACUUM",
        ]);
        self.steps.push(Step::Script(sql.into()));
    }

    fn foreign(&mut self) {
        if !self.features.foreign || !self.saved.is_empty() {
            return;
        }
        let (mut main, rest) = std::mem::take(&mut self.schema).split_main();
        let sql = if self.features.schema_changes && self.rng.chance(60) {
            Some(ddl::change(&mut self.rng, &mut main))
        } else {
            writes::literal(&mut self.rng, &main, 0)
        };
        main.join(rest);
        self.schema = main;
        self.steps.extend(sql.map(Step::Foreign));
    }

    fn reopen(&mut self) {
        self.steps.push(Step::Reopen);
    }
}
