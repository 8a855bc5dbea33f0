//! What is to be cancelled when JavaScript cancels a request.

use std::collections::HashMap;

use resqlite::{Scope, Token, TokenSlot};

/// The requests of a realm, by number. The numbers are used again, so they stay small.
#[derive(Default)]
pub(crate) struct Cancellation {
    /// A slot per number, and how often the number has been used.
    slots: Vec<(TokenSlot, u64)>,
    /// The session that ends with a request: the one that it opens, or the cursor that it fetches from.
    sessions: HashMap<u32, u32>,
}

impl Cancellation {
    /// A number is used for a new request. From here on cancelling it leaves its last request alone, which may still be
    /// running: a cursor keeps the token of the request that opened it.
    pub(crate) fn begin(&mut self, request: u32) {
        let at = request as usize;
        if at >= self.slots.len() {
            self.slots.resize_with(at + 1, Default::default);
        }
        self.slots[at].1 += 1;
        self.sessions.remove(&request);
    }

    /// The token of a request that has begun. It is also cancelled with `scope`.
    pub(crate) fn token(&self, request: u32, scope: &Scope) -> Token {
        let (slot, generation) = &self.slots[request as usize];
        slot.token(*generation, scope)
    }

    /// The session ends when the request is cancelled.
    pub(crate) fn include_session(&mut self, request: u32, session: u32) {
        self.sessions.insert(request, session);
    }

    /// Cancels the token of a request and returns the session that is to end.
    pub(crate) fn cancel(&self, request: u32) -> Option<u32> {
        if let Some((slot, generation)) = self.slots.get(request as usize) {
            slot.cancel(*generation);
        }
        self.sessions.get(&request).copied()
    }
}
