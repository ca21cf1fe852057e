//! The interactions of an open turn, found by their call ids.
//!
//! Answers name their call, and there may be as many answers as interactions: an answer must not cost a search through
//! all of them. The index is built when the first answer comes, and is never used after the list has changed.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::OnceLock;

use haft_core::CallId;
use serde::{Deserialize, Serialize};

use super::interaction::Interaction;

/// The interactions of an open turn, in order. It dereferences to a slice.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct OpenInteractions {
    list: Vec<Interaction>,
    /// The position of the first interaction with each call id.
    #[serde(skip)]
    positions: OnceLock<HashMap<CallId, usize>>,
}

impl OpenInteractions {
    /// Adds an interaction, in place of one with the same call id.
    pub(super) fn put(&mut self, interaction: Interaction) {
        if self.get_mut(interaction.call_id()).is_some() {
            self.retain(|known| known.call_id() != interaction.call_id());
        }
        let position = self.list.len();
        if let Some(positions) = self.positions.get_mut() {
            positions.insert(interaction.call_id().clone(), position);
        }
        self.list.push(interaction);
    }

    /// Returns the interaction with this call id, to be answered.
    pub(super) fn get_mut(&mut self, call_id: &CallId) -> Option<&mut Interaction> {
        let positions = self.positions.get_or_init(|| {
            let mut positions = HashMap::with_capacity(self.list.len());
            for (position, interaction) in self.list.iter().enumerate() {
                positions.entry(interaction.call_id().clone()).or_insert(position);
            }
            positions
        });
        self.list.get_mut(*positions.get(call_id)?)
    }

    /// Keeps the interactions that `keep` returns true for.
    pub(super) fn retain(&mut self, keep: impl FnMut(&Interaction) -> bool) {
        self.positions.take();
        self.list.retain(keep);
    }

    /// Returns the call ids, to be changed.
    pub(super) fn call_ids_mut(&mut self) -> impl Iterator<Item = &mut CallId> {
        self.positions.take();
        self.list.iter_mut().map(|interaction| &mut interaction.call.call_id)
    }
}

impl From<Vec<Interaction>> for OpenInteractions {
    fn from(list: Vec<Interaction>) -> Self {
        Self { list, positions: OnceLock::new() }
    }
}

impl Deref for OpenInteractions {
    type Target = [Interaction];

    fn deref(&self) -> &[Interaction] {
        &self.list
    }
}

/// A copy builds its own index when it needs one.
impl Clone for OpenInteractions {
    fn clone(&self) -> Self {
        self.list.clone().into()
    }
}

impl PartialEq for OpenInteractions {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use haft_core::ToolCall;
    use haft_schema::JsonText;

    use super::{Interaction, OpenInteractions};

    fn interaction(call_id: &str) -> Interaction {
        Interaction::new(ToolCall::new(call_id, "ask", "{}"), JsonText::null(), "{}".to_owned())
    }

    fn ids(open: &OpenInteractions) -> Vec<&str> {
        open.iter().map(|interaction| interaction.call_id().as_str()).collect()
    }

    #[test]
    fn an_interaction_is_found_after_every_change_of_the_list() {
        let mut open = OpenInteractions::from(["a", "b", "c"].map(interaction).to_vec());
        assert_eq!(open.get_mut(&"c".into()).unwrap().call_id().as_str(), "c");
        open.retain(|interaction| interaction.call_id().as_str() != "a");
        assert!(open.get_mut(&"a".into()).is_none());
        assert_eq!(open.get_mut(&"c".into()).unwrap().call_id().as_str(), "c");
        open.put(interaction("d"));
        assert_eq!(open.get_mut(&"d".into()).unwrap().call_id().as_str(), "d");
        open.put(interaction("b"));
        assert_eq!(ids(&open), ["c", "d", "b"]);
        assert_eq!(open.get_mut(&"d".into()).unwrap().call_id().as_str(), "d");
        open.call_ids_mut().for_each(|id| *id = format!("{id}2").into());
        assert_eq!(open.get_mut(&"d2".into()).unwrap().call_id().as_str(), "d2");
        assert!(open.get_mut(&"d".into()).is_none());
    }

    #[test]
    fn it_is_stored_as_a_list_and_read_as_it_was() {
        let mut open = OpenInteractions::from(vec![interaction("a"), interaction("b")]);
        open.get_mut(&"b".into()).unwrap().answer(JsonText::null());
        let stored = serde_json::to_value(&open).unwrap();
        assert_eq!(stored.as_array().map(Vec::len), Some(2));
        let mut read: OpenInteractions = serde_json::from_value(stored).unwrap();
        assert_eq!(read, open);
        assert!(read.get_mut(&"b".into()).is_some_and(|interaction| !interaction.is_open()));
    }
}
