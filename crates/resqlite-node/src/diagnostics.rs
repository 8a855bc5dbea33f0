//! The result of `diagnostics`, as JSON.

use std::time::{SystemTime, UNIX_EPOCH};

use resqlite::{Diagnostics, Holder, HolderKind, binding::GivenUp};
use serde_json::{Map, Value, json};

use crate::stats;

pub(crate) fn to_json(d: &Diagnostics) -> Vec<u8> {
    let mut streams = stats::sums(&d.streams.sums);
    streams.insert("open".into(), d.streams.open.into());
    streams.insert("running".into(), d.streams.running.into());
    streams.insert("queued".into(), d.streams.queued.into());
    streams.insert("queuedPeak".into(), d.streams.queued_peak.into());
    streams.insert("externalCommits".into(), d.streams.external_commits.into());
    let object = json!({
        "path": d.path,
        "sqliteVersion": d.sqlite_version,
        "readOnly": d.read_only,
        "handles": d.handles,
        "fileBytes": d.file_bytes,
        "lastCommit": d.last_commit.0,
        "wal": {
            "bytes": d.wal_bytes,
            "pages": d.wal_pages,
            "checkpoints": d.checkpoints,
            "resetPauses": d.wal_reset_pauses,
        },
        "readers": {
            "max": d.readers_max,
            "started": d.readers,
            "busy": d.readers_busy,
            "queued": d.reads_queued,
            "queuedPeak": d.reads_queued_peak,
        },
        "inline": {
            "run": d.inline.run,
            "longest": d.inline.longest.as_secs_f64() * 1e3,
            "givenUp": d.inline.given_up.iter().map(given_up).collect::<Map<_, _>>(),
        },
        "leases": {
            "open": d.leases,
            "queued": d.leases_queued,
            "holders": d.lease_holders.iter().map(holder).collect::<Vec<_>>(),
        },
        "writer": {
            "transaction": d.transaction.as_ref().map(holder),
            "waitingForLock": d.waiting_for_lock.as_ref().map(|wait| since(wait.since, wait.sql.as_deref())),
            "queued": d.writes_queued,
            "groups": d.groups,
            "largestGroup": d.largest_group,
            "groupsRetriedSingly": d.groups_retried_singly,
        },
        "streams": streams,
    });
    object.to_string().into_bytes()
}

fn given_up((reason, count): &(GivenUp, u64)) -> (String, Value) {
    let name = match reason {
        GivenUp::NoConnection => "noConnection",
        GivenUp::NotPrepared => "notPrepared",
        GivenUp::Unfit => "unfit",
        GivenUp::Schema => "schema",
        GivenUp::Behind => "behind",
        GivenUp::Time => "time",
        GivenUp::Disk => "disk",
        GivenUp::Lock => "lock",
        GivenUp::Large => "large",
        GivenUp::Error => "error",
    };
    (name.to_owned(), (*count).into())
}

fn holder(holder: &Holder) -> Value {
    let kind = match holder.kind {
        HolderKind::Snapshot => "snapshot",
        HolderKind::Cursor => "iterate",
        HolderKind::Transaction => "transaction",
        HolderKind::Begin => "begin",
        HolderKind::Batch => "executeBatch",
    };
    let mut object = since(holder.since, holder.sql.as_deref());
    object["kind"] = kind.into();
    object["idle"] = holder.idle.into();
    object
}

fn since(time: SystemTime, sql: Option<&str>) -> Value {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut object = json!({ "since": since.as_millis() as f64 });
    if let Some(sql) = sql {
        object["sql"] = sql.into();
    }
    object
}
