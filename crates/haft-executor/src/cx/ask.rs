//! Questions of a call while it runs, and the answers to those that it asked before.

use std::sync::Arc;

use haft_core::{ApprovalId, ApprovalRequest, Question, ToolCall, Verdict};
use haft_schema::JsonText;
use tokio::time::Instant;

use super::Cx;
use crate::approval::{AskingCall, check_question};
use crate::executor::{AskError, Asked, Asking, CallHandle, EmissionBody};
use crate::resumable::{QuestionAnswer, Resumed};

/// A question that is open. Its call's timeouts are paused until this is dropped.
struct Asks<'a> {
    handle: Option<&'a CallHandle>,
    verdict: Option<Box<Verdict>>,
}

impl Cx {
    /// Asks the approver of the run a question and waits for the answer, with the timeouts of the call paused. The timeouts
    /// of middleware and the deadline of the run go on.
    ///
    /// The call keeps its slot meanwhile, and nothing is stored: a question that may be answered much later is asked by a
    /// [resumable](crate::ToolBuilder::resumable) handler. Of several questions that are asked at once, each is answered by
    /// itself. An answer that is invalid is asked for again, at most three times in all. If this is dropped, the question
    /// is recorded as unanswered.
    ///
    /// ```
    /// use haft_core::{ApprovalRequest, Question, ToolCall};
    /// use haft_executor::{AskError, Cx, RunOptions, Tool, Toolkit};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let book = Tool::new("book").try_handler_mixed(|(to,): (String,), cx: Cx| async move {
    ///     let passengers = cx.ask(Question::input::<u8>("How many passengers?")).await?;
    ///     match passengers.decode::<u8>()? {
    ///         Some(count) => Ok(format!("{count} to {to}")),
    ///         None => Err(haft_executor::HandlerError::Declared("the user declined")),
    ///     }
    /// })?;
    /// let kit: Toolkit = Toolkit::from_iter([book]);
    ///
    /// let answers = RunOptions::new().approvals(|request: ApprovalRequest, _cx: Cx| async move { request.answer(json!(2)) });
    /// let result = kit.run_call_with(&ToolCall::new("c1", "book", r#"["Rome"]"#), answers).await;
    /// assert_eq!(result.to_model_text(), "2 to Rome");
    ///
    /// let alone = kit.run_call(&ToolCall::new("c2", "book", r#"["Rome"]"#)).await;
    /// assert_eq!(alone.failure().unwrap().kind.as_str(), "input_required");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn ask(&self, question: Question) -> Result<QuestionAnswer, AskError> {
        let asking = Arc::clone(self.0.asking().ok_or(AskError::NoApprover)?);
        check_question(&question).map_err(AskError::Invalid)?;
        let mut request = self.live_request(question);
        asking.gate().sign(&mut request, self).map_err(AskError::Rejected)?;
        let mut asks = Asks::begin(self.call_handle(), &request);
        let Asked { answer, .. } = Asking::ask(asking, request.clone(), self.clone().asked_live()).await;
        let verdict = answer?;
        asks.verdict = Some(verdict.clone());
        Ok(QuestionAnswer::new(request, *verdict))
    }

    /// Reports whether there is an approver that can be asked: [`ask`](Self::ask) reaches it, and a
    /// [resumable](crate::ToolBuilder::resumable) handler that waits does not fail with `input_required` at once.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        self.0.asking().is_some()
    }

    /// Reports, in the context of an approver, whether it may answer [`Later`](crate::ApprovalAnswer::Later) and have the
    /// call suspended. A question that a handler [asks](Self::ask) while it runs is answered now or not at all.
    #[must_use]
    pub fn can_be_deferred(&self) -> bool {
        !self.0.is_asked_live()
    }

    /// Returns the answers to the questions of the call, and the state that its handler left with them; `None` if it has
    /// not waited. See [`Wait`](crate::Wait).
    #[must_use]
    pub fn resumed(&self) -> Option<&Resumed> {
        self.0.resumed().map(|resumed| &**resumed)
    }

    fn asked_live(self) -> Self {
        self.with_overrides(|overrides| overrides.is_asked_live = true)
    }

    /// Sets the answers that the call goes on with.
    pub(crate) fn with_resumed(self, resumed: Resumed) -> Self {
        self.with_overrides(|overrides| overrides.resumed = Some(Arc::new(resumed)))
    }

    /// Sets the approver for questions of a call without a run.
    pub(crate) fn with_asking(self, asking: Arc<Asking>) -> Self {
        self.with_overrides(|overrides| overrides.asking = Some(asking))
    }

    fn live_request(&self, question: Question) -> ApprovalRequest {
        let unknown = || ToolCall::new(self.call_id().clone(), self.tool_name(), "");
        let call = self.call_handle().map_or_else(unknown, |handle| handle.call().clone());
        let definition = self.tool().map(crate::tool::Tool::definition_digest).unwrap_or_default();
        let asking = AskingCall { call: definition, round: 0, started: true, state: &JsonText::null(), questions: 1 };
        let digest = asking.digest(0, &question);
        ApprovalRequest::new(ApprovalId::random(), &call).digest(digest).asking(question)
    }
}

impl<'a> Asks<'a> {
    fn begin(handle: Option<&'a CallHandle>, request: &ApprovalRequest) -> Self {
        if let Some(handle) = handle {
            handle.report_question(EmissionBody::Asked { request: Box::new(request.clone()), at: Instant::now() });
        }
        Self { handle, verdict: None }
    }
}

impl Drop for Asks<'_> {
    fn drop(&mut self) {
        if let Some(handle) = self.handle {
            handle.report_question(EmissionBody::Settled { verdict: self.verdict.take(), at: Instant::now() });
        }
    }
}
