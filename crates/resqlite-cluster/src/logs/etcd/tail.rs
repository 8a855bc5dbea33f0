//! The entries as they come: read in pages, then watched. A watch that is silent is checked by reading again.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use tokio::time::{sleep, timeout};

use super::{
    client::Watch,
    keys::{get, last_part, number, number_in},
    proto::{KeyValue, Operation, Range, Txn},
    store::Store,
};
use crate::{
    core::{deadline::RETRY, log::LogError},
    logs::tail::Tail,
};

const SILENCE: Duration = Duration::from_millis(500);
/// Entries that are read at once.
const PAGE: i64 = 32;

pub(super) struct EtcdTail<'a> {
    log: &'a Store,
    /// The next position that is read or watched for.
    next: u64,
    found: VecDeque<(u64, Bytes)>,
    watch: Option<Watch>,
}

impl Tail for EtcdTail<'_> {
    async fn entry(&mut self) -> Result<(u64, Bytes), LogError> {
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

impl<'a> EtcdTail<'a> {
    pub(super) fn from(log: &'a Store, position: u64) -> Self {
        Self {
            log,
            next: position.max(1),
            found: VecDeque::new(),
            watch: None,
        }
    }

    async fn read_or_wait(&mut self) -> Result<(), LogError> {
        match self.read_and_watch().await {
            Err(LogError::Unknown(_) | LogError::Unreachable(_)) => sleep(RETRY).await,
            outcome => outcome?,
        }
        Ok(())
    }

    /// Reads a page; watches from there if it is the last one.
    async fn read_and_watch(&mut self) -> Result<(), LogError> {
        let (revision, is_last) = self.read_page().await?;
        if is_last {
            let keys = &self.log.keys;
            let watch = self
                .log
                .client
                .watch(keys.entry(0), keys.end_of_entries(), revision)
                .await?;
            self.watch = Some(watch);
        }
        Ok(())
    }

    /// A watch that has not told of an entry which is there is given up, and its server with it.
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

    /// The revision at which it was read, and whether nothing follows.
    async fn read_page(&mut self) -> Result<(i64, bool), LogError> {
        let keys = &self.log.keys;
        let page = Range {
            key: keys.entry(self.next),
            range_end: keys.end_of_entries(),
            limit: PAGE,
            keys_only: false,
        };
        let txn = Txn {
            success: vec![Operation::Range(page).into(), get(keys.purged())],
            ..Txn::default()
        };
        let mut read = self.log.client.txn(txn).await?;
        let purged = number_in(read.range(1));
        if self.next <= purged {
            return Err(LogError::Purged { first: purged + 1 });
        }
        let page = read.range(0);
        self.take(page.kvs.into_iter());
        Ok((read.revision(), !page.more))
    }

    /// Keeps those that are next. After a gap, which no watch should have, the rest must be read.
    fn take(&mut self, kvs: impl Iterator<Item = KeyValue>) {
        for kv in kvs {
            let Some(position) = last_part(&kv).and_then(|digits| number(digits.as_bytes())) else {
                continue;
            };
            if position == self.next {
                self.found.push_back((position, kv.value));
                self.next += 1;
            } else if position > self.next {
                self.watch = None;
                return;
            }
        }
    }
}
