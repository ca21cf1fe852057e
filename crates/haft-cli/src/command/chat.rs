//! `haft chat`.

use std::path::{Path, PathBuf};

use clap::ArgAction;

use crate::approval::ApproveMode;
use crate::chat::agent::{Chat, ChatChoice, ChatOrigin};
use crate::chat::list;
use crate::chat::model::ModelName;
use crate::chat::print::{self, PrintForm};
use crate::chat::session::Session;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::input::TextInput;
use crate::screen::Screen;
use crate::workspace::{CallerArgument, OpenWorkspace, Remarks};

/// Talks to a model that has the tools of the workspace
///
/// The answer streams to standard output, calls are shown as they run, and calls that require approval are asked about.
/// Ctrl-C cancels an answer, Ctrl-D ends the conversation, which is stored and can be resumed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft chat --model openai:gpt-5-mini                  talk; the key is in OPENAI_API_KEY
  haft chat --model openai-chat:llama3.3 --base-url http://localhost:11434/v1
                                                       a local server, without a key
  haft chat --resume                                   continue the last conversation
  haft chat -p 'What is 2^64?' > answer.txt            one answer, for scripts
  git diff | haft chat --model anthropic:claude-sonnet-4-5 --system 'Review this change.'
  haft chat --list                                     list the stored conversations

Keys: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or GOOGLE_API_KEY.
Exit codes: 0 answered, 1 the model did not answer, 2 invalid usage or conversation,
3 answered, but a call was denied or is not permitted (with -p).")]
pub(crate) struct ChatArguments {
    /// The model: openai, openai-chat, anthropic or gemini with the provider's name of the model, or scripted with a
    /// file of answers [env: `HAFT_MODEL`]
    #[arg(long, short = 'm', value_name = "PROVIDER:NAME")]
    model: Option<ModelName>,
    /// The server, in place of the provider's: any that speaks the same API
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Continues a stored conversation: the latest, or the one with this id or in this file
    #[arg(long, short = 'r', value_name = "ID|FILE", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
    /// Stores the conversation in this file, in place of the folder for state
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Asks this and prints the answer; `-` reads standard input. Without it, a standard input that is no terminal is
    /// the prompt
    #[arg(long, short = 'p', value_name = "PROMPT")]
    print: Option<String>,
    /// Decides about calls that require approval: ask, all, none, or a file of verdicts. The default is to ask at the
    /// terminal, and none with -p
    #[arg(long, value_name = "MODE")]
    approve: Option<ApproveMode>,
    #[command(flatten)]
    caller: CallerArgument,
    /// The maximum number of turns of one answer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: Option<u32>,
    /// The maximum number of retries of a request while the provider is unavailable or busy
    #[arg(long, value_name = "N", default_value_t = 10)]
    retries: u32,
    /// Instructions for the model, or a file with them
    #[arg(long, value_name = "TEXT|@FILE")]
    system: Option<String>,
    /// Prints the events of the loop as JSON lines, with -p; with --list, the conversations
    #[arg(long, action = ArgAction::SetTrue)]
    json: bool,
    /// Lists the stored conversations
    #[arg(long, conflicts_with_all = ["model", "base_url", "resume", "save", "print", "approve", "max_turns", "system"])]
    list: bool,
}

/// Carries out the command.
pub(crate) async fn run(arguments: ChatArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    if arguments.list {
        return list::run(cx, arguments.json);
    }
    let question = question(&arguments, cx).await?;
    let screen = Screen::new(cx);
    let instructions = arguments.system.as_deref().map(instructions).transpose()?;
    let approve = match (arguments.approve, &question) {
        (Some(mode), _) => mode,
        (None, Some(_)) => ApproveMode::None,
        (None, None) => ApproveMode::default_for(cx),
    };
    let choice = ChatChoice {
        model: arguments.model,
        base_url: arguments.base_url,
        origin: match arguments.resume {
            None => ChatOrigin::New,
            Some(name) if name.is_empty() => ChatOrigin::Latest,
            Some(name) => ChatOrigin::Named(name),
        },
        save: arguments.save,
        approve,
        max_turns: arguments.max_turns,
        retries: arguments.retries,
        instructions,
    };
    let workspace = OpenWorkspace::open_as(cx, Remarks::Announced, &arguments.caller).await?;
    let mut chat = Chat::open(choice, &workspace, cx, &screen).await?;
    match question {
        Some(question) => {
            let form = if arguments.json { PrintForm::Json } else { PrintForm::Text };
            print::run(&mut chat, &question, form, cx, &screen).await
        }
        None => Session { chat, workspace: &workspace, cx, screen }.run().await,
    }
}

/// Returns a script's question, or `None` if a person types.
async fn question(arguments: &ChatArguments, cx: &Context) -> Result<Option<String>, CommandError> {
    let question = match arguments.print.as_deref() {
        None if cx.terminal.is_interactive() => {
            return if arguments.json {
                let fault = Fault::new("`--json` is for scripts");
                Err(fault.advice("add `-p PROMPT`, or pipe the prompt into the command").into())
            } else {
                Ok(None)
            };
        }
        None if cx.terminal.stdin => {
            let fault = Fault::new("a conversation needs a terminal: standard error is none");
            return Err(fault.advice("use `-p PROMPT`").into());
        }
        None | Some("-") => TextInput::read_or_wait(Path::new("-"), cx).await?.text,
        Some(text) => text.to_owned(),
    };
    let question = question.trim();
    if question.is_empty() {
        let fault = Fault::new("the prompt is empty");
        return Err(fault.advice("write it after `-p`, or pipe it into the command").into());
    }
    Ok(Some(question.to_owned()))
}

/// Returns instructions, or a file's.
fn instructions(text: &str) -> Result<String, Fault> {
    match text.strip_prefix('@') {
        Some(path) => Ok(TextInput::read(Path::new(path))?.text.trim_end().to_owned()),
        None => Ok(text.to_owned()),
    }
}
