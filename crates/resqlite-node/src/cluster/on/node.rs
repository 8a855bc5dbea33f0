//! A node of a realm.

use std::{sync::Arc, time::Duration};

use resqlite::binding::Engine;
use resqlite_cluster::{Cluster, Role};
use serde_json::json;

/// A node of a cluster. Dropping the last copy closes the node, which blocks. The last copy is the realm's.
#[derive(Clone)]
pub(crate) struct Node(pub(super) Arc<Cluster>);

impl Node {
    pub(crate) fn engine(&self) -> &Arc<Engine> {
        self.0.database().engine()
    }

    pub(crate) fn drop_cancelled(&self) {
        self.0.drop_cancelled();
    }

    /// The status of the node, as JSON.
    pub(crate) fn status(&self) -> String {
        let status = self.0.status();
        let role = match status.role {
            Role::Writer => "writer",
            Role::Follower => "follower",
            Role::Stopped => "stopped",
        };
        let mut object = json!({
            "role": role,
            "applied": status.applied.0,
            "log": status.newest.0,
            "lagMs": ms(status.behind),
            "appends": {
                "count": status.appends.count,
                "totalMs": ms(status.appends.total),
                "lastMs": ms(status.appends.last),
            },
            "writer": status.writer.map(|name| name.as_str().to_owned()),
        });
        if !status.damaged.is_empty() {
            object["damaged"] = status.damaged.into();
        }
        if let Some(stopped) = status.stopped {
            object["stopped"] = json!({ "code": stopped.code, "message": stopped.message });
        }
        object.to_string()
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}
