//! The part of a state that outlives a task: totals of the earlier tasks, and the application's own value.
//!
//! A task ends with a [follow-up](LoopState::follow_up), which counts from zero again. The totals of the conversation
//! must never decrease, so what is reset there is added here first.

use std::collections::HashSet;
use std::time::Duration;

use haft_core::{CallId, Item, ToolResult, Usage, history};
use haft_schema::JsonText;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::json_string;
use super::remote_approval::{DecidedRequests, pending_requests};
use super::state::{LoopPhase, LoopState};
use super::verdict::record_results;

/// The totals of the earlier tasks of a conversation, and the application's own value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct LastingState {
    turns: u32,
    usage: Usage,
    pub(super) calls: u64,
    time_used_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) app: Option<AppValue>,
}

/// The application's own value, written as a string of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct AppValue(#[serde(with = "json_string")] JsonText);

impl LastingState {
    /// Reports whether there was no earlier task and no value was set.
    pub(super) fn is_new(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the time for which the loop ran in earlier tasks.
    pub(super) fn time_used(&self) -> Duration {
        Duration::from_millis(self.time_used_ms)
    }
}

impl AppValue {
    /// Converts a value.
    pub(super) fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_value(value).map(|value| Self((&value).into()))
    }

    /// Reads a value that may be unset.
    pub(super) fn read<T: DeserializeOwned>(value: Option<&Self>) -> Result<Option<T>, serde_json::Error> {
        value.map(|Self(json)| T::deserialize(json.to_value())).transpose()
    }
}

/// The conversation over all its tasks.
impl LoopState {
    /// Adds an item to the conversation and begins a new task: turns, usage, calls, time and repeated calls are
    /// counted from zero again, and the totals go on. Open calls stay open; [`cancel_pending`](Self::cancel_pending)
    /// cancels them first.
    #[must_use]
    pub fn follow_up(mut self, item: impl Into<Item>) -> Self {
        self.request_mut().history.push(item.into());
        let (turns, usage, time_used) = (self.total_turns(), self.total_usage(), self.total_time_used());
        self.conversation.calls = self.total_calls();
        (self.conversation.turns, self.conversation.usage) = (turns, usage);
        self.conversation.time_used_ms = u64::try_from(time_used.as_millis()).unwrap_or(u64::MAX);
        (self.turns, self.usage, self.calls, self.time_used, self.re_asks) = Default::default();
        self.nested_turns = 0;
        self.row.clear();
        self.lacks_calls = false;
        if self.interactions().is_empty() && pending_requests(self.history(), DecidedRequests::Included).is_empty() {
            self.phase = LoopPhase::Ready;
            self.failures.clear();
        }
        self
    }

    /// Cancels every call that waits, so that the next message goes on ("never mind"), and returns the results of the
    /// cancelled calls: the model reads `cancelled` and the reason. A call that has a verdict or an answer already, but
    /// was not resumed since, is cancelled as well. A request of the provider that has no verdict is denied.
    ///
    /// ```
    /// use haft_core::{Item, ToolCall, TurnRequest};
    /// use haft_executor::{Tool, Toolkit};
    /// use haft_model::{ScriptedModel, TurnLoop};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ask = Tool::interaction("ask").params::<String>().success::<u8>().define()?;
    /// let model = ScriptedModel::default().then([ToolCall::new("c1", "ask", "\"How many?\"")]).then("As you like.");
    /// let agent = TurnLoop::new(model, Toolkit::from_iter([ask]));
    /// let mut state = agent.start(TurnRequest::new("any", vec![Item::user("Order!")])).finish().await.state;
    ///
    /// assert_eq!(state.cancel_pending("the user changed the subject").len(), 1);
    /// let outcome = agent.start(state.follow_up(Item::user("Never mind."))).finish().await;
    /// assert_eq!(outcome.state.text(), "As you like.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel_pending(&mut self, reason: impl Into<String>) -> Vec<ToolResult> {
        self.cancel_waiting(&reason.into(), DecidedRequests::Included)
    }

    /// Cancels the calls that wait and have neither a verdict nor an answer.
    pub(crate) fn cancel_undecided(&mut self, reason: &str) -> Vec<ToolResult> {
        self.cancel_waiting(reason, DecidedRequests::Excluded)
    }

    fn cancel_waiting(&mut self, reason: &str, decided: DecidedRequests) -> Vec<ToolResult> {
        let all = matches!(decided, DecidedRequests::Included);
        let found = history::approvals(self.history());
        let mut ids: HashSet<CallId> = HashSet::new();
        let asked = found.pending.iter().filter(|pending| all || pending.response.is_none());
        let asked = asked.map(|pending| &pending.call);
        let open = self.interactions().iter().filter(|interaction| all || interaction.is_open());
        let open = open.map(super::interaction::Interaction::call);
        let calls = asked.chain(open).filter(|call| ids.insert(call.call_id.clone()));
        let cancelled: Vec<ToolResult> = calls.map(|call| ToolResult::cancelled(call, reason)).collect();
        if !cancelled.is_empty() {
            // No result is left over: a call that waits has no output yet.
            drop(record_results(self, cancelled.clone()));
        }
        let unanswered = found.remote.into_iter().filter(|remote| remote.response.is_none());
        self.request.history.extend(unanswered.map(|remote| Item::from(remote.request.deny(reason))));
        cancelled
    }

    /// Returns the number of turns of the conversation, over all tasks and with those of sub-agents.
    #[must_use]
    pub fn total_turns(&self) -> u32 {
        self.conversation.turns.saturating_add(self.turns).saturating_add(self.nested_turns)
    }

    /// Returns the usage of the conversation, over all tasks.
    #[must_use]
    pub fn total_usage(&self) -> Usage {
        let mut total = self.conversation.usage;
        total += self.usage;
        total
    }

    /// Returns the number of calls that were run in the conversation, over all tasks.
    #[must_use]
    pub fn total_calls(&self) -> u64 {
        self.conversation.calls.saturating_add(self.calls)
    }

    /// Returns the time for which the loop ran in the conversation, over all tasks.
    #[must_use]
    pub fn total_time_used(&self) -> Duration {
        self.conversation.time_used().saturating_add(self.time_used)
    }

    /// Reads the application's own value; `None` if none was set. An error means that it is not a `T`.
    pub fn app<T: DeserializeOwned>(&self) -> Result<Option<T>, serde_json::Error> {
        AppValue::read(self.conversation.app.as_ref())
    }

    /// Sets the application's own value, which is stored with the state and which no model reads. The decide function
    /// reads and changes it: see [`AfterTurn::set_app`](crate::AfterTurn::set_app).
    ///
    /// ```
    /// use haft_core::TurnRequest;
    /// use haft_model::LoopState;
    ///
    /// let mut state = LoopState::new(TurnRequest::new("any", Vec::new()));
    /// state.set_app(&("tenant-7", 3))?;
    /// assert_eq!(state.app::<(String, u8)>()?, Some(("tenant-7".to_owned(), 3)));
    /// # Ok::<_, serde_json::Error>(())
    /// ```
    pub fn set_app<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), serde_json::Error> {
        self.conversation.app = Some(AppValue::of(value)?);
        Ok(())
    }
}
