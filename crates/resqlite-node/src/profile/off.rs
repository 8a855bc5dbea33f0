use resqlite::binding::ColumnLayout;

use crate::subscriptions::Delivery;

#[inline(always)]
pub(crate) fn rows(_rows: usize, _shape: &ColumnLayout) {}

/// Requests that are being handed over.
pub(crate) struct Submission;

#[inline(always)]
pub(crate) fn submission() -> Submission {
    Submission
}

impl Submission {
    #[inline(always)]
    pub(crate) fn done(self) {}
}

#[inline(always)]
pub(crate) fn completions(_settled: usize, _deliveries: &[Delivery]) {}
