//! Cancellation of one request.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

/// A slot that one request after another uses. A call that cancels names the use that it means, so a late call never cancels the next
/// request.
#[derive(Debug, Clone, Default)]
pub struct TokenSlot(Arc<AtomicU64>);

impl TokenSlot {
    /// Returns the token of the slot's use number `generation` (counted from 1). The token is also cancelled when `scope` is cancelled.
    pub fn token(&self, generation: u64, scope: &Scope) -> Token {
        Token {
            slot: Some(self.clone()),
            generation,
            scope: scope.clone(),
        }
    }

    /// Cancels use number `generation`.
    pub fn cancel(&self, generation: u64) {
        self.0.store(generation, Ordering::Release);
    }
}

/// A group of requests that are cancelled together, such as those of a realm or a transaction.
#[derive(Debug, Clone, Default)]
pub struct Scope(Arc<AtomicBool>);

impl Scope {
    /// Cancels all requests of this scope.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns a token that is cancelled only with the scope.
    pub(crate) fn token(&self) -> Token {
        Token {
            slot: None,
            generation: 0,
            scope: self.clone(),
        }
    }

    /// Returns whether the scope was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Tells a running request that its caller does not want it any more.
#[derive(Debug, Clone)]
pub struct Token {
    /// The slot; `None` if the token is cancelled only with the scope.
    slot: Option<TokenSlot>,
    generation: u64,
    scope: Scope,
}

impl Default for Token {
    fn default() -> Self {
        TokenSlot::default().token(1, &Scope::default())
    }
}

impl Token {
    /// Cancels the request.
    pub fn cancel(&self) {
        if let Some(slot) = &self.slot {
            slot.cancel(self.generation);
        }
    }

    /// Returns whether the request was cancelled.
    pub fn is_cancelled(&self) -> bool {
        let is_mine = |slot: &TokenSlot| slot.0.load(Ordering::Acquire) == self.generation;
        self.slot.as_ref().is_some_and(is_mine) || self.scope.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelling_one_use_leaves_the_next_use_of_the_slot_alone() {
        let (slot, scope) = (TokenSlot::default(), Scope::default());
        let (first, second) = (slot.token(1, &scope), slot.token(2, &scope));
        slot.cancel(1);
        assert!(first.is_cancelled());
        assert!(!second.is_cancelled());
    }

    #[test]
    fn cancelling_the_scope_cancels_every_request_in_it() {
        let (slot, scope) = (TokenSlot::default(), Scope::default());
        let tokens = [slot.token(7, &scope), scope.token()];
        assert!(!tokens.iter().any(Token::is_cancelled));
        scope.cancel();
        assert!(tokens.iter().all(Token::is_cancelled));
    }
}
