//! Pieces of snapshots, each under a subject of its own.

use async_nats::jetstream::stream::LastRawMessageErrorKind;
use bytes::Bytes;
use futures_util::{FutureExt, TryStreamExt};

use super::{error::unknown, store::Store, streams::snapshot_subject};
use crate::{
    core::log::LogError,
    logs::{positions::digits, snapshots::Shelf},
};

impl Shelf for Store {
    async fn put(&self, name: String, value: Bytes) -> Result<(), LogError> {
        self.check_size(&value)?;
        let subject = snapshot_subject(&self.options, &name);
        self.deadline()
            .retry(|| {
                async {
                    let sent = self.context.publish(subject.clone(), value.clone()).await;
                    let stored = sent.map_err(|error| unknown(&error))?.await;
                    stored.map(|_| ()).map_err(|error| unknown(&error))
                }
                .boxed()
            })
            .await
    }

    async fn get(&self, name: String) -> Result<Option<Bytes>, LogError> {
        let subject = snapshot_subject(&self.options, &name);
        self.deadline()
            .retry(|| {
                async {
                    match self.snapshots.get_last_raw_message_by_subject(&subject).await {
                        Ok(message) => Ok(Some(message.payload)),
                        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
                        Err(error) => Err(unknown(&error)),
                    }
                }
                .boxed()
            })
            .await
    }

    async fn newest(&self, name: &'static str) -> Result<Option<u64>, LogError> {
        let positions = self.positions(&format!("*.{name}")).await?;
        Ok(positions.into_iter().max())
    }

    async fn delete_below(&self, position: u64) -> Result<(), LogError> {
        let mut old = self.positions(">").await?;
        old.sort_unstable();
        old.dedup();
        for old in old.into_iter().filter(|old| *old < position) {
            let subject = snapshot_subject(&self.options, &format!("{}/>", digits(old)));
            self.deadline()
                .retry(|| {
                    async {
                        let purge = self.snapshots.purge().filter(&subject);
                        purge.await.map_err(|error| unknown(&error))
                    }
                    .boxed()
                })
                .await?;
        }
        Ok(())
    }
}

impl Store {
    /// The positions of the pieces whose subjects match, in no order, and with repetitions.
    async fn positions(&self, pattern: &str) -> Result<Vec<u64>, LogError> {
        let filter = snapshot_subject(&self.options, pattern);
        let before = snapshot_subject(&self.options, "");
        self.deadline()
            .retry(|| {
                async {
                    let listed = self.snapshots.info_with_subjects(&filter).await;
                    let listed = listed.map_err(|error| unknown(&error))?;
                    let subjects: Vec<(String, usize)> =
                        listed.try_collect().await.map_err(|error| unknown(&error))?;
                    let position =
                        |subject: &str| subject.strip_prefix(&before)?.split('.').next()?.parse().ok();
                    Ok(subjects
                        .iter()
                        .filter_map(|(subject, _)| position(subject))
                        .collect())
                }
                .boxed()
            })
            .await
    }
}
