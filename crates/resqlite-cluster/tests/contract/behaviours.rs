use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, future::BoxFuture};
use resqlite::log::Position;
use resqlite_cluster::{Append, Handler, Log, LogError, NodeName, Part};
use tokio::time::timeout;

use crate::logs::Logs;

pub(crate) async fn positions_are_taken_one_after_the_other(logs: &impl Logs) {
    let log = logs.client().await;
    for position in (1..=20).map(Position) {
        assert_eq!(log.append(position, entry(position)).await, Ok(Append::Taken));
    }
    for position in (1..=20).map(Position) {
        assert_eq!(log.read(position).await, Ok(Some(entry(position))));
    }
}

pub(crate) async fn a_position_that_is_taken_is_refused(logs: &impl Logs) {
    let (log, other) = (logs.client().await, logs.client().await);
    fill(&log, 1..=3).await;
    for position in (1..=3).map(Position) {
        assert_eq!(other.append(position, "other".into()).await, Ok(Append::Refused));
        assert_eq!(other.read(position).await, Ok(Some(entry(position))));
    }
}

pub(crate) async fn a_position_beyond_the_next_is_refused(logs: &impl Logs) {
    let log = logs.client().await;
    assert_eq!(
        log.append(Position(2), entry(Position(2))).await,
        Ok(Append::Refused)
    );
    fill(&log, 1..=2).await;
    assert_eq!(
        log.append(Position(4), entry(Position(4))).await,
        Ok(Append::Refused)
    );
    assert_eq!(
        log.append(Position(3), entry(Position(3))).await,
        Ok(Append::Taken)
    );
}

pub(crate) async fn an_append_whose_outcome_is_unknown_is_settled_by_the_same_append(logs: &impl Logs) {
    let (log, reader) = (logs.client().await, logs.client().await);
    for position in (1..=100).map(Position) {
        // Given up sooner or later, so that it is taken or not.
        let patience = Duration::from_micros(position.0 * 20);
        let _ = timeout(patience, log.append(position, entry(position))).await;
        settle(&log, position).await;
    }
    for position in (1..=100).map(Position) {
        assert_eq!(reader.read(position).await, Ok(Some(entry(position))));
    }
    assert_eq!(reader.last().await, Ok(Position(100)));
}

pub(crate) async fn two_clients_that_race_for_positions_take_each_once(logs: &impl Logs) {
    const POSITIONS: u64 = 1_000;
    let (one, two) = (logs.client().await, logs.client().await);
    let (ours, theirs) = tokio::join!(race(&one, "one", POSITIONS), race(&two, "two", POSITIONS));
    for position in (1..=POSITIONS).map(Position) {
        let stands = one.read(position).await.unwrap().unwrap();
        let winner = if ours.contains(&position) { "one" } else { "two" };
        assert_ne!(
            ours.contains(&position),
            theirs.contains(&position),
            "{position} was taken once"
        );
        assert_eq!(stands, winner);
    }
    assert_eq!(one.last().await, Ok(Position(POSITIONS)));
}

pub(crate) async fn nothing_stands_at_the_next_position(logs: &impl Logs) {
    let log = logs.client().await;
    assert_eq!(log.read(Position(1)).await, Ok(None));
    fill(&log, 1..=2).await;
    assert_eq!(log.read(Position(3)).await, Ok(None));
}

pub(crate) async fn the_last_position_is_never_older_than_the_question(logs: &impl Logs) {
    let (log, other) = (logs.client().await, logs.client().await);
    assert_eq!(other.last().await, Ok(Position(0)));
    for position in (1..=100).map(Position) {
        log.append(position, entry(position)).await.unwrap();
        assert_eq!(other.last().await, Ok(position));
    }
}

pub(crate) async fn a_tail_has_no_gaps_and_no_repetitions(logs: &impl Logs) {
    let (log, follower) = (logs.client().await, logs.client().await);
    fill(&log, 1..=100).await;
    let follow = |from: u64| {
        follower
            .tail(Position(from))
            .take(501 - from as usize)
            .map(Result::unwrap)
            .collect::<Vec<_>>()
    };
    let (whole, part, ()) = tokio::join!(follow(1), follow(60), fill(&log, 101..=500));
    let expected: Vec<_> = (1..=500)
        .map(Position)
        .map(|position| (position, entry(position)))
        .collect();
    assert_eq!(whole, expected);
    assert_eq!(part, expected[59..]);
}

pub(crate) async fn a_tail_waits_for_entries_to_come(logs: &impl Logs) {
    let (log, follower) = (logs.client().await, logs.client().await);
    fill(&log, 1..=2).await;
    let mut tail = follower.tail(Position(3));
    assert_eq!(timeout(Duration::from_millis(700), tail.next()).await.ok(), None);
    fill(&log, 3..=3).await;
    assert_eq!(tail.next().await, Some(Ok((Position(3), entry(Position(3))))));
}

pub(crate) async fn what_is_purged_is_gone_and_the_rest_goes_on(logs: &impl Logs) {
    let log = logs.client().await;
    fill(&log, 1..=10).await;
    log.purge(Position(6)).await.unwrap();
    for position in (1..=6).map(Position) {
        assert_eq!(
            log.read(position).await,
            Err(LogError::Purged { first: Position(7) })
        );
        assert_eq!(log.append(position, "other".into()).await, Ok(Append::Refused));
    }
    assert_eq!(
        log.tail(Position(6)).next().await,
        Some(Err(LogError::Purged { first: Position(7) }))
    );
    assert_eq!(
        log.tail(Position(7)).next().await,
        Some(Ok((Position(7), entry(Position(7)))))
    );
    assert_eq!(log.last().await, Ok(Position(10)));
    fill(&log, 11..=12).await;
    assert_eq!(
        log.tail(Position(11))
            .take(2)
            .map(Result::unwrap)
            .collect::<Vec<_>>()
            .await,
        [11, 12].map(Position).map(|position| (position, entry(position)))
    );
}

pub(crate) async fn a_log_that_is_purged_whole_goes_on_at_its_next_position(logs: &impl Logs) {
    let log = logs.client().await;
    fill(&log, 1..=3).await;
    log.purge(Position(3)).await.unwrap();
    assert_eq!(log.last().await, Ok(Position(3)));
    assert_eq!(
        log.append(Position(1), entry(Position(1))).await,
        Ok(Append::Refused)
    );
    assert_eq!(
        log.append(Position(4), entry(Position(4))).await,
        Ok(Append::Taken)
    );
    assert_eq!(
        log.tail(Position(4)).next().await,
        Some(Ok((Position(4), entry(Position(4)))))
    );
}

pub(crate) async fn an_entry_above_the_limit_is_refused_with_the_limit<L: Logs>(logs: &L) {
    let log = logs.client().await;
    let limit = L::limit(&log);
    let largest = Bytes::from(vec![7; limit]);
    assert_eq!(
        log.append(Position(1), Bytes::from(vec![7; limit + 1])).await,
        Err(LogError::TooLarge { limit })
    );
    assert_eq!(log.append(Position(1), largest.clone()).await, Ok(Append::Taken));
    assert_eq!(log.read(Position(1)).await, Ok(Some(largest.clone())));
    assert_eq!(
        log.tail(Position(1)).next().await,
        Some(Ok((Position(1), largest)))
    );
}

pub(crate) async fn without_a_snapshot_there_is_no_file(logs: &impl Logs) {
    let (log, folder) = (logs.client().await, Folder::new());
    assert_eq!(log.last_snapshot().await, Ok(None));
    assert_eq!(log.get_snapshot(&folder.file("into")).await, Ok(None));
    assert!(!folder.file("into").exists());
}

pub(crate) async fn the_newest_snapshot_comes_back_byte_by_byte(logs: &impl Logs) {
    let (log, other, folder) = (logs.client().await, logs.client().await, Folder::new());
    log.put_snapshot(Position(7), &folder.random_file("old", 100))
        .await
        .unwrap();
    let newest = folder.random_file("newest", 3_000_001);
    log.put_snapshot(Position(12), &newest).await.unwrap();
    log.put_snapshot(Position(9), &folder.random_file("late", 100))
        .await
        .unwrap();
    assert_eq!(other.last_snapshot().await, Ok(Some(Position(12))));
    assert_eq!(
        other.get_snapshot(&folder.file("into")).await,
        Ok(Some(Position(12)))
    );
    assert!(fs::read(folder.file("into")).unwrap() == fs::read(newest).unwrap());
}

pub(crate) async fn an_empty_snapshot_comes_back(logs: &impl Logs) {
    let (log, folder) = (logs.client().await, Folder::new());
    log.put_snapshot(Position(1), &folder.random_file("empty", 0))
        .await
        .unwrap();
    assert_eq!(
        log.get_snapshot(&folder.file("into")).await,
        Ok(Some(Position(1)))
    );
    assert!(fs::read(folder.file("into")).unwrap().is_empty());
}

/// Of logs that keep it in pieces.
#[cfg(any(feature = "nats", feature = "etcd"))]
pub(crate) async fn a_snapshot_that_broke_off_is_not_there(logs: &impl Logs) {
    let (log, folder) = (logs.client().await, Folder::new());
    let large = folder.random_file("large", 20_000_000);
    let put = timeout(Duration::from_millis(15), log.put_snapshot(Position(5), &large)).await;
    assert!(put.is_err(), "it took longer than the time that it had");
    assert_eq!(log.last_snapshot().await, Ok(None));
    assert_eq!(log.get_snapshot(&folder.file("into")).await, Ok(None));
    assert!(!folder.file("into").exists());
}

pub(crate) async fn snapshots_below_a_purge_are_gone(logs: &impl Logs) {
    let (log, folder) = (logs.client().await, Folder::new());
    fill(&log, 1..=10).await;
    for position in [4, 8].map(Position) {
        log.put_snapshot(position, &folder.random_file("snapshot", 600_000))
            .await
            .unwrap();
    }
    log.purge(Position(8)).await.unwrap();
    assert_eq!(
        log.get_snapshot(&folder.file("into")).await,
        Ok(Some(Position(8)))
    );
    log.purge(Position(9)).await.unwrap();
    assert_eq!(log.get_snapshot(&folder.file("none")).await, Ok(None));
}

pub(crate) async fn a_part_comes_back_to_any_client_and_may_be_put_again(logs: &impl Logs) {
    let (log, other) = (logs.client().await, logs.client().await);
    let part = |of, index| Part {
        position: Position(1),
        of,
        index,
    };
    let large = Bytes::from(vec![7; 512 * 1024]);
    for (of, index, bytes) in [
        (0, 0, large),
        (u64::MAX, 0, "one".into()),
        (u64::MAX, 1, "two".into()),
    ] {
        log.put_part(part(of, index), bytes.clone()).await.unwrap();
        other.put_part(part(of, index), bytes.clone()).await.unwrap();
        assert_eq!(other.get_part(part(of, index)).await, Ok(Some(bytes)));
    }
    for (of, index) in [(0, 1), (1, 0), (u64::MAX, 2)] {
        assert_eq!(other.get_part(part(of, index)).await, Ok(None));
    }
}

pub(crate) async fn parts_go_with_the_entry_at_their_position(logs: &impl Logs) {
    let log = logs.client().await;
    let part = |position| Part {
        position,
        of: 7,
        index: 0,
    };
    fill(&log, 1..=10).await;
    for position in (7..=11).map(Position) {
        log.put_part(part(position), entry(position)).await.unwrap();
    }
    log.purge(Position(8)).await.unwrap();
    for position in (7..=8).map(Position) {
        assert_eq!(log.get_part(part(position)).await, Ok(None));
    }
    for position in (9..=11).map(Position) {
        assert_eq!(log.get_part(part(position)).await, Ok(Some(entry(position))));
    }
}

pub(crate) async fn parts_are_no_snapshots(logs: &impl Logs) {
    let (log, folder) = (logs.client().await, Folder::new());
    log.put_snapshot(Position(3), &folder.random_file("snapshot", 100))
        .await
        .unwrap();
    let part = Part {
        position: Position(9),
        of: 7,
        index: 0,
    };
    log.put_part(part, "part".into()).await.unwrap();
    assert_eq!(
        log.get_snapshot(&folder.file("into")).await,
        Ok(Some(Position(3)))
    );
}

pub(crate) async fn a_snapshot_never_replaces_a_file(logs: &impl Logs) {
    let (log, folder) = (logs.client().await, Folder::new());
    log.put_snapshot(Position(1), &folder.random_file("snapshot", 100))
        .await
        .unwrap();
    let there = folder.random_file("there", 10);
    let before = fs::read(&there).unwrap();
    assert!(matches!(log.get_snapshot(&there).await, Err(LogError::Unfit(_))));
    assert_eq!(fs::read(&there).unwrap(), before);
}

pub(crate) async fn a_request_is_answered_by_its_node(logs: &impl Logs) {
    let (one, two, client) = (logs.client().await, logs.client().await, logs.client().await);
    let _one = one.serve(&node("one"), Arc::new(Prefix("one"))).await.unwrap();
    let _two = two.serve(&node("two"), Arc::new(Prefix("two"))).await.unwrap();
    assert_eq!(ask(&client, "one", "hello").await, Ok("one: hello".into()));
    assert_eq!(ask(&client, "two", "hello").await, Ok("two: hello".into()));
}

pub(crate) async fn requests_are_answered_side_by_side(logs: &impl Logs) {
    let (server, client) = (logs.client().await, logs.client().await);
    let meeting = Arc::new(Meeting::default());
    let _serving = server.serve(&node("one"), meeting).await.unwrap();
    // Each is answered only when the other is there too.
    let (first, second) = tokio::join!(ask(&client, "one", "a"), ask(&client, "one", "b"));
    assert_eq!((first, second), (Ok("met".into()), Ok("met".into())));
}

pub(crate) async fn a_node_that_nobody_serves_is_unreachable(logs: &impl Logs) {
    let (server, client) = (logs.client().await, logs.client().await);
    let never = client.request(&node("never"), "hello".into()).await;
    assert!(matches!(never, Err(LogError::Unreachable(_))), "{never:?}");
    let serving = server.serve(&node("one"), Arc::new(Prefix("one"))).await.unwrap();
    assert_eq!(ask(&client, "one", "hello").await, Ok("one: hello".into()));
    drop(serving);
    // Until all servers know.
    while !matches!(
        client.request(&node("one"), "hello".into()).await,
        Err(LogError::Unreachable(_))
    ) {}
}

fn entry(position: Position) -> Bytes {
    format!("entry {position}").into()
}

async fn fill(log: &impl Log, positions: std::ops::RangeInclusive<u64>) {
    for position in positions {
        assert_eq!(
            log.append(Position(position), entry(Position(position))).await,
            Ok(Append::Taken)
        );
    }
}

/// Appends again until it is known that the entry stands there.
async fn settle(log: &impl Log, position: Position) {
    loop {
        match log.append(position, entry(position)).await {
            Ok(_) => break,
            Err(LogError::Unknown(_) | LogError::Unreachable(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(log.read(position).await, Ok(Some(entry(position))));
}

/// The positions that this client has taken.
async fn race(log: &impl Log, name: &'static str, positions: u64) -> Vec<Position> {
    let mut taken = Vec::new();
    for position in (1..=positions).map(Position) {
        if log.append(position, name.into()).await.unwrap() == Append::Taken {
            taken.push(position);
        }
    }
    taken
}

fn node(name: &str) -> NodeName {
    NodeName::new(name).unwrap()
}

/// Asks until the node has become known to all servers.
async fn ask(log: &impl Log, name: &str, question: &'static str) -> Result<Bytes, LogError> {
    loop {
        match log.request(&node(name), question.into()).await {
            Err(LogError::Unreachable(_)) => {}
            answer => return answer,
        }
    }
}

struct Prefix(&'static str);

impl Handler for Prefix {
    fn handle(&self, request: Bytes, _: usize) -> BoxFuture<'static, Bytes> {
        let name = self.0;
        async move { format!("{name}: {}", String::from_utf8_lossy(&request)).into() }.boxed()
    }
}

#[derive(Clone, Default)]
struct Meeting(Arc<(AtomicUsize, tokio::sync::Notify)>);

impl Handler for Meeting {
    fn handle(&self, _: Bytes, _: usize) -> BoxFuture<'static, Bytes> {
        let meeting = Arc::clone(&self.0);
        async move {
            if meeting.0.fetch_add(1, Ordering::SeqCst) == 0 {
                meeting.1.notified().await;
            } else {
                meeting.1.notify_one();
            }
            "met".into()
        }
        .boxed()
    }
}

/// A folder that is deleted with its value.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!(
            "resqlite-contract-{:?}-{}",
            std::thread::current().id(),
            std::process::id()
        );
        let folder = std::env::temp_dir().join(name.replace(['(', ')'], ""));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.0.join(name)
    }

    /// A file whose bytes are not the same at any two places.
    fn random_file(&self, name: &str, length: u64) -> std::path::PathBuf {
        let path = self.file(name);
        let bytes: Vec<u8> = (0..length)
            .map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8)
            .collect();
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
