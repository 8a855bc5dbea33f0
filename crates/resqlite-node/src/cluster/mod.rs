//! Nodes of clusters. Without the feature `cluster`, there are none.

#[cfg(not(feature = "cluster"))]
mod off;
#[cfg(feature = "cluster")]
mod on;

#[cfg(not(feature = "cluster"))]
pub(crate) use off::*;
#[cfg(feature = "cluster")]
pub(crate) use on::{
    calls::{open, put_snapshot, query, reach, write},
    logs::{LOGS, break_log},
    node::Node,
};
