//! Request frames in, reply frames out.

use std::sync::Arc;

use napi::{
    Env,
    bindgen_prelude::{Function, Uint8Array},
    threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode},
};

use crate::{
    dispatch::Dispatcher, external_memory, frames, limits::FRAME_BYTES, outbox::Outbox, profile,
    protocol::ReplyFlags, realm::Realm, subscriptions::Delivery,
};

type Wake = ThreadsafeFunction<(), (), (), napi::Status, false, true>;

/// The frames of a realm on their way between JavaScript and the engine.
pub(crate) struct Exchange {
    pub(crate) realm: Arc<Realm>,
    pub(crate) dispatcher: Dispatcher,
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

impl Exchange {
    /// Connects the realm. `drain` fills `inbox`; `on_wake` is called when replies wait. `is_main_thread`: the process ends with it.
    pub(crate) fn new(
        env: Env,
        inbox: Uint8Array,
        on_wake: Function<'_, (), ()>,
        is_main_thread: bool,
    ) -> napi::Result<Self> {
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
        env.add_env_cleanup_hook(Arc::clone(&realm), move |realm| realm.close(is_main_thread))?;
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

    /// Takes request frames. `is_polling`: the realm need not be woken, because it calls `drain` by itself until a call of
    /// it says otherwise.
    pub(crate) fn submit(&mut self, env: Env, requests: &[u8], is_polling: bool) -> napi::Result<()> {
        let submission = profile::submission();
        if is_polling {
            self.realm.outbox.start_polling();
        }
        let bytes: Arc<[u8]> = requests.into();
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
    /// the frames of the call before have been consumed. `is_polling`: see `submit`.
    pub(crate) fn drain(&mut self, env: Env, is_polling: bool) -> napi::Result<u32> {
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
}
