//! Moving outputs to where they belong.
//!
//! An arrangement lists the items to remove and to insert, and is applied in one pass. Items are moved, not copied: an
//! output may hold megabytes.

use super::layout::{CallGroup, Layout};
use crate::item::{Item, ToolCallOutput};

/// The outputs to insert after the end of their groups.
#[derive(Debug, Default)]
pub(super) struct Arrangement {
    /// The positions of items to remove, ascending.
    removals: Vec<usize>,
    /// The outputs to insert, with the position to insert them after, ascending.
    insertions: Vec<(usize, Vec<Insertion>)>,
}

#[derive(Debug)]
enum Insertion {
    /// An item that moves from another position.
    Moved(usize),
    /// A new output.
    New(ToolCallOutput),
}

impl Arrangement {
    /// Adds the `answers` of the calls (by their index in the layout) to the groups of the calls, in the order of the
    /// calls. Everything else stays in its position.
    pub(super) fn adding(layout: &Layout, mut answers: Vec<Option<ToolCallOutput>>) -> Self {
        let mut arrangement = Self::default();
        for group in &layout.groups {
            if answers[group.calls.clone()].iter().any(Option::is_some) {
                arrangement.arrange_group(layout, group, &mut answers, |is_in_place| is_in_place);
            }
        }
        arrangement.removals.sort_unstable();
        arrangement
    }

    /// Does the same as [`adding`](Self::adding), moves misplaced outputs to their groups, and removes the `strays`.
    pub(super) fn repairing(layout: &Layout, mut answers: Vec<Option<ToolCallOutput>>, strays: Vec<usize>) -> Self {
        let mut arrangement = Self { removals: strays, insertions: Vec::new() };
        for group in layout.groups.iter().filter(|group| !layout.is_complete(group)) {
            arrangement.arrange_group(layout, group, &mut answers, |_| true);
        }
        arrangement.removals.sort_unstable();
        arrangement
    }

    pub(super) fn apply(self, items: Vec<Item>) -> Vec<Item> {
        let mut arranged =
            Vec::with_capacity(items.len() + self.insertions.iter().map(|(_, new)| new.len()).sum::<usize>());
        let mut items: Vec<_> = items.into_iter().map(Some).collect();
        let (mut removals, mut insertions) =
            (self.removals.into_iter().peekable(), self.insertions.into_iter().peekable());
        for index in 0..items.len() {
            if removals.next_if_eq(&index).is_none() {
                arranged.extend(items[index].take());
            }
            let Some((_, outputs)) = insertions.next_if(|(anchor, _)| *anchor == index) else { continue };
            for output in outputs {
                arranged.extend(match output {
                    Insertion::Moved(index) => items[index].take(),
                    Insertion::New(output) => Some(output.into()),
                });
            }
        }
        arranged
    }

    fn arrange_group(
        &mut self,
        layout: &Layout,
        group: &CallGroup,
        answers: &mut [Option<ToolCallOutput>],
        is_moved: impl Fn(bool) -> bool,
    ) {
        let mut outputs = Vec::new();
        for ordinal in group.calls.clone() {
            if let Some(answer) = layout.calls[ordinal].answer.filter(|answer| is_moved(answer.in_place)) {
                self.removals.push(answer.item);
                outputs.push(Insertion::Moved(answer.item));
            }
            outputs.extend(answers[ordinal].take().map(Insertion::New));
        }
        self.insertions.push((group.anchor, outputs));
    }
}
