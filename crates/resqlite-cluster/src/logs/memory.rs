//! A log in the memory of one process, for tests: of this crate, and of programs that use it.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fs::{self, File},
    io::Write,
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
use tokio::sync::watch;

use crate::core::log::{Append, Handler, Log, LogError, NodeName, Part, Serving};

/// A log in memory. Cheap to clone; each node has a [connection](Self::connect) of its own.
#[derive(Clone)]
pub struct MemoryLog(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// The position of the last entry.
    end: watch::Sender<u64>,
}

struct State {
    /// The position of the first entry that is there.
    first: u64,
    entries: VecDeque<Bytes>,
    snapshots: BTreeMap<u64, Vec<u8>>,
    parts: BTreeMap<Part, Bytes>,
    /// Who serves under each name, and whether it is cut off.
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
                first: 1,
                entries: VecDeque::new(),
                snapshots: BTreeMap::new(),
                parts: BTreeMap::new(),
                served: HashMap::new(),
                bytes_max: 1 << 20,
            }),
            end: watch::Sender::new(0),
        }))
    }

    /// A connection for one node.
    pub fn connect(&self) -> MemoryConnection {
        MemoryConnection {
            log: self.clone(),
            is_cut: Arc::default(),
            answers_lost: Arc::default(),
            parts_taken: watch::Sender::new(usize::MAX),
        }
    }

    /// What stands at the positions from the first on that is there.
    pub fn entries(&self) -> Vec<Bytes> {
        self.state().entries.iter().cloned().collect()
    }

    /// How many parts of large entries it keeps.
    pub fn parts(&self) -> usize {
        self.state().parts.len()
    }

    /// Forgets the parts of large entries, which no log must.
    pub fn forget_parts(&self) {
        self.state().parts.clear();
    }

    /// Forgets the last entries, which no log must.
    pub fn forget(&self, count: usize) {
        let mut state = self.state();
        let keeps = state.entries.len().saturating_sub(count);
        state.entries.truncate(keeps);
        self.0.end.send_replace(state.end());
    }

    /// The positions of the snapshots that it keeps.
    pub fn snapshots(&self) -> Vec<u64> {
        self.state().snapshots.keys().copied().collect()
    }

    /// Loses all snapshots, which no log must.
    pub fn lose_snapshots(&self) {
        self.state().snapshots.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64 - 1
    }

    fn at(&self, position: u64) -> Result<Option<Bytes>, LogError> {
        match position.checked_sub(self.first) {
            None => Err(LogError::Purged { first: self.first }),
            Some(index) => Ok(self.entries.get(index as usize).cloned()),
        }
    }
}

/// What one node has of a [`MemoryLog`]. A clone is the same connection.
#[derive(Clone)]
pub struct MemoryConnection {
    log: MemoryLog,
    is_cut: Arc<AtomicBool>,
    answers_lost: Arc<AtomicUsize>,
    /// Parts that are still taken at once.
    parts_taken: watch::Sender<usize>,
}

impl MemoryConnection {
    /// Cuts the node off from the log and the other nodes, or ends that.
    pub fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
        // Tails look again, and parts that wait.
        self.log.0.end.send_modify(|_| ());
        self.parts_taken.send_modify(|_| ());
    }

    /// So many parts of large entries are taken from now on. Those behind wait until there is another call, or the node is cut
    /// off.
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
                self.reach()?.parts.insert(part, bytes);
                return Ok(());
            }
            let _ = taken.changed().await;
        }
    }

    /// The next appends are taken, and their answers are lost.
    pub fn lose_answers(&self, count: usize) {
        self.answers_lost.store(count, Ordering::SeqCst);
    }

    fn reach(&self) -> Result<MutexGuard<'_, State>, LogError> {
        if self.is_cut.load(Ordering::SeqCst) {
            return Err(LogError::Unreachable("this node is cut off".into()));
        }
        Ok(self.log.state())
    }

    fn append_now(&self, position: u64, bytes: Bytes) -> Result<Append, LogError> {
        let mut state = self.reach()?;
        if bytes.len() > state.bytes_max {
            return Err(LogError::TooLarge {
                limit: state.bytes_max,
            });
        }
        let append = if position == state.end() + 1 {
            state.entries.push_back(bytes);
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

    async fn next(&self, position: u64) -> Result<Bytes, LogError> {
        let mut end = self.log.0.end.subscribe();
        loop {
            end.borrow_and_update();
            if let Some(bytes) = self.reach().and_then(|state| state.at(position))? {
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
    fn append(&self, position: u64, bytes: Bytes) -> BoxFuture<'_, Result<Append, LogError>> {
        async move { self.append_now(position, bytes) }.boxed()
    }

    fn read(&self, position: u64) -> BoxFuture<'_, Result<Option<Bytes>, LogError>> {
        async move { self.reach()?.at(position) }.boxed()
    }

    fn tail(&self, from: u64) -> BoxStream<'_, Result<(u64, Bytes), LogError>> {
        let next = move |next: Option<u64>| async move {
            let position = next?;
            match self.next(position).await {
                Ok(bytes) => Some((Ok((position, bytes)), Some(position + 1))),
                Err(error) => Some((Err(error), None)),
            }
        };
        stream::unfold(Some(from), next).boxed()
    }

    fn last(&self) -> BoxFuture<'_, Result<u64, LogError>> {
        async move { Ok(self.reach()?.end()) }.boxed()
    }

    fn put_snapshot(&self, position: u64, file: &Path) -> BoxFuture<'_, Result<(), LogError>> {
        let content = fs::read(file);
        async move {
            let content = content.map_err(|error| LogError::Unfit(error.to_string()))?;
            self.reach()?.snapshots.insert(position, content);
            Ok(())
        }
        .boxed()
    }

    fn last_snapshot(&self) -> BoxFuture<'_, Result<Option<u64>, LogError>> {
        async move { Ok(self.reach()?.snapshots.last_key_value().map(|(&at, _)| at)) }.boxed()
    }

    fn get_snapshot(&self, into: &Path) -> BoxFuture<'_, Result<Option<u64>, LogError>> {
        let into = into.to_owned();
        async move {
            let newest = self
                .reach()?
                .snapshots
                .last_key_value()
                .map(|(&at, content)| (at, content.clone()));
            let Some((position, content)) = newest else {
                return Ok(None);
            };
            let written = File::create_new(into).and_then(|mut file| file.write_all(&content));
            written.map_err(|error| LogError::Unfit(error.to_string()))?;
            Ok(Some(position))
        }
        .boxed()
    }

    fn put_part(&self, part: Part, bytes: Bytes) -> BoxFuture<'_, Result<(), LogError>> {
        self.keep(part, bytes).boxed()
    }

    fn get_part(&self, part: Part) -> BoxFuture<'_, Result<Option<Bytes>, LogError>> {
        async move { Ok(self.reach()?.parts.get(&part).cloned()) }.boxed()
    }

    fn purge(&self, up_to: u64) -> BoxFuture<'_, Result<(), LogError>> {
        async move {
            let mut state = self.reach()?;
            while state.first <= up_to && state.entries.pop_front().is_some() {
                state.first += 1;
            }
            state.snapshots.retain(|&position, _| position >= up_to);
            state.parts.retain(|part, _| part.position > up_to);
            Ok(())
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
}

/// Ends the serving of a name when it is dropped.
struct Served(MemoryLog, NodeName);

impl Drop for Served {
    fn drop(&mut self) {
        self.0.state().served.remove(&self.1);
    }
}
