//! A small generator of numbers that a seed reproduces (SplitMix64), with the draws that generators like to make.

pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number less than `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A number from `least` to `most`, both included.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// `true` in so many of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// As [`pick`](Self::pick), the first ones more often.
    pub fn pick_early<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let most = self.below(from.len());
        &from[self.below(most + 1)]
    }

    /// One of the choices, as often as its weight says.
    pub fn weighted<T: Copy>(&mut self, choices: &[(usize, T)]) -> T {
        let mut left = self.below(choices.iter().map(|(weight, _)| weight).sum());
        for &(weight, choice) in choices {
            if left < weight {
                return choice;
            }
            left -= weight;
        }
        unreachable!("the weights add up")
    }

    /// Some of `0..count`, in order; at least one.
    pub fn subset(&mut self, count: usize, percent: usize) -> Vec<usize> {
        let mut chosen: Vec<usize> = (0..count).filter(|_| self.chance(percent)).collect();
        if chosen.is_empty() {
            chosen.push(self.below(count));
        }
        chosen
    }
}
