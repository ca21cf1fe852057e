//! The approval prompt: deny, approve, edit the arguments, or approve always.
//!
//! Nothing that runs a call is preselected: Enter alone never runs one. Edited arguments are shown as the call that
//! they make, and asked about again. If the tool rejects them, they return to the editor with the reason.
//!
//! Requests from concurrent calls are asked about one after another. Everything in a request that comes from the model
//! is shown without control characters. Esc denies the call; Ctrl-C interrupts the command, and the request is answered
//! as cancelled. If a call is cancelled while its question is on the screen, its approver is dropped with the question:
//! see [`screen`](crate::screen).

mod arguments;
mod editor;
mod presentation;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use haft::approval::{ApprovalAnswer, ApprovalDecision, ApprovalMemory, ApprovalRequest, ApprovalScope, Approve};
use haft::run::RunOptions;
use haft::schema::{DecodeOptions, JsonText};
use haft::tool::{BoxError, Cx, Tool};
use inquire::{InquireError, Select, Text};

use self::arguments::indented;
use self::editor::Draft;
use self::presentation::ShownCall;
use crate::interrupt::Interrupt;
use crate::screen::{Screen, ScreenClaim};
use crate::terminal::{modes, printable};

/// The reason that the model reads if the person gives none.
const DENIED: &str = "the user denied the call";

/// Asks the person at the terminal.
#[derive(Clone, Debug)]
pub(crate) struct ApprovalPrompt {
    screen: Screen,
    interrupt: Interrupt,
    always: Arc<Mutex<AlwaysApproved>>,
}

/// The tools approved for the session, for requests that were pending at that time. The run's memory answers later
/// ones.
#[derive(Debug, Default)]
struct AlwaysApproved {
    /// The number of requests so far.
    requests: u64,
    /// By tool, the number of requests when it was approved.
    tools: HashMap<String, u64>,
}

/// A choice in the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Deny,
    Approve,
    Edit,
    Always,
    ShowAll,
}

/// Returns everything about a request as a person sees it at the prompt.
pub(crate) fn whole(request: &ApprovalRequest, tool: Option<&Tool>) -> String {
    ShownCall::new(request, None, tool).whole()
}

/// Adds a memory to run options, for what is approved for the session. Clones of the options share it.
pub(super) fn remembering(options: RunOptions) -> RunOptions {
    options.approval_memory(ApprovalMemory::new())
}

impl ApprovalPrompt {
    pub(crate) fn new(screen: Screen, interrupt: Interrupt) -> Self {
        Self { screen, interrupt, always: Arc::default() }
    }

    /// Asks until there is an answer.
    async fn decide(
        &self,
        claim: &ScreenClaim,
        request: &ApprovalRequest,
        cx: &Cx,
    ) -> Result<ApprovalAnswer, BoxError> {
        let mut draft = Draft::new(indented(&request.arguments));
        // The arguments that replace the model's.
        let mut edited: Option<JsonText> = None;
        if let Some(rejected) = cx.rejected_verdict() {
            claim.note(presentation::rejected(rejected, cx.attempt()));
            if let ApprovalDecision::Edited(json) = &rejected.response.decision {
                draft = Draft { text: indented(json.as_str()), faults: presentation::faults(&rejected.fault) };
                edited = edit(claim, cx.tool(), &mut draft).await;
            }
        }
        let mut shown = self.show(claim, request, edited.as_ref(), cx.tool());
        let mut is_cut = shown.is_cut(self.screen.terminal());
        loop {
            let choices = choices(edited.is_some(), is_cut);
            let choice = match claim.ask(move || choose(choices)).await {
                Some(Ok(choice)) => choice,
                Some(Err(error)) => return self.unanswered(request, error),
                None => return Err("the prompt failed".into()),
            };
            match (choice, edited.clone()) {
                (Choice::Approve, None) => return Ok(request.approve().into()),
                (Choice::Approve, Some(json)) => return Ok(request.edit(json).into()),
                (Choice::Always, _) => {
                    self.always().approve(&request.tool);
                    return Ok(request.approve().scope(ApprovalScope::ThisTool).into());
                }
                (Choice::Deny, _) => match claim.ask(ask_reason).await {
                    Some(Ok(reason)) => return Ok(request.deny(reason_or_default(&reason)).into()),
                    // Esc goes back to the question.
                    Some(Err(InquireError::OperationCanceled)) => {}
                    Some(Err(error)) => return self.unanswered(request, error),
                    None => return Err("the prompt failed".into()),
                },
                (Choice::Edit, _) => {
                    let Some(json) = edit(claim, cx.tool(), &mut draft).await else { continue };
                    edited = Some(json).filter(|json| indented(json.as_str()) != indented(&request.arguments));
                    shown = self.show(claim, request, edited.as_ref(), cx.tool());
                    is_cut = shown.is_cut(self.screen.terminal());
                }
                (Choice::ShowAll, _) => {
                    claim.note(shown.whole());
                    is_cut = false;
                }
            }
        }
    }

    /// Shows the call that the question is about.
    fn show(
        &self,
        claim: &ScreenClaim,
        request: &ApprovalRequest,
        edited: Option<&JsonText>,
        tool: Option<&Tool>,
    ) -> ShownCall {
        let shown = ShownCall::new(request, edited.map(JsonText::as_str), tool);
        claim.note(shown.brief(self.screen.terminal()));
        shown
    }

    /// Returns the answer where a question has none.
    fn unanswered(&self, request: &ApprovalRequest, error: InquireError) -> Result<ApprovalAnswer, BoxError> {
        match error {
            InquireError::OperationCanceled => Ok(request.deny(DENIED).into()),
            InquireError::OperationInterrupted => {
                self.interrupt.raise();
                Ok(ApprovalAnswer::NoAnswer { reason: "the user interrupted the command".to_owned() })
            }
            error => Err(error.into()),
        }
    }

    fn always(&self) -> std::sync::MutexGuard<'_, AlwaysApproved> {
        self.always.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Approve for ApprovalPrompt {
    async fn approve(&self, request: ApprovalRequest, cx: Cx) -> Result<ApprovalAnswer, BoxError> {
        let number = self.always().arrive();
        let claim = self.screen.claim().await;
        if self.always().covers(&request.tool, number) {
            return Ok(request.approve().into());
        }
        if self.interrupt.is_raised() {
            return Ok(ApprovalAnswer::NoAnswer { reason: "the command was interrupted".to_owned() });
        }
        self.decide(&claim, &request, &cx).await
    }
}

impl AlwaysApproved {
    /// Counts a request, and returns its number.
    fn arrive(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// Approves a tool for all requests that are pending.
    fn approve(&mut self, tool: &str) {
        self.tools.insert(tool.to_owned(), self.requests);
    }

    /// Reports whether a request was pending when its tool was approved.
    fn covers(&self, tool: &str, number: u64) -> bool {
        self.tools.get(tool).is_some_and(|approved| number <= *approved)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deny => "deny",
            Self::Approve => "approve",
            Self::Edit => "edit the arguments",
            Self::Always => "always approve this tool, until the command ends",
            Self::ShowAll => "show everything",
        })
    }
}

/// Returns the choices. The first one is preselected, so it must not run the call.
fn choices(is_edited: bool, is_cut: bool) -> Vec<Choice> {
    let mut choices = vec![Choice::Deny, Choice::Approve, Choice::Edit];
    // What was edited is one call, and says nothing about others.
    choices.extend((!is_edited).then_some(Choice::Always));
    choices.extend(is_cut.then_some(Choice::ShowAll));
    choices
}

/// Asks what to do. The arrow keys or a choice's first letters select it. Keys pressed before the question was there do
/// not answer it.
fn choose(choices: Vec<Choice>) -> Result<Choice, InquireError> {
    modes::discard_typed();
    Select::new("Approve this call?", choices)
        .with_help_message("↑↓ or first letters, Enter to choose, Esc denies, Ctrl-C interrupts")
        .with_scorer(&|input, _, label, _| label.starts_with(&input.to_lowercase()).then_some(0))
        // Equal scores keep the order.
        .with_sorter(&|options| options.sort_by_key(|(index, _)| *index))
        .prompt()
}

/// Opens the editor until the tool accepts the arguments. Returns `None` if the person leaves the text as it was, or
/// the editor fails.
async fn edit(claim: &ScreenClaim, tool: Option<&Tool>, draft: &mut Draft) -> Option<JsonText> {
    loop {
        let text = match editor::edit(draft).await {
            Ok(text) => text,
            Err(error) => {
                claim.note(printable(&error.to_string()));
                return None;
            }
        };
        if text.is_empty() || text == draft.text {
            claim.note("the text was left as it was, so nothing is changed");
            return None;
        }
        match checked(tool, &text) {
            Ok(json) => {
                *draft = Draft::new(text);
                return Some(json);
            }
            Err(faults) => {
                claim.note(presentation::not_accepted(&faults));
                *draft = Draft { text, faults };
            }
        }
    }
}

/// Returns arguments that a tool accepts, or all reasons why it does not. The executor checks them once more.
fn checked(tool: Option<&Tool>, text: &str) -> Result<JsonText, Vec<String>> {
    let json = JsonText::parse(text).map_err(|error| vec![format!("not valid JSON: {error}")])?;
    let Some(tool) = tool else { return Ok(json) };
    let checked = tool.parameters().check_arguments(text, &DecodeOptions::default());
    let issues = checked.err().or_else(|| presentation::effect(tool, &json)?.err());
    match issues {
        None => Ok(json),
        Some(issues) => Err(presentation::issue_lines(issues.iter()).collect()),
    }
}

/// Asks why to deny.
fn ask_reason() -> Result<String, InquireError> {
    Text::new("Reason, which the model reads:")
        .with_help_message("Enter denies, also without a reason, Esc goes back, Ctrl-C interrupts")
        .prompt()
}

fn reason_or_default(reason: &str) -> &str {
    match reason.trim() {
        "" => DENIED,
        reason => reason,
    }
}

#[cfg(test)]
mod tests {
    use super::{AlwaysApproved, Choice, DENIED, choices, reason_or_default};

    #[test]
    fn no_option_that_runs_a_call_is_preselected() {
        for (is_edited, is_cut) in [(false, false), (false, true), (true, false), (true, true)] {
            assert_eq!(choices(is_edited, is_cut)[0], Choice::Deny);
            assert_eq!(choices(is_edited, is_cut).contains(&Choice::Always), !is_edited);
        }
    }

    #[test]
    fn a_tool_is_approved_for_the_requests_that_are_pending_and_no_later_one() {
        let mut always = AlwaysApproved::default();
        let (first, second) = (always.arrive(), always.arrive());
        assert!(!always.covers("delete", first));
        always.approve("delete");
        let third = always.arrive();
        assert!(always.covers("delete", second) && !always.covers("delete", third), "the memory answers the third");
        assert!(!always.covers("transfer", second));
    }

    #[test]
    fn a_denial_has_a_reason() {
        assert_eq!(reason_or_default(" "), DENIED);
        assert_eq!(reason_or_default(" not today "), "not today");
    }
}
