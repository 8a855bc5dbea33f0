//! A log in the memory of one process, for tests: of this crate, and of programs that use it.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use futures_util::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use resqlite::log::Position;
use tokio::sync::watch;

use super::{
    positions::digits,
    snapshots::{self, Shelf},
};
use crate::core::{
    copies::{Copies, Fault},
    log::{Append, Handler, Log, LogError, NodeName, Part, Serving},
    seal::{open_seal, seal},
};

/// A log in memory. Cheap to clone; each node has a [connection](Self::connect) of its own. As on a real log, three servers have
/// a copy of everything, and single copies can be [damaged](Self::damage).
#[derive(Clone)]
pub struct MemoryLog(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// The position of the last entry.
    end: watch::Sender<Position>,
}

struct State {
    /// The position of the first entry that is there.
    first: Position,
    /// The position of the last entry.
    end: Position,
    /// The sealed entries, parts, and pieces of snapshots with their manifests, by name. A name has a kind and a position.
    kept: BTreeMap<String, Bytes>,
    /// The damaged copies, by server and name. The server returns the damaged copy in place of what was put there.
    damaged: HashMap<(usize, String), Option<Bytes>>,
    /// The handler that serves under each name, and whether its node is cut off.
    served: HashMap<NodeName, (Arc<dyn Handler>, Arc<AtomicBool>)>,
    bytes_max: usize,
}

impl Default for MemoryLog {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryLog {
    /// An empty log, which takes entries of up to 1 MiB, and carries answers of up to 1 MiB between nodes.
    pub fn new() -> Self {
        Self(Arc::new(Shared {
            state: Mutex::new(State {
                first: Position(1),
                end: Position(0),
                kept: BTreeMap::new(),
                damaged: HashMap::new(),
                served: HashMap::new(),
                bytes_max: 1 << 20,
            }),
            end: watch::Sender::default(),
        }))
    }

    /// A connection for one node.
    pub fn connect(&self) -> MemoryConnection {
        let servers = (1..=Self::SERVERS).map(|server| format!("server {server}"));
        MemoryConnection {
            log: self.clone(),
            copies: Arc::new(Copies::on(servers.collect())),
            is_cut: Arc::default(),
            answers_lost: Arc::default(),
            parts_taken: watch::Sender::new(usize::MAX),
        }
    }

    /// The entries, from the first position that is there.
    pub fn entries(&self) -> Vec<Bytes> {
        let opened = |(name, sealed): (String, Bytes)| open_seal(name.as_bytes(), sealed);
        self.of_kind(ENTRIES).into_iter().filter_map(opened).collect()
    }

    /// Returns the number of parts of large entries that the log keeps.
    pub fn parts(&self) -> usize {
        self.of_kind(PARTS).len()
    }

    /// Forgets the parts of large entries, which no log may do.
    pub fn forget_parts(&self) {
        self.state().kept.retain(|name, _| !name.starts_with(PARTS));
    }

    /// Forgets the last entries, which no log may do.
    pub fn forget(&self, count: usize) {
        let mut state = self.state();
        let before = state.first.before();
        state.end = before + state.end.since(before).saturating_sub(count as u64);
        let end = state.end;
        state
            .kept
            .retain(|name, _| !name.starts_with(ENTRIES) || position_of(name) <= end);
        self.0.end.send_replace(end);
    }

    /// Returns the positions of the snapshots that the log keeps.
    pub fn snapshots(&self) -> Vec<Position> {
        let names = self.names();
        let manifests = names.iter().filter(|name| name.ends_with(snapshots::MANIFEST));
        manifests.map(|name| position_of(name)).collect()
    }

    /// Loses all snapshots, which no log may do.
    pub fn lose_snapshots(&self) {
        self.state().kept.retain(|name, _| !name.starts_with(SNAPSHOTS));
    }

    /// The number of servers that have a copy of everything.
    pub const SERVERS: usize = 3;

    /// Returns the names of everything that the log keeps: `entries/…`, `parts/…`, `snapshots/…/manifest`, and pieces
    /// `snapshots/…`.
    pub fn names(&self) -> Vec<String> {
        self.state().kept.keys().cloned().collect()
    }

    /// Damages the copy that one of the servers has under a name, as a disk does. From now on this server returns what the
    /// closure makes of the bytes that were put there, or nothing. Nodes ask the first server first.
    ///
    /// ```
    /// # let log = resqlite_cluster::MemoryLog::new();
    /// for name in log.names() {
    ///     log.damage(0, &name, |mut bytes| {
    ///         bytes[0] ^= 1;
    ///         Some(bytes)
    ///     });
    /// }
    /// ```
    pub fn damage(&self, server: usize, name: &str, damage: impl FnOnce(Vec<u8>) -> Option<Vec<u8>>) {
        let mut state = self.state();
        if let Some(bytes) = state.kept.get(name) {
            let damaged = damage(bytes.to_vec()).map(Bytes::from);
            state.damaged.insert((server, name.to_owned()), damaged);
        }
    }

    fn of_kind(&self, kind: &str) -> Vec<(String, Bytes)> {
        let state = self.state();
        let kept = state.kept.iter().filter(|(name, _)| name.starts_with(kind));
        kept.map(|(name, bytes)| (name.clone(), bytes.clone())).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The copy that a server has under a name.
    fn copy(&self, server: usize, name: &str) -> Option<Bytes> {
        let damaged = self.damaged.get(&(server, name.to_owned())).cloned();
        damaged.unwrap_or_else(|| self.kept.get(name).cloned())
    }

    fn keep(&mut self, name: String, bytes: &[u8]) {
        let sealed = seal(name.as_bytes(), bytes);
        self.damaged.retain(|(_, damaged), _| *damaged != name);
        self.kept.insert(name, sealed);
    }
}

const ENTRIES: &str = "entries/";
const PARTS: &str = "parts/";
const SNAPSHOTS: &str = "snapshots/";

fn entry_name(position: Position) -> String {
    format!("{ENTRIES}{}", digits(position))
}

fn part_name(Part { position, of, index }: Part) -> String {
    format!("{PARTS}{}/{of:016x}/{index:08}", digits(position))
}

fn snapshot_name(name: &str) -> String {
    format!("{SNAPSHOTS}{name}")
}

/// The position in a name.
fn position_of(name: &str) -> Position {
    let digits = name.split('/').nth(1);
    Position(digits.and_then(|digits| digits.parse().ok()).unwrap_or(0))
}

/// The connection of one node to a [`MemoryLog`]. A clone is the same connection.
#[derive(Clone)]
pub struct MemoryConnection {
    log: MemoryLog,
    copies: Arc<Copies>,
    is_cut: Arc<AtomicBool>,
    answers_lost: Arc<AtomicUsize>,
    /// The number of parts that are still taken at once.
    parts_taken: watch::Sender<usize>,
}

impl MemoryConnection {
    /// Cuts the node off from the log and the other nodes, or connects it again.
    pub fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
        // Tails and waiting parts look again.
        self.log.0.end.send_modify(|_| ());
        self.parts_taken.send_modify(|_| ());
    }

    /// Takes `count` parts of large entries from now on. Further parts wait until there is another call, or the node is cut off.
    pub fn take_parts(&self, count: usize) {
        self.parts_taken.send_replace(count);
    }

    async fn keep(&self, part: Part, bytes: Bytes) -> Result<(), LogError> {
        let mut taken = self.parts_taken.subscribe();
        loop {
            drop(self.reach()?);
            let is_taken = self.parts_taken.send_if_modified(|left| {
                let taken = left.checked_sub(1);
                *left = taken.unwrap_or(0);
                taken.is_some()
            });
            if is_taken {
                self.reach()?.keep(part_name(part), &bytes);
                return Ok(());
            }
            let _ = taken.changed().await;
        }
    }

    /// Loses the answers of the next `count` appends, which are taken.
    pub fn lose_answers(&self, count: usize) {
        self.answers_lost.store(count, Ordering::SeqCst);
    }

    fn reach(&self) -> Result<MutexGuard<'_, State>, LogError> {
        if self.is_cut.load(Ordering::SeqCst) {
            return Err(LogError::Unreachable("this node is cut off".into()));
        }
        Ok(self.log.state())
    }

    fn append_now(&self, position: Position, bytes: Bytes) -> Result<Append, LogError> {
        let mut state = self.reach()?;
        if bytes.len() > state.bytes_max {
            return Err(LogError::TooLarge {
                limit: state.bytes_max,
            });
        }
        let append = if position == state.end.next() {
            state.keep(entry_name(position), &bytes);
            state.end = position;
            self.log.0.end.send_replace(position);
            Append::Taken
        } else {
            Append::Refused
        };
        let lost = |left: usize| left.checked_sub(1);
        match self
            .answers_lost
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, lost)
        {
            Ok(_) => Err(LogError::Unknown("the answer was lost".into())),
            Err(_) => Ok(append),
        }
    }

    /// Returns the bytes with this name, from the first server that has them as they were put.
    async fn find(&self, what: &str, name: &str) -> Result<Option<Bytes>, LogError> {
        let ask = |server| std::future::ready(self.reach().map(|state| state.copy(server, name)));
        let read = |found: Option<Bytes>| match found {
            None => Err(Fault::Missing),
            Some(sealed) => open_seal(name.as_bytes(), sealed).ok_or(Fault::Damaged),
        };
        let found = self.copies.find(what, 0, ask, read).await?;
        Ok(found.map(|(_, bytes)| bytes))
    }

    async fn at(&self, position: Position) -> Result<Option<Bytes>, LogError> {
        let (first, end) = self.reach().map(|state| (state.first, state.end))?;
        if position < first {
            return Err(LogError::Purged { first });
        }
        if position > end {
            return Ok(None);
        }
        let what = format!("the entry at position {position}");
        let found = self.find(&what, &entry_name(position)).await?;
        found.map(Some).ok_or_else(|| self.copies.lost(&what))
    }

    async fn next(&self, position: Position) -> Result<Bytes, LogError> {
        let mut end = self.log.0.end.subscribe();
        loop {
            end.borrow_and_update();
            if let Some(bytes) = self.at(position).await? {
                return Ok(bytes);
            }
            if end.changed().await.is_err() {
                return Err(LogError::Unreachable("the log is gone".into()));
            }
        }
    }

    async fn ask(&self, node: NodeName, bytes: Bytes) -> Result<Bytes, LogError> {
        let served = self.reach()?.served.get(&node).cloned();
        let Some((handler, is_cut)) = served else {
            return Err(LogError::Unreachable(format!("nobody serves as {node}")));
        };
        if is_cut.load(Ordering::SeqCst) {
            return Err(LogError::Unknown(format!("{node} does not answer")));
        }
        let answer_max = self.log.state().bytes_max;
        let answer = handler.handle(bytes, answer_max).await;
        if is_cut.load(Ordering::SeqCst) || self.is_cut.load(Ordering::SeqCst) {
            return Err(LogError::Unknown(format!("the answer of {node} was lost")));
        }
        Ok(answer)
    }
}

impl Log for MemoryConnection {
    fn append(&self, position: Position, bytes: Bytes) -> BoxFuture<'_, Result<Append, LogError>> {
        async move { self.append_now(position, bytes) }.boxed()
    }

    fn read(&self, position: Position) -> BoxFuture<'_, Result<Option<Bytes>, LogError>> {
        self.at(position).boxed()
    }

    fn tail(&self, from: Position) -> BoxStream<'_, Result<(Position, Bytes), LogError>> {
        let next = move |next: Option<Position>| async move {
            let position = next?;
            match self.next(position).await {
                Ok(bytes) => Some((Ok((position, bytes)), Some(position.next()))),
                Err(error) => Some((Err(error), None)),
            }
        };
        stream::unfold(Some(from), next).boxed()
    }

    fn last(&self) -> BoxFuture<'_, Result<Position, LogError>> {
        async move { Ok(self.reach()?.end) }.boxed()
    }

    fn put_snapshot(&self, position: Position, file: &Path) -> BoxFuture<'_, Result<(), LogError>> {
        snapshots::put(self, position, file.to_owned()).boxed()
    }

    fn last_snapshot(&self) -> BoxFuture<'_, Result<Option<Position>, LogError>> {
        snapshots::last(self).boxed()
    }

    fn get_snapshot(&self, into: &Path) -> BoxFuture<'_, Result<Option<Position>, LogError>> {
        snapshots::get(self, into.to_owned()).boxed()
    }

    fn put_part(&self, part: Part, bytes: Bytes) -> BoxFuture<'_, Result<(), LogError>> {
        self.keep(part, bytes).boxed()
    }

    fn get_part(&self, part: Part) -> BoxFuture<'_, Result<Option<Bytes>, LogError>> {
        async move { self.find("a part of an entry", &part_name(part)).await }.boxed()
    }

    fn purge(&self, up_to: Position) -> BoxFuture<'_, Result<(), LogError>> {
        async move {
            {
                let mut state = self.reach()?;
                state.first = state.first.max(up_to.min(state.end).next());
                state
                    .kept
                    .retain(|name, _| name.starts_with(SNAPSHOTS) || position_of(name) > up_to);
            }
            self.delete_below(up_to).await
        }
        .boxed()
    }

    fn request(&self, node: &NodeName, bytes: Bytes) -> BoxFuture<'_, Result<Bytes, LogError>> {
        self.ask(node.clone(), bytes).boxed()
    }

    fn serve(&self, node: &NodeName, handler: Arc<dyn Handler>) -> BoxFuture<'_, Result<Serving, LogError>> {
        let node = node.clone();
        async move {
            let is_cut = Arc::clone(&self.is_cut);
            self.reach()?.served.insert(node.clone(), (handler, is_cut));
            Ok(Serving::new(Served(self.log.clone(), node)))
        }
        .boxed()
    }

    fn damaged(&self) -> Vec<String> {
        self.copies.damaged()
    }
}

impl Shelf for MemoryConnection {
    fn copies(&self) -> &Copies {
        &self.copies
    }

    async fn put(&self, name: String, value: Bytes) -> Result<(), LogError> {
        self.reach()?.keep(snapshot_name(&name), &value);
        Ok(())
    }

    async fn get(&self, name: String, what: String) -> Result<Option<Bytes>, LogError> {
        self.find(&what, &snapshot_name(&name)).await
    }

    async fn newest(&self, name: &'static str) -> Result<Option<Position>, LogError> {
        let state = self.reach()?;
        let names = state
            .kept
            .keys()
            .filter(|key| key.starts_with(SNAPSHOTS) && key.ends_with(name));
        Ok(names.map(|key| position_of(key)).max())
    }

    async fn delete_below(&self, position: Position) -> Result<(), LogError> {
        let mut state = self.reach()?;
        state
            .kept
            .retain(|name, _| !name.starts_with(SNAPSHOTS) || position_of(name) >= position);
        Ok(())
    }
}

/// Ends the serving of a name when it is dropped.
struct Served(MemoryLog, NodeName);

impl Drop for Served {
    fn drop(&mut self) {
        self.0.state().served.remove(&self.1);
    }
}
