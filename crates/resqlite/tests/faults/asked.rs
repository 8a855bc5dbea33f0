//! Requests that are under way while the test does something else.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
};

/// A future that was polled once: what it asks for is queued.
pub struct Asked<'a, T> {
    future: Pin<Box<dyn Future<Output = T> + 'a>>,
    early: Option<T>,
}

/// Queues what the future asks for.
pub fn ask<'a, T>(future: impl Future<Output = T> + 'a) -> Asked<'a, T> {
    let mut future: Pin<Box<dyn Future<Output = T> + 'a>> = Box::pin(future);
    let early = now(future.as_mut());
    Asked { future, early }
}

/// What the future gives without waiting.
pub fn now<T>(future: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

impl<T> Asked<'_, T> {
    pub fn wait(self) -> T {
        let Self { future, early } = self;
        early.unwrap_or_else(|| pollster::block_on(future))
    }
}
