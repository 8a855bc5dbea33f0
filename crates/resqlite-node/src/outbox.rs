//! Replies on their way to a realm: engine threads add frames, the realm takes them all at once.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use resqlite::{Shape, Slice};

use crate::{
    frames::{self, HEADER, ReplyHeader, kind, tell},
    profile,
    slab::{SLAB_BYTES, Slab},
};

/// Payloads up to this size stand in the frame itself.
const INLINE_MAX: usize = 4 * 1024;
/// Slabs of one realm at most: what engine threads may be ahead of it.
const SLABS_MAX: usize = 32;
/// Bytes of slices that travel by themselves and have not been taken, before their makers wait.
const OWNED_MAX: usize = 16 << 20;
/// How long a request waits for its realm to catch up, all in all. A realm that does not must not keep readers, which
/// other realms need, or the writer: from then on what it asked for is kept in memory.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);
/// Slices that wait before the realm is woken although their request goes on.
const SLICES_BEFORE_WAKE: usize = 4;
/// Column lists that a realm is told before it is made to forget them.
const SHAPES_MAX: usize = 4096;

/// See the module's description.
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// The realm has caught up a little, or is gone.
    room: Condvar,
    wake: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// Whether this platform lets JavaScript see native memory.
    slabs_allowed: bool,
}

#[derive(Default)]
struct State {
    frames: Vec<u8>,
    /// Payloads that travel by themselves, until they are taken.
    owned: HashMap<u32, Vec<u8>>,
    owned_bytes: usize,
    owned_last: u32,
    shapes_told: HashSet<u32>,
    slabs: Vec<Arc<Slab>>,
    free: Vec<u32>,
    /// Slabs whose slices stand in `frames`.
    filled: Vec<u32>,
    /// The realm has been woken and has not yet found the outbox empty, or looks by itself.
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

    /// Sets how the realm is woken; once.
    pub(crate) fn wake_with(&self, wake: impl Fn() + Send + Sync + 'static) {
        let _ = self.wake.set(Box::new(wake));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing is accepted any more; whoever waits for a slab goes on.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.room.notify_all();
    }

    /// Adds a frame whose payload is given as bytes.
    pub(crate) fn push(&self, header: ReplyHeader, payload: &[u8]) {
        self.add(|state| state.write_or_own(header, payload.len(), |out| out.copy_from_slice(payload)));
    }

    /// Adds a frame with a payload that may be large and is not needed any more.
    pub(crate) fn push_owned(&self, header: ReplyHeader, payload: Vec<u8>) {
        self.add(|state| state.write_vec(header, payload));
    }

    /// Adds a slice that is packed already.
    pub(crate) fn push_packed(&self, shape: &Shape, slice: &[u8], request: u32) {
        profile::rows(frames::word(slice, 0).unwrap_or_default() as usize, shape);
        let header = ReplyHeader {
            kind: kind::ROWS,
            flags: 0,
            request,
            aux: shape.id(),
        };
        self.add_quietly(|state| {
            state.tell_shape(shape);
            state.write_or_own(header, slice.len(), |out| out.copy_from_slice(slice));
        });
    }

    /// Adds how rows become a result. It says nothing before the emission that it belongs to.
    pub(crate) fn push_patch(&self, shape: &Shape, header: ReplyHeader, payload: Vec<u8>) {
        self.add_quietly(|state| {
            state.tell_shape(shape);
            state.write_vec(header, payload);
        });
    }

    /// Adds a slice; waits while the realm is too far behind and `patience` lasts. `false`: the realm is gone.
    pub(crate) fn push_slice(
        &self,
        shape: &Shape,
        slice: &Slice<'_>,
        request: u32,
        flags: u8,
        patience: &mut Duration,
    ) -> bool {
        profile::rows(slice.rows(), shape);
        let header = ReplyHeader {
            kind: kind::ROWS,
            flags,
            request,
            aux: shape.id(),
        };
        let length = slice.byte_len();
        let slab = match length {
            _ if length <= INLINE_MAX => None,
            _ if length > SLAB_BYTES || !self.slabs_allowed => self.wait_for_owned_room(patience),
            _ => self.take_slab(patience),
        };
        if let Some((id, slab)) = slab {
            // SAFETY: `take_slab` took it out of the free ones, so this thread is its one user until the frame below
            // hands it to the realm.
            #[allow(unsafe_code)]
            slice.write(unsafe { slab.fill(length) });
            let wakes = |state: &State| flags & tell::LAST != 0 || state.filled.len() >= SLICES_BEFORE_WAKE;
            return self.add_when(|state| state.write_slab(shape, header, id, length), wakes);
        }
        let wakes = flags & tell::LAST != 0 || length > INLINE_MAX;
        self.add_when(
            |state| {
                state.tell_shape(shape);
                state.write_or_own(header, length, |out| slice.write(out));
            },
            |_| wakes,
        )
    }

    /// A slab to fill; `None` when there is none within `patience`, or the realm is gone.
    fn take_slab(&self, patience: &mut Duration) -> Option<(u32, Arc<Slab>)> {
        let mut state = self.wait_for(patience, |state| {
            !state.free.is_empty() || state.slabs.len() < SLABS_MAX
        })?;
        if let Some(id) = state.free.pop() {
            return Some((id, Arc::clone(&state.slabs[id as usize])));
        }
        let (id, slab) = (state.slabs.len() as u32, Slab::new());
        state.slabs.push(Arc::clone(&slab));
        Some((id, slab))
    }

    fn wait_for_owned_room(&self, patience: &mut Duration) -> Option<(u32, Arc<Slab>)> {
        self.wait_for(patience, |state| state.owned_bytes < OWNED_MAX);
        None
    }

    /// Waits until the realm has caught up as far as `enough` says; `None` when `patience` is at an end before that,
    /// or the realm is gone.
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
            // The realm may not have been woken for what it is to catch up with.
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

    /// Adds frames and wakes the realm, if that is due and it is not awake. `false`: the realm is gone.
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

    /// The realm looks by itself until it finds nothing and says so.
    pub(crate) fn stay_awake(&self) {
        self.lock().awake = true;
    }

    fn wake(&self) {
        if let Some(wake) = self.wake.get() {
            wake();
        }
    }

    /// Takes all frames in exchange for an empty buffer. The slabs of the frames taken before, `used`, are free from
    /// here on; those of the frames taken now replace them. `stays_awake`: the realm looks again by itself.
    pub(crate) fn take(&self, frames: &mut Vec<u8>, used: &mut Vec<u32>, stays_awake: bool) {
        let mut state = self.lock();
        let freed = !used.is_empty();
        state.free.append(used);
        std::mem::swap(&mut state.filled, used);
        std::mem::swap(&mut state.frames, frames);
        state.awake = stays_awake || !frames.is_empty();
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
        if length <= INLINE_MAX {
            return frames::write(&mut self.frames, &header, length, fill);
        }
        let mut payload = vec![0; length];
        fill(&mut payload);
        self.own(header, payload);
    }

    fn write_vec(&mut self, header: ReplyHeader, payload: Vec<u8>) {
        if payload.len() <= INLINE_MAX {
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
                flags: header.flags | tell::OWNED,
                ..header
            },
            &reference,
        );
    }

    fn write_slab(&mut self, shape: &Shape, header: ReplyHeader, id: u32, length: usize) {
        self.tell_shape(shape);
        self.filled.push(id);
        self.write(
            &ReplyHeader {
                flags: header.flags | tell::SLAB,
                ..header
            },
            &reference(id, length),
        );
    }

    /// Tells the realm a column list before its first use.
    fn tell_shape(&mut self, shape: &Shape) {
        if self.shapes_told.contains(&shape.id()) {
            return;
        }
        let mut flags = 0;
        if self.shapes_told.len() >= SHAPES_MAX {
            self.shapes_told.clear();
            flags = tell::END;
        }
        self.shapes_told.insert(shape.id());
        let names = serde_json::to_vec(shape.names()).expect("strings are JSON");
        let header = ReplyHeader {
            kind: kind::SHAPE,
            flags,
            request: u32::MAX,
            aux: shape.id(),
        };
        let length = 4 + names.len();
        self.write_or_own(header, length, |out| {
            out[..4].copy_from_slice(&(names.len() as u32).to_le_bytes());
            out[4..].copy_from_slice(&names);
        });
    }
}

fn reference(id: u32, length: usize) -> [u8; 8] {
    (u64::from(id) | (length as u64) << 32).to_le_bytes()
}

/// Bytes of the longest frame: the inbox must hold one.
pub(crate) const FRAME_MAX: usize = HEADER + INLINE_MAX + 8;
