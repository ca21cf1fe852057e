//! An agent as another agent's tool.
//!
//! Its handler is resumable. The inner loop's state is its state; the approvals and answers that this one waits for are
//! the call's questions. So they reach the outermost run's approver, and the whole is suspended and resumed as
//! one value, in however many levels. What the agent spends is reported when its handler stops, however it stops.

use std::fmt;
use std::sync::Arc;

use haft_core::internal::OPAQUE_MESSAGE;
use haft_core::{
    ApprovalDecision, ApprovalId, ApprovalRequest, CallId, FailureKind, Item, Question, ToolFailure, TurnRequest,
};
use haft_executor::{
    Cx, DefinitionError, HandlerError, NoFailure, QuestionAnswer, Resumable, Resumed, RunOptions, Suspend, Tool, Wait,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::TurnLoop;
use super::around::{AroundLoop, OuterBudget, SpentTotals};
use super::end::LoopEnd;
use super::event::LoopEvent;
use super::interaction::Interaction;
use super::run::LoopRun;
use super::settings::Settings;
use super::state::LoopState;
use crate::ui::{UiEvent, View};

/// The depth to which agents may nest by default.
const DEPTH: u32 = 3;
/// The reason for an interaction that a person declined without one.
const DECLINED: &str = "the user declined to answer";

/// A tool that runs an agent, to be built. See [`TurnLoop::as_tool`].
#[derive(Clone)]
#[must_use = "this is no tool until it is built"]
pub struct AgentTool {
    agent: TurnLoop,
    name: String,
    description: String,
    request: TurnRequest,
    depth: u32,
    options: Arc<OptionsFn>,
}

type OptionsFn = dyn Fn(&Cx) -> RunOptions + Send + Sync;

/// A sub-agent tool's parameters.
#[derive(Deserialize, JsonSchema)]
struct AgentTask {
    /// The task, with everything that the agent needs to know for it.
    task: String,
}

/// An agent's state while its call waits.
#[derive(Deserialize)]
struct AgentState {
    state: LoopState,
    /// The questions' origins, in order.
    asked: Vec<AskedBy>,
}

#[derive(Serialize)]
struct AgentStateForm<'a> {
    state: &'a LoopState,
    asked: &'a [AskedBy],
}

/// A question's origin.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AskedBy {
    /// The agent's approval request.
    Approval(ApprovalId),
    /// The agent's interaction.
    Interaction(CallId),
}

/// A step in an agent's work, as its call's progress.
#[derive(Serialize)]
struct AgentProgress<'a> {
    agent: &'a str,
    #[serde(flatten)]
    event: &'a UiEvent,
}

/// An agent's run, which reports what it has spent when it is dropped.
struct ReportedRun {
    run: LoopRun,
    before: SpentTotals,
    around: Option<AroundLoop>,
}

impl TurnLoop {
    /// Makes this agent another agent's tool: a sub-agent. It takes `{"task": "…"}` and returns the agent's answer.
    ///
    /// - The sub-agent's calls that require approval, and its interactions, become the outer call's
    ///   [questions](haft_core::Question): the outer run's approver answers them, and if it decides later, the outer state
    ///   contains the whole inner one and goes on with it, also in another process. Where the outer run has no approver,
    ///   the sub-agent's own decides.
    /// - Usage, turns and calls are added to the outer loop's totals when the call stops, and the sub-agent may spend
    ///   what is left in the outer [budget](Self::budget). Sub-agents that run at once may each spend it.
    /// - Its text and its calls are the outer call's progress, as [`UiEvent`]s with the member `agent`.
    /// - A sub-agent that fails, or reaches a limit, fails the call, and the outer model reads why.
    /// - At most three sub-agents are nested, unless you set another [depth](AgentTool::depth).
    ///
    /// ```
    /// use haft_core::{Item, ToolCall, TurnRequest};
    /// use haft_executor::Toolkit;
    /// use haft_model::{ScriptedModel, TurnLoop};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let research = TurnLoop::new(ScriptedModel::new(["Tea is from China."]), Toolkit::new());
    /// let research = research.as_tool("research", "Finds out about a subject.").build()?;
    ///
    /// let model = ScriptedModel::default()
    ///     .then([ToolCall::new("c1", "research", r#"{"task": "Where is tea from?"}"#)])
    ///     .then("From China.");
    /// let agent = TurnLoop::new(model, Toolkit::from_iter([research]));
    /// let outcome = agent.start(TurnRequest::new("any", vec![Item::user("Where is tea from?")])).finish().await;
    /// assert_eq!(outcome.state.text(), "From China.");
    /// assert_eq!((outcome.state.turns(), outcome.state.sub_agent_turns()), (2, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_tool(&self, name: impl Into<String>, description: impl Into<String>) -> AgentTool {
        AgentTool {
            agent: self.clone(),
            name: name.into(),
            description: description.into(),
            request: TurnRequest::new("", Vec::new()),
            depth: DEPTH,
            options: Arc::new(|_| RunOptions::new()),
        }
    }

    /// Starts a state as a sub-agent.
    fn start_inside(&self, state: LoopState, options: RunOptions, around: Option<AroundLoop>) -> ReportedRun {
        let outer = around.as_ref().map(|around| OuterBudget::new(around.left, &state));
        let mut settings = Settings::clone(&self.0);
        settings.outer = outer;
        let (before, options) = (SpentTotals::of(&state), self.options_with(options));
        ReportedRun { run: LoopRun::new(Arc::new(settings), options, state), before, around }
    }
}

impl AgentTool {
    /// Sets the request that each task begins with: the model, its instructions, its settings, and messages before the
    /// task.
    pub fn request(mut self, request: TurnRequest) -> Self {
        self.request = request;
        self
    }

    /// Limits how deeply sub-agents may nest, this one included. A call beyond it fails.
    pub fn depth(mut self, most: u32) -> Self {
        self.depth = most;
        self
    }

    /// Sets each run's options: services for example, from the outer call's context. The caller is the outer call's
    /// unless you set another one. Pass a tenant's services on here, as a sub-agent does not inherit them.
    pub fn options(mut self, options: impl Fn(&Cx) -> RunOptions + Send + Sync + 'static) -> Self {
        self.options = Arc::new(options);
        self
    }

    /// Builds the tool, with the parameters `{"task": string}`.
    pub fn build(self) -> Result<Tool, DefinitionError> {
        self.build_with(|AgentTask { task }| Item::user(task))
    }

    /// Builds the tool with your own parameters, from which you make the message to the agent.
    pub fn build_with<P>(self, message: impl Fn(P) -> Item + Send + Sync + 'static) -> Result<Tool, DefinitionError>
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
    {
        let builder = Tool::new(self.name.clone()).describe(self.description.clone());
        let (agent, message) = (Arc::new(self), Arc::new(message));
        builder.try_resumable(move |params: P, resumed: Option<Resumed>, cx: Cx| {
            let (agent, message) = (Arc::clone(&agent), Arc::clone(&message));
            async move {
                let done = agent.run(|| message(params), resumed, &cx).await;
                done.map_err(HandlerError::<NoFailure>::opaque)
            }
        })
    }

    async fn run(
        &self,
        message: impl FnOnce() -> Item,
        resumed: Option<Resumed>,
        cx: &Cx,
    ) -> Result<Resumable<String>, ToolFailure> {
        let around = AroundLoop::current();
        let depth = around.as_ref().map_or(0, |around| around.depth).saturating_add(1);
        if depth > self.depth {
            let message = format!("sub-agents may be nested {} deep at most; do the task without this one", self.depth);
            return Err(ToolFailure::new(FailureKind::ToolFailed, message));
        }
        let options = self.options_for(cx);
        let state = match resumed {
            None => {
                let mut request = self.request.clone();
                request.history.push(message());
                LoopState::new(request)
            }
            Some(resumed) => self.answered(&resumed, &options)?,
        };
        let mut inside = self.agent.start_inside(state, options, around);
        let mut view = View::new();
        let end = loop {
            match inside.run.next().await {
                Some(LoopEvent::Ended { end, .. }) => break end,
                Some(event) => self.show(view.read(event), cx).await,
                None => return Err(ToolFailure::new(FailureKind::ExecutionError, OPAQUE_MESSAGE)),
            }
        };
        let state = inside.run.state();
        match end {
            LoopEnd::Stopped => Ok(Resumable::Done(state.text())),
            LoopEnd::Waiting { .. } => Ok(Resumable::Wait(self.wait(&state))),
            other => Err(self.failure(&other)),
        }
    }

    /// Returns a run's options. What requires approval inside is asked outside, where somebody can be asked.
    fn options_for(&self, cx: &Cx) -> RunOptions {
        let mut options = RunOptions::new();
        if let Some(caller) = cx.caller() {
            options = options.caller(caller.clone());
        }
        if cx.can_ask() {
            options = options.approvals(Suspend);
        }
        options.merge((self.options)(cx))
    }

    /// Returns the state with the answers. One that the agent does not accept leaves its question open, so that it is
    /// asked again.
    fn answered(&self, resumed: &Resumed, options: &RunOptions) -> Result<LoopState, ToolFailure> {
        let stored = resumed.state::<AgentState>();
        let AgentState { mut state, asked } =
            stored.map_err(|error| ToolFailure::new(FailureKind::ExecutionError, OPAQUE_MESSAGE).cause(error))?;
        for (asked, answer) in asked.into_iter().zip(resumed.answers()) {
            match asked {
                AskedBy::Approval(request_id) => {
                    let request = state.approvals().into_iter().find(|request| request.request_id == request_id);
                    if let Some(request) = request {
                        drop(self.agent.verdict_with(&mut state, inner_verdict(&request, answer), options.clone()));
                    }
                }
                AskedBy::Interaction(call_id) => match answer.value() {
                    Some(value) => drop(self.agent.answer(&mut state, call_id, value.to_value())),
                    None => {
                        let reason = answer.verdict().reason.clone().unwrap_or_else(|| DECLINED.to_owned());
                        drop(state.close(call_id, reason));
                    }
                },
            }
        }
        Ok(state)
    }

    /// Returns what an agent waits for, as questions.
    fn wait(&self, state: &LoopState) -> Wait {
        let (mut questions, mut asked) = (Vec::new(), Vec::new());
        for request in state.approvals() {
            asked.push(AskedBy::Approval(request.request_id.clone()));
            questions.push(Question::approval(request));
        }
        for interaction in state.interactions().iter().filter(|interaction| interaction.is_open()) {
            asked.push(AskedBy::Interaction(interaction.call_id().clone()));
            questions.push(self.question(interaction));
        }
        Wait::new(questions, AgentStateForm { state, asked: &asked })
    }

    fn question(&self, interaction: &Interaction) -> Question {
        let snapshot = self.agent.0.source.snapshot();
        let schema = snapshot.toolkit().get(interaction.name()).map(|tool| tool.success().as_json().clone());
        let schema = schema.filter(|schema| !haft_schema::internal::states_nothing(schema));
        let message = match interaction.arguments.to_value() {
            Value::String(message) => message,
            arguments => format!("{}: {arguments}", interaction.name()),
        };
        Question::input_json(message, schema.unwrap_or(Value::Bool(true)))
    }

    async fn show(&self, events: Vec<UiEvent>, cx: &Cx) {
        for event in &events {
            // Nobody may be listening.
            drop(cx.emit(AgentProgress { agent: &self.name, event }).await);
        }
    }

    /// Returns the failure for a call whose agent did not stop by itself.
    fn failure(&self, end: &LoopEnd) -> ToolFailure {
        let (kind, reason) = match end {
            LoopEnd::Cancelled => return ToolFailure::new(FailureKind::Cancelled, ""),
            LoopEnd::Failed(error) => {
                return ToolFailure::new(FailureKind::ExecutionError, OPAQUE_MESSAGE).cause(error.clone());
            }
            LoopEnd::Truncated { .. } => (FailureKind::ToolFailed, "its answer was cut off".to_owned()),
            LoopEnd::MaxTurns { turns } => (FailureKind::ToolFailed, format!("it did not finish within {turns} turns")),
            LoopEnd::Budget(spent) => (FailureKind::ToolFailed, format!("the budget of {spent} is spent")),
            LoopEnd::CallsFailed { .. } => (FailureKind::ToolFailed, "a call of it failed".to_owned()),
            LoopEnd::RepeatedCalls => (FailureKind::ToolFailed, "it repeated one call too often".to_owned()),
            LoopEnd::Stopped | LoopEnd::Waiting { .. } => (FailureKind::ExecutionError, OPAQUE_MESSAGE.to_owned()),
        };
        ToolFailure::new(kind, format!("the sub-agent '{}' has no answer: {reason}", self.name))
    }
}

/// Returns the verdict on a request inside for that on the question outside.
fn inner_verdict(request: &ApprovalRequest, answer: &QuestionAnswer) -> haft_core::Verdict {
    let outer = answer.verdict();
    let decision = match &outer.decision {
        ApprovalDecision::Other(_) => ApprovalDecision::Denied,
        decision => decision.clone(),
    };
    let mut inner = request.respond(decision);
    inner.reason.clone_from(&outer.reason);
    inner.who.clone_from(&outer.who);
    inner.at = outer.at;
    inner.scope.clone_from(&outer.scope);
    inner
}

impl Drop for ReportedRun {
    fn drop(&mut self) {
        if let Some(around) = &self.around {
            around.report(SpentTotals::of(&self.run.state()).since(self.before));
        }
    }
}

impl fmt::Debug for AgentTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentTool").field("name", &self.name).field("depth", &self.depth).finish_non_exhaustive()
    }
}
