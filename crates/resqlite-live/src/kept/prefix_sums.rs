//! The sums of the first counts of a list. The counts can change.

/// A Fenwick tree: the entry at `n` (from 1) is the sum of as many counts as the lowest bit of `n` says, up to the n-th.
#[derive(Debug, Default)]
pub(super) struct PrefixSums {
    tree: Vec<u32>,
}

impl PrefixSums {
    pub(super) fn new(counts: impl IntoIterator<Item = usize>) -> Self {
        let mut tree: Vec<u32> = counts.into_iter().map(|count| count as u32).collect();
        for number in 1..=tree.len() {
            let parent = number + lowest_bit(number);
            if parent <= tree.len() {
                tree[parent - 1] += tree[number - 1];
            }
        }
        Self { tree }
    }

    /// Adds one to a count.
    pub(super) fn increment(&mut self, index: usize) {
        self.update(index, |sum| *sum += 1);
    }

    /// Subtracts one from a count.
    pub(super) fn decrement(&mut self, index: usize) {
        self.update(index, |sum| *sum -= 1);
    }

    /// Returns the sum of the first `count` counts.
    pub(super) fn before(&self, count: usize) -> usize {
        let mut number = count;
        let mut sum = 0;
        while number > 0 {
            sum += self.tree[number - 1] as usize;
            number -= lowest_bit(number);
        }
        sum
    }

    /// Returns the sum of all counts.
    pub(super) fn total(&self) -> usize {
        self.before(self.tree.len())
    }

    /// Returns the index of the count to which the item at `position` belongs, and the position of the item within that count. A
    /// position after all items belongs to the last count. A count may be 0 only if there is no other count.
    pub(super) fn find(&self, position: usize) -> (usize, usize) {
        let (mut index, mut rest) = (0, position);
        let mut step = self.tree.len().next_power_of_two();
        while step > 0 {
            let next = index + step;
            if next < self.tree.len() && self.tree[next - 1] as usize <= rest {
                index = next;
                rest -= self.tree[next - 1] as usize;
            }
            step /= 2;
        }
        (index, rest)
    }

    pub(super) fn weight(&self) -> usize {
        self.tree.capacity() * size_of::<u32>()
    }

    fn update(&mut self, index: usize, change: impl Fn(&mut u32)) {
        let mut number = index + 1;
        while number <= self.tree.len() {
            change(&mut self.tree[number - 1]);
            number += lowest_bit(number);
        }
    }
}

fn lowest_bit(number: usize) -> usize {
    1 << number.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::PrefixSums;
    use dice::cases;

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn sums_and_positions_are_those_of_the_counts(mut counts in vec(1..5_usize, 1..20), added in vec(0..20_usize, 0..10)) {
            let mut sums = PrefixSums::new(counts.iter().copied());
            for index in added {
                let index = index % counts.len();
                sums.increment(index);
                counts[index] += 1;
            }
            for end in 0..=counts.len() {
                prop_assert_eq!(sums.before(end), counts[..end].iter().sum::<usize>());
            }
            let items = counts.iter().enumerate().flat_map(|(index, &count)| (0..count).map(move |offset| (index, offset)));
            for (position, item) in items.enumerate() {
                prop_assert_eq!(sums.find(position), item);
            }
            let last = counts.len() - 1;
            prop_assert_eq!(sums.find(sums.total()), (last, counts[last]));
            sums.decrement(last);
            prop_assert_eq!(sums.total(), counts.iter().sum::<usize>() - 1);
        }
    }
}
