//! One question from a script: the answer on standard output, everything else on standard error.

use haft::conversation::Usage;

use super::agent::Chat;
use super::view::{AnswerForm, ChatView, JsonView, PersonView};
use super::{fault, turn};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::report;
use crate::screen::Screen;

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrintForm {
    Text,
    /// The loop's events as JSON lines.
    Json,
}

/// Asks one question, and prints the answer.
pub(crate) async fn run(
    chat: &mut Chat,
    question: &str,
    form: PrintForm,
    cx: &Context,
    screen: &Screen,
) -> Result<ExitStatus, CommandError> {
    let mut view: Box<dyn ChatView> = match form {
        PrintForm::Json => Box::new(JsonView::new(cx.terminal)),
        PrintForm::Text => {
            let answer = if cx.terminal.stdout { AnswerForm::Streamed } else { AnswerForm::Whole };
            Box::new(PersonView::new(screen.clone(), chat.notes.clone(), answer))
        }
    };
    let cancellation = cx.interrupt.cancellation();
    if chat.has_open_calls() {
        turn::run(chat, &mut *view, &cancellation).await?;
    }
    chat.stored.ask(question);
    let end = turn::run(chat, &mut *view, &cancellation).await?;
    let has_denied = view.has_denied();
    drop(view);
    if let Some(note) = chat.notes.take() {
        cx.terminal.note(crate::terminal::printable(&note));
    }
    if form == PrintForm::Text {
        cx.terminal.note(summary(chat.stored.state.usage(), chat.stored.usage(), &chat.file.name()));
    }
    match fault::of_end(&end, &chat.place) {
        None if has_denied => {
            cx.terminal.note("a call was denied or is not permitted; `--approve` chooses who approves calls");
            Ok(ExitStatus::Denied)
        }
        None => Ok(ExitStatus::Done),
        Some((_, ExitStatus::Interrupted)) => Err(CommandError::Interrupted),
        Some((fault, status)) => {
            report::write_fault(cx.terminal, &fault);
            Ok(status)
        }
    }
}

/// Returns a line about the tokens and the conversation.
fn summary(answer: Usage, total: Usage, name: &str) -> String {
    let tokens = usage_text(answer, total);
    let separator = if tokens.is_empty() { "" } else { "; " };
    format!("{tokens}{separator}saved: go on with `haft chat --resume {name}`")
}

/// Returns the tokens for an answer and for the whole conversation; empty if the provider has not counted them.
pub(crate) fn usage_text(answer: Usage, total: Usage) -> String {
    if total == Usage::default() {
        return String::new();
    }
    let Usage { input_tokens: read, output_tokens: written, .. } = answer;
    format!("tokens: {read} in, {written} out; {} in total", total.total_tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_has_the_tokens_if_they_are_counted() {
        let text = summary(Usage::new(20, 4), Usage::new(30, 5), "ab12");
        assert_eq!(text, "tokens: 20 in, 4 out; 35 in total; saved: go on with `haft chat --resume ab12`");
        assert_eq!(summary(Usage::default(), Usage::default(), "ab12"), "saved: go on with `haft chat --resume ab12`");
    }
}
