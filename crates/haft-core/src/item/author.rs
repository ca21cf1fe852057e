//! The author of an item, and the side that runs a call.
//!
//! Verdicts, results and instructions are read from the history later, so it is a matter of safety which party may
//! write which item. It is decided here, for every type of item, in matches that name them all: a new type does not
//! compile until it is decided about. [`Author`] itself is exhaustive for the same reason, in other crates too.

use super::{Item, Role};
use crate::call::{CallId, ToolCall};

/// The party that may write an item. See [`Item::author`].
///
/// Not `non_exhaustive`: code that decides by author has to decide about every one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Author {
    /// The model: its messages, reasoning and calls.
    Model,
    /// The provider of the model: calls that it made and executed.
    Provider,
    /// The user of the application.
    User,
    /// The application: instructions to the model.
    Application,
    /// The executor of a call: the application, or the provider for a call that it executes.
    Executor,
    /// The gate that requests approval: the application's, or the provider's for a call that it executes.
    Gate,
    /// The approver, who decides about an approval request.
    Approver,
    /// Unknown: an item of a type that this version does not know.
    Unknown,
}

impl Item {
    /// Returns the party that may write the item.
    ///
    /// ```
    /// use haft_core::{Author, Item};
    ///
    /// assert_eq!(Item::assistant("Hello!").author(), Author::Model);
    /// assert_eq!(Item::user("Hello!").author(), Author::User);
    /// ```
    #[must_use]
    pub fn author(&self) -> Author {
        match self {
            Self::Message(message) => match message.role {
                Role::Assistant => Author::Model,
                Role::User => Author::User,
                Role::System | Role::Developer => Author::Application,
            },
            Self::Reasoning(_) | Self::ToolCall(_) => Author::Model,
            Self::ToolOutput(_) => Author::Executor,
            Self::ApprovalRequest(_) => Author::Gate,
            Self::Verdict(_) => Author::Approver,
            Self::ProviderCall(_) => Author::Provider,
            Self::Unknown(_) => Author::Unknown,
        }
    }
}

/// The side that runs a call. Each function names every type of item: a type that is added does not compile until it is
/// decided whether it is such a call.
impl Item {
    /// Returns the call, if the item is a call that the application runs.
    #[must_use]
    pub fn local_call(&self) -> Option<&ToolCall> {
        match self {
            Self::ToolCall(call) => Some(call).filter(|call| !call.provider_executed),
            Self::Message(_)
            | Self::Reasoning(_)
            | Self::ToolOutput(_)
            | Self::ApprovalRequest(_)
            | Self::Verdict(_)
            | Self::ProviderCall(_)
            | Self::Unknown(_) => None,
        }
    }

    /// Returns the call, to be changed, if the item is a call that the application runs.
    #[must_use]
    pub fn local_call_mut(&mut self) -> Option<&mut ToolCall> {
        self.local_call()?;
        if let Self::ToolCall(call) = self { Some(call) } else { None }
    }

    /// Returns the id of the call, if the item is a call that the provider runs and that has one.
    #[must_use]
    pub fn provider_call_id(&self) -> Option<&CallId> {
        match self {
            Self::ToolCall(call) => Some(&call.call_id).filter(|_| call.provider_executed),
            Self::ProviderCall(call) => call.call_id.as_ref(),
            Self::Message(_)
            | Self::Reasoning(_)
            | Self::ToolOutput(_)
            | Self::ApprovalRequest(_)
            | Self::Verdict(_)
            | Self::Unknown(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::item::{ApprovalRequest, ProviderCall, Reasoning, ToolCallOutput};
    use crate::tagged::TaggedEnum;

    /// One item of every type, with its author.
    fn samples() -> Vec<(Item, Author)> {
        let call = ToolCall::new("c1", "pay", "5");
        let request = ApprovalRequest::new("q1", &call);
        vec![
            (Item::assistant("hello"), Author::Model),
            (Reasoning::text("hm").into(), Author::Model),
            (call.into(), Author::Model),
            (ToolCallOutput::new("c1", "paid").into(), Author::Executor),
            (request.approve().into(), Author::Approver),
            (request.into(), Author::Gate),
            (ProviderCall::new("vendor", "search", json!({})).into(), Author::Provider),
        ]
    }

    /// Fails when a type of item is added, until it is decided about here too.
    #[test]
    fn every_type_of_item_has_an_author() {
        let known: BTreeSet<String> = Item::VARIANTS.iter().map(|(tag, _)| (*tag).to_owned()).collect();
        let decided: BTreeSet<String> = samples()
            .iter()
            .map(|(item, _)| serde_json::to_value(item).unwrap()["type"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(decided, known);
        for (item, author) in samples() {
            assert_eq!(item.author(), author, "{item:?}");
        }
        assert_eq!(Item::Unknown(json!({"type": "hunch"})).author(), Author::Unknown);
        for (said, author) in [(Item::user("hi"), Author::User), (Item::system("obey"), Author::Application)] {
            assert_eq!(said.author(), author);
        }
    }

    #[test]
    fn a_call_is_run_by_the_application_or_by_the_provider() {
        let local = ToolCall::new("c1", "pay", "5");
        let remote = local.clone().executed_by_provider();
        let search = ProviderCall::new("vendor", "search", json!({}));
        let id = CallId::from("c1");
        let table: [(Item, Option<&ToolCall>, Option<&CallId>); 4] = [
            (local.clone().into(), Some(&local), None),
            (remote.into(), None, Some(&id)),
            (search.clone().call_id("c1").into(), None, Some(&id)),
            (search.into(), None, None),
        ];
        for (mut item, call, provider_id) in table {
            assert_eq!((item.local_call(), item.provider_call_id()), (call, provider_id), "{item:?}");
            assert_eq!(item.local_call_mut().map(|call| &*call), call);
        }
        for (item, _) in samples().iter().filter(|(item, _)| !matches!(item, Item::ToolCall(_))) {
            assert_eq!((item.local_call(), item.provider_call_id()), (None, None), "{item:?}");
        }
    }
}
