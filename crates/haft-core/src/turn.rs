//! A turn: one complete answer of a model.
//!
//! The deltas of a stream end in a turn, and only a turn states why the response ended. Its items are added to the
//! history unchanged. The calls of a turn that was cut off must never run.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::ToolCall;
use crate::content::ContentPart;
use crate::finish::Finish;
use crate::history::{self, AddTurn, AppendError};
use crate::item::{Item, Role};
use crate::result::ToolResult;
use crate::usage::Usage;
use crate::version::FormatVersion;

/// One answer of a model: its items, its usage and the reason why it ended.
///
/// ```
/// use haft_core::{Finish, Item, ToolCall, Turn, Usage};
///
/// let call = ToolCall::new("c1", "get_time", "{}");
/// let turn = Turn::new(vec![Item::assistant("Let me look."), call.clone().into()], Finish::ToolCalls)
///     .usage(Usage::new(20, 9));
/// assert_eq!(turn.text(), "Let me look.");
/// assert_eq!(turn.tool_calls(), [call]);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Turn {
    /// The format version.
    #[serde(default)]
    pub v: FormatVersion,
    /// The messages, reasoning and calls, in order.
    pub items: Vec<Item>,
    /// The usage.
    #[serde(default)]
    pub usage: Usage,
    /// The reason why it ended.
    pub finish: Finish,
    /// The provider's id of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The provider's name of the model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Further data of the response, by provider name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

impl Turn {
    /// Creates a turn of these items.
    #[must_use]
    pub fn new(items: Vec<Item>, finish: Finish) -> Self {
        Self {
            v: FormatVersion::default(),
            items,
            usage: Usage::default(),
            finish,
            response_id: None,
            model: None,
            provider_data: Map::new(),
        }
    }

    /// Sets the usage.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Sets the id of the response.
    #[must_use]
    pub fn response_id(mut self, id: impl Into<String>) -> Self {
        self.response_id = Some(id.into());
        self
    }

    /// Sets the model that answered.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Returns the calls that the application runs, in order. Those that the provider runs are left out.
    ///
    /// They are copies, so they can be run while the turn moves into the history. If the turn was cut off none of
    /// them may run; see [`interrupted_results`](Self::interrupted_results).
    #[must_use]
    pub fn tool_calls(&self) -> Vec<ToolCall> {
        self.local_calls().cloned().collect()
    }

    /// Reports whether the response may have been cut off, so that none of its calls may run.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.finish.is_cut_off()
    }

    /// Returns the results of the calls of a turn that was cut off: each `interrupted`, none run. Empty for a complete
    /// turn.
    #[must_use]
    pub fn interrupted_results(&self) -> Vec<ToolResult> {
        if !self.is_cut_off() {
            return Vec::new();
        }
        let reason = format!("the response ended early ({}), so the call was not run; call again", self.finish);
        self.local_calls().map(|call| ToolResult::interrupted(call, &*reason)).collect()
    }

    /// Adds this turn and the results of its calls to a history, as [`history::append`] does.
    ///
    /// ```
    /// use haft_core::{Finish, Item, ToolCall, ToolResult, Turn};
    /// use serde_json::json;
    ///
    /// let call = ToolCall::new("c1", "get_time", "{}");
    /// let noon = ToolResult::ok(&call, json!("12:00"));
    /// let mut history = vec![Item::user("What time is it?")];
    /// Turn::new(vec![call.into()], Finish::ToolCalls).append_to_history(&mut history, [noon])?;
    /// assert_eq!(history.len(), 3);
    /// # Ok::<_, haft_core::history::AppendError>(())
    /// ```
    pub fn append_to_history(
        self,
        history: &mut impl AddTurn,
        results: impl IntoIterator<Item = ToolResult>,
    ) -> Result<(), AppendError> {
        history::append(history, self, results)
    }

    /// Returns the text of the model's messages, joined.
    #[must_use]
    pub fn text(&self) -> String {
        self.assistant_parts().filter_map(ContentPart::as_text).collect()
    }

    /// Returns the readable text of the reasoning, one paragraph per item.
    #[must_use]
    pub fn reasoning(&self) -> String {
        let mut paragraphs = Vec::new();
        for item in &self.items {
            if let Item::Reasoning(reasoning) = item {
                paragraphs.extend(Some(reasoning.words()).filter(|words| !words.is_empty()));
            }
        }
        paragraphs.join("\n\n")
    }

    /// Returns the text of the model's refusals, joined, if there are any.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        let mut words = self.assistant_parts().filter_map(|part| match part {
            ContentPart::Refusal(refusal) => Some(refusal.text.as_str()),
            _ => None,
        });
        let first = words.next()?;
        Some(words.fold(first.to_owned(), |text, more| text + more))
    }

    fn local_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.items.iter().filter_map(Item::local_call)
    }

    fn assistant_parts(&self) -> impl Iterator<Item = &ContentPart> {
        let messages = self.items.iter().filter_map(|item| match item {
            Item::Message(message) if message.role == Role::Assistant => Some(&message.content),
            _ => None,
        });
        messages.flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure_kind::FailureKind;
    use crate::item::{Message, Reasoning};

    fn turn(finish: Finish) -> Turn {
        let parts = vec![ContentPart::text("one "), ContentPart::refusal("no. "), ContentPart::text("two ")];
        Turn::new(
            vec![
                Reasoning::text("first").into(),
                Reasoning::default().summary("a").summary("b").into(),
                Reasoning::encrypted("openai", "xyz").into(),
                Message::new(Role::Assistant, parts).into(),
                ToolCall::new("c1", "b", "{}").into(),
                ToolCall::new("c2", "web_search", "{}").executed_by_provider().into(),
                Item::user("not the model's"),
                ToolCall::new("c3", "a", "{}").into(),
                Message::new(Role::Assistant, vec![ContentPart::text("three"), ContentPart::refusal("never")]).into(),
            ],
            finish,
        )
    }

    #[test]
    fn calls_are_the_local_ones_in_order() {
        let ids: Vec<_> = turn(Finish::ToolCalls).tool_calls().into_iter().map(|call| call.call_id).collect();
        assert_eq!(ids, ["c1", "c3"]);
    }

    #[test]
    fn text_is_that_of_the_model() {
        let turn = turn(Finish::Stop);
        assert_eq!(turn.text(), "one two three");
        assert_eq!(turn.refusal().as_deref(), Some("no. never"));
        assert_eq!(turn.reasoning(), "first\n\na\n\nb");
        assert_eq!(Turn::new(vec![Item::assistant("hi")], Finish::Stop).refusal(), None);
    }

    #[test]
    fn a_turn_cut_off_answers_its_calls_without_running_them() {
        assert!(turn(Finish::ToolCalls).interrupted_results().is_empty());
        for finish in [Finish::Length, Finish::ContentFilter, Finish::Error] {
            let results = turn(finish.clone()).interrupted_results();
            assert_eq!(results.iter().map(|result| result.call_id.as_str()).collect::<Vec<_>>(), ["c1", "c3"]);
            for result in results {
                let failure = result.failure().unwrap();
                assert_eq!(failure.kind, FailureKind::Interrupted);
                assert!(failure.message.contains(finish.as_str()), "{}", failure.message);
                assert!(!failure.started);
            }
        }
    }
}
