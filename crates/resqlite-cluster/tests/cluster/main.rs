//! Nodes with real databases over a log in memory.

mod forwarding;
mod joining;
mod reading;
mod support;
mod trouble;
mod turmoil;
mod writing;
