//! Additions to a conversation, and the options of its run.

use std::collections::HashSet;
use std::fmt;
use std::pin::Pin;
use std::time::SystemTime;

use haft_core::{ApprovalRequest, CallId, Item, Message, Timestamp, TurnRequest, Verdict};
use haft_executor::{Ambient, RunOptions};
use serde_json::Value;
use tokio::runtime::Handle;
use tracing::Instrument as _;

use super::driver::Driver;
use super::error::ChatError;
use super::event_log::{EventLog, Retention};
use super::lease::{ClaimGuard, Lease};
use super::run::ChatRun;
use super::{Chat, Disconnect};
use crate::store::StoredConversation;
use crate::turn_loop::{Budget, LoopState, TurnLoop};
use crate::ui::ChatPost;

/// A message, verdicts or answers for a conversation, sent when it is awaited. See [`Chat`].
///
/// Awaiting it claims the conversation, changes it and saves it, and returns the run. An error means that nothing was
/// changed. The options are not part of the conversation: set them with every request.
#[must_use = "nothing is sent until the request is awaited"]
pub struct ChatRequest {
    chat: Chat,
    id: String,
    agent: TurnLoop,
    options: RunOptions,
    begin: Option<TurnRequest>,
    message: Option<Message>,
    verdicts: Vec<Verdict>,
    answers: Vec<(CallId, Value)>,
    strays: Strays,
    undecided: Undecided,
    decided_by: Option<String>,
}

/// The treatment of verdicts and answers that are about nothing that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strays {
    Rejected,
    Ignored,
}

/// The treatment of calls that wait, without a verdict or an answer, when a message arrives.
enum Undecided {
    Kept,
    Cancelled { reason: String },
}

impl ChatRequest {
    pub(super) fn new(chat: &Chat, id: String) -> Self {
        Self {
            chat: chat.clone(),
            id,
            agent: chat.agent.clone(),
            options: RunOptions::new(),
            begin: None,
            message: None,
            verdicts: Vec::new(),
            answers: Vec::new(),
            strays: Strays::Rejected,
            undecided: Undecided::Kept,
            decided_by: None,
        }
    }

    pub(super) fn with_message(mut self, message: Message) -> Self {
        self.message = Some(message);
        self
    }

    pub(super) fn with_verdicts(mut self, verdicts: Vec<Verdict>) -> Self {
        self.verdicts = verdicts;
        self
    }

    pub(super) fn with_answers(mut self, answers: Vec<(CallId, Value)>) -> Self {
        self.answers = answers;
        self
    }

    pub(super) fn with_post(mut self, post: ChatPost) -> Self {
        (self.message, self.verdicts, self.answers) = (post.message, post.verdicts, post.answers);
        self.strays = Strays::Ignored;
        self
    }

    /// Sets the options of this conversation: its caller, services, permissions. They are combined with those of the agent
    /// as in [`TurnLoop::start_with`].
    pub fn options(mut self, options: impl Into<RunOptions>) -> Self {
        self.options = options.into();
        self
    }

    /// Sets the budget of this task, in place of the agent's; see [`TurnLoop::budget`].
    pub fn budget(mut self, budget: Budget) -> Self {
        self.agent = self.agent.budget(budget);
        self
    }

    /// Sets the budget of the whole conversation, in place of the agent's; see [`TurnLoop::conversation_budget`].
    pub fn conversation_budget(mut self, budget: Budget) -> Self {
        self.agent = self.agent.conversation_budget(budget);
        self
    }

    /// Sets the request that this conversation begins with, in place of [the chat's](Chat::request).
    pub fn begin_with(mut self, request: TurnRequest) -> Self {
        self.begin = Some(request);
        self
    }

    /// Cancels the calls that wait for a verdict or an answer when a message arrives, so that it goes on ("never mind").
    /// The model reads the reason. Without a message nothing is cancelled: a person may decide about one call at a time.
    pub fn cancel_pending(mut self, reason: impl Into<String>) -> Self {
        self.undecided = Undecided::Cancelled { reason: reason.into() };
        self
    }

    /// Sets the name of the approver, for the audit records of the verdicts. It comes from what the server has
    /// authenticated, never from the verdict.
    pub fn decided_by(mut self, who: impl Into<String>) -> Self {
        self.decided_by = Some(who.into());
        self
    }

    async fn start(self) -> Result<ChatRun, ChatError> {
        let settings = self.chat.settings.clone();
        let guard = ClaimGuard::claim(&settings.store, &self.id, settings.lease).await?;
        let (state, version) = match self.prepared(&guard).await {
            Ok(prepared) => prepared,
            Err(error) => {
                guard.release().await;
                return Err(error);
            }
        };
        let version = guard.save(version, &state).await?;

        let run = self.agent.start_with(state.clone(), self.options);
        let flag = run.cancellation();
        let retention = match settings.disconnect {
            Disconnect::Cancel => Retention::Unread,
            Disconnect::Detach => Retention::All,
        };
        let (log, reader) = EventLog::new(retention);
        let entry = self.chat.running.add(&self.id, log.clone(), state, flag.clone());
        let lease = Lease::new(guard, settings.lease, flag.clone());
        let driver = Driver { lease, version, run, log, stall: settings.stall, entry };
        drop(tokio::spawn(driver.drive().instrument(tracing::Span::current())));
        Ok(ChatRun::new(reader, flag))
    }

    /// Loads the conversation and adds what there is to add.
    async fn prepared(&self, guard: &ClaimGuard) -> Result<(LoopState, u64), ChatError> {
        let StoredConversation { mut state, version } = match guard.load().await? {
            Some(stored) => stored,
            None if self.message.is_some() => StoredConversation::new(self.new_state(), 0),
            None => return Err(ChatError::Unknown),
        };
        self.add_verdicts(&mut state)?;
        self.add_answers(&mut state)?;
        let Some(message) = &self.message else {
            return if state.is_done() { Err(ChatError::NothingToDo) } else { Ok((state, version)) };
        };
        if let Undecided::Cancelled { reason } = &self.undecided {
            state.cancel_undecided(reason);
        }
        let open = state.interactions().iter().filter(|interaction| interaction.is_open());
        let (approvals, interactions) = (state.approvals(), open.cloned().collect::<Vec<_>>());
        if !approvals.is_empty() || !interactions.is_empty() {
            return Err(ChatError::Waiting { approvals, interactions });
        }
        Ok((state.follow_up(Item::Message(message.clone())), version))
    }

    fn new_state(&self) -> LoopState {
        LoopState::new(self.begin.as_ref().unwrap_or(&self.chat.settings.request).clone())
    }

    fn add_verdicts(&self, state: &mut LoopState) -> Result<(), ChatError> {
        let pending = state.approvals();
        for verdict in &self.verdicts {
            let request = pending.iter().find(|request| request.request_id == verdict.request_id);
            let completed = match request {
                Some(request) => self.completed(request, verdict),
                None if self.strays == Strays::Ignored => continue,
                // It is rejected, with the ids of those that are pending.
                None => verdict.clone(),
            };
            self.agent.verdict_with(state, completed, self.options.clone())?;
        }
        Ok(())
    }

    /// Returns a verdict with everything that binds it to its request.
    fn completed(&self, request: &ApprovalRequest, verdict: &Verdict) -> Verdict {
        let mut completed = request.respond(verdict.decision.clone());
        completed.reason.clone_from(&verdict.reason);
        if !verdict.digest.is_empty() {
            completed.digest.clone_from(&verdict.digest);
        }
        match &self.decided_by {
            Some(who) => completed.decided(who, Timestamp::from(SystemTime::now())),
            None => completed,
        }
    }

    fn add_answers(&self, state: &mut LoopState) -> Result<(), ChatError> {
        let open = state.interactions().iter().filter(|interaction| interaction.is_open());
        let open: HashSet<CallId> = open.map(|interaction| interaction.call_id().clone()).collect();
        for (call_id, value) in &self.answers {
            if open.contains(call_id) || self.strays == Strays::Rejected {
                self.agent.answer(state, call_id, value)?;
            }
        }
        Ok(())
    }
}

impl IntoFuture for ChatRequest {
    type Output = Result<ChatRun, ChatError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        // A task, so that a request which is dropped meanwhile, as its client is gone, leaves nothing half done.
        let task = Ambient::current().carry(self.start()).instrument(tracing::Span::current());
        Box::pin(async move {
            let runtime = Handle::try_current().map_err(|_| ChatError::NoRuntime)?;
            runtime.spawn(task).await.unwrap_or(Err(ChatError::Interrupted))
        })
    }
}

impl fmt::Debug for ChatRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatRequest")
            .field("id", &self.id)
            .field("message", &self.message.is_some())
            .field("verdicts", &self.verdicts.len())
            .field("answers", &self.answers.len())
            .finish_non_exhaustive()
    }
}
