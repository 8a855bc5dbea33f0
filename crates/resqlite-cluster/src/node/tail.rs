//! The entries of the log, as they arrive.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use futures_util::StreamExt;
use resqlite::log::Position;

use super::{Node, parts};
use crate::{
    core::{deadline::RETRY, log::LogError},
    protocol::Source,
    wire::hash_in,
};

/// The tail begins this many entries before the position of the database.
const BACK: u64 = 64;
/// The most entries that the tail may be ahead of the database.
const AHEAD_MAX: usize = 4096;
/// The most bytes that the tail may be ahead of the database. At either limit, the tail waits for the database.
const AHEAD_BYTES: usize = 16 << 20;

impl Node {
    /// Reads the log from the position of the database on, for as long as the node runs.
    pub(super) async fn follow(self: Arc<Self>) {
        let mut begins = None;
        while self.check_running().is_ok() {
            // The tail begins some entries back: if other entries stand there, the histories differ.
            let applied = *self.applied.borrow();
            let back = applied.earlier(BACK).max(Position(1));
            let from = begins
                .filter(|first| (back..=applied.next()).contains(first))
                .unwrap_or(back);
            begins = self.follow_from(from).await;
            if let Some(first) = begins {
                self.tell(|state, _| state.protocol.purged(first));
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Reads until the tail must be begun anew. Returns the position to begin at, or `None` to begin a little before the position
    /// of the database.
    async fn follow_from(self: &Arc<Self>, from: Position) -> Option<Position> {
        let mut tail = self.log.tail(from);
        let mut following = from;
        let mut ahead = Ahead::default();
        loop {
            let next = tokio::select! {
                next = tail.next() => next?,
                () = self.restart_tail.notified() => return None,
            };
            match next {
                Ok((position, bytes)) => {
                    following = position.next();
                    let hash = hash_in(&bytes);
                    if self.tell(|state, now| state.protocol.skip_passed(now, position, hash)) {
                        continue;
                    }
                    let bytes = match self.fetch(position, bytes).await {
                        Err(LogError::Damaged(what)) => return self.pass_damaged(position, &what),
                        fetched => fetched.ok()?,
                    };
                    ahead.add(position, bytes.len());
                    self.tell(|state, now| state.read_entry(now, Source::Tail, position, bytes));
                    let mut applied = self.applied.subscribe();
                    let near = applied.wait_for(|applied| ahead.is_near(*applied));
                    tokio::select! {
                        near = near => drop(near.ok()?),
                        () = self.restart_tail.notified() => return None,
                    }
                }
                Err(LogError::Purged { first }) => return Some(first),
                Err(LogError::Damaged(what)) => return self.pass_damaged(following, &what),
                Err(_) => return None,
            }
        }
    }
}

impl Node {
    /// Reports a damaged entry. If the database has the entry already, it need not be read again, and the tail goes on after it.
    fn pass_damaged(self: &Arc<Self>, position: Position, what: &str) -> Option<Position> {
        self.tell(|state, _| state.protocol.damaged(position, what));
        Some(position.next())
    }

    /// Returns the whole entry that the bytes at a position stand for. Its parts may take long to fetch.
    async fn fetch(self: &Arc<Self>, position: Position, bytes: Bytes) -> Result<Bytes, LogError> {
        let whole = parts::whole(&*self.log, position, bytes, self.options.log_timeout);
        tokio::pin!(whole);
        loop {
            tokio::select! {
                biased;
                whole = &mut whole => return whole,
                () = tokio::time::sleep(RETRY) => self.tell(|state, now| state.protocol.hears(now)),
            }
        }
    }
}

/// The entries that the tail has reported and the database does not have yet.
#[derive(Default)]
struct Ahead {
    /// Positions, and the number of bytes at each.
    told: VecDeque<(Position, usize)>,
    bytes: usize,
}

impl Ahead {
    fn add(&mut self, position: Position, bytes: usize) {
        self.told.push_back((position, bytes));
        self.bytes += bytes;
    }

    /// Returns whether there is room for more entries once the database has reached `applied`.
    fn is_near(&mut self, applied: Position) -> bool {
        while let Some(&(position, bytes)) = self.told.front()
            && position <= applied
        {
            self.told.pop_front();
            self.bytes -= bytes;
        }
        self.told.is_empty() || (self.told.len() < AHEAD_MAX && self.bytes < AHEAD_BYTES)
    }
}
