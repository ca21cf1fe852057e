//! The prompt for approval: approve, deny, edit the arguments, or approve always.
//!
//! Requests of concurrent calls are asked about one after another. Everything about a request that comes from the model
//! is shown without control characters. Esc denies the call; Ctrl-C interrupts the command, and the request is answered
//! as cancelled. An approver whose call is cancelled while its question is on the screen is dropped with the question:
//! see [`screen`](crate::screen).

mod arguments;
mod editor;
mod presentation;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use haft::approval::{ApprovalAnswer, ApprovalMemory, ApprovalRequest, ApprovalScope, Approve};
use haft::run::RunOptions;
use haft::tool::{BoxError, Cx};
use inquire::{InquireError, Select, Text};

use self::arguments::indented;
use self::editor::Edited;
use crate::interrupt::Interrupt;
use crate::screen::{Screen, ScreenClaim};
use crate::terminal::{modes, printable};

/// The reason that the model reads where the person gives none.
const DENIED: &str = "the user denied the call";

/// Asks the person at the terminal.
#[derive(Clone, Debug)]
pub(crate) struct ApprovalPrompt {
    screen: Screen,
    interrupt: Interrupt,
    always: Arc<Mutex<AlwaysApproved>>,
}

/// The tools that were approved for the session, for requests that were pending at that time. The memory of the run
/// answers the later ones.
#[derive(Debug, Default)]
struct AlwaysApproved {
    /// The number of requests so far.
    requests: u64,
    /// By tool, the number of requests when it was approved.
    tools: HashMap<String, u64>,
}

/// An option of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Approve,
    Deny,
    Edit,
    Always,
    ShowAll,
}

/// Adds a memory to the options of a run, for what is approved for the session. Clones of the options share it.
pub(crate) fn remembering(options: RunOptions) -> RunOptions {
    options.approval_memory(ApprovalMemory::new())
}

impl ApprovalPrompt {
    pub(crate) fn new(screen: Screen, interrupt: Interrupt) -> Self {
        Self { screen, interrupt, always: Arc::default() }
    }

    /// Asks until there is an answer.
    async fn decide(&self, claim: &ScreenClaim, request: &ApprovalRequest) -> Result<ApprovalAnswer, BoxError> {
        let arguments = indented(&request.arguments);
        let mut draft = arguments.clone();
        let mut is_cut = presentation::is_cut(&arguments, self.screen.terminal());
        loop {
            let choice = match claim.ask(move || choose(is_cut)).await {
                Some(Ok(choice)) => choice,
                Some(Err(error)) => return self.unanswered(request, error),
                None => return Err("the prompt failed".into()),
            };
            match choice {
                Choice::Approve => return Ok(request.approve().into()),
                Choice::Always => {
                    self.always().approve(&request.tool);
                    return Ok(request.approve().scope(ApprovalScope::ThisTool).into());
                }
                Choice::Deny => match claim.ask(ask_reason).await {
                    Some(Ok(reason)) => return Ok(request.deny(reason_or_default(&reason)).into()),
                    // Esc goes back to the question.
                    Some(Err(InquireError::OperationCanceled)) => {}
                    Some(Err(error)) => return self.unanswered(request, error),
                    None => return Err("the prompt failed".into()),
                },
                Choice::Edit => match editor::edit(&draft).await {
                    Ok(Edited::Json { text, .. }) if text == arguments => claim.note("the arguments were not changed"),
                    Ok(Edited::Json { json, .. }) => return Ok(request.edit(json).into()),
                    Ok(Edited::Invalid { text, error }) => {
                        claim.note(format!("the text is not valid JSON: {}", printable(&error)));
                        draft = text;
                    }
                    Err(error) => claim.note(printable(&error.to_string())),
                },
                Choice::ShowAll => {
                    claim.note(presentation::whole(&arguments));
                    is_cut = false;
                }
            }
        }
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
        if let Some(rejected) = cx.rejected_verdict() {
            claim.note(presentation::rejected(rejected, cx.attempt()));
        }
        claim.note(presentation::request(&request, cx.tool(), self.screen.terminal()));
        self.decide(&claim, &request).await
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
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::Edit => "edit the arguments",
            Self::Always => "always approve this tool, until the command ends",
            Self::ShowAll => "show all arguments",
        })
    }
}

/// Asks what to do. An option is chosen with the arrow keys or by its first letters. Keys that were pressed before the
/// question was there are no answer to it.
fn choose(is_cut: bool) -> Result<Choice, InquireError> {
    modes::discard_typed();
    let mut choices = vec![Choice::Approve, Choice::Deny, Choice::Edit, Choice::Always];
    choices.extend(is_cut.then_some(Choice::ShowAll));
    Select::new("Approve this call?", choices)
        .with_help_message("↑↓ or first letters, Enter to choose, Esc denies, Ctrl-C interrupts")
        .with_scorer(&|input, _, label, _| label.starts_with(&input.to_lowercase()).then_some(0))
        // Equal scores keep the order.
        .with_sorter(&|options| options.sort_by_key(|(index, _)| *index))
        .prompt()
}

/// Asks for the reason of a denial.
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
    use super::{AlwaysApproved, DENIED, reason_or_default};

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
