//! The tokens to cancel, and the sessions to end, when JavaScript cancels a request.

use std::collections::HashMap;

use resqlite::binding::{Scope, Token, TokenSlot};

/// The requests of a realm, by number. The numbers are reused, so they stay small.
#[derive(Default)]
pub(crate) struct Cancellation {
    /// The state of each number.
    slots: Vec<Slot>,
    /// The session that ends when a request is cancelled: the session that the request opens, or the cursor from which
    /// it fetches.
    sessions: HashMap<u32, u32>,
}

/// The state that the requests of one number have in common.
#[derive(Default)]
struct Slot {
    tokens: TokenSlot,
    /// Counts the uses of the number.
    uses: u64,
    /// The target of the last use.
    target: u32,
}

impl Cancellation {
    /// Notes that a number is used for a new request. From here on, cancelling the number does not affect its previous
    /// request. That may still be running, because a cursor keeps the token of the request that opened it.
    pub(crate) fn begin(&mut self, request: u32, target: u32) {
        let at = request as usize;
        if at >= self.slots.len() {
            self.slots.resize_with(at + 1, Default::default);
        }
        self.slots[at].uses += 1;
        self.slots[at].target = target;
        self.sessions.remove(&request);
    }

    /// The token of a request that has begun. It is also cancelled with `scope`.
    pub(crate) fn token(&self, request: u32, scope: &Scope) -> Token {
        let slot = &self.slots[request as usize];
        slot.tokens.token(slot.uses, scope)
    }

    /// Makes the session end when the request is cancelled.
    pub(crate) fn include_session(&mut self, request: u32, session: u32) {
        self.sessions.insert(request, session);
    }

    /// Cancels the token of a request and returns the session that is to end.
    pub(crate) fn cancel(&self, request: u32) -> Option<u32> {
        if let Some(slot) = self.slots.get(request as usize) {
            slot.tokens.cancel(slot.uses);
        }
        self.sessions.get(&request).copied()
    }

    /// Returns the numbers whose last use had this target.
    pub(crate) fn of_target(&self, target: u32) -> impl Iterator<Item = u32> {
        let slots = (0..).zip(&self.slots);
        slots.filter_map(move |(request, slot)| (slot.target == target).then_some(request))
    }
}
