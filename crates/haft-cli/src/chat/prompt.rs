//! The line that a person types: a message, or a command that starts with `/`.
//!
//! A line that ends with a backslash continues in the next one; pasted text keeps its line breaks. Earlier messages are
//! suggested while you type, and Tab in an empty line brings the last one back.

use std::sync::{Arc, Mutex, PoisonError};

use inquire::autocompletion::Replacement;
use inquire::ui::{RenderConfig, Styled};
use inquire::{Autocomplete, CustomUserError, Editor, InquireError, Text};

use crate::error::{CommandError, Fault};
use crate::screen::Screen;

/// The number of suggestions on the screen.
const SUGGESTIONS: usize = 5;

/// A conversation command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChatCommand {
    Help,
    Tools,
    Usage,
    Save,
    Retry,
    Edit,
    Quit,
}

/// A person's input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Message(String),
    Command(ChatCommand),
    /// A command that does not exist.
    UnknownCommand(String),
    /// Nothing, or a line that was given up.
    Nothing,
    /// Ctrl-C in an empty line.
    Interrupted,
    /// Ctrl-D in an empty line.
    End,
}

/// The lines that were typed.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinePrompt {
    earlier: Vec<String>,
}

impl ChatCommand {
    pub(crate) const ALL: [Self; 7] =
        [Self::Help, Self::Tools, Self::Usage, Self::Save, Self::Retry, Self::Edit, Self::Quit];

    /// Returns the command as it is typed.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Help => "/help",
            Self::Tools => "/tools",
            Self::Usage => "/usage",
            Self::Save => "/save",
            Self::Retry => "/retry",
            Self::Edit => "/edit",
            Self::Quit => "/quit",
        }
    }

    /// Returns its description.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Help => "lists the commands",
            Self::Tools => "lists the tools that the model has",
            Self::Usage => "shows the tokens used",
            Self::Save => "writes the conversation, and shows where it is",
            Self::Retry => "asks the model again after an error or an interrupt",
            Self::Edit => "writes a message in the editor ($VISUAL or $EDITOR)",
            Self::Quit => "ends the conversation, as Ctrl-D does",
        }
    }
}

impl LinePrompt {
    /// Starts with an earlier session's messages.
    pub(crate) fn with_earlier(earlier: Vec<String>) -> Self {
        Self { earlier }
    }

    /// Reads a line.
    pub(crate) async fn read(&mut self, screen: &Screen) -> Result<Typed, CommandError> {
        let mut lines: Vec<String> = Vec::new();
        loop {
            let (earlier, is_first) = (self.earlier.clone(), lines.is_empty());
            let Some(read) = screen.ask(move || read_line(earlier, is_first)).await else {
                return Err(Fault::new("the prompt failed").into());
            };
            match read? {
                LineEnd::Line(line) => match line.strip_suffix('\\') {
                    Some(part) => lines.push(part.to_owned()),
                    None => {
                        lines.push(line);
                        return Ok(self.typed(&lines.join("\n")));
                    }
                },
                LineEnd::Interrupted if lines.is_empty() => return Ok(Typed::Interrupted),
                LineEnd::End if lines.is_empty() => return Ok(Typed::End),
                LineEnd::GivenUp | LineEnd::Interrupted | LineEnd::End => return Ok(Typed::Nothing),
            }
        }
    }

    /// Opens the editor for a message.
    pub(crate) async fn edit(&mut self, screen: &Screen) -> Result<Typed, CommandError> {
        let edit = || Editor::new("Message").with_file_extension(".md").prompt();
        match screen.ask(edit).await {
            Some(Ok(text)) if text.trim().is_empty() => Ok(Typed::Nothing),
            Some(Ok(text)) => {
                self.remember(text.trim());
                Ok(Typed::Message(text.trim().to_owned()))
            }
            Some(Err(InquireError::OperationCanceled | InquireError::OperationInterrupted)) => Ok(Typed::Nothing),
            Some(Err(error)) => Err(unusable(&error)),
            None => Err(Fault::new("the prompt failed").into()),
        }
    }

    fn typed(&mut self, text: &str) -> Typed {
        let text = text.trim();
        if text.is_empty() {
            return Typed::Nothing;
        }
        let is_command = text.starts_with('/') && !text.contains('\n');
        if !is_command {
            self.remember(text);
            return Typed::Message(text.to_owned());
        }
        match ChatCommand::ALL.into_iter().find(|command| command.as_str() == text) {
            Some(command) => Typed::Command(command),
            None if text == "/exit" => Typed::Command(ChatCommand::Quit),
            None => Typed::UnknownCommand(text.to_owned()),
        }
    }

    fn remember(&mut self, text: &str) {
        // A line can't show several.
        if !text.contains('\n') {
            self.earlier.retain(|earlier| earlier != text);
            self.earlier.push(text.to_owned());
        }
    }
}

/// Returns the command that is most like a text.
pub(crate) fn nearest_command(text: &str) -> Option<ChatCommand> {
    let distance = |command: ChatCommand| strsim::damerau_levenshtein(text, command.as_str());
    ChatCommand::ALL.into_iter().min_by_key(|command| distance(*command)).filter(|command| distance(*command) <= 2)
}

/// A line's end.
enum LineEnd {
    Line(String),
    /// A line with text was given up.
    GivenUp,
    Interrupted,
    End,
}

/// Reads one line. It blocks until a person has typed it.
fn read_line(earlier: Vec<String>, is_first: bool) -> Result<LineEnd, CommandError> {
    let current = Arc::new(Mutex::new(String::new()));
    let suggestions = Suggestions { earlier, current: Arc::clone(&current) };
    let sign = if is_first { ">" } else { "…" };
    let config = RenderConfig::default()
        .with_prompt_prefix(Styled::new(sign))
        .with_answered_prompt_prefix(Styled::new(sign))
        .with_canceled_prompt_indicator(Styled::new(""));
    let read =
        Text::new("").with_autocomplete(suggestions).with_page_size(SUGGESTIONS).with_render_config(config).prompt();
    let has_text = !current.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
    match read {
        Ok(line) => Ok(LineEnd::Line(line)),
        Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) if has_text => Ok(LineEnd::GivenUp),
        Err(InquireError::OperationInterrupted) => Ok(LineEnd::Interrupted),
        Err(InquireError::OperationCanceled) => Ok(LineEnd::End),
        Err(error) => Err(unusable(&error)),
    }
}

fn unusable(error: &InquireError) -> CommandError {
    Fault::new("the terminal can't be read").cause(error).advice("use `-p PROMPT`").into()
}

/// Suggests commands and earlier messages, and keeps the line's text: giving up a line with text does not end the
/// conversation.
#[derive(Clone)]
struct Suggestions {
    earlier: Vec<String>,
    current: Arc<Mutex<String>>,
}

impl Suggestions {
    fn of(&self, input: &str) -> Vec<String> {
        if input.is_empty() {
            return Vec::new();
        }
        let commands = ChatCommand::ALL.into_iter().map(|command| -> &str { command.as_str() });
        let commands = commands.filter(|_| input.starts_with('/'));
        let earlier = self.earlier.iter().rev().map(String::as_str);
        let matching = commands.chain(earlier).filter(|text| text.starts_with(input) && *text != input);
        matching.take(SUGGESTIONS).map(str::to_owned).collect()
    }
}

impl Autocomplete for Suggestions {
    fn get_suggestions(&mut self, input: &str) -> Result<Vec<String>, CustomUserError> {
        input.clone_into(&mut self.current.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(self.of(input))
    }

    fn get_completion(&mut self, input: &str, highlighted: Option<String>) -> Result<Replacement, CustomUserError> {
        let last = || if input.is_empty() { self.earlier.last().cloned() } else { self.of(input).into_iter().next() };
        Ok(highlighted.or_else(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_or_commands() {
        let mut prompt = LinePrompt::default();
        assert_eq!(prompt.typed(" hello \n"), Typed::Message("hello".to_owned()));
        assert_eq!(prompt.typed("/tools"), Typed::Command(ChatCommand::Tools));
        assert_eq!(prompt.typed("/exit"), Typed::Command(ChatCommand::Quit));
        assert_eq!(prompt.typed("/tolls"), Typed::UnknownCommand("/tolls".to_owned()));
        assert_eq!(prompt.typed("/a path\nand more"), Typed::Message("/a path\nand more".to_owned()));
        assert_eq!(prompt.typed("  "), Typed::Nothing);
        assert_eq!(prompt.earlier, ["hello"]);
        assert_eq!(nearest_command("/tolls"), Some(ChatCommand::Tools));
        assert_eq!(nearest_command("/etc/passwd"), None);
    }

    #[test]
    fn commands_and_earlier_messages_are_suggested_and_tab_brings_the_last_one_back() {
        let earlier = vec!["what is it".to_owned(), "when".to_owned()];
        let mut suggestions = Suggestions { earlier, current: Arc::default() };
        assert_eq!(suggestions.of("wh"), ["when", "what is it"]);
        assert_eq!(suggestions.of("/s"), ["/save"]);
        assert!(suggestions.of("").is_empty());
        assert_eq!(suggestions.get_completion("", None).unwrap().as_deref(), Some("when"));
        assert_eq!(suggestions.get_completion("/he", None).unwrap().as_deref(), Some("/help"));
        suggestions.get_suggestions("wha").unwrap();
        assert_eq!(*suggestions.current.lock().unwrap(), "wha");
    }
}
