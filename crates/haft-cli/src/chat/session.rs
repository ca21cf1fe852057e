//! A conversation at the terminal: a person types a line, the model answers, and so on until the person ends it.
//!
//! Ctrl-C while the model answers or tools run cancels that answer, and the conversation goes on. Pressed twice in an
//! empty line, it ends the conversation; Ctrl-D does so at once. The state is stored whatever happens.

use haft::model::LoopEnd;
use haft::toolkit::ToolSource;

use super::agent::Chat;
use super::print::usage_text;
use super::prompt::{ChatCommand, LinePrompt, Typed, nearest_command};
use super::view::{AnswerForm, PersonView};
use super::{fault, turn};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::report;
use crate::screen::Screen;
use crate::terminal::printable;
use crate::workspace::OpenWorkspace;

/// A conversation at the terminal.
pub(crate) struct Session<'s> {
    pub(crate) chat: Chat,
    pub(crate) workspace: &'s OpenWorkspace,
    pub(crate) cx: &'s Context,
    pub(crate) screen: Screen,
}

/// The next step after a line.
enum Step {
    Read,
    Ask(String),
    Retry,
    Edit,
    Quit,
}

impl Session<'_> {
    /// Talks until the person ends it.
    pub(crate) async fn run(mut self) -> Result<ExitStatus, CommandError> {
        self.greet();
        let mut prompt = LinePrompt::with_earlier(self.chat.stored.question_lines());
        if self.chat.has_open_calls() {
            self.note("calls of the last answer wait for approval");
            self.answer().await?;
        } else if self.chat.is_unanswered() {
            self.note("the last message has no answer; /retry asks the model again");
        }
        let mut is_leaving = false;
        loop {
            let typed = tokio::select! {
                typed = prompt.read(&self.screen) => typed?,
                () = cancelled(self.cx) => break,
            };
            if typed == Typed::Interrupted {
                if is_leaving {
                    break;
                }
                is_leaving = true;
                self.note("press Ctrl-C again to quit, or Ctrl-D");
                continue;
            }
            is_leaving = false;
            let mut step = self.step(typed);
            if let Step::Edit = step {
                step = match prompt.edit(&self.screen).await? {
                    Typed::Message(text) => Step::Ask(text),
                    _ => Step::Read,
                };
            }
            match step {
                Step::Read | Step::Edit => {}
                Step::Ask(text) => {
                    self.chat.stored.ask(&text);
                    self.answer().await?;
                }
                Step::Retry => self.answer().await?,
                Step::Quit => break,
            }
        }
        self.chat.save()?;
        if !self.chat.stored.state.history().is_empty() {
            self.note(&format!("continue with `haft chat --resume {}`", self.chat.file.name()));
        }
        if self.cx.interrupt.is_raised() { Err(CommandError::Interrupted) } else { Ok(ExitStatus::Done) }
    }

    fn greet(&self) {
        let tools = self.workspace.executor.snapshot().toolkit().len();
        let chat = &self.chat;
        let again = if chat.is_resumed { ", resumed" } else { "" };
        let name = chat.file.name();
        self.note(&format!("{} with {tools} tools; conversation {name}{again}; /help for help", chat.place.model));
        if chat.is_resumed && !chat.stored.state.text().is_empty() {
            self.note(&format!("{} messages so far; the last answer:", chat.stored.questions()));
            self.note(&chat.stored.state.text());
        }
    }

    /// Lets the model answer what is in the history.
    async fn answer(&mut self) -> Result<(), CommandError> {
        let part = self.cx.interrupt.part();
        let form = if self.cx.terminal.stdout { AnswerForm::Streamed } else { AnswerForm::Whole };
        let mut view = PersonView::new(self.screen.clone(), self.chat.notes.clone(), form);
        let end = tokio::select! {
            end = turn::run(&mut self.chat, &mut view, part.cancellation()) => end?,
            // What does not end is dropped. The state is the one before its turn.
            () = part.overdue() => LoopEnd::Cancelled,
        };
        drop(view);
        drop(part);
        if let Some(note) = self.chat.notes.take() {
            self.note(&note);
        }
        self.chat.save()?;
        match fault::of_end(&end, &self.chat.place) {
            None => {}
            Some((_, ExitStatus::Interrupted)) => self.note("cancelled"),
            Some((fault, _)) => report::write_fault(self.cx.terminal, &fault),
        }
        let usage = usage_text(self.chat.stored.state.usage(), self.chat.stored.usage());
        if !usage.is_empty() {
            self.note(&usage);
        }
        Ok(())
    }

    /// Carries out what was typed, as far as it needs neither the model nor the keys.
    fn step(&mut self, typed: Typed) -> Step {
        match typed {
            Typed::Message(text) => return Step::Ask(text),
            Typed::End | Typed::Command(ChatCommand::Quit) => return Step::Quit,
            Typed::Command(ChatCommand::Edit) => return Step::Edit,
            Typed::Command(ChatCommand::Retry) if self.chat.is_unanswered() => return Step::Retry,
            Typed::Command(ChatCommand::Retry) => self.note("the model has answered everything"),
            Typed::Command(ChatCommand::Help) => self.help(),
            Typed::Command(ChatCommand::Tools) => self.tools(),
            Typed::Command(ChatCommand::Usage) => self.usage(),
            Typed::Command(ChatCommand::Save) => self.save(),
            Typed::UnknownCommand(text) => {
                let nearest = nearest_command(&text).map(|command| format!("did you mean {}? ", command.as_str()));
                let nearest = nearest.unwrap_or_default();
                self.note(&format!("there is no command {text}; {nearest}/help lists the commands"));
            }
            Typed::Nothing | Typed::Interrupted => {}
        }
        Step::Read
    }

    fn help(&self) {
        for command in ChatCommand::ALL {
            self.note(&format!("{:8} {}", command.as_str(), command.description()));
        }
        self.note("a line that ends with \\ goes on in the next one; Tab in an empty line brings the last one back");
        self.note("Ctrl-C cancels an answer");
    }

    fn tools(&self) {
        let snapshot = self.workspace.executor.snapshot();
        for tool in snapshot.toolkit() {
            let description = crate::terminal::one_line(tool.description().unwrap_or_default());
            let line = format!("{:20} {description}", tool.name());
            self.note(&crate::terminal::cut(&line, self.cx.terminal.width()));
        }
    }

    fn usage(&self) {
        let usage = self.chat.stored.usage();
        let (read, written, total) = (usage.input_tokens, usage.output_tokens, usage.total_tokens);
        self.note(&format!("tokens: {read} in, {written} out, {total} in total"));
        self.note(&format!(
            "of those {} from the cache, {} for reasoning",
            usage.cache_read_tokens, usage.reasoning_tokens
        ));
    }

    fn save(&mut self) {
        match self.chat.save() {
            Err(CommandError::Invalid(fault)) => report::write_fault(self.cx.terminal, &fault),
            Err(_) => self.note("the conversation can't be written"),
            Ok(()) if self.chat.stored.state.history().is_empty() => self.note("there is nothing to save yet"),
            Ok(()) => self.note(&format!("saved in {}", self.chat.file.path.display())),
        }
    }

    fn note(&self, text: &str) {
        let dim = anstyle::Style::new().dimmed();
        self.cx.terminal.note(format_args!("{dim}{}{dim:#}", printable(text)));
    }
}

/// Waits until the command is interrupted.
async fn cancelled(cx: &Context) {
    cx.interrupt.cancellation().cancelled().await;
}
