//! The database or node that a database handle stands for.

use std::sync::Arc;

use resqlite::binding::{Engine, Handle};

use crate::cluster::Node;

/// An open database, or a node of a cluster.
pub(crate) enum Opened {
    Database(Handle),
    #[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "there are no nodes"))]
    Node(Node),
}

impl Opened {
    pub(crate) fn engine(&self) -> &Arc<Engine> {
        match self {
            Self::Database(handle) => handle.engine(),
            Self::Node(node) => node.engine(),
        }
    }

    #[cfg_attr(
        not(feature = "cluster"),
        expect(unreachable_code, reason = "there are no nodes")
    )]
    pub(crate) fn writer(&self) -> Writer {
        match self {
            Self::Database(handle) => Writer::Engine(Arc::clone(handle.engine())),
            Self::Node(node) => Writer::Node(node.clone()),
        }
    }
}

/// The engine or node that takes writes.
pub(crate) enum Writer {
    Engine(Arc<Engine>),
    Node(Node),
}

impl Writer {
    pub(crate) fn drop_cancelled(&self) {
        match self {
            Self::Engine(engine) => engine.drop_cancelled(),
            Self::Node(node) => node.drop_cancelled(),
        }
    }
}
