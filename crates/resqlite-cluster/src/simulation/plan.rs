//! The plan of a run: a seed, and the steps that are left out. A plan that fails is shrunk to fewer steps.

use std::{cell::Cell, collections::BTreeSet, fmt};

use dice::Rng;

use super::world::TROUBLED;

/// A run. As text: `7 until 812 without 3 5-9`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) seed: u64,
    /// Until when, in milliseconds, there are steps.
    pub(super) until: u64,
    /// Steps that are left out, by their number.
    pub(super) without: BTreeSet<u64>,
}

impl Plan {
    /// All steps of a seed.
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

    /// The smallest plan that still fails, as far as leaving out shows.
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
    /// The steps of the last run, also if it failed.
    static MADE: Cell<u64> = const { Cell::new(0) };
}

/// The random events of a run.
pub(super) struct Dice {
    random: Rng,
    /// Steps so far: what goes wrong, and what clients do.
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

    /// Returns whether something goes wrong that does so this many times in a thousand. Each time is a step, which may be left out.
    pub(super) fn fails(&mut self, in_thousand: u64) -> bool {
        self.random.happens(in_thousand) && self.step()
    }

    /// Counts the next step. Returns whether it is made, and not left out.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        MADE.set(self.steps);
        !self.without.contains(&(self.steps - 1))
    }
}
