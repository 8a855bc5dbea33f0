//! The last position, as a majority knows it.

use async_nats::jetstream::stream::{ClusterInfo, PeerInfo, Stream};
use resqlite::log::Position;
use tokio::time::{Duration, Instant};

use super::error::unknown;
use crate::core::log::{LogError, NodeName};

/// Returns the last position as a majority knows it. A leader that was cut off takes itself for the leader for ten seconds more,
/// so that its word alone is not enough. A purge that deletes nothing goes through the consensus of the stream like an append:
/// when it is answered, a majority has followed the leader after we began. The server that then reports the position must have
/// heard from a majority in that time, or it is not that leader.
pub(super) async fn last(entries: &Stream<()>, cluster: &NodeName) -> Result<Position, LogError> {
    let began = Instant::now();
    let barrier = entries.purge().filter(format!("{cluster}.nothing")).sequence(1);
    barrier.await.map_err(|error| unknown(&error))?;
    let info = entries.get_info().await.map_err(|error| unknown(&error))?;
    if !info
        .cluster
        .as_ref()
        .is_none_or(|cluster| leads(cluster, began.elapsed()))
    {
        return Err(LogError::Unknown(
            "the server that answered does not lead a majority".to_owned(),
        ));
    }
    Ok(Position(info.state.last_sequence))
}

/// Returns whether a leader gave this answer, and has heard from a majority within that time.
///
/// A member that knows of no leader also answers, from whatever state it has: a leader that has just stepped down, for example.
/// It reports peers that it has never heard from as active right now.
fn leads(cluster: &ClusterInfo, within: Duration) -> bool {
    let Some(leader) = &cluster.leader else {
        return false;
    };
    let is_heard = |peer: &&PeerInfo| !peer.offline && !peer.active.is_zero() && peer.active < within;
    let heard = cluster.replicas.iter().filter(is_heard).count();
    let is_another = cluster.replicas.iter().any(|peer| peer.name == *leader);
    !leader.is_empty() && !is_another && heard >= cluster.replicas.len().div_ceil(2)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const WITHIN: Duration = Duration::from_millis(2);

    /// Calls `leads` with two peers that were last active the given milliseconds ago.
    fn leads_with(leader: &str, active: [u64; 2]) -> bool {
        let peers = ["n2", "n3"].iter().zip(active);
        let peers: Vec<_> = peers
            .map(|(name, active)| json!({ "name": name, "current": true, "active": active * 1_000_000 }))
            .collect();
        let cluster = json!({ "leader": leader, "replicas": peers });
        leads(&serde_json::from_value(cluster).unwrap(), WITHIN)
    }

    #[test]
    fn a_leader_that_one_of_two_others_has_followed_leads() {
        assert!(leads_with("n1", [1, 1000]));
        assert!(!leads_with("n1", [1000, 1000]));
    }

    #[test]
    fn a_member_without_a_leader_does_not_lead() {
        assert!(!leads_with("", [1, 1]));
    }

    #[test]
    fn a_member_with_another_leader_does_not_lead() {
        assert!(!leads_with("n2", [1, 1]));
    }

    #[test]
    fn peers_that_were_never_heard_from_do_not_follow() {
        assert!(!leads_with("n1", [0, 0]));
    }

    #[test]
    fn the_only_member_leads() {
        let cluster = json!({ "leader": "n1" });
        assert!(leads(&serde_json::from_value(cluster).unwrap(), WITHIN));
    }
}
