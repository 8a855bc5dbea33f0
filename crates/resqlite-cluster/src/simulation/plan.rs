//! The plan of a run: a seed, and the steps that are left out. A plan that fails is shrunk to fewer steps.

use std::{cell::Cell, collections::BTreeSet, fmt};

use dice::Rng;

use super::world::TROUBLED;

/// A run. Its text looks like this: `7 until 812 without 3 5-9`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) seed: u64,
    /// The time, in milliseconds, until which there are steps.
    pub(super) until: u64,
    /// The numbers of the steps that are left out.
    pub(super) without: BTreeSet<u64>,
}

impl Plan {
    /// Returns the plan with all steps of a seed.
    pub(super) fn whole(seed: u64) -> Self {
        Self {
            seed,
            until: TROUBLED,
            without: BTreeSet::new(),
        }
    }

    /// Reads a plan as it is printed.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let mut plan = Self::whole(words.next()?.parse().ok()?);
        while let Some(word) = words.next() {
            match word {
                "until" => plan.until = words.next()?.parse().ok()?,
                "without" => {}
                range => {
                    let (first, last) = range.split_once('-').unwrap_or((range, range));
                    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
                    plan.without.extend(first..=last);
                }
            }
        }
        Some(plan)
    }

    /// Returns the smallest plan that still fails and can be found by leaving steps out.
    pub(super) fn shrink(self, fails: impl Fn(&Self) -> bool) -> Self {
        let steps = |plan: &Self| fails(plan).then(|| MADE.get());
        let mut plan = self;
        let Some(mut made) = steps(&plan) else { return plan };
        let mut by = plan.until / 2;
        while by > 0 {
            let shorter = Self {
                until: plan.until.saturating_sub(by),
                ..plan.clone()
            };
            match steps(&shorter) {
                Some(fewer) => (plan, made) = (shorter, fewer),
                None => by /= 2,
            }
        }
        let mut size = made.max(1);
        while size > 0 {
            for first in (0..made).step_by(size as usize) {
                let mut smaller = plan.clone();
                smaller.without.extend(first..first + size);
                if smaller != plan
                    && let Some(fewer) = steps(&smaller)
                {
                    (plan, made) = (smaller, made.min(fewer));
                }
            }
            size /= 2;
        }
        plan.without.retain(|step| *step < made);
        plan
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.seed)?;
        if self.until != TROUBLED {
            write!(f, " until {}", self.until)?;
        }
        let mut left = self.without.iter().copied().peekable();
        if left.peek().is_some() {
            write!(f, " without")?;
        }
        while let Some(first) = left.next() {
            let mut last = first;
            while left.next_if_eq(&(last + 1)).is_some() {
                last += 1;
            }
            match last - first {
                0 => write!(f, " {first}")?,
                _ => write!(f, " {first}-{last}")?,
            }
        }
        Ok(())
    }
}

thread_local! {
    /// The number of steps of the last run, also if it failed.
    static MADE: Cell<u64> = const { Cell::new(0) };
}

/// The random events of a run.
pub(super) struct Dice {
    random: Rng,
    /// The number of steps so far. A step is something that goes wrong, or something that a client does.
    steps: u64,
    without: BTreeSet<u64>,
}

impl Dice {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            random: Rng(plan.seed),
            steps: 0,
            without: plan.without.clone(),
        }
    }

    pub(super) fn random(&mut self) -> &mut Rng {
        &mut self.random
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    /// Returns whether something goes wrong now, if it does so `in_thousand` times in a thousand. Each failure is a step, which
    /// may be left out.
    pub(super) fn fails(&mut self, in_thousand: u64) -> bool {
        self.random.happens(in_thousand) && self.step()
    }

    /// Counts the next step. Returns whether the step is made and not left out.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        MADE.set(self.steps);
        !self.without.contains(&(self.steps - 1))
    }
}
