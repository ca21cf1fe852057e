//! Conversations as a service has them: many at once, each stored, claimed while it runs, and continued by the next message.
//!
//! ```text
//!              ┌──────────────────── task ────────────────────┐
//! message ─> claim, load, save ─> LoopRun ─> save ─> EventLog ─┼─> ChatRun: the reader
//!              │                  renew      before calls run  │
//!              │                  the claim  and after results │
//!              └──────────────── save, release ────────────────┘
//! ```
//!
//! A [`Chat`] owns the order of these steps. What a reader has seen was saved before, calls run only after the turn that
//! made them was saved, and a conversation that can't be saved runs no further calls. The run is a task of its own, so
//! that a reader which is slow or gone can't keep the claim from being renewed, the state from being saved, or tools from
//! timing out.

mod driver;
mod error;
mod event_log;
mod lease;
mod request;
mod run;
mod running;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use haft_core::{CallId, Message, Role, ToolResult, TurnRequest, Verdict};
use serde_json::Value;

pub use self::error::ChatError;
use self::lease::ClaimGuard;
pub use self::request::ChatRequest;
pub use self::run::ChatRun;
use self::running::RunningChats;
use crate::store::{ConversationStore, StoreError, StoredConversation};
use crate::turn_loop::{LoopState, TurnLoop};
use crate::ui::ChatPost;

/// The default lease of a claim.
const LEASE: Duration = Duration::from_secs(15);
/// The default time after which a reader that takes nothing counts as gone.
const STALL: Duration = Duration::from_secs(60);

/// An agent with a store of conversations. Cloning is cheap, and clones share the runs.
///
/// Each message claims its conversation, loads it, adds the message, runs the agent, saves, and releases the claim. The
/// claim is renewed while the run lasts, so one process at a time continues a conversation; while it does, another message
/// is [`ChatError::Busy`].
///
/// If the process dies, its claim expires, and the next message continues from the last save: calls that have results keep
/// them, and calls that were running have the result `outcome_unknown`, which the model reads. None is run again by
/// itself. An approval that was used is used up; one that was given and not acted on yet is acted on.
///
/// ```
/// use haft_core::Item;
/// use haft_executor::Toolkit;
/// use haft_model::{Chat, MemoryStore, ScriptedModel, TurnLoop};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), haft_model::ChatError> {
/// let agent = TurnLoop::new(ScriptedModel::new(["Hello!", "Goodbye!"]), Toolkit::new());
/// let chat = Chat::new(agent, MemoryStore::new());
///
/// chat.message("acme/42", "Hi.").await?.finish().await?;
/// let outcome = chat.message("acme/42", "Bye.").await?.finish().await?;
/// assert_eq!(outcome.state.text(), "Goodbye!");
/// assert_eq!(outcome.state.history().len(), 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Chat {
    agent: TurnLoop,
    settings: Arc<ChatSettings>,
    running: RunningChats,
}

/// The settings of all conversations.
#[derive(Clone)]
struct ChatSettings {
    store: Arc<dyn ConversationStore>,
    /// The request of conversations that begin.
    request: TurnRequest,
    lease: Duration,
    stall: Duration,
    disconnect: Disconnect,
}

/// The fate of a run whose reader is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Disconnect {
    /// It is cancelled: running calls end with `cancelled`, and the state is saved.
    #[default]
    Cancel,
    /// It goes on to its end, and the state is saved as ever. Its events are kept until then, for a reader that
    /// [attaches](Chat::attach), and a slow reader does not slow it down.
    Detach,
}

impl Chat {
    /// Creates a chat of this agent, with conversations in this store.
    #[must_use]
    pub fn new(agent: TurnLoop, store: impl ConversationStore + 'static) -> Self {
        let settings = ChatSettings {
            store: Arc::new(store),
            request: TurnRequest::new("", Vec::new()),
            lease: LEASE,
            stall: STALL,
            disconnect: Disconnect::default(),
        };
        Self { agent, settings: Arc::new(settings), running: RunningChats::default() }
    }

    /// Sets the request that conversations begin with: the model, its instructions, its settings.
    #[must_use]
    pub fn request(self, request: TurnRequest) -> Self {
        self.changed(|settings| settings.request = request)
    }

    /// Sets the lease of a claim; 15 seconds by default. It is renewed three times per lease. If a process dies, its
    /// conversations are busy until their leases expire.
    #[must_use]
    pub fn lease(self, lease: Duration) -> Self {
        self.changed(|settings| settings.lease = lease)
    }

    /// Sets what happens to a run whose reader is gone. By default it is cancelled.
    #[must_use]
    pub fn on_disconnect(self, disconnect: Disconnect) -> Self {
        self.changed(|settings| settings.disconnect = disconnect)
    }

    /// Sets the time after which a reader that takes no event counts as gone; 60 seconds by default. A connection may be
    /// open and dead. With [`Disconnect::Detach`] nothing waits for a reader.
    #[must_use]
    pub fn stalled_after(self, stall: Duration) -> Self {
        self.changed(|settings| settings.stall = stall)
    }

    /// Sends a message of the user. The conversation begins with it if it does not exist.
    ///
    /// If calls wait for a verdict or an answer the error is [`ChatError::Waiting`], unless they are
    /// [cancelled](ChatRequest::cancel_pending) ("never mind").
    pub fn message(&self, id: impl Into<String>, text: impl Into<String>) -> ChatRequest {
        self.send(id, Message::text(Role::User, text))
    }

    /// Sends a message of the user that has more than text, as [`message`](Self::message) does.
    pub fn send(&self, id: impl Into<String>, message: Message) -> ChatRequest {
        ChatRequest::new(self, id.into()).with_message(message)
    }

    /// Adds verdicts on pending approval requests, and goes on. A verdict needs the id of its request and a decision; the
    /// rest of what binds it is that of the stored request. A [digest](Verdict::digest) that it has must be that
    /// of the request. Who decided, and for which other calls, is not taken from it: see
    /// [`decided_by`](ChatRequest::decided_by).
    ///
    /// If one is not valid none is added, and the error is [`ChatError::State`].
    ///
    /// ```
    /// use haft_executor::{ApprovalPolicy, RunOptions, Suspend, Tool, Toolkit};
    /// use haft_core::ToolCall;
    /// use haft_model::{Chat, MemoryStore, ScriptedModel, TurnLoop};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|cents: u64, _cx| async move { cents })?;
    /// let model = ScriptedModel::default().then([ToolCall::new("c1", "pay", "500")]).then("Paid.");
    /// let agent = TurnLoop::new(model, Toolkit::from_iter([pay])).options(RunOptions::new().approvals(Suspend));
    /// let chat = Chat::new(agent, MemoryStore::new());
    ///
    /// let waiting = chat.message("acme/42", "Pay!").await?.finish().await?;
    /// let verdict = waiting.state.approvals()[0].approve();
    /// let outcome = chat.verdicts("acme/42", [verdict]).decided_by("ana").await?.finish().await?;
    /// assert_eq!(outcome.state.text(), "Paid.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn verdicts(&self, id: impl Into<String>, verdicts: impl IntoIterator<Item = Verdict>) -> ChatRequest {
        ChatRequest::new(self, id.into()).with_verdicts(verdicts.into_iter().collect())
    }

    /// Answers open interactions, and goes on. If one is not valid none is added, and the error is [`ChatError::State`].
    pub fn answers(&self, id: impl Into<String>, answers: impl IntoIterator<Item = (CallId, Value)>) -> ChatRequest {
        ChatRequest::new(self, id.into()).with_answers(answers.into_iter().collect())
    }

    /// Goes on without a message, after an error or a crash.
    pub fn resume(&self, id: impl Into<String>) -> ChatRequest {
        ChatRequest::new(self, id.into())
    }

    /// Sends a [post of `useChat`](ChatPost): its message, or its verdicts and answers. Those that are not about anything
    /// that waits are ignored: a browser posts all that it has. The id is yours to choose, as that of the post comes from the
    /// browser.
    ///
    /// The wish for another answer continues an answer that failed; it does not take back one that is complete.
    pub fn post(&self, id: impl Into<String>, post: ChatPost) -> ChatRequest {
        ChatRequest::new(self, id.into()).with_post(post)
    }

    /// Cancels every call that waits for a verdict or an answer, and returns their results. The agent does not run; the
    /// model reads the results before the next message.
    pub async fn cancel_pending(&self, id: &str, reason: &str) -> Result<Vec<ToolResult>, ChatError> {
        let claim = ClaimGuard::claim(&self.settings.store, id, self.settings.lease).await?;
        let StoredConversation { mut state, version, .. } = claim.load().await?.ok_or(ChatError::Unknown)?;
        let results = state.cancel_pending(reason);
        if !results.is_empty() {
            claim.save(version, &state).await?;
        }
        claim.release().await;
        Ok(results)
    }

    /// Returns a conversation as it was saved last, also while it runs; `None` if there is none.
    pub async fn load(&self, id: &str) -> Result<Option<StoredConversation>, StoreError> {
        self.settings.store.load(id).await
    }

    /// Returns a conversation as a page shows it that is loaded; `None` if there is none. While it runs here, and its events
    /// are kept, that is the conversation before the answer: the page reads all of the answer when it
    /// [attaches](Self::attach). Otherwise it is the last save, in which a call that runs counts as interrupted.
    pub async fn shown(&self, id: &str) -> Result<Option<LoopState>, StoreError> {
        match self.running.before(id) {
            Some(before) => Ok(Some(before)),
            None => Ok(self.load(id).await?.map(|stored| stored.state)),
        }
    }

    /// Returns another reader of a run of this process, which reads its events from the first one on; `None` if the
    /// conversation does not run here, or its events are not kept because it is cancelled on a
    /// [disconnect](Disconnect::Cancel).
    #[must_use]
    pub fn attach(&self, id: &str) -> Option<ChatRun> {
        self.running.attach(id)
    }

    /// Cancels a run of this process: running calls end with `cancelled`, and the state is saved. Returns false if the
    /// conversation does not run here.
    #[must_use = "the conversation may run in another process"]
    pub fn cancel(&self, id: &str) -> bool {
        self.running.cancel(id)
    }

    /// Waits until no conversation runs in this process: a server that shuts down waits for the last saves.
    pub async fn idle(&self) {
        self.running.idle().await;
    }

    fn changed(mut self, change: impl FnOnce(&mut ChatSettings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }
}

impl fmt::Debug for Chat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ChatSettings { lease, stall, disconnect, .. } = &*self.settings;
        f.debug_struct("Chat")
            .field("agent", &self.agent)
            .field("lease", lease)
            .field("stall", stall)
            .field("disconnect", disconnect)
            .field("running", &self.running.count())
            .finish_non_exhaustive()
    }
}
