//! Nodes with real databases over a log in memory.

mod damage;
mod forwarding;
mod founding;
mod joining;
mod large;
mod numbers;
mod promoted;
mod reading;
mod replicas;
mod reseeding;
mod support;
mod trouble;
mod turmoil;
mod writing;
