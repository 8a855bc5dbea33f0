//! The turns of the realm's event loop: whether work on its thread gains time or loses it.
//!
//! A program that does one thing after the other gains time if a query runs on its own thread. A server with many
//! connections does not: its thread is the bottleneck, and workers relieve it of the query. A server has many
//! connections if a turn of its event loop finds many events at once.
#![allow(unsafe_code)]

use std::{ffi::c_void, mem, ptr::null_mut, time::Instant};

use napi::{Env, sys};

use crate::limits::{CROWDED_TURNS, TURN_QUERIES, TURN_TIME};

/// `uv_metrics_t` of libuv.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Metrics {
    turns: u64,
    events: u64,
    waiting: u64,
    reserved: [usize; 13],
}

type Read = unsafe extern "C" fn(*mut sys::uv_loop_s, *mut Metrics) -> i32;

/// The turns so far.
pub(crate) struct Turns {
    event_loop: *mut sys::uv_loop_s,
    read: Read,
    last: Metrics,
    /// The number of turns that still count as crowded.
    crowded: u32,
    /// The queries that have run on the realm's thread in this turn.
    queries: u32,
    /// The time at which the first of these queries began.
    began: Option<Instant>,
}

impl Turns {
    /// Returns the turns of the realm's event loop; `None` if the event loop does not count turns. `is_node`: the realm
    /// is one of Node.js. Other realms have another event loop.
    pub(crate) fn of(env: Env, is_node: bool) -> Option<Self> {
        if !is_node {
            return None;
        }
        let mut event_loop = null_mut();
        // SAFETY: the environment is open. The name outlives the call.
        let (status, found) = unsafe {
            (
                sys::napi_get_uv_event_loop(env.raw(), &mut event_loop),
                libc::dlsym(libc::RTLD_DEFAULT, c"uv_metrics_info".as_ptr()),
            )
        };
        if status != sys::Status::napi_ok || event_loop.is_null() || found.is_null() {
            return None;
        }
        Some(Self {
            event_loop,
            // SAFETY: libuv has had this type for the function since version 1.45.
            read: unsafe { mem::transmute::<*mut c_void, Read>(found) },
            last: Metrics::default(),
            crowded: 0,
            queries: 0,
            began: None,
        })
    }

    /// Returns whether another query may run on the realm's thread. If so, the query counts as run.
    pub(crate) fn may_run(&mut self) -> bool {
        let mut now = Metrics::default();
        // SAFETY: the event loop lives as long as its realm, on whose thread this is; the memory is valid.
        unsafe { (self.read)(self.event_loop, &mut now) };
        if now.turns != self.last.turns {
            let turns = now.turns - self.last.turns;
            let is_crowded = 2 * (now.events - self.last.events) > 3 * turns;
            self.crowded = if is_crowded {
                CROWDED_TURNS
            } else {
                self.crowded
                    .saturating_sub(u32::try_from(turns).unwrap_or(u32::MAX))
            };
            (self.last, self.queries) = (now, 0);
        }
        if self.crowded > 0 || self.queries >= TURN_QUERIES {
            return false;
        }
        if self.queries == 0 {
            self.began = Some(Instant::now());
        } else if self.began.is_some_and(|began| began.elapsed() > TURN_TIME) {
            self.queries = TURN_QUERIES;
            return false;
        }
        self.queries += 1;
        true
    }
}
