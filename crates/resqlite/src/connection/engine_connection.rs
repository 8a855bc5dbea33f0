//! A connection with its statement cache, and the ways to run one statement on it.

use std::{num::NonZeroUsize, sync::Arc};

use lru::LruCache;
use resqlite_live::{Differ, Difference};
use resqlite_sqlite::{Connection, Statement, ValueRef, codes};

use crate::{
    connection::{halfway, schemas},
    core::{
        error::{Error, Result},
        limits,
    },
    dependencies::{self, Explanation, Reads},
    guard::Guard,
    live::Listener,
    requests::request::{Format, Outcome, Packed, Query, Replier},
    rows::{Integers, JsonWriter, Kind, Packer, Shape, Slice, fingerprint},
};

/// A connection, its prepared statements (least recently used go first) and the buffers for packing rows.
pub(crate) struct Statements {
    pub(crate) connection: Connection,
    pub(crate) guard: Guard,
    cache: LruCache<Arc<str>, Prepared>,
    /// Resqlite's own statements: BEGIN, COMMIT, savepoints. As many as there are levels of nesting.
    controls: Vec<(String, Statement)>,
    packer: Packer,
}

/// A cached statement and what is known about it.
pub(crate) struct Prepared {
    pub(crate) statement: Statement,
    /// What executing it does besides changing rows.
    pub(crate) effects: Effects,
    shape: Arc<Shape>,
    /// How the columns were packed last time, so that a column of only NULLs stays what it was.
    kinds: Vec<Kind>,
    /// Whether it may fail half-way, and SQLite's count of re-preparations when that was found.
    halfway: Option<(bool, u32)>,
    /// What it reads, once somebody has asked.
    reads: Option<KnownReads>,
    /// SQLite's count of re-preparations at which `shape` was found.
    reprepared: u32,
}

/// What a statement reads, found when SQLite had re-prepared it so often, under these versions of the schemas.
struct KnownReads {
    reads: Arc<Reads>,
    reprepared: u32,
    schemas: Vec<(String, Option<String>)>,
}

/// What a statement does, as the authorizer learned while it was prepared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Creates, alters or drops something.
    pub(crate) schema: bool,
    /// Gathers statistics, by which SQLite chooses plans.
    pub(crate) statistics: bool,
    /// Is a PRAGMA that only tells something. SQLite counts some of them as writing.
    pub(crate) only_tells: bool,
    /// Tables (schema, name) whose rows it may change, by triggers and cascades too.
    pub(crate) writes: Vec<(String, String)>,
    /// Has triggers that write.
    pub(crate) triggers: bool,
}

/// A run of a statement that may be read in parts.
pub(crate) struct Run<'a> {
    prepared: &'a mut Prepared,
    packer: &'a mut Packer,
    guard: &'a Guard,
}

impl Statements {
    pub(crate) fn new(connection: Connection, guard: Guard, cache_size: usize) -> Self {
        let size = NonZeroUsize::new(cache_size).unwrap_or(NonZeroUsize::MIN);
        Self {
            connection,
            guard,
            cache: LruCache::new(size),
            controls: Vec::new(),
            packer: Packer::default(),
        }
    }

    /// Forgets all prepared statements.
    pub(crate) fn clear(&mut self) {
        self.cache.clear();
    }

    /// Forgets one prepared statement.
    pub(crate) fn forget(&mut self, sql: &Arc<str>) {
        self.cache.pop(sql);
    }

    /// The statement of `sql`, from the cache or prepared now.
    ///
    /// # Errors
    /// SQLite's, and [`Error::Statement`] where the text is not exactly one statement.
    pub(crate) fn get(&mut self, sql: &Arc<str>) -> Result<&mut Prepared> {
        get(&mut self.cache, &self.connection, &self.guard, sql)
    }

    /// Whether a statement may fail and leave behind what it had changed by then.
    ///
    /// # Errors
    /// What SQLite says of the text.
    pub(crate) fn may_fail_halfway(&mut self, sql: &Arc<str>) -> Result<bool> {
        let prepared = get(&mut self.cache, &self.connection, &self.guard, sql)?;
        Ok(prepared.may_fail_halfway(&self.connection, sql))
    }

    /// Runs one of resqlite's own statements; gives the first column of the first row, if it is an integer.
    pub(crate) fn control(&mut self, sql: &str) -> Result<Option<i64>> {
        let statement = match self.controls.iter_mut().find(|(known, _)| known == sql) {
            Some((_, statement)) => statement,
            None => {
                let prepared = self.connection.prepare(sql, true)?.statement;
                let statement =
                    prepared.ok_or_else(|| Error::Statement(format!("{sql:?} is no statement")))?;
                self.controls.push((sql.to_owned(), statement));
                &mut self.controls.last_mut().expect("pushed above").1
            }
        };
        let row = statement.step();
        let value = match (&row, statement.column(0)) {
            (Ok(true), ValueRef::Integer(value)) => Some(value),
            _ => None,
        };
        statement.reset();
        Ok(row.map(|_| value)?)
    }

    /// Takes the statement of `sql` out of the cache, for a run that lasts.
    pub(crate) fn take(&mut self, sql: &Arc<str>) -> Result<Prepared> {
        match self.cache.pop(sql) {
            Some(prepared) => Ok(prepared),
            None => prepare(&self.connection, &self.guard, sql),
        }
    }

    /// Gives back what [`take`](Self::take) gave.
    pub(crate) fn put(&mut self, sql: &Arc<str>, mut prepared: Prepared) {
        prepared.statement.reset();
        self.cache.push(Arc::clone(sql), prepared);
    }

    /// Runs a query and answers with all its rows.
    pub(crate) fn select(&mut self, query: &Query, mut reply: Replier) {
        self.guard.start_query(query);
        let done = self.run_select(query, &mut reply);
        self.guard.stop();
        match done {
            Ok(Selected::Bytes(bytes)) => reply.finish(Ok(Outcome::Bytes(bytes))),
            Ok(Selected::Rows) => {
                // The rows that are left stand in the packer still.
                if let Some(prepared) = self.cache.get_mut(&query.sql) {
                    finish(prepared, &mut self.packer, &self.guard, true, reply);
                }
            }
            Err(error) => reply.fail(self.guard.explain(error)),
        }
        self.guard.end_query();
    }

    fn run_select(&mut self, query: &Query, reply: &mut Replier) -> Result<Selected> {
        if query.token.is_cancelled() {
            return Err(Error::Aborted);
        }
        self.get(&query.sql)?;
        let prepared = self.cache.get_mut(&query.sql).expect("prepared above");
        let mut run = Run {
            prepared,
            packer: &mut self.packer,
            guard: &self.guard,
        };
        let result = run.bind(query).and_then(|()| match query.format {
            Format::Json => run.json().map(Selected::Bytes),
            Format::Rows => run.rows(query.integers, Most::All, reply).map(|_| Selected::Rows),
            Format::FirstRow => run
                .rows(query.integers, Most::First, reply)
                .map(|_| Selected::Rows),
        });
        run.prepared.end_run(query.params.byte_len());
        result
    }

    /// Runs a query and compares each row with those of the result before. Rows that it did not have go to
    /// `listener`; only an error could take them back, so from then on no deadline holds. Gives the column list and what
    /// is different, if anything is.
    ///
    /// # Errors
    /// What SQLite says; [`Error::Aborted`] when nobody listens any more.
    pub(crate) fn compare(
        &mut self,
        query: &Query,
        seed: u64,
        shape_before: Option<&Arc<Shape>>,
        before: &[u64],
        listener: &mut dyn Listener,
    ) -> Result<(Arc<Shape>, Option<Difference>)> {
        let prepared = get(&mut self.cache, &self.connection, &self.guard, &query.sql)?;
        let mut run = Run {
            prepared,
            packer: &mut self.packer,
            guard: &self.guard,
        };
        let result = run.bind(query).and_then(|()| {
            let mut hand_over = |shape: &Arc<Shape>, slice: &Slice<'_>| {
                self.guard.set_deadline(None);
                listener.rows(shape, slice)
            };
            run.compare(query.integers, seed, shape_before, before, &mut hand_over)
        });
        run.prepared.end_run(query.params.byte_len());
        run.packer.recycle();
        result
    }

    /// What a statement reads. To be asked inside the read transaction in which it has run.
    ///
    /// # Errors
    /// What SQLite says.
    pub(crate) fn reads(&mut self, sql: &Arc<str>) -> Result<Arc<Reads>> {
        let prepared = get(&mut self.cache, &self.connection, &self.guard, sql)?;
        let reprepared = prepared.statement.reprepared();
        if let Some(known) = &prepared.reads
            && known.reprepared == reprepared
        {
            return Ok(Arc::clone(&known.reads));
        }
        // SQLite plans anew for other parameters, too; what is read depends on the schemas only.
        let schemas = self
            .guard
            .internally(|| schemas::schema_versions(&self.connection))?;
        let reads = match prepared.reads.take() {
            Some(known) if known.schemas == schemas => known.reads,
            _ => Arc::new(dependencies::analyse(&self.connection, &self.guard, sql)?),
        };
        prepared.reads = Some(KnownReads {
            reads: Arc::clone(&reads),
            reprepared,
            schemas,
        });
        Ok(reads)
    }

    /// Tells what a live query of this statement would depend on.
    ///
    /// # Errors
    /// What SQLite says of the statement or its parameters.
    pub(crate) fn explain(&mut self, query: &Query) -> Result<Explanation> {
        let prepared = self.get(&query.sql)?;
        let bound = prepared.bind_query(query);
        prepared.end_run(query.params.byte_len());
        bound?;
        // Reads the schema again, if it is old.
        self.connection.query_text("SELECT 1 FROM sqlite_schema")?;
        let reads = dependencies::analyse(&self.connection, &self.guard, &query.sql)?;
        let prepared = self.get(&query.sql)?;
        Ok(reads.explain(&prepared.statement, &query.params))
    }

    /// Packs at most `most` further rows of a cursor's statement; `true` when there are no more.
    ///
    /// # Errors
    /// What SQLite says.
    pub(crate) fn fetch(
        &mut self,
        prepared: &mut Prepared,
        most: usize,
        integers: Integers,
        fresh: bool,
        mut reply: Replier,
    ) -> bool {
        let mut run = Run {
            prepared,
            packer: &mut self.packer,
            guard: &self.guard,
        };
        let done = if fresh {
            run.rows(integers, Most::Batch(most), &mut reply)
        } else {
            run.further_rows(integers, Most::Batch(most), &mut reply)
        };
        match done {
            Ok(end) => {
                let within = finish(prepared, &mut self.packer, &self.guard, end, reply);
                end || !within
            }
            Err(error) => {
                reply.fail(self.guard.explain(error));
                true
            }
        }
    }

    /// Steps a statement that is bound already to its end; the rows it gives are kept, packed.
    ///
    /// # Errors
    /// What SQLite says.
    pub(crate) fn drain(
        &mut self,
        prepared: &mut Prepared,
        integers: Integers,
        rows: &mut Vec<Packed>,
    ) -> Result<()> {
        if prepared.statement.column_count() == 0 {
            while prepared.statement.step()? {}
            return Ok(());
        }
        let mut run = Run {
            prepared,
            packer: &mut self.packer,
            guard: &self.guard,
        };
        run.collect(integers, rows)
    }
}

/// Answers with the rows that stand in the packer; `false` if they are more than the query may give.
fn finish(prepared: &mut Prepared, packer: &mut Packer, guard: &Guard, end: bool, reply: Replier) -> bool {
    let (shape, last) = (&prepared.shape, packer.slice(&mut prepared.kinds));
    let within = guard.spend_bytes(last.byte_len());
    let is_within = within.is_ok();
    reply.finish(within.map(|()| Outcome::Rows { shape, last, end }));
    packer.recycle();
    is_within
}

/// How many rows a run packs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Most {
    All,
    /// One, and the statement is not asked whether there are more.
    First,
    /// So many, then the run can go on.
    Batch(usize),
}

enum Selected {
    Rows,
    Bytes(Vec<u8>),
}

impl Run<'_> {
    fn bind(&mut self, query: &Query) -> Result<()> {
        self.prepared.bind_query(query)
    }

    /// First step of a run; only then is it sure which columns there are, as SQLite may have re-prepared.
    fn first_step(&mut self) -> Result<bool> {
        let row = self.prepared.statement.step()?;
        self.prepared.refresh_shape();
        Ok(row)
    }

    /// Packs rows from the start; full slices go to the reply, the rest stays in the packer. `true`: at the end.
    fn rows(&mut self, integers: Integers, most: Most, reply: &mut Replier) -> Result<bool> {
        let row = self.first_step()?;
        self.packer.begin(self.prepared.shape.names().len(), integers);
        self.pack(row, most, reply)
    }

    /// Goes on packing where the last batch ended.
    fn further_rows(&mut self, integers: Integers, most: Most, reply: &mut Replier) -> Result<bool> {
        self.packer.begin(self.prepared.shape.names().len(), integers);
        self.pack(true, most, reply)
    }

    /// `row`: the statement stands on a row that is not packed yet. After the last row of a batch the statement is
    /// stepped once more, so that the end is known.
    fn pack(&mut self, mut row: bool, most: Most, reply: &mut Replier) -> Result<bool> {
        let rows_max = if let Most::Batch(rows) = most {
            rows
        } else {
            usize::MAX
        };
        let mut packed = 0;
        while row && packed < rows_max {
            if self.packer.is_full(limits::SLICE_ROWS_MAX) {
                self.hand_over(reply)?;
            }
            self.packer.push(&self.prepared.statement)?;
            packed += 1;
            row = most != Most::First && self.prepared.statement.step()?;
        }
        Ok(!row)
    }

    fn hand_over(&mut self, reply: &mut Replier) -> Result<()> {
        let slice = self.packer.slice(&mut self.prepared.kinds);
        self.guard.spend_bytes(slice.byte_len())?;
        if !reply.rows(&self.prepared.shape, &slice) {
            return Err(Error::Aborted);
        }
        self.packer.clear();
        Ok(())
    }

    fn collect(&mut self, integers: Integers, rows: &mut Vec<Packed>) -> Result<()> {
        let mut row = self.first_step()?;
        self.packer.begin(self.prepared.shape.names().len(), integers);
        while row {
            self.packer.push(&self.prepared.statement)?;
            row = self.prepared.statement.step()?;
            if !row || self.packer.is_full(limits::SLICE_ROWS_MAX) {
                let slice = self.packer.slice(&mut self.prepared.kinds);
                rows.push((Arc::clone(&self.prepared.shape), slice.to_bytes()));
                self.packer.clear();
            }
        }
        Ok(())
    }

    fn compare(
        &mut self,
        integers: Integers,
        seed: u64,
        shape_before: Option<&Arc<Shape>>,
        before: &[u64],
        hand_over: &mut dyn FnMut(&Arc<Shape>, &Slice<'_>) -> bool,
    ) -> Result<(Arc<Shape>, Option<Difference>)> {
        let mut row = self.first_step()?;
        let shape = Arc::clone(&self.prepared.shape);
        let columns = shape.names().len();
        // Rows of other columns have nothing in common.
        let same_columns = shape_before.is_some_and(|before| before.id() == shape.id());
        let comparable = if same_columns { before } else { &[] };
        let mut differ = Differ::new(comparable);
        self.packer.begin(columns, integers);
        while row {
            if differ.push(fingerprint(&self.prepared.statement, columns, seed)) {
                if self.packer.is_full(limits::SLICE_ROWS_MAX) {
                    self.tell(&shape, hand_over)?;
                }
                self.packer.push(&self.prepared.statement)?;
            }
            row = self.prepared.statement.step()?;
        }
        self.tell(&shape, hand_over)?;
        let lost = comparable.len() < before.len();
        let difference = differ.finish().or_else(|| lost.then(Difference::default));
        Ok((shape, difference))
    }

    /// Hands new rows of a live query over.
    fn tell(
        &mut self,
        shape: &Arc<Shape>,
        hand_over: &mut dyn FnMut(&Arc<Shape>, &Slice<'_>) -> bool,
    ) -> Result<()> {
        let slice = self.packer.slice(&mut self.prepared.kinds);
        if slice.rows() > 0 && !hand_over(shape, &slice) {
            return Err(Error::Aborted);
        }
        self.packer.clear();
        Ok(())
    }

    fn json(&mut self) -> Result<Vec<u8>> {
        let mut row = self.first_step()?;
        let mut writer = JsonWriter::new();
        let mut counted = 0;
        while row {
            writer.push(&self.prepared.statement, &self.prepared.shape);
            if writer.len() - counted > limits::SLICE_HEAP_MAX {
                self.guard.spend_bytes(writer.len() - counted)?;
                counted = writer.len();
            }
            row = self.prepared.statement.step()?;
        }
        self.guard.spend_bytes(writer.len() - counted)?;
        Ok(writer.finish())
    }
}

impl Prepared {
    /// Whether it may fail and leave behind what it had changed by then.
    fn may_fail_halfway(&mut self, connection: &Connection, sql: &str) -> bool {
        let reprepared = self.statement.reprepared();
        if let Some((known, at)) = self.halfway
            && at == reprepared
        {
            return known;
        }
        let found = !self.statement.is_read_only() && halfway::may_fail_halfway(connection, sql);
        self.halfway = Some((found, reprepared));
        found
    }

    /// Ends a run. Large parameters are not kept until the next one.
    pub(crate) fn end_run(&mut self, bound_bytes: usize) {
        self.statement.reset();
        if bound_bytes > limits::BOUND_BYTES_KEPT {
            self.statement.clear_bindings();
        }
    }

    fn refresh_shape(&mut self) {
        let reprepared = self.statement.reprepared();
        if reprepared != self.reprepared {
            self.reprepared = reprepared;
            self.shape = Shape::of(&self.statement);
            self.kinds.clear();
        }
    }

    /// Binds the parameters of a query that may only read.
    pub(crate) fn bind_query(&mut self, query: &Query) -> Result<()> {
        if !self.statement.is_read_only() && !self.statement.is_explain() && !self.effects.only_tells {
            let message = "a query only reads; use execute for a statement that writes";
            return Err(Error::ReadOnly(message.into()));
        }
        query.params.reader().bind_next(&mut self.statement)
    }
}

/// The statement of `sql`, from the cache or prepared now.
fn get<'a>(
    cache: &'a mut LruCache<Arc<str>, Prepared>,
    connection: &Connection,
    guard: &Guard,
    sql: &Arc<str>,
) -> Result<&'a mut Prepared> {
    // Looked up twice because a reference from the first lookup would block the insertion.
    if cache.get(sql).is_none() {
        cache.push(Arc::clone(sql), prepare(connection, guard, sql)?);
    }
    Ok(cache.get_mut(sql).expect("found or inserted above"))
}

fn prepare(connection: &Connection, guard: &Guard, sql: &str) -> Result<Prepared> {
    no_nul(sql)?;
    guard.forget_effects();
    let prepared = connection
        .prepare(sql, true)
        .map_err(|error| guard.explain(error.into()))?;
    let Some(statement) = prepared.statement else {
        return Err(Error::Statement("the SQL text holds no statement".into()));
    };
    only_statement(connection, prepared.tail)?;
    let shape = Shape::of(&statement);
    let reprepared = statement.reprepared();
    Ok(Prepared {
        halfway: None,
        statement,
        effects: guard.effects(),
        shape,
        kinds: Vec::new(),
        reads: None,
        reprepared,
    })
}

/// SQLite would take a NUL character for the end of the text.
pub(crate) fn no_nul(sql: &str) -> Result<()> {
    if sql.contains('\0') {
        return Err(Error::Statement("the SQL text contains a NUL character".into()));
    }
    Ok(())
}

/// Refuses SQL text behind the first statement; white space and comments are fine.
fn only_statement(connection: &Connection, mut tail: &str) -> Result<()> {
    let more =
        || Error::Statement("the SQL text holds more than one statement; use exec for a script".into());
    while !tail
        .trim_matches([' ', '\t', '\n', '\r', '\u{c}', ';'])
        .is_empty()
    {
        match connection.prepare(tail, false) {
            Ok(prepared) if prepared.statement.is_none() && prepared.tail.len() < tail.len() => {
                tail = prepared.tail
            }
            Ok(prepared) if prepared.statement.is_none() => break,
            _ => return Err(more()),
        }
    }
    Ok(())
}

/// Whether SQLite ended a statement because its token was cancelled.
pub(crate) fn is_interrupt(error: &Error) -> bool {
    error
        .sqlite()
        .is_some_and(|error| error.primary() == codes::INTERRUPT)
}
