//! One realm's door to the engine.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use napi::{
    Env,
    bindgen_prelude::{ArrayBuffer, BufferSlice, Float64ArraySlice, Function, Uint8Array},
    sys,
    threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode},
};
use napi_derive::napi;
use resqlite::{
    Chunk, Chunks, Engine, Error, Format, Handle, Integers, LiveQueryRequest, Params, Query, QueryLimits,
    Scope, Session, Sets, Token, TokenSlot, Work, Write,
};

use crate::{
    frames::{self, Request, ask, op, tell},
    live::{self, FrameListener, Given, Subscriptions},
    open,
    outbox::{FRAME_MAX, Outbox, PATIENCE},
    profile,
    reply::FrameReply,
    slab::SLAB_BYTES,
};

type Wake = ThreadsafeFunction<(), (), (), napi::Status, false, true>;

/// What engine threads need of a realm, and what must be given back when it ends.
pub(crate) struct Shared {
    pub(crate) outbox: Outbox,
    /// Ends all requests of the realm.
    scope: Scope,
    handles: Mutex<HashMap<u32, Handle>>,
    handle_last: AtomicU32,
    /// Open transactions, snapshots and cursors; `None` while the engine is being asked for one.
    sessions: Mutex<HashMap<u32, Option<Arc<Session>>>>,
    /// Batches whose further sets are still to come, by request id.
    batches: Mutex<HashMap<u32, Chunks>>,
    /// Open live queries.
    subscriptions: Subscriptions,
}

impl Shared {
    pub(crate) fn forget_session(&self, session: u32) {
        // Dropped after the lock is.
        let _session = lock(&self.sessions).remove(&session);
    }

    fn session(&self, id: u32) -> Option<Arc<Session>> {
        lock(&self.sessions).get(&id)?.clone()
    }

    fn engine(&self, handle: u32) -> Option<Arc<Engine>> {
        lock(&self.handles)
            .get(&handle)
            .map(|handle| Arc::clone(handle.engine()))
    }

    /// Keeps a handle, unless the realm has ended: then nobody would give it back.
    fn keep(&self, id: u32, handle: Handle) {
        let mut handles = lock(&self.handles);
        if self.scope.is_cancelled() {
            drop(handles);
            drop(handle);
        } else {
            handles.insert(id, handle);
        }
    }

    /// The realm ends: nobody listens any more, what runs is interrupted, transactions are rolled back.
    fn close(&self) {
        self.outbox.close();
        self.scope.cancel();
        let sessions = std::mem::take(&mut *lock(&self.sessions));
        sessions.values().flatten().for_each(|session| session.cancel());
        drop(sessions);
        self.subscriptions.end_all();
        // The writer may be waiting for sets that nobody will send any more.
        for (_, chunks) in lock(&self.batches).drain() {
            chunks.push(Chunk::Abort);
        }
        let handles = std::mem::take(&mut *lock(&self.handles));
        handles
            .values()
            .for_each(|handle| handle.engine().drop_cancelled());
        drop(handles);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One realm's door to the engine: frames in, frames out.
#[napi]
pub struct Port {
    shared: Arc<Shared>,
    wake: Wake,
    /// Memory of the realm that `drain` fills.
    inbox: Uint8Array,
    /// Frames taken from the outbox, and how much of them is in the inbox or past it.
    frames: Vec<u8>,
    frames_at: usize,
    /// Slabs that the realm may be reading.
    slabs: Vec<u32>,
    /// News of live queries that the realm may not have consumed yet.
    given: Vec<Given>,
    statements: Vec<Option<Arc<str>>>,
    /// Cancellation slots by request id, with the number of their current use.
    tokens: Vec<(TokenSlot, u64)>,
    /// Sessions that end when a request is cancelled, by request id: the one it opens, the cursor it fetches from.
    cancels: HashMap<u32, u32>,
    /// Requests that are not answered yet.
    owed: usize,
}

#[napi]
impl Port {
    /// Opens the realm's door. `inbox` is filled by `drain`; `onWake` is called when replies wait.
    #[napi(constructor, catch_unwind)]
    pub fn new(env: Env, inbox: Uint8Array, on_wake: Function<'_, (), ()>) -> napi::Result<Self> {
        if inbox.len() < FRAME_MAX {
            return Err(napi::Error::from_reason("the inbox is too small for a frame"));
        }
        let build = || {
            on_wake
                .build_threadsafe_function::<()>()
                .weak::<true>()
                .callee_handled::<false>()
        };
        let (wake, waker): (Wake, Wake) = (build().build()?, build().build()?);
        let shared = Arc::new(Shared {
            outbox: Outbox::new(external_memory_allowed(env)),
            scope: Scope::default(),
            handles: Mutex::default(),
            handle_last: AtomicU32::new(0),
            sessions: Mutex::default(),
            batches: Mutex::default(),
            subscriptions: Subscriptions::default(),
        });
        shared.outbox.wake_with(move || {
            waker.call((), ThreadsafeFunctionCallMode::NonBlocking);
        });
        env.add_env_cleanup_hook(Arc::clone(&shared), |shared| shared.close())?;
        Ok(Self {
            shared,
            wake,
            inbox,
            frames: Vec::new(),
            frames_at: 0,
            slabs: Vec::new(),
            given: Vec::new(),
            statements: Vec::new(),
            tokens: Vec::new(),
            cancels: HashMap::new(),
            owed: 0,
        })
    }

    /// Takes the request frames that stand in the first `length` bytes. `staysAwake`: nobody need wake the realm, as it
    /// calls `drain` by itself until it says otherwise.
    #[napi(catch_unwind)]
    pub fn submit(&mut self, env: Env, requests: &[u8], length: u32, stays_awake: bool) -> napi::Result<()> {
        let submission = profile::submission();
        if stays_awake {
            self.shared.outbox.stay_awake();
        }
        let bytes: Arc<[u8]> = requests.get(..length as usize).unwrap_or(requests).into();
        let owed_before = self.owed;
        let all =
            frames::requests(&bytes).all(|request| request.is_some_and(|request| self.handle(&request)));
        if !all {
            return Err(napi::Error::from_reason("a request frame makes no sense"));
        }
        if owed_before == 0 && self.owed > 0 {
            #[allow(deprecated)]
            self.wake.refer(&env)?;
        }
        submission.done();
        Ok(())
    }

    /// Copies whole reply frames into the inbox and gives their length in bytes; 0 when none wait. Says that what
    /// the call before gave has been read. `staysAwake`: see `submit`.
    #[napi(catch_unwind)]
    pub fn drain(&mut self, env: Env, stays_awake: bool) -> napi::Result<u32> {
        if self.frames_at == self.frames.len() {
            self.frames.clear();
            self.frames_at = 0;
            self.shared
                .outbox
                .take(&mut self.frames, &mut self.slabs, stays_awake);
        }
        // After slabs were given back: whoever is told now may be waiting for one.
        self.shared.subscriptions.consumed(&self.given);
        self.given.clear();
        let (length, settled) = self.fitting();
        // SAFETY: JavaScript is not running while this is, and the inbox is only ever written here.
        #[allow(unsafe_code)]
        let inbox = unsafe { self.inbox.as_mut() };
        inbox[..length].copy_from_slice(&self.frames[self.frames_at..self.frames_at + length]);
        self.frames_at += length;
        profile::completions(settled, &self.given);
        self.owed -= settled.min(self.owed);
        if settled > 0 && self.owed == 0 {
            #[allow(deprecated)]
            self.wake.unref(&env)?;
        }
        Ok(length as u32)
    }

    /// Bytes of whole frames that fit into the inbox, and how many requests they settle. Notes what they tell of live
    /// queries.
    fn fitting(&mut self) -> (usize, usize) {
        let frames = &self.frames[self.frames_at..];
        let (mut length, mut settled) = (0, 0);
        while let Some(size) = frames::word(frames, length) {
            let next = length + size as usize;
            if next > self.inbox.len() {
                break;
            }
            let (kind, flags) = (frames[length + 4], frames[length + 5]);
            settled += usize::from(flags & tell::LAST != 0);
            let request = frames::word(frames, length + 8).unwrap_or_default();
            self.given.extend(Given::of(kind, flags, request));
            length = next;
        }
        (length, settled)
    }

    /// The memory of a slab, to be asked for once.
    #[napi(catch_unwind)]
    pub fn slab<'env>(&self, env: &'env Env, id: u32) -> napi::Result<ArrayBuffer<'env>> {
        let slab = self
            .shared
            .outbox
            .slab(id)
            .ok_or_else(|| napi::Error::from_reason("no such slab"))?;
        let start = slab.start();
        // SAFETY: the memory is SLAB_BYTES long, never moves, and the finaliser's hold on the slab keeps it alive as
        // long as JavaScript can see it.
        #[allow(unsafe_code)]
        unsafe {
            ArrayBuffer::from_external(env, start, SLAB_BYTES, slab, |_, slab| drop(slab))
        }
    }

    /// A payload that travels by itself; once.
    #[napi(catch_unwind)]
    pub fn take<'env>(&self, env: &'env Env, id: u32) -> napi::Result<BufferSlice<'env>> {
        let bytes = self
            .shared
            .outbox
            .take_owned(id)
            .ok_or_else(|| napi::Error::from_reason("no such payload"))?;
        BufferSlice::from_data(env, bytes)
    }

    /// Puts the counters of the live query that a request opened into `numbers`; `false` when there is none.
    #[napi(catch_unwind)]
    pub fn stream_stats(&self, request: u32, mut numbers: Float64ArraySlice<'_>) -> bool {
        let Some(stats) = self.shared.subscriptions.stats(request) else {
            return false;
        };
        // SAFETY: JavaScript is not running while this is, and no other thread knows of the memory.
        #[allow(unsafe_code)]
        let numbers = unsafe { numbers.as_mut() };
        for (number, told) in numbers.iter_mut().zip(live::stats(&stats)) {
            *number = told;
        }
        true
    }

    /// Handles one request; `false` if it makes no sense.
    fn handle(&mut self, request: &Request<'_>) -> bool {
        match request.op {
            op::DEFINE => return self.define(request),
            op::FORGET => self.statements.clear(),
            op::CHUNK => self.chunk(request),
            op::BATCH_ABORT => self.abort_batch(request),
            op::CANCEL => self.cancel(request),
            op::UNSUBSCRIBE => self.shared.subscriptions.end(request.target),
            _ => {
                self.new_use(request.id);
                let understood = self.answered(request);
                self.owed += usize::from(understood);
                return understood;
            }
        }
        true
    }

    /// The requests that get an answer.
    fn answered(&mut self, request: &Request<'_>) -> bool {
        match request.op {
            op::OPEN => self.open(request),
            op::CLOSE => self.close(request),
            op::DIAGNOSTICS => self.diagnostics(request),
            op::SELECT => return self.select(request),
            op::EXECUTE | op::BATCH | op::EXEC => return self.write(request),
            op::BEGIN => self.begin(request),
            op::SNAPSHOT => self.snapshot(request),
            op::CURSOR => return self.cursor(request),
            op::STREAM => return self.stream(request),
            op::EXPLAIN_STREAM => return self.explain_stream(request),
            op::SAVEPOINT | op::RELEASE | op::ROLLBACK_TO | op::COMMIT | op::END | op::ENDED | op::FETCH => {
                self.step(request);
            }
            _ => return false,
        }
        true
    }

    fn define(&mut self, request: &Request<'_>) -> bool {
        let (Some(sql), id) = (request.text(0), request.target as usize) else {
            return false;
        };
        if id >= self.statements.len() {
            self.statements.resize(id + 1, None);
        }
        self.statements[id] = Some(sql.into());
        true
    }

    fn sql(&self, request: &Request<'_>, offset: usize) -> Option<Arc<str>> {
        self.statements.get(request.word(offset) as usize)?.clone()
    }

    fn reply(&self, request: &Request<'_>, session: Option<u32>) -> Box<FrameReply> {
        Box::new(FrameReply {
            shared: Arc::clone(&self.shared),
            request: request.id,
            session,
            patience: PATIENCE,
        })
    }

    /// A request id is used again, with a token or without: cancelling it no longer means what its last use began,
    /// which may still be running (a cursor keeps the token of the request that opened it).
    fn new_use(&mut self, request: u32) {
        let at = request as usize;
        if at >= self.tokens.len() {
            self.tokens.resize_with(at + 1, Default::default);
        }
        self.tokens[at].1 += 1;
        self.cancels.remove(&request);
    }

    fn token(&self, request: u32) -> Token {
        let (slot, generation) = &self.tokens[request as usize];
        slot.token(*generation, &self.shared.scope)
    }

    fn query(&mut self, request: &Request<'_>, sql_at: usize, params_at: usize) -> Option<Query> {
        let format = match request {
            _ if request.asks(ask::JSON) => Format::Json,
            _ if request.asks(ask::FIRST) => Format::FirstRow,
            _ => Format::Rows,
        };
        let sql = self.sql(request, sql_at)?;
        let limits = request
            .asks(ask::LIMITS)
            .then(|| Box::new(limits(request, params_at)));
        let params_at = params_at + if limits.is_some() { LIMITS_BYTES } else { 0 };
        let params = Params::packed(Arc::clone(request.bytes), request.rest(params_at));
        Some(Query {
            sql,
            params,
            format,
            integers: integers(request),
            token: self.token(request.id),
            limits,
        })
    }

    fn select(&mut self, request: &Request<'_>) -> bool {
        let Some(query) = self.query(request, 0, 4) else {
            return false;
        };
        let reply = self.reply(request, None);
        if request.asks(ask::SESSION) {
            self.in_session(request, reply, |session, reply| session.select(query, reply));
        } else {
            self.with_engine(request, reply, |engine, reply| engine.select(query, reply));
        }
        true
    }

    fn write(&mut self, request: &Request<'_>) -> bool {
        let Some(work) = self.work(request) else {
            return false;
        };
        let token = self.token(request.id);
        let write = Write {
            work,
            full: request.asks(ask::FULL),
            integers: integers(request),
            token,
        };
        let reply = self.reply(request, None);
        if request.asks(ask::SESSION) {
            self.in_session(request, reply, |session, reply| session.write(write, reply));
        } else {
            self.with_engine(request, reply, |engine, reply| engine.write(write, reply));
        }
        true
    }

    fn work(&mut self, request: &Request<'_>) -> Option<Work> {
        let packed = |offset| Params::packed(Arc::clone(request.bytes), request.rest(offset));
        Some(match request.op {
            op::EXECUTE => Work::Execute {
                sql: self.sql(request, 0)?,
                params: packed(4),
            },
            op::EXEC => Work::Script(request.text(0)?.into()),
            _ => {
                let first = Sets {
                    count: request.word(4) as usize,
                    params: packed(8),
                };
                let more = request.asks(ask::MORE).then(Chunks::default);
                if let Some(chunks) = &more {
                    lock(&self.shared.batches).insert(request.id, chunks.clone());
                }
                Work::Batch {
                    sql: self.sql(request, 0)?,
                    first,
                    more,
                }
            }
        })
    }

    fn chunk(&mut self, request: &Request<'_>) {
        let last = !request.asks(ask::MORE);
        let params = Params::packed(Arc::clone(request.bytes), request.rest(8));
        let sets = Sets {
            count: request.word(4) as usize,
            params,
        };
        let mut batches = lock(&self.shared.batches);
        if let Some(chunks) = batches.get(&request.target) {
            chunks.push(Chunk::Sets { sets, last });
        }
        if last {
            batches.remove(&request.target);
        }
    }

    fn abort_batch(&mut self, request: &Request<'_>) {
        if let Some(chunks) = lock(&self.shared.batches).remove(&request.target) {
            chunks.push(Chunk::Abort);
        }
    }

    fn cancel(&mut self, request: &Request<'_>) {
        if let Some((slot, generation)) = self.tokens.get(request.target as usize) {
            slot.cancel(*generation);
        }
        if let Some(session) = self
            .cancels
            .get(&request.target)
            .and_then(|id| self.shared.session(*id))
        {
            session.cancel();
        }
        let engines: Vec<_> = lock(&self.shared.handles)
            .values()
            .map(|handle| Arc::clone(handle.engine()))
            .collect();
        engines.iter().for_each(|engine| engine.drop_cancelled());
    }

    fn open(&mut self, request: &Request<'_>) {
        let reply = self.reply(request, None);
        match open::parse(request.text(0).unwrap_or_default()) {
            Err(error) => reply.fail(&error),
            Ok((path, options)) => {
                let shared = Arc::clone(&self.shared);
                off_thread(reply, move |reply| match Handle::open(&path, &options) {
                    Err(error) => reply.fail(&error),
                    Ok(handle) => {
                        let id = shared.handle_last.fetch_add(1, Ordering::Relaxed) + 1;
                        let engine = handle.engine().id();
                        shared.keep(id, handle);
                        reply.json(format!("{{\"handle\":{id},\"engine\":{engine}}}").into_bytes());
                    }
                });
            }
        }
    }

    fn close(&mut self, request: &Request<'_>) {
        let reply = self.reply(request, None);
        let handle = lock(&self.shared.handles).remove(&request.target);
        off_thread(reply, move |reply| {
            drop(handle);
            resqlite::Reply::finish(reply, Ok(resqlite::Outcome::Done));
        });
    }

    fn diagnostics(&mut self, request: &Request<'_>) {
        let reply = self.reply(request, None);
        match self.shared.engine(request.target) {
            Some(engine) => reply.json(open::diagnostics(&engine.diagnostics())),
            None => reply.fail(&Error::Closed),
        }
    }

    fn stream(&mut self, request: &Request<'_>) -> bool {
        let Some(queries) = self.live_queries(request) else {
            return false;
        };
        let live = LiveQueryRequest {
            queries,
            integers: integers(request),
            verify: request.double(0),
        };
        let Some(engine) = self.shared.engine(request.target) else {
            self.reply(request, None).fail(&Error::Closed);
            return true;
        };
        // What was given under this number was that of another query.
        self.given.retain(|given| given.request() != request.id);
        let listener = FrameListener::new(Arc::clone(&self.shared), request.id);
        let subscription = engine.subscribe(live, Box::new(listener));
        self.shared.subscriptions.keep(request.id, subscription);
        true
    }

    /// The statements of a live query with their parameters.
    fn live_queries(&self, request: &Request<'_>) -> Option<Vec<(Arc<str>, Params)>> {
        let mut at = 16;
        let mut queries = Vec::new();
        for _ in 0..request.word(8) {
            let sql = self.sql(request, at)?;
            let start = request.rest(at + 8).start;
            let length = request.word(at + 4) as usize;
            queries.push((
                sql,
                Params::packed(Arc::clone(request.bytes), start..start + length),
            ));
            at += 8 + length.next_multiple_of(4);
        }
        Some(queries)
    }

    fn explain_stream(&mut self, request: &Request<'_>) -> bool {
        let Some(sql) = self.sql(request, 0) else {
            return false;
        };
        let params = Params::packed(Arc::clone(request.bytes), request.rest(4));
        let reply = self.reply(request, None);
        match self.shared.engine(request.target) {
            None => reply.fail(&Error::Closed),
            Some(engine) => engine.explain_stream(
                sql,
                params,
                Box::new(move |explained| match explained {
                    Ok(explanation) => reply.json(live::explanation(&explanation)),
                    Err(error) => reply.fail(&error),
                }),
            ),
        }
        true
    }

    fn begin(&mut self, request: &Request<'_>) {
        let timeout = request.double(8);
        let timeout = (timeout > 0.0).then(|| milliseconds(timeout));
        let full = request.asks(ask::FULL);
        self.open_session(request, |engine, reply| engine.begin(timeout, full, reply));
    }

    fn snapshot(&mut self, request: &Request<'_>) {
        self.open_session(request, |engine, reply| engine.snapshot(reply));
    }

    fn cursor(&mut self, request: &Request<'_>) -> bool {
        let Some(query) = self.query(request, 8, 12) else {
            return false;
        };
        let batch_rows = request.word(4) as usize;
        self.open_session(request, |engine, reply| engine.cursor(query, batch_rows, reply));
        true
    }

    fn open_session(
        &mut self,
        request: &Request<'_>,
        open: impl FnOnce(&Engine, Box<FrameReply>) -> Session,
    ) {
        let id = request.word(0);
        let reply = self.reply(request, Some(id));
        let Some(engine) = self.shared.engine(request.target) else {
            return reply.fail(&Error::Closed);
        };
        self.cancels.insert(request.id, id);
        // Reserved before the engine knows of it: a session that ends at once takes the place away again.
        lock(&self.shared.sessions).insert(id, None);
        let session = Arc::new(open(&engine, reply));
        if let Some(place) = lock(&self.shared.sessions).get_mut(&id) {
            *place = Some(session);
        }
    }

    fn step(&mut self, request: &Request<'_>) {
        let ends = matches!(request.op, op::COMMIT | op::END);
        let fetches = request.op == op::FETCH;
        if fetches {
            self.cancels.insert(request.id, request.target);
        }
        let reply = self.reply(request, fetches.then_some(request.target));
        let level = request.word(0);
        self.in_session(request, reply, |session, reply| match request.op {
            op::SAVEPOINT => session.savepoint(level, reply),
            op::RELEASE => session.release(level, reply),
            op::ROLLBACK_TO => session.rollback_to(level, reply),
            op::COMMIT => session.commit(reply),
            op::END => session.end(reply),
            op::ENDED => session.ended(reply),
            _ => session.fetch(reply),
        });
        if ends {
            self.shared.forget_session(request.target);
        }
    }

    fn with_engine(
        &self,
        request: &Request<'_>,
        reply: Box<FrameReply>,
        run: impl FnOnce(&Engine, Box<FrameReply>),
    ) {
        match self.shared.engine(request.target) {
            Some(engine) => run(&engine, reply),
            None => reply.fail(&Error::Closed),
        }
    }

    fn in_session(
        &self,
        request: &Request<'_>,
        reply: Box<FrameReply>,
        run: impl FnOnce(&Session, Box<FrameReply>),
    ) {
        match self.shared.session(request.target) {
            Some(session) => run(&session, reply),
            None => ended(request.op, reply),
        }
    }
}

/// Answers a step of a session that is over.
fn ended(op: u8, reply: Box<FrameReply>) {
    if matches!(op, op::END | op::ENDED) {
        return resqlite::Reply::finish(reply, Ok(resqlite::Outcome::Done));
    }
    let message = "the transaction, snapshot or cursor has ended already".into();
    reply.fail(&Error::Transaction {
        operation: "use after end",
        message,
    });
}

fn integers(request: &Request<'_>) -> Integers {
    match request.flags & ask::INTEGERS {
        1 => Integers::Number,
        2 => Integers::BigInt,
        _ => Integers::Auto,
    }
}

/// Bytes that the limits of a query take in its request.
const LIMITS_BYTES: usize = 24;

/// The limits of a query: time, steps, bytes; 0 where there is none.
fn limits(request: &Request<'_>, at: usize) -> QueryLimits {
    let given = |offset: usize| Some(request.double(at + offset)).filter(|most| *most > 0.0);
    QueryLimits {
        time: given(0).map(milliseconds),
        steps: given(8).map(|most| most as u64),
        bytes: given(16).map(|most| most as u64),
    }
}

fn milliseconds(time: f64) -> Duration {
    Duration::from_micros((time * 1000.0) as u64)
}

/// Runs what blocks for a moment on a thread of its own.
fn off_thread(reply: Box<FrameReply>, work: impl FnOnce(Box<FrameReply>) + Send + 'static) {
    let last_resort = FrameReply {
        shared: Arc::clone(&reply.shared),
        ..*reply
    };
    let spare = FrameReply {
        shared: Arc::clone(&reply.shared),
        ..*reply
    };
    let spawned = thread::Builder::new()
        .name("resqlite-open".into())
        .spawn(move || {
            if catch_unwind(AssertUnwindSafe(|| work(reply))).is_err() {
                spare.fail(&Error::WorkerDied);
            }
        });
    if spawned.is_err() {
        last_resort.fail(&Error::WorkerDied);
    }
}

/// Whether JavaScript may see native memory here; Electron forbids it. With `RESQLITE_COPY_RESULTS` set, the way that
/// copies is taken anywhere, so that it can be tested, and tried where something else objects to such memory.
fn external_memory_allowed(env: Env) -> bool {
    if std::env::var_os("RESQLITE_COPY_RESULTS").is_some() {
        return false;
    }
    let mut word = Box::new(0u64);
    let (start, mut value) = ((&raw mut *word).cast(), std::ptr::null_mut());
    // SAFETY: the memory is leaked below if JavaScript got hold of it, so it outlives the array buffer.
    #[allow(unsafe_code)]
    let status = unsafe {
        sys::napi_create_external_arraybuffer(env.raw(), start, 8, None, std::ptr::null_mut(), &mut value)
    };
    let allowed = status == sys::Status::napi_ok;
    if allowed {
        Box::leak(word);
    }
    allowed
}
