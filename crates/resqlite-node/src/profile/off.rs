use resqlite::Shape;

use crate::live::Given;

#[inline(always)]
pub(crate) fn rows(_rows: usize, _shape: &Shape) {}

#[inline(always)]
pub(crate) fn completions(_settled: usize, _given: &[Given]) {}
