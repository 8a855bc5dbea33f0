//! Replies on their way to a realm: engine threads append frames, and the realm takes them all at once.
//!
//! No wake-up is lost: a thread that appends the first frame while the realm is neither woken nor polling wakes the
//! realm. One flag, `awake`, stands for both states, under the lock of the frames.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use resqlite::{
    Columns,
    binding::{ColumnLayout, RowBatch},
};

use crate::{
    description,
    frames::{self, ReplyHeader},
    limits::{BATCHES_BEFORE_WAKE, INLINE_BYTES, KNOWN_LAYOUTS, OWNED_BYTES, SLAB_BYTES, SLABS},
    profile,
    protocol::{ReplyFlags, ReplyKind},
    slab::Slab,
    sync::lock,
};

/// The replies that wait for one realm.
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Notified when the realm has caught up a little, or is gone.
    room: Condvar,
    wake: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// JavaScript may see native memory here.
    slabs_allowed: bool,
}

#[derive(Default)]
struct State {
    frames: Vec<u8>,
    /// Payloads that travel by themselves, until they are taken.
    owned: HashMap<u32, Vec<u8>>,
    owned_bytes: usize,
    owned_last: u32,
    /// Numbers of the column layouts, and of the columns, that the realm knows.
    known_layouts: HashSet<u32>,
    known_columns: HashSet<u32>,
    slabs: Vec<Arc<Slab>>,
    free: Vec<u32>,
    /// Slabs that `frames` refer to.
    filled: Vec<u32>,
    /// The realm has been woken and has not yet found the outbox empty, or it is polling.
    awake: bool,
    closed: bool,
}

impl Outbox {
    pub(crate) fn new(slabs_allowed: bool) -> Self {
        Self {
            state: Mutex::default(),
            room: Condvar::new(),
            wake: OnceLock::new(),
            slabs_allowed,
        }
    }

    /// Sets the function that wakes the realm. Called once.
    pub(crate) fn wake_with(&self, wake: impl Fn() + Send + Sync + 'static) {
        let _ = self.wake.set(Box::new(wake));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Refuses everything from here on. Threads that wait for a slab go on.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.room.notify_all();
    }

    /// Appends a frame with a small payload.
    pub(crate) fn push(&self, header: ReplyHeader, payload: &[u8]) {
        self.add(|state| state.write_or_own(header, payload.len(), |out| out.copy_from_slice(payload)));
    }

    /// Appends a frame with a payload that may be large.
    pub(crate) fn push_owned(&self, header: ReplyHeader, payload: Vec<u8>) {
        self.add(|state| state.write_vec(header, payload));
    }

    /// Appends a row batch that is encoded already.
    pub(crate) fn push_packed(&self, layout: &ColumnLayout, batch: &[u8], request: u32) {
        profile::rows(frames::word(batch, 0).unwrap_or_default() as usize, layout);
        let header = ReplyHeader {
            kind: ReplyKind::Rows,
            flags: ReplyFlags::NONE,
            request,
            argument: layout.id(),
        };
        self.add_quietly(|state| {
            state.announce(layout);
            state.write_or_own(header, batch.len(), |out| out.copy_from_slice(batch));
        });
    }

    /// Appends a frame with the results of statements that have these columns.
    pub(crate) fn push_results<'a>(
        &self,
        columns: impl Iterator<Item = &'a Columns> + Clone,
        header: ReplyHeader,
        payload: Vec<u8>,
    ) {
        self.add(|state| {
            state.announce_columns(columns);
            state.write_vec(header, payload);
        });
    }

    /// Appends a patch. Does not wake the realm, because the emission that follows will.
    pub(crate) fn push_patch(&self, layout: &ColumnLayout, header: ReplyHeader, payload: Vec<u8>) {
        self.add_quietly(|state| {
            state.announce(layout);
            state.write_vec(header, payload);
        });
    }

    /// Appends a row batch. Waits while the realm is too far behind, as long as `patience` lasts. Returns `false` if
    /// the realm is gone.
    pub(crate) fn push_rows(
        &self,
        layout: &ColumnLayout,
        batch: &RowBatch<'_>,
        request: u32,
        flags: ReplyFlags,
        patience: &mut Duration,
    ) -> bool {
        profile::rows(batch.rows(), layout);
        let header = ReplyHeader {
            kind: ReplyKind::Rows,
            flags,
            request,
            argument: layout.id(),
        };
        let length = batch.byte_len();
        let slab = match length {
            _ if length <= INLINE_BYTES => None,
            _ if length > SLAB_BYTES || !self.slabs_allowed => self.wait_for_owned_room(patience),
            _ => self.take_slab(patience),
        };
        if let Some((id, slab)) = slab {
            // SAFETY: `take_slab` took the slab out of the free ones, so this thread is its one user until the frame
            // below hands it to the realm.
            #[allow(unsafe_code)]
            batch.write(unsafe { slab.fill(length) });
            let wakes =
                |state: &State| flags.has(ReplyFlags::LAST) || state.filled.len() >= BATCHES_BEFORE_WAKE;
            return self.add_when(|state| state.write_slab(layout, header, id, length), wakes);
        }
        let wakes = flags.has(ReplyFlags::LAST) || length > INLINE_BYTES;
        self.add_when(
            |state| {
                state.announce(layout);
                state.write_or_own(header, length, |out| batch.write(out));
            },
            |_| wakes,
        )
    }

    /// Returns a slab to fill; `None` if no slab becomes free within `patience`, or if the realm is gone.
    fn take_slab(&self, patience: &mut Duration) -> Option<(u32, Arc<Slab>)> {
        let mut state = self.wait_for(patience, |state| {
            !state.free.is_empty() || state.slabs.len() < SLABS
        })?;
        if let Some(id) = state.free.pop() {
            return Some((id, Arc::clone(&state.slabs[id as usize])));
        }
        let (id, slab) = (state.slabs.len() as u32, Slab::new());
        state.slabs.push(Arc::clone(&slab));
        Some((id, slab))
    }

    fn wait_for_owned_room(&self, patience: &mut Duration) -> Option<(u32, Arc<Slab>)> {
        self.wait_for(patience, |state| state.owned_bytes < OWNED_BYTES);
        None
    }

    /// Waits until `enough` is true. Returns `None` if `patience` ends first, or if the realm is gone.
    fn wait_for(
        &self,
        patience: &mut Duration,
        enough: impl Fn(&State) -> bool,
    ) -> Option<MutexGuard<'_, State>> {
        let mut state = self.lock();
        loop {
            if !state.closed && enough(&state) {
                return Some(state);
            }
            if state.closed || patience.is_zero() {
                return None;
            }
            // Quiet frames have not woken the realm, so it may not know that it is behind.
            if !std::mem::replace(&mut state.awake, true) {
                drop(state);
                self.wake();
                state = self.lock();
                continue;
            }
            let began = Instant::now();
            let waited = self.room.wait_timeout(state, *patience);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            *patience = patience.saturating_sub(began.elapsed());
        }
    }

    fn add(&self, write: impl FnOnce(&mut State)) {
        self.add_when(write, |_| true);
    }

    fn add_quietly(&self, write: impl FnOnce(&mut State)) {
        self.add_when(write, |_| false);
    }

    /// Appends frames, and wakes the realm if `wakes` says so and the realm is not awake. Returns `false` if the realm
    /// is gone.
    fn add_when(&self, write: impl FnOnce(&mut State), wakes: impl FnOnce(&State) -> bool) -> bool {
        let mut state = self.lock();
        if state.closed {
            return false;
        }
        write(&mut state);
        let wake = !state.awake && wakes(&state);
        state.awake |= wake;
        drop(state);
        if wake {
            self.wake();
        }
        true
    }

    /// Returns whether nothing waits for the realm, and the realm knows a column layout and columns. Returns `false` if
    /// the answer would have to wait for a lock.
    pub(crate) fn is_empty_and_knows(&self, layout: &ColumnLayout, columns: Option<&Columns>) -> bool {
        self.state.try_lock().is_ok_and(|state| {
            state.frames.is_empty()
                && state.known_layouts.contains(&layout.id())
                && columns.is_none_or(|columns| state.known_columns.contains(&columns.id()))
        })
    }

    /// Notes that the realm polls until it calls `take` with `is_polling` false and finds nothing.
    pub(crate) fn start_polling(&self) {
        self.lock().awake = true;
    }

    fn wake(&self) {
        if let Some(wake) = self.wake.get() {
            wake();
        }
    }

    /// Takes all frames in exchange for an empty buffer. The slabs in `used` belong to the frames taken before and
    /// become free; those of the frames taken now replace them. `is_polling`: the realm will call again by itself.
    pub(crate) fn take(&self, frames: &mut Vec<u8>, used: &mut Vec<u32>, is_polling: bool) {
        let mut state = self.lock();
        let freed = !used.is_empty();
        state.free.append(used);
        std::mem::swap(&mut state.filled, used);
        std::mem::swap(&mut state.frames, frames);
        state.awake = is_polling || !frames.is_empty();
        drop(state);
        if freed {
            self.room.notify_all();
        }
    }

    /// A slab by its number.
    pub(crate) fn slab(&self, id: u32) -> Option<Arc<Slab>> {
        self.lock().slabs.get(id as usize).map(Arc::clone)
    }

    /// Takes a payload that travels by itself.
    pub(crate) fn take_owned(&self, id: u32) -> Option<Vec<u8>> {
        let mut state = self.lock();
        let payload = state.owned.remove(&id)?;
        state.owned_bytes -= payload.len();
        drop(state);
        self.room.notify_all();
        Some(payload)
    }
}

impl State {
    fn write(&mut self, header: &ReplyHeader, payload: &[u8]) {
        frames::write(&mut self.frames, header, payload.len(), |out| {
            out.copy_from_slice(payload)
        });
    }

    fn write_or_own(&mut self, header: ReplyHeader, length: usize, fill: impl FnOnce(&mut [u8])) {
        if length <= INLINE_BYTES {
            return frames::write(&mut self.frames, &header, length, fill);
        }
        let mut payload = vec![0; length];
        fill(&mut payload);
        self.own(header, payload);
    }

    fn write_vec(&mut self, header: ReplyHeader, payload: Vec<u8>) {
        if payload.len() <= INLINE_BYTES {
            self.write(&header, &payload);
        } else {
            self.own(header, payload);
        }
    }

    fn own(&mut self, header: ReplyHeader, payload: Vec<u8>) {
        self.owned_last = self.owned_last.wrapping_add(1);
        let reference = reference(self.owned_last, payload.len());
        self.owned_bytes += payload.len();
        self.owned.insert(self.owned_last, payload);
        self.write(
            &ReplyHeader {
                flags: header.flags.with(ReplyFlags::OWNED),
                ..header
            },
            &reference,
        );
    }

    fn write_slab(&mut self, layout: &ColumnLayout, header: ReplyHeader, id: u32, length: usize) {
        self.announce(layout);
        self.filled.push(id);
        self.write(
            &ReplyHeader {
                flags: header.flags.with(ReplyFlags::SLAB),
                ..header
            },
            &reference(id, length),
        );
    }

    /// Sends a column layout before its first use.
    fn announce(&mut self, layout: &ColumnLayout) {
        if self.known_layouts.contains(&layout.id()) {
            return;
        }
        let full = self.known_layouts.len() >= KNOWN_LAYOUTS;
        if full {
            self.known_layouts.clear();
        }
        self.known_layouts.insert(layout.id());
        let names = serde_json::to_vec(layout.names()).expect("strings are JSON");
        self.write_known(ReplyKind::Layout, layout.id(), full, &names);
    }

    /// Sends the columns of statements before their first use. The realm then knows all of them at the same time.
    fn announce_columns<'a>(&mut self, all: impl Iterator<Item = &'a Columns> + Clone) {
        let known = &self.known_columns;
        let mut full =
            known.len() >= KNOWN_LAYOUTS && all.clone().any(|columns| !known.contains(&columns.id()));
        if full {
            self.known_columns.clear();
        }
        for columns in all {
            if self.known_columns.insert(columns.id()) {
                let json = description::columns(columns).to_string();
                let voids = std::mem::take(&mut full);
                self.write_known(ReplyKind::Columns, columns.id(), voids, json.as_bytes());
            }
        }
    }

    fn write_known(&mut self, kind: ReplyKind, id: u32, voids: bool, json: &[u8]) {
        let header = ReplyHeader {
            kind,
            flags: ReplyFlags::END.when(voids),
            request: u32::MAX,
            argument: id,
        };
        self.write_or_own(header, 4 + json.len(), |out| {
            out[..4].copy_from_slice(&(json.len() as u32).to_le_bytes());
            out[4..].copy_from_slice(json);
        });
    }
}

fn reference(id: u32, length: usize) -> [u8; 8] {
    (u64::from(id) | (length as u64) << 32).to_le_bytes()
}
