//! The native end of the connection between a realm and the engine.

use std::{cell::RefCell, rc::Rc};

use napi::{
    Env,
    bindgen_prelude::{ArrayBuffer, BufferSlice, Float64ArraySlice, Function, Object, Uint8Array},
};
use napi_derive::napi;

use crate::{exchange::Exchange, functions, limits::SLAB_BYTES, stats};

/// The access of JavaScript to its realm: `submit` and `drain`, and calls that name slabs, payloads, handles and requests by number.
#[napi]
pub struct Port(Rc<RefCell<Exchange>>);

#[napi]
impl Port {
    /// Connects the realm. `drain` fills `inbox`; `onWake` is called when replies wait. `isMainThread`: the process
    /// ends with this realm. `isNode`: the event loop is that of Node.js.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        env: Env,
        inbox: Uint8Array,
        on_wake: Function<'_, (), ()>,
        is_main_thread: bool,
        is_node: bool,
    ) -> napi::Result<Self> {
        let exchange = Exchange::new(env, inbox, on_wake, is_main_thread, is_node)?;
        Ok(Self(Rc::new(RefCell::new(exchange))))
    }

    /// The functions `submit` and `drain`, through which all frames pass.
    #[napi(
        catch_unwind,
        ts_return_type = "{ submit(requests: Uint8Array, length: number, isPolling: boolean, inline: boolean): number; drain(isPolling: boolean): number }"
    )]
    pub fn functions<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        functions::of(env, &self.0)
    }

    /// Returns the memory of a slab. JavaScript asks for it once and keeps it.
    #[napi(catch_unwind)]
    pub fn slab<'env>(&self, env: &'env Env, id: u32) -> napi::Result<ArrayBuffer<'env>> {
        let exchange = self.0.borrow();
        let slab = exchange
            .realm
            .outbox
            .slab(id)
            .ok_or_else(|| napi::Error::from_reason("no such slab"))?;
        let start = slab.start();
        // SAFETY: the memory is SLAB_BYTES long, never moves, and the finaliser's hold on the slab keeps it alive as
        // long as JavaScript can see it.
        #[allow(unsafe_code)]
        unsafe {
            ArrayBuffer::from_external(env, start, SLAB_BYTES, slab, |_, slab| drop(slab))
        }
    }

    /// Takes a payload that travels by itself. Each payload can be taken once.
    #[napi(catch_unwind)]
    pub fn take<'env>(&self, env: &'env Env, id: u32) -> napi::Result<BufferSlice<'env>> {
        let exchange = self.0.borrow();
        let bytes = exchange
            .realm
            .outbox
            .take_owned(id)
            .ok_or_else(|| napi::Error::from_reason("no such payload"))?;
        BufferSlice::from_data(env, bytes)
    }

    /// Returns the numbers of the requests to a database handle. Some of these requests may have ended.
    #[napi(catch_unwind)]
    pub fn requests_of(&self, handle: u32) -> Vec<u32> {
        self.0.borrow().dispatcher.requests_of(handle)
    }

    /// The number of submitted parts of a batch that wait for the writer.
    #[napi(catch_unwind)]
    pub fn parts_waiting(&self, request: u32) -> u32 {
        self.0.borrow().dispatcher.parts_waiting(request) as u32
    }

    /// Interrupts the running work of an open database handle, and drops the waiting work.
    #[napi(catch_unwind)]
    pub fn interrupt(&self, handle: u32) {
        self.0.borrow().dispatcher.interrupt(handle);
    }

    /// The status of a node of a cluster, as JSON; `null` for another database handle.
    #[napi(catch_unwind)]
    pub fn cluster_status(&self, handle: u32) -> Option<String> {
        self.0.borrow().dispatcher.cluster_status(handle)
    }

    /// Returns the number of emissions of the live query that a request opened, if the last emission shows all that is
    /// committed now; `null` otherwise.
    #[napi(catch_unwind)]
    pub fn caught_up_with(&self, request: u32) -> Option<f64> {
        let emissions = self.0.borrow().realm.subscriptions.caught_up_with(request);
        emissions.map(|count| count as f64)
    }

    /// Writes into `numbers` the counters of the live query that a request opened. Returns `false` if there is no such
    /// live query.
    #[napi(catch_unwind)]
    pub fn stream_stats(&self, request: u32, mut numbers: Float64ArraySlice<'_>) -> bool {
        let Some(stats) = self.0.borrow().realm.subscriptions.stats(request) else {
            return false;
        };
        // SAFETY: JavaScript does not run during this call, and no other thread knows of the memory.
        #[allow(unsafe_code)]
        let numbers = unsafe { numbers.as_mut() };
        for (number, counter) in numbers.iter_mut().zip(stats::numbers(&stats)) {
            *number = counter;
        }
        true
    }
}
