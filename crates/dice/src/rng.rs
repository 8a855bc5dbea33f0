/// A small generator of random numbers (SplitMix64), with the draws that tests often make. A seed reproduces its numbers.
#[derive(Debug, Clone)]
pub struct Rng(pub u64);

/// A type of numbers to draw.
pub trait Number: Copy {
    /// Returns the number as a bound, which is not negative.
    fn bound(self) -> u64;
    /// Converts a number that was drawn. The number is less than a bound of this type.
    fn drawn(number: u64) -> Self;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Number for $number {
            fn bound(self) -> u64 {
                self as u64
            }
            fn drawn(number: u64) -> Self {
                number as Self
            }
        }
    )*};
}
numbers!(i32 i64 u32 u64 usize);

impl Rng {
    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number less than `bound`; 0 for a bound of 0.
    pub fn below<N: Number>(&mut self, bound: N) -> N {
        N::drawn(self.any() % bound.bound().max(1))
    }

    /// A number from `least` to `most`, both included.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// Returns `true` in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100_usize) < percent
    }

    /// Returns `true` in `in_thousand` of a thousand cases.
    pub fn happens(&mut self, in_thousand: u64) -> bool {
        self.below(1_000) < in_thousand
    }

    /// Returns `true` in one of `cases` cases.
    pub fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }

    /// Returns one element of `from`, which is not empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Returns one element of `of` by value.
    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        *self.pick(of)
    }

    /// Does what [`pick`](Self::pick) does, but returns the first elements more often.
    pub fn pick_early<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let most = self.below(from.len());
        &from[self.below(most + 1)]
    }

    /// Returns one of the choices, each as often as its weight says.
    pub fn weighted<T: Copy>(&mut self, choices: &[(usize, T)]) -> T {
        let mut left = self.below(choices.iter().map(|(weight, _)| weight).sum::<usize>());
        for &(weight, choice) in choices {
            if left < weight {
                return choice;
            }
            left -= weight;
        }
        unreachable!("the weights add up")
    }

    /// Returns at least one of the numbers `0..count`, in order.
    pub fn subset(&mut self, count: usize, percent: usize) -> Vec<usize> {
        let mut chosen: Vec<usize> = (0..count).filter(|_| self.chance(percent)).collect();
        if chosen.is_empty() {
            chosen.push(self.below(count));
        }
        chosen
    }
}
