//! The entries as they arrive. They are read in pages, then watched for. A watch that is silent is checked by reading again.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use resqlite::log::Position;
use tokio::time::{sleep, timeout};

use super::{
    client::Watch,
    keys::{get, last_part, position, position_in, sealed},
    proto::{KeyValue, Operation, Range, Txn, TxnResponse},
    store::{EtcdLog, entry_at},
};
use crate::{
    core::{copies::Fault, deadline::RETRY, log::LogError},
    logs::tail::{Tail, Tailed},
};

const SILENCE: Duration = Duration::from_millis(500);
/// The number of entries that are read at once.
const PAGE: i64 = 32;

struct EtcdTail<'a> {
    log: &'a EtcdLog,
    /// The next position that is read, or for which the tail watches.
    next: Position,
    found: VecDeque<(Position, Bytes)>,
    watch: Option<Watch>,
}

impl Tailed for EtcdLog {
    fn tail(&self, from: Position) -> impl Tail {
        EtcdTail {
            log: self,
            next: from,
            found: VecDeque::new(),
            watch: None,
        }
    }
}

impl Tail for EtcdTail<'_> {
    async fn entry(&mut self) -> Result<(Position, Bytes), LogError> {
        loop {
            if let Some(entry) = self.found.pop_front() {
                return Ok(entry);
            }
            match &mut self.watch {
                None => self.read_or_wait().await?,
                Some(watch) => match timeout(SILENCE, watch.message()).await {
                    Ok(Ok(Some(news))) if !news.canceled => {
                        let kvs = news.events.into_iter().filter_map(|event| event.kv);
                        self.take(kvs);
                    }
                    Ok(_) => self.watch = None,
                    Err(_) => self.check_watch().await?,
                },
            }
        }
    }
}

impl EtcdTail<'_> {
    async fn read_or_wait(&mut self) -> Result<(), LogError> {
        match self.read_and_watch().await {
            Err(LogError::Unknown(_) | LogError::Unreachable(_)) => sleep(RETRY).await,
            outcome => outcome?,
        }
        Ok(())
    }

    /// Reads a page. If it is the last page, watches from there.
    async fn read_and_watch(&mut self) -> Result<(), LogError> {
        let (revision, is_last) = self.read_page().await?;
        if is_last {
            let keys = &self.log.keys;
            let watch = self
                .log
                .client
                .watch(keys.entry(Position(0)), keys.end_of_entries(), revision)
                .await?;
            self.watch = Some(watch);
        }
        Ok(())
    }

    /// Gives up a watch that has not reported an existing entry, and its server with it.
    async fn check_watch(&mut self) -> Result<(), LogError> {
        match self.read_page().await {
            Ok(_) if self.found.is_empty() => {}
            Ok(_) | Err(LogError::Unknown(_) | LogError::Unreachable(_)) => {
                self.watch = None;
                self.log.client.turn();
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Reads a page. Returns the revision at which it was read, and whether nothing follows.
    async fn read_page(&mut self) -> Result<(i64, bool), LogError> {
        let (keys, from) = (&self.log.keys, self.next);
        let page = Range {
            key: keys.entry(from),
            range_end: keys.end_of_entries(),
            limit: PAGE,
            keys_only: false,
        };
        let txn = Txn {
            success: vec![
                Operation::Range(page).into(),
                get(keys.purged()),
                get(keys.last()),
            ],
            ..Txn::default()
        };
        let read = |mut read: TxnResponse| {
            let (purged, last) = (position_in(read.range(1))?, position_in(read.range(2))?);
            if from <= purged {
                return Ok(Err(LogError::Purged { first: purged.next() }));
            }
            let mut entries = Vec::new();
            let fault = read.range(0).kvs.into_iter().find_map(|kv| {
                let entry = entry_of(kv, from + entries.len() as u64);
                entry.map(|entry| entries.push(entry)).err()
            });
            let end = from + entries.len() as u64;
            match fault {
                // The entries before the fault are good.
                Some(fault) if entries.is_empty() => Err(fault),
                None if entries.is_empty() && end <= last => Err(Fault::Missing),
                _ => Ok(Ok((entries, read.revision(), end > last))),
            }
        };
        let what = entry_at(from);
        let found = self.log.find(&what, &txn, read).await?;
        let (entries, revision, is_last) = found.unwrap_or_else(|| Err(self.log.copies.lost(&what)))?;
        for entry in entries {
            self.found.push_back((self.next, entry));
            self.next = self.next.next();
        }
        self.log.note_taken(self.next.before());
        Ok((revision, is_last))
    }

    /// Keeps the entries that are next. After a gap or damage the rest must be read, perhaps from another server.
    fn take(&mut self, kvs: impl Iterator<Item = KeyValue>) {
        for kv in kvs {
            // A watch may report an entry again that was already read.
            if position_of(&kv).is_some_and(|position| position < self.next) {
                continue;
            }
            let Ok(entry) = entry_of(kv, self.next) else {
                self.watch = None;
                return;
            };
            self.found.push_back((self.next, entry));
            self.next = self.next.next();
        }
    }
}

fn position_of(kv: &KeyValue) -> Option<Position> {
    last_part(kv).and_then(|digits| position(digits.as_bytes()))
}

/// Returns the bytes of the entry, if it is the entry of this position.
fn entry_of(kv: KeyValue, position: Position) -> Result<Bytes, Fault> {
    if position_of(&kv) != Some(position) {
        return Err(Fault::Missing);
    }
    sealed(kv)
}
