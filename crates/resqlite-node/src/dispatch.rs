//! Hands each request of a realm to the engine.

use std::{
    cell::Cell,
    sync::Arc,
    time::{Duration, Instant},
};

use resqlite::{
    Checkpointed, Durability, Error, Params, QueryLimits, TransactionOptions,
    binding::{
        BatchParts, Engine, Format, Handle, Integers, ParamSets, Query, Session, Statements, Token, Write,
        WriteOp,
    },
    feeds::FeedCommit,
    live::{LiveQueryRequest, Maintenance, RowDetail},
    log::Position,
};

use crate::{
    batches::Batch,
    cancellation::Cancellation,
    cluster::{self, Node},
    commit_frames, copies, diagnostics, explanation,
    feed_json::{self, Asked},
    frames::Request,
    key,
    listener::FrameListener,
    open::{self, Content},
    opened::{Opened, Writer},
    protocol::{INTEGERS_MASK, Op, RequestFlags, begin_flags},
    realm::Realm,
    reply::FrameReply,
    subscriptions::Delivery,
    sync::lock,
    texts::Texts,
};

/// A number that no database handle has.
const NO_HANDLE: u32 = 0;

/// The state that the realm's thread keeps to understand requests.
pub(crate) struct Dispatcher {
    pub(crate) realm: Arc<Realm>,
    texts: Texts,
    cancellation: Cancellation,
    /// The time at which `TIME_NEXT` arrived. The next request that gets a reply takes this time.
    pub(crate) time_next: Cell<Option<Instant>>,
}

impl Dispatcher {
    pub(crate) fn new(realm: Arc<Realm>) -> Self {
        Self {
            realm,
            texts: Texts::default(),
            cancellation: Cancellation::default(),
            time_next: Cell::default(),
        }
    }

    /// Handles one request. Returns whether a reply will follow; `None` if the payload is malformed.
    ///
    /// `deliveries` are the frames of live queries that JavaScript has not consumed yet.
    pub(crate) fn handle(&mut self, request: &Request<'_>, deliveries: &mut Vec<Delivery>) -> Option<bool> {
        let has_reply = request.op.has_reply();
        if has_reply {
            let is_handle = request.op.targets_handle() && !request.has(RequestFlags::SESSION);
            self.cancellation
                .begin(request.id, if is_handle { request.target } else { NO_HANDLE });
        }
        let level = || request.word(0);
        match request.op {
            Op::Define => self.texts.define(request.target, request.text(0)?)?,
            Op::Forget => self.texts.forget_all(),
            Op::Open => self.open(request),
            Op::Close => self.close(request),
            Op::Diagnostics => self.diagnostics(request),
            Op::Select => self.select(request)?,
            Op::Execute => self.write(request, self.execute(request)?),
            Op::Exec => self.write(request, WriteOp::Script(request.text(0)?.into())),
            Op::Batch => self.batch(request)?,
            Op::Chunk => self.continue_batch(request),
            Op::BatchAbort => self.abort_batch(request),
            Op::Begin => self.begin(request),
            Op::Snapshot => self.open_session(request, Engine::snapshot),
            Op::Cursor => self.cursor(request)?,
            Op::Fetch => self.fetch(request),
            Op::FetchFrom => self.fetch_from(request),
            Op::CloseCursor => {
                self.step(request, |session, reply| {
                    session.close_cursor(request.word(0), reply)
                });
            }
            Op::Savepoint => self.step(request, |session, reply| session.savepoint(level(), reply)),
            Op::Release => self.step(request, |session, reply| session.release(level(), reply)),
            Op::RollbackTo => self.step(request, |session, reply| session.rollback_to(level(), reply)),
            Op::Commit => self.last_step(request, |session, reply| session.commit(reply)),
            Op::End => self.last_step(request, |session, reply| session.end(reply)),
            Op::Ended => self.step(request, |session, reply| session.ended(reply)),
            Op::Cancel => self.cancel(request.target),
            Op::Stream => self.stream(request, deliveries)?,
            Op::Unsubscribe => {
                self.realm.subscriptions.end(request.target);
                self.realm.commit_listeners.end(request.target);
            }
            Op::CatchUp => {
                let reply = self.reply(request);
                self.realm
                    .subscriptions
                    .catch_up(request.target, Box::new(|| reply.done()));
            }
            Op::Commits => self.listen_to_commits(request),
            Op::TimeNext => self.time_next.set(Some(Instant::now())),
            Op::NextCommits => self.realm.commit_listeners.ask(request.target),
            Op::ExplainStream => self.explain_stream(request)?,
            Op::Query => self.query_any(request)?,
            Op::Describe => self.describe(request)?,
            Op::Statements => self.write(request, self.statements(request)?),
            Op::Backup => self.backup(request),
            Op::Serialize => self.serialize(request),
            Op::Checkpoint => self.checkpoint(request)?,
            Op::Rekey => self.rekey(request),
            Op::Feed => self.feed(request),
            Op::ReadFeed => self.read_feed(request),
            Op::Reach => self.with_node(request, |node, token, reply| {
                cluster::reach(node, request.double(0), token, reply);
            }),
            Op::PutSnapshot => self.with_node(request, |node, token, reply| {
                cluster::put_snapshot(node, token, reply)
            }),
            Op::Upload => self.realm.uploads.append(request.target, request.bytes(0)?),
        }
        Some(has_reply)
    }

    fn reply(&self, request: &Request<'_>) -> FrameReply {
        // A query that cannot run on the realm's thread is never called quick.
        let tells_quick = matches!(request.op, Op::Select | Op::Query)
            && request.has(RequestFlags::TELL_QUICK)
            && self
                .realm
                .engine(request.target)
                .is_some_and(|engine| engine.may_select_inline());
        FrameReply::new(Arc::clone(&self.realm), request.id)
            .timed(self.time_next.take())
            .tells_quick(tells_quick)
    }

    pub(crate) fn sql(&self, request: &Request<'_>, offset: usize) -> Option<Arc<str>> {
        self.texts.get(request.word(offset))
    }

    fn open(&self, request: &Request<'_>) {
        let reply = self.reply(request);
        let (content, options) = match open::parse(request.text(0).unwrap_or_default()) {
            Ok(parsed) => parsed,
            Err(error) => return reply.fail(&error),
        };
        let realm = Arc::clone(&self.realm);
        if let Content::Node(path, settings) = &content {
            return cluster::open(&realm, reply, path, options, settings);
        }
        self.realm.under_way.run(move || {
            let opened = match content {
                Content::At(path) | Content::Node(path, _) => Handle::open(&path, &options),
                Content::Uploaded(number) => Handle::open_bytes(realm.uploads.take(number), &options),
            };
            match opened {
                Err(error) => reply.fail(&error),
                Ok(handle) => reply.opened(realm.keep(Opened::Database(handle))),
            }
        });
    }

    fn close(&self, request: &Request<'_>) {
        let reply = self.reply(request);
        let handle = self.realm.take(request.target);
        self.realm.under_way.run(move || {
            drop(handle);
            reply.done();
        });
    }

    /// Returns the numbers of the requests to a database handle. Some of these requests may have ended.
    pub(crate) fn requests_of(&self, handle: u32) -> Vec<u32> {
        self.cancellation.of_target(handle).collect()
    }

    /// The number of parts of a batch that the writer has not taken up yet.
    pub(crate) fn parts_waiting(&self, request: u32) -> usize {
        lock(&self.realm.batches).get(&request).map_or(0, Batch::waiting)
    }

    /// Interrupts the running work of an open database handle, and drops the waiting work.
    pub(crate) fn interrupt(&self, handle: u32) {
        for request in self.cancellation.of_target(handle) {
            self.cancellation.cancel(request);
        }
        if let Some(writer) = self.realm.writer(handle) {
            writer.drop_cancelled();
        }
    }

    fn backup(&self, request: &Request<'_>) {
        let (path, options) = match copies::parse(request.text(0).unwrap_or_default()) {
            Ok(parsed) => parsed,
            Err(error) => return self.reply(request).fail(&error),
        };
        let token = self.cancellation.token(request.id, &self.realm.scope);
        self.with_engine(request, |engine, reply| {
            engine.backup(&path, options, token, Box::new(reply));
        });
    }

    fn serialize(&self, request: &Request<'_>) {
        let token = self.cancellation.token(request.id, &self.realm.scope);
        self.with_engine(request, |engine, reply| {
            let done = move |bytes: Result<Vec<u8>, Error>| match bytes {
                Ok(bytes) => reply.bytes(bytes),
                Err(error) => reply.fail(&error),
            };
            engine.serialize(token, Box::new(done));
        });
    }

    fn checkpoint(&self, request: &Request<'_>) -> Option<()> {
        let mode = copies::mode(request.word(0))?;
        self.with_engine(request, |engine, reply| {
            let done = move |done: Result<Checkpointed, Error>| match done {
                Ok(done) => reply.json(copies::checkpointed(&done)),
                Err(error) => reply.fail(&error),
            };
            engine.checkpoint(mode, Box::new(done));
        });
        Some(())
    }

    fn rekey(&self, request: &Request<'_>) {
        let key = match key::parse(request.text(0).unwrap_or_default()) {
            Ok(key) => key,
            Err(error) => return self.reply(request).fail(&error),
        };
        self.with_engine(request, |engine, reply| {
            let done = move |done: Result<(), Error>| match done {
                Ok(()) => reply.done(),
                Err(error) => reply.fail(&error),
            };
            engine.rekey(key, Box::new(done));
        });
    }

    fn feed(&self, request: &Request<'_>) {
        let asked = match feed_json::asked(request.text(0).unwrap_or_default()) {
            Ok(asked) => asked,
            Err(error) => return self.reply(request).fail(&error),
        };
        self.with_engine(request, |engine, reply| {
            let position = |Position(number)| number;
            match asked {
                Asked::Open(options) => engine.open_feed(options, number(reply, position)),
                Asked::Acknowledge { name, position: to } => {
                    engine.acknowledge(name, to, number(reply, position));
                }
                Asked::Skip { name, position: to } => engine.skip(name, to, number(reply, position)),
                Asked::LookForExternal { name } => engine.look_for_external(name, number(reply, u64::from)),
                Asked::Drop { name } => engine.drop_feed(name, number(reply, position)),
            }
        });
    }

    fn read_feed(&self, request: &Request<'_>) {
        let reading = match feed_json::reading(request.text(0).unwrap_or_default()) {
            Ok(reading) => reading,
            Err(error) => return self.reply(request).fail(&error),
        };
        let integers = integers(request);
        self.with_engine(request, |engine, reply| {
            let (name, after) = (reading.name.clone(), reading.after);
            let done = move |commits: Result<Vec<FeedCommit>, Error>| match commits {
                Ok(commits) => reply.json(feed_json::to_json(&commits, &reading, integers)),
                Err(error) => reply.fail(&error),
            };
            engine.read_feed(name, after, Box::new(done));
        });
    }

    fn diagnostics(&self, request: &Request<'_>) {
        self.with_engine(request, |engine, reply| {
            reply.json(diagnostics::to_json(&engine.diagnostics()));
        });
    }

    fn query(&self, request: &Request<'_>, sql_at: usize, params_at: usize) -> Option<Query> {
        let format = match request {
            _ if request.has(RequestFlags::JSON) => Format::Json,
            _ if request.has(RequestFlags::FIRST) => Format::FirstRow,
            _ => Format::Rows,
        };
        let limited = request.has(RequestFlags::LIMITS);
        Some(Query {
            sql: self.sql(request, sql_at)?,
            params: request.params(params_at + if limited { LIMITS_BYTES } else { 0 }),
            format,
            integers: integers(request),
            token: self.cancellation.token(request.id, &self.realm.scope),
            limits: limited.then(|| Box::new(limits(request, params_at))),
        })
    }

    fn select(&self, request: &Request<'_>) -> Option<()> {
        let query = self.query(request, 0, 4)?;
        if request.has(RequestFlags::SESSION) {
            self.step(request, |session, reply| session.select(query, reply));
        } else {
            self.with_engine(request, |engine, reply| engine.select(query, Box::new(reply)));
        }
        Some(())
    }

    fn write(&self, request: &Request<'_>, op: WriteOp) {
        let write = self.write_of(request, op);
        if request.has(RequestFlags::SESSION) {
            self.step(request, |session, reply| session.write(write, reply));
        } else {
            self.with_writer(request, |writer, reply| match writer {
                Writer::Engine(engine) => engine.write(write, Box::new(reply)),
                Writer::Node(node) => cluster::write(node, write, reply),
            });
        }
    }

    fn write_of(&self, request: &Request<'_>, op: WriteOp) -> Write {
        Write {
            op,
            durability: durability(request),
            integers: integers(request),
            token: self.cancellation.token(request.id, &self.realm.scope),
            tag: None,
        }
    }

    fn query_any(&self, request: &Request<'_>) -> Option<()> {
        let (query, durability) = (self.query(request, 0, 4)?, durability(request));
        if request.has(RequestFlags::SESSION) {
            self.step(request, |session, reply| session.query(query, reply));
        } else {
            self.with_writer(request, |writer, reply| match writer {
                Writer::Engine(engine) => engine.query(query, durability, Box::new(reply)),
                Writer::Node(node) => cluster::query(node, query, durability, reply),
            });
        }
        Some(())
    }

    fn describe(&self, request: &Request<'_>) -> Option<()> {
        let sql = self.sql(request, 0)?;
        if request.has(RequestFlags::SESSION) {
            self.step(request, |session, reply| session.describe(sql, reply));
        } else {
            self.with_engine(request, |engine, reply| engine.describe(sql, Box::new(reply)));
        }
        Some(())
    }

    fn statements(&self, request: &Request<'_>) -> Option<WriteOp> {
        let texts = request.word(0) as usize;
        let text = |position| self.sql(request, 8 + 4 * position);
        Some(WriteOp::Statements(Statements {
            texts: (0..texts).map(text).collect::<Option<_>>()?,
            count: request.word(4) as usize,
            packed: request.params(8 + 4 * texts),
        }))
    }

    fn execute(&self, request: &Request<'_>) -> Option<WriteOp> {
        Some(WriteOp::Execute {
            sql: self.sql(request, 0)?,
            params: request.params(4),
        })
    }

    fn batch(&self, request: &Request<'_>) -> Option<()> {
        let (sql, first) = (self.sql(request, 0)?, param_sets(request));
        let arrives_in_parts = request.has(RequestFlags::MORE);
        if arrives_in_parts
            && !request.has(RequestFlags::SESSION)
            && let Some(Writer::Node(node)) = self.realm.writer(request.target)
        {
            let (reply, parts) = (self.reply(request), vec![first.clone()]);
            let mut write = self.write_of(
                request,
                WriteOp::Batch {
                    sql: Arc::clone(&sql),
                    first,
                    more: None,
                },
            );
            let gathered = move |sets: Option<ParamSets>| match sets {
                Some(first) => {
                    write.op = WriteOp::Batch {
                        sql,
                        first,
                        more: None,
                    };
                    cluster::write(&node, write, reply);
                }
                None => reply.fail(&Error::Aborted),
            };
            lock(&self.realm.batches).insert(request.id, Batch::Gathered(parts, Box::new(gathered)));
            return Some(());
        }
        let more = arrives_in_parts.then(BatchParts::default);
        if let Some(parts) = &more {
            lock(&self.realm.batches).insert(request.id, Batch::Sent(parts.clone()));
        }
        self.write(request, WriteOp::Batch { sql, first, more });
        Some(())
    }

    fn continue_batch(&self, request: &Request<'_>) {
        let (sets, last) = (param_sets(request), !request.has(RequestFlags::MORE));
        let batch = lock(&self.realm.batches).remove(&request.target);
        if let Some(batch) = batch.and_then(|batch| batch.push(sets, last)) {
            lock(&self.realm.batches).insert(request.target, batch);
        }
    }

    fn abort_batch(&self, request: &Request<'_>) {
        let batch = lock(&self.realm.batches).remove(&request.target);
        if let Some(batch) = batch {
            batch.abort();
        }
    }

    fn cancel(&self, request: u32) {
        let session = self
            .cancellation
            .cancel(request)
            .and_then(|session| self.realm.sessions.get(session));
        if let Some(session) = session {
            session.cancel();
        }
        self.realm.writers().iter().for_each(Writer::drop_cancelled);
    }

    fn stream(&self, request: &Request<'_>, deliveries: &mut Vec<Delivery>) -> Option<()> {
        let live = LiveQueryRequest {
            queries: self.live_queries(request)?,
            integers: integers(request),
            verify: request.double(0),
            maintenance: if request.word(12) & 1 == 0 {
                Maintenance::WhereQuicker
            } else {
                Maintenance::Never
            },
        };
        let Some(engine) = self.realm.engine(request.target) else {
            self.reply(request).fail(&Error::Closed);
            return Some(());
        };
        // Deliveries under this number belong to an earlier live query, which has ended.
        deliveries.retain(|delivery| delivery.request() != request.id);
        let listener = FrameListener::new(Arc::clone(&self.realm), request.id);
        let subscription = engine.subscribe(live, Box::new(listener));
        self.realm.subscriptions.keep(request.id, subscription);
        Some(())
    }

    fn listen_to_commits(&self, request: &Request<'_>) {
        let detail = match request.word(0) {
            1 => Some(RowDetail::Keys),
            2 => Some(RowDetail::Images),
            _ => None,
        };
        match self.realm.engine(request.target) {
            Some(engine) => {
                let listener = engine.listen_to_commits(detail);
                let tell = commit_frames::begin(Arc::clone(&self.realm), request.id, integers(request));
                self.realm.commit_listeners.keep(request.id, listener, tell);
            }
            None => self.reply(request).fail(&Error::Closed),
        }
    }

    /// The statements of a live query with their parameters.
    fn live_queries(&self, request: &Request<'_>) -> Option<Vec<(Arc<str>, Params)>> {
        let mut at = 16;
        let mut queries = Vec::new();
        for _ in 0..request.word(8) {
            let length = request.word(at + 4) as usize;
            queries.push((self.sql(request, at)?, request.params_of_length(at + 8, length)));
            at += 8 + length.next_multiple_of(4);
        }
        Some(queries)
    }

    fn explain_stream(&self, request: &Request<'_>) -> Option<()> {
        let sql = self.sql(request, 0)?;
        self.with_engine(request, |engine, reply| {
            engine.explain_stream(
                sql,
                request.params(4),
                Box::new(move |explained| match explained {
                    Ok(explanation) => reply.json(explanation::to_json(&explanation)),
                    Err(error) => reply.fail(&error),
                }),
            );
        });
        Some(())
    }

    fn begin(&mut self, request: &Request<'_>) {
        let flags = request.word(4);
        let options = TransactionOptions {
            timeout: limit(request, 8).map(milliseconds),
            foreign_keys_off: flags & begin_flags::FOREIGN_KEYS_OFF != 0,
            without_body: flags & begin_flags::WITHOUT_BODY != 0,
            again: flags & begin_flags::AGAIN != 0,
        };
        let durability = durability(request);
        self.open_session(request, |engine, reply| engine.begin(options, durability, reply));
    }

    fn cursor(&mut self, request: &Request<'_>) -> Option<()> {
        let query = self.query(request, 8, 12)?;
        let batch_rows = request.word(4) as usize;
        if request.has(RequestFlags::SESSION) {
            let number = request.word(0);
            self.step(request, |session, reply| {
                session.open_cursor(number, query, batch_rows, reply)
            });
            return Some(());
        }
        self.open_session(request, |engine, reply| engine.cursor(query, batch_rows, reply));
        Some(())
    }

    fn open_session(
        &mut self,
        request: &Request<'_>,
        open: impl FnOnce(&Engine, Box<dyn resqlite::binding::Reply>) -> Session,
    ) {
        let id = request.word(0);
        let reply = self.reply(request).in_session(id);
        let Some(engine) = self.realm.engine(request.target) else {
            return reply.fail(&Error::Closed);
        };
        self.cancellation.include_session(request.id, id);
        self.realm.sessions.open(id, || open(&engine, Box::new(reply)));
    }

    fn fetch(&mut self, request: &Request<'_>) {
        self.cancellation.include_session(request.id, request.target);
        let reply = self.reply(request).in_session(request.target);
        self.in_session(request, reply, |session, reply| session.fetch(reply));
    }

    fn fetch_from(&self, request: &Request<'_>) {
        let token = self.cancellation.token(request.id, &self.realm.scope);
        self.step(request, |session, reply| {
            session.fetch_from(request.word(0), token, reply)
        });
    }

    fn step(&self, request: &Request<'_>, run: impl FnOnce(&Session, Box<FrameReply>)) {
        self.in_session(request, self.reply(request), run);
    }

    fn last_step(&self, request: &Request<'_>, run: impl FnOnce(&Session, Box<FrameReply>)) {
        self.step(request, run);
        self.realm.sessions.remove(request.target);
    }

    fn in_session(
        &self,
        request: &Request<'_>,
        reply: FrameReply,
        run: impl FnOnce(&Session, Box<FrameReply>),
    ) {
        match self.realm.sessions.get(request.target) {
            Some(session) => run(&session, Box::new(reply)),
            None if matches!(request.op, Op::End | Op::Ended) => reply.done(),
            None => reply.fail(&Error::Transaction {
                operation: "use after end",
                message: "the transaction, snapshot or cursor has ended already".into(),
            }),
        }
    }

    fn with_writer(&self, request: &Request<'_>, run: impl FnOnce(&Writer, FrameReply)) {
        let reply = self.reply(request);
        match self.realm.writer(request.target) {
            Some(writer) => run(&writer, reply),
            None => reply.fail(&Error::Closed),
        }
    }

    fn with_node(&self, request: &Request<'_>, run: impl FnOnce(&Node, Token, FrameReply)) {
        let token = self.cancellation.token(request.id, &self.realm.scope);
        self.with_writer(request, |writer, reply| match writer {
            Writer::Node(node) => run(node, token, reply),
            Writer::Engine(_) => reply.fail(&Error::Option("the database is no node of a cluster".into())),
        });
    }

    /// The status of a node, as JSON; `None` if the handle is not that of a node, or is closed.
    pub(crate) fn cluster_status(&self, handle: u32) -> Option<String> {
        match self.realm.writer(handle)? {
            Writer::Node(node) => Some(node.status()),
            Writer::Engine(_) => None,
        }
    }

    fn with_engine(&self, request: &Request<'_>, run: impl FnOnce(&Engine, FrameReply)) {
        let reply = self.reply(request);
        match self.realm.engine(request.target) {
            Some(engine) => run(&engine, reply),
            None => reply.fail(&Error::Closed),
        }
    }
}

/// Returns a function that answers with a number.
fn number<T: 'static>(
    reply: FrameReply,
    number: impl FnOnce(T) -> u64 + Send + 'static,
) -> Box<dyn FnOnce(Result<T, Error>) + Send> {
    Box::new(move |done| match done {
        Ok(done) => reply.json(number(done).to_string().into_bytes()),
        Err(error) => reply.fail(&error),
    })
}

fn param_sets(request: &Request<'_>) -> ParamSets {
    ParamSets {
        count: request.word(4) as usize,
        params: request.params(16).with_texts_at(request.word(8) as usize),
    }
}

fn durability(request: &Request<'_>) -> Durability {
    if request.has(RequestFlags::FULL) {
        Durability::Full
    } else {
        Durability::Normal
    }
}

pub(crate) fn integers(request: &Request<'_>) -> Integers {
    const NUMBER: u8 = Integers::Number as u8;
    const BIG_INT: u8 = Integers::BigInt as u8;
    match request.flags.0 & INTEGERS_MASK {
        NUMBER => Integers::Number,
        BIG_INT => Integers::BigInt,
        _ => Integers::Auto,
    }
}

/// Bytes that the limits of a query take.
const LIMITS_BYTES: usize = 24;

/// The limits of a query: time, steps, bytes.
fn limits(request: &Request<'_>, at: usize) -> QueryLimits {
    QueryLimits {
        time: limit(request, at).map(milliseconds),
        steps: limit(request, at + 8).map(|most| most as u64),
        bytes: limit(request, at + 16).map(|most| most as u64),
    }
}

/// Reads a limit; 0 stands for no limit.
fn limit(request: &Request<'_>, at: usize) -> Option<f64> {
    Some(request.double(at)).filter(|most| *most > 0.0)
}

fn milliseconds(time: f64) -> Duration {
    Duration::from_micros((time * 1000.0) as u64)
}
