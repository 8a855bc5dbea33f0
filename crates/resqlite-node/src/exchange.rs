//! Request frames in, reply frames out.

use std::sync::Arc;

use napi::{
    Env,
    bindgen_prelude::{Function, Uint8Array},
    threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode},
};
use resqlite::binding::GivenUp;

use crate::{
    dispatch::Dispatcher,
    external_memory,
    frames::{self, Request},
    limits::FRAME_BYTES,
    outbox::Outbox,
    profile,
    protocol::{NOT_QUICK, ReplyFlags},
    realm::Realm,
    subscriptions::Delivery,
    turns::Turns,
};

type Wake = ThreadsafeFunction<(), (), (), napi::Status, false, true>;

/// The frames of a realm on their way between JavaScript and the engine.
pub(crate) struct Exchange {
    pub(crate) realm: Arc<Realm>,
    pub(crate) dispatcher: Dispatcher,
    wake: Wake,
    /// Memory of the realm that `drain` fills.
    inbox: Uint8Array,
    /// The frames taken from the outbox, and the position of the first one that has not been copied into the inbox.
    frames: Vec<u8>,
    frames_at: usize,
    /// Slabs that the realm may be reading.
    slabs: Vec<u32>,
    /// Frames of live queries that the realm may not have consumed yet.
    deliveries: Vec<Delivery>,
    /// Requests without a last reply.
    unanswered: usize,
    /// The wake function keeps the process alive.
    keeps_alive: bool,
    /// The turns of the event loop; `None` if no call runs on the realm's own thread.
    turns: Option<Turns>,
}

impl Exchange {
    /// Connects the realm. `drain` fills `inbox`; `on_wake` is called when replies wait. `is_main_thread`: the process
    /// ends with this realm. `is_node`: see [`Turns::of`].
    pub(crate) fn new(
        env: Env,
        inbox: Uint8Array,
        on_wake: Function<'_, (), ()>,
        is_main_thread: bool,
        is_node: bool,
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
            keeps_alive: false,
            turns: Turns::of(env, is_node),
        })
    }

    /// Takes request frames. With `is_polling`, the realm need not be woken, because it calls `drain` by itself until a
    /// call of `drain` says otherwise. With `inline`, the requests may run here and now, because they are all calls
    /// that the realm waits for, and the realm has consumed the inbox. Returns the length of the replies in the inbox,
    /// as `drain` does. If a query could not run here because of its statement, [`NOT_QUICK`] is added to the length.
    pub(crate) fn submit(
        &mut self,
        env: Env,
        requests: &[u8],
        is_polling: bool,
        inline: bool,
    ) -> napi::Result<u32> {
        let submission = profile::submission();
        if is_polling {
            self.realm.outbox.start_polling();
        }
        let bytes: Arc<[u8]> = requests.into();
        let may_run = inline && self.frames_at == self.frames.len() && self.turns.is_some();
        if may_run {
            self.frames.clear();
            self.frames_at = 0;
        }
        let (mut inline, mut slow) = (may_run, 0);
        for request in frames::requests(&bytes) {
            let malformed = || napi::Error::from_reason("a request frame is malformed");
            let request = request.ok_or_else(malformed)?;
            if inline && request.op.has_reply() {
                let Err(reason) = self.run_inline(&request) else {
                    self.unanswered += 1;
                    continue;
                };
                // The requests after this one are handled in the same way, so that they are answered after it.
                inline = false;
                if reason.is_some_and(GivenUp::is_of_statement) {
                    slow = NOT_QUICK;
                }
            }
            let has_reply = self.dispatcher.handle(&request, &mut self.deliveries);
            self.unanswered += usize::from(has_reply.ok_or_else(malformed)?);
        }
        let length = if may_run { self.hand_over() } else { 0 };
        self.keep_alive(env)?;
        submission.done();
        Ok(length | slow)
    }

    /// Runs a request here and now, as [`Dispatcher::read_inline`] does, unless the event loop has other things to do.
    fn run_inline(&mut self, request: &Request<'_>) -> Result<(), Option<GivenUp>> {
        if !self.turns.as_mut().is_some_and(Turns::may_run) {
            return Err(None);
        }
        self.dispatcher.read_inline(request, &mut self.frames)
    }

    /// Copies whole reply frames into the inbox and returns their length in bytes; 0 when none wait. The call means
    /// that the frames of the previous call have been consumed. `is_polling`: see `submit`.
    pub(crate) fn drain(&mut self, env: Env, is_polling: bool) -> napi::Result<u32> {
        if self.frames_at == self.frames.len() {
            self.frames.clear();
            self.frames_at = 0;
            self.realm
                .outbox
                .take(&mut self.frames, &mut self.slabs, is_polling);
        }
        // This comes after the slabs are free again, because a live query that runs now may be waiting for one.
        self.realm.subscriptions.consumed(&self.deliveries);
        self.deliveries.clear();
        let length = self.hand_over();
        self.keep_alive(env)?;
        Ok(length)
    }

    /// Copies whole reply frames into the inbox and returns their length.
    fn hand_over(&mut self) -> u32 {
        let delivered = self.deliveries.len();
        let (length, settled) = self.fitting();
        // SAFETY: JavaScript does not run during this call, and the inbox is only ever written here.
        #[allow(unsafe_code)]
        let inbox = unsafe { self.inbox.as_mut() };
        inbox[..length].copy_from_slice(&self.frames[self.frames_at..self.frames_at + length]);
        self.frames_at += length;
        profile::completions(settled, &self.deliveries[delivered..]);
        debug_assert!(settled <= self.unanswered, "a request was answered twice");
        self.unanswered -= settled.min(self.unanswered);
        length as u32
    }

    /// Keeps the process alive while there are requests without a last reply.
    fn keep_alive(&mut self, env: Env) -> napi::Result<()> {
        let wanted = self.unanswered > 0;
        if std::mem::replace(&mut self.keeps_alive, wanted) == wanted {
            return Ok(());
        }
        #[allow(deprecated)]
        if wanted {
            self.wake.refer(&env)
        } else {
            self.wake.unref(&env)
        }
    }

    /// Returns how many bytes of whole frames fit into the inbox, and how many requests these frames settle. Notes the
    /// frames of live queries among them.
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
