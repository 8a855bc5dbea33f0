//! The last position, as a majority knows it.

use async_nats::jetstream::stream::{Info, Stream};
use tokio::time::{Duration, Instant};

use super::error::unknown;
use crate::core::log::{LogError, NodeName};

/// A leader that was cut off takes itself for the leader for ten seconds more, so that its word alone is not enough. A purge
/// that deletes nothing goes through the consensus of the stream like an append: when it is answered, a majority has followed
/// the leader after we began. Then the leader must have heard from a majority in that time, or it is not the one that answered.
pub(super) async fn last(entries: &Stream<()>, cluster: &NodeName) -> Result<u64, LogError> {
    let began = Instant::now();
    let barrier = entries.purge().filter(format!("{cluster}.nothing")).sequence(1);
    barrier.await.map_err(|error| unknown(&error))?;
    let info = entries.get_info().await.map_err(|error| unknown(&error))?;
    if !heard_from_majority(&info, began.elapsed()) {
        return Err(LogError::Unknown(
            "the leader has not heard from a majority".to_owned(),
        ));
    }
    Ok(info.state.last_sequence)
}

fn heard_from_majority(info: &Info, within: Duration) -> bool {
    let Some(cluster) = &info.cluster else {
        return true;
    };
    let others = cluster.replicas.len();
    let heard = cluster
        .replicas
        .iter()
        .filter(|peer| !peer.offline && peer.active < within)
        .count();
    heard >= others.div_ceil(2)
}
