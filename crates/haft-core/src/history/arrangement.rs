//! Putting outputs where they belong.
//!
//! A plan of which items leave their place and which come in where, carried out in one pass. Items are moved, not
//! copied: an output may hold megabytes.

use super::layout::{CallGroup, Layout};
use crate::item::{Item, ToolCallOutput};

/// Outputs to be put behind the end of their groups.
#[derive(Debug, Default)]
pub(super) struct Arrangement {
    /// The positions of items that leave their place, ascending.
    removals: Vec<usize>,
    /// What comes in, and the position after which it does, ascending.
    insertions: Vec<(usize, Vec<Insertion>)>,
}

#[derive(Debug)]
enum Insertion {
    /// An item that leaves its place.
    Moved(usize),
    /// An output that was not there.
    New(ToolCallOutput),
}

impl Arrangement {
    /// Adds the `answers` of the calls (by their place in the layout) to the groups that asked, in call order among
    /// the outputs that stand there. Everything else stays.
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

    /// As [`adding`](Self::adding), and brings in outputs that stand elsewhere, while the `strays` go.
    pub(super) fn repairing(layout: &Layout, mut answers: Vec<Option<ToolCallOutput>>, strays: Vec<usize>) -> Self {
        let mut arrangement = Self { removals: strays, insertions: Vec::new() };
        for group in layout.groups.iter().filter(|group| !layout.is_whole(group)) {
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
