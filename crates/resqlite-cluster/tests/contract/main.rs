//! What every log must do, run against each. `npm run test:cluster` starts the servers that some need.

mod behaviours;
mod logs;
#[cfg(any(feature = "nats", feature = "etcd"))]
mod servers;

/// The behaviours as tests of a log, with an attribute for each, and those that only this log has.
macro_rules! contract {
    ($module:ident, $logs:ty, #[$attribute:meta] $($more:ident,)*) => {
        mod $module {
            use crate::{behaviours, logs::Logs};

            contract!(@tests $logs, #[$attribute]
                positions_are_taken_one_after_the_other,
                // G328
                a_position_that_is_taken_is_refused,
                // G328
                a_position_beyond_the_next_is_refused,
                // G328
                an_append_whose_outcome_is_unknown_is_settled_by_the_same_append,
                // G328
                two_clients_that_race_for_positions_take_each_once,
                nothing_stands_at_the_next_position,
                // G329
                the_last_position_is_never_older_than_the_question,
                // G329
                a_tail_has_no_gaps_and_no_repetitions,
                // G329
                a_tail_waits_for_entries_to_come,
                // G329
                what_is_purged_is_gone_and_the_rest_goes_on,
                a_log_that_is_purged_whole_goes_on_at_its_next_position,
                an_entry_above_the_limit_is_refused_with_the_limit,
                without_a_snapshot_there_is_no_file,
                // G329
                the_newest_snapshot_comes_back_byte_by_byte,
                an_empty_snapshot_comes_back,
                snapshots_below_a_purge_are_gone,
                // G330
                a_part_comes_back_to_any_client_and_may_be_put_again,
                // G330
                parts_go_with_the_entry_at_their_position,
                // G330
                parts_are_no_snapshots,
                // G329
                a_snapshot_never_replaces_a_file,
                a_request_is_answered_by_its_node,
                requests_are_answered_side_by_side,
                a_node_that_nobody_serves_is_unreachable,
                $($more,)*
            );
        }
    };
    (@tests $logs:ty, #[$attribute:meta] $($name:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[$attribute]
            async fn $name() {
                behaviours::$name(&<$logs>::start()).await;
            }
        )*
    };
}

contract!(memory, crate::logs::Memory, #[cfg(test)]);

#[cfg(feature = "nats")]
contract!(
    nats,
    crate::logs::Nats,
    #[ignore = "needs servers of NATS"]
    a_snapshot_that_broke_off_is_not_there,
);

#[cfg(feature = "etcd")]
contract!(
    etcd,
    crate::logs::Etcd,
    #[ignore = "needs servers of etcd"]
    a_snapshot_that_broke_off_is_not_there,
);

#[cfg(feature = "nats")]
mod late_sync {
    use resqlite_cluster::{LogError, nats::NatsLog};

    use crate::logs::Nats;

    #[tokio::test]
    #[ignore = "needs servers of NATS that sync late"]
    async fn servers_that_sync_late_are_refused_where_that_can_be_seen() {
        let mut options = Nats::options();
        let refused = NatsLog::open(options.clone()).await.map(drop);
        assert!(
            matches!(&refused, Err(LogError::Unfit(why)) if why.contains("sync_interval")),
            "{refused:?}"
        );

        options.system.clear();
        NatsLog::open(options).await.unwrap();
    }
}
