//! The native end of the connection between a realm and the engine.

use std::sync::Arc;

use napi::{
    Env,
    bindgen_prelude::{ArrayBuffer, BufferSlice, Float64ArraySlice, Function, Uint8Array},
    threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode},
};
use napi_derive::napi;

use crate::{
    dispatch::Dispatcher,
    external_memory, frames,
    limits::{FRAME_BYTES, SLAB_BYTES},
    outbox::Outbox,
    profile,
    protocol::ReplyFlags,
    realm::Realm,
    stats,
    subscriptions::Delivery,
};

type Wake = ThreadsafeFunction<(), (), (), napi::Status, false, true>;

/// The native end of the connection between a realm and the engine: request frames in, reply frames out.
#[napi]
pub struct Port {
    realm: Arc<Realm>,
    dispatcher: Dispatcher,
    wake: Wake,
    /// Memory of the realm that `drain` fills.
    inbox: Uint8Array,
    /// Frames taken from the outbox, and where those begin that have not been copied into the inbox.
    frames: Vec<u8>,
    frames_at: usize,
    /// Slabs that the realm may be reading.
    slabs: Vec<u32>,
    /// Frames of live queries that the realm may not have consumed yet.
    deliveries: Vec<Delivery>,
    /// Requests without a last reply. While there are any, the wake function keeps the process alive.
    unanswered: usize,
}

#[napi]
impl Port {
    /// Connects the realm. `drain` fills `inbox`; `onWake` is called when replies wait.
    #[napi(constructor, catch_unwind)]
    pub fn new(env: Env, inbox: Uint8Array, on_wake: Function<'_, (), ()>) -> napi::Result<Self> {
        if inbox.len() < FRAME_BYTES {
            return Err(napi::Error::from_reason("the inbox is too small for a frame"));
        }
        let build = || {
            on_wake
                .build_threadsafe_function::<()>()
                .weak::<true>()
                .callee_handled::<false>()
        };
        let (wake, waker): (Wake, Wake) = (build().build()?, build().build()?);
        let realm = Arc::new(Realm::new(Outbox::new(external_memory::is_allowed(env))));
        realm.outbox.wake_with(move || {
            waker.call((), ThreadsafeFunctionCallMode::NonBlocking);
        });
        env.add_env_cleanup_hook(Arc::clone(&realm), |realm| realm.close())?;
        Ok(Self {
            dispatcher: Dispatcher::new(Arc::clone(&realm)),
            realm,
            wake,
            inbox,
            frames: Vec::new(),
            frames_at: 0,
            slabs: Vec::new(),
            deliveries: Vec::new(),
            unanswered: 0,
        })
    }

    /// Takes the request frames in the first `length` bytes. `isPolling`: the realm need not be woken, because it
    /// calls `drain` by itself until a call of it says otherwise.
    #[napi(catch_unwind)]
    pub fn submit(&mut self, env: Env, requests: &[u8], length: u32, is_polling: bool) -> napi::Result<()> {
        let submission = profile::submission();
        if is_polling {
            self.realm.outbox.start_polling();
        }
        let bytes: Arc<[u8]> = requests.get(..length as usize).unwrap_or(requests).into();
        let unanswered_before = self.unanswered;
        for request in frames::requests(&bytes) {
            let has_reply =
                request.and_then(|request| self.dispatcher.handle(&request, &mut self.deliveries));
            self.unanswered += match has_reply {
                Some(has_reply) => usize::from(has_reply),
                None => return Err(napi::Error::from_reason("a request frame is malformed")),
            };
        }
        if unanswered_before == 0 && self.unanswered > 0 {
            #[allow(deprecated)]
            self.wake.refer(&env)?;
        }
        submission.done();
        Ok(())
    }

    /// Copies whole reply frames into the inbox and returns their length in bytes; 0 when none wait. The call says that
    /// the frames of the call before have been consumed. `isPolling`: see `submit`.
    #[napi(catch_unwind)]
    pub fn drain(&mut self, env: Env, is_polling: bool) -> napi::Result<u32> {
        if self.frames_at == self.frames.len() {
            self.frames.clear();
            self.frames_at = 0;
            self.realm
                .outbox
                .take(&mut self.frames, &mut self.slabs, is_polling);
        }
        // After the slabs are free again: a live query that runs now may be waiting for one.
        self.realm.subscriptions.consumed(&self.deliveries);
        self.deliveries.clear();
        let (length, settled) = self.fitting();
        // SAFETY: JavaScript is not running while this is, and the inbox is only ever written here.
        #[allow(unsafe_code)]
        let inbox = unsafe { self.inbox.as_mut() };
        inbox[..length].copy_from_slice(&self.frames[self.frames_at..self.frames_at + length]);
        self.frames_at += length;
        profile::completions(settled, &self.deliveries);
        debug_assert!(settled <= self.unanswered, "a request was answered twice");
        self.unanswered -= settled.min(self.unanswered);
        if settled > 0 && self.unanswered == 0 {
            #[allow(deprecated)]
            self.wake.unref(&env)?;
        }
        Ok(length as u32)
    }

    /// Bytes of the whole frames that fit into the inbox, and how many requests they settle. Notes the frames of live
    /// queries among them.
    fn fitting(&mut self) -> (usize, usize) {
        let frames = &self.frames[self.frames_at..];
        let (mut length, mut settled) = (0, 0);
        while let Some((end, header)) = frames::read_reply(frames, length) {
            if end > self.inbox.len() {
                break;
            }
            settled += usize::from(header.flags.has(ReplyFlags::LAST));
            self.deliveries.extend(Delivery::of(&header));
            length = end;
        }
        (length, settled)
    }

    /// The memory of a slab. JavaScript asks once and keeps it.
    #[napi(catch_unwind)]
    pub fn slab<'env>(&self, env: &'env Env, id: u32) -> napi::Result<ArrayBuffer<'env>> {
        let slab = self
            .realm
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

    /// A payload that travels by itself. Each can be taken once.
    #[napi(catch_unwind)]
    pub fn take<'env>(&self, env: &'env Env, id: u32) -> napi::Result<BufferSlice<'env>> {
        let bytes = self
            .realm
            .outbox
            .take_owned(id)
            .ok_or_else(|| napi::Error::from_reason("no such payload"))?;
        BufferSlice::from_data(env, bytes)
    }

    /// The numbers of the requests to a database handle, and of some that have ended.
    #[napi(catch_unwind)]
    pub fn requests_of(&self, handle: u32) -> Vec<u32> {
        self.dispatcher.requests_of(handle)
    }

    /// How many parts of a batch wait for the writer, of those that were submitted.
    #[napi(catch_unwind)]
    pub fn parts_waiting(&self, request: u32) -> u32 {
        self.dispatcher.parts_waiting(request) as u32
    }

    /// Interrupts what runs for an open database handle, and drops what waits.
    #[napi(catch_unwind)]
    pub fn interrupt(&self, handle: u32) {
        self.dispatcher.interrupt(handle);
    }

    /// How a node of a cluster is doing, as JSON; `null` for another database handle.
    #[napi(catch_unwind)]
    pub fn cluster_status(&self, handle: u32) -> Option<String> {
        self.dispatcher.cluster_status(handle)
    }

    /// Writes the counters of the live query that a request opened into `numbers`; `false` when there is none.
    #[napi(catch_unwind)]
    pub fn stream_stats(&self, request: u32, mut numbers: Float64ArraySlice<'_>) -> bool {
        let Some(stats) = self.realm.subscriptions.stats(request) else {
            return false;
        };
        // SAFETY: JavaScript is not running while this is, and no other thread knows of the memory.
        #[allow(unsafe_code)]
        let numbers = unsafe { numbers.as_mut() };
        for (number, counter) in numbers.iter_mut().zip(stats::numbers(&stats)) {
            *number = counter;
        }
        true
    }
}
