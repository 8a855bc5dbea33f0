//! The events of a commit listener, written as frames.

use std::sync::{Arc, Mutex};

use resqlite::{Error, binding::Integers};

use crate::{
    commit_json::to_json,
    commit_listeners::{Tell, Told},
    errors,
    frames::ReplyHeader,
    protocol::{ReplyFlags, ReplyKind},
    realm::Realm,
    sync::lock,
};

/// Writes the first frame of a listener, and returns a function that writes the others. After the last frame, the
/// number of the request may be reused.
pub(crate) fn begin(realm: Arc<Realm>, request: u32, integers: Integers) -> Tell {
    let frames = Frames {
        realm,
        request,
        integers,
        settled: Mutex::new(false),
    };
    frames.push(ReplyKind::Ok, ReplyFlags::NONE, Vec::new());
    Arc::new(move |told| frames.tell(told))
}

struct Frames {
    realm: Arc<Realm>,
    request: u32,
    integers: Integers,
    /// The last frame was written. Locked while a frame is written, so that no frame follows the last one.
    settled: Mutex<bool>,
}

impl Frames {
    fn tell(&self, told: Told) {
        match told {
            Told::Event(Ok(event)) => {
                let text = to_json(&event, self.integers);
                self.push(ReplyKind::Json, ReplyFlags::NONE, text);
            }
            Told::Event(Err(error)) => self.fail(&error),
            Told::End => self.push(ReplyKind::Ok, ReplyFlags::LAST, Vec::new()),
        }
    }

    fn fail(&self, error: &Error) {
        self.push(ReplyKind::Error, ReplyFlags::LAST, errors::to_json(error));
    }

    fn push(&self, kind: ReplyKind, flags: ReplyFlags, payload: Vec<u8>) {
        let mut settled = lock(&self.settled);
        if *settled {
            return;
        }
        *settled = flags.has(ReplyFlags::LAST);
        let header = ReplyHeader {
            kind,
            flags,
            request: self.request,
            argument: payload.len() as u32,
        };
        self.realm.outbox.push_owned(header, payload);
    }
}
