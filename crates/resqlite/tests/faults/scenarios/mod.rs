//! What is done while the file system fails. Whatever is answered is noted; an error ends no scenario.

mod at_random;
mod feeds;
mod files;
mod hanging;
mod reading;
mod resting;
mod writes;
