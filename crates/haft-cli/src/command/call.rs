//! `haft call`: one call, checked like a model's.

pub(crate) mod argument;
mod outcome;
mod parameter;

use std::path::{Path, PathBuf};
use std::time::Duration;

use haft::registry::{Executor, RegisteredTool};
use haft::run::{Dispatch, RunOptions, ToolCall, ToolEvent, ToolResult};

use self::argument::{Argument, ArgumentTree};
use self::outcome::{Approvals, Wanted};
use crate::approval::verdict_file::Others;
use crate::approval::{ApproveMode, Approver};
use crate::calls::name;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::input::TextInput;
use crate::run_options::seconds;
use crate::run_output::note_rejected;
use crate::screen::Screen;
use crate::view::LiveView;
use crate::workspace::{CallerArgument, OpenWorkspace, Remarks};

/// The call's id.
const CALL_ID: &str = "call_1";

/// Calls a tool, with its arguments checked like those of a model
///
/// The result goes to standard output: text or indented JSON on a terminal, one line of JSON otherwise.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft call calculate '{\"expression\": \"0.1 + 0.2\"}'
  haft call calculate --arg expression='0.1 + 0.2'
  haft call dev/search @arguments.json --arg limit=5    take a file, and replace one argument
  echo '{\"path\": \"notes.txt\"}' | haft call file_read -
  haft call dev/draw --arg size:='[64, 64]' --save .    save the images and files of the result

The value of `--arg` is JSON if the parameter takes no string and the value is valid JSON; else it
is a string. `--arg a.b=1` sets `b` of the object `a`, and `--arg a:='[1, 2]'` is always JSON.

The limits of the workspace hold too: of two limits, the stricter applies. In a file of verdicts the
call has the id `call_1`.

Exit codes: 0 done, 1 the tool failed, 2 invalid arguments, usage or workspace, 3 denied or not
permitted, 130 interrupted.")]
pub(crate) struct CallArguments {
    /// The name of the tool, full or shorter
    #[arg(value_name = "NAME")]
    name: String,
    /// The arguments as JSON, `@FILE`, or `-` for standard input
    #[arg(value_name = "JSON|@FILE|-")]
    arguments: Option<String>,
    /// Sets one argument; may be repeated
    #[arg(long = "arg", short = 'a', value_name = "KEY=VALUE")]
    args: Vec<Argument>,
    /// The maximum duration of the call, in seconds, not counting the wait for approval
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
    /// The approver of a call that requires it: `ask` at the terminal, `all`, `none`, or a file of verdicts. Without it,
    /// `ask` on a terminal and `none` otherwise
    #[arg(long, value_name = "ask|all|none|FILE")]
    approve: Option<ApproveMode>,
    #[command(flatten)]
    caller: CallerArgument,
    /// Saves the images, audio and files of the result in this folder
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Prints JSON on a terminal too, and failures as JSON
    #[arg(long)]
    json: bool,
}

/// Calls a tool.
pub(crate) async fn run(arguments: CallArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let workspace = OpenWorkspace::open_as(cx, Remarks::Announced, &arguments.caller).await?;
    let executor = &workspace.executor;
    let found = workspace.tool(&arguments.name)?;
    let text = argument_text(&arguments, &found, cx).await?;
    let call = ToolCall::new(CALL_ID, found.tool.name(), text);
    let mode = arguments.approve.clone().unwrap_or_else(|| ApproveMode::default_for(cx));
    let result = run_call(&call, &mode, arguments.timeout, executor, cx).await?;
    let Some(result) = result else { return Err(Fault::new("the call got no result").into()) };
    let approvals = if mode == ApproveMode::None { Approvals::Nobody } else { Approvals::Somebody };
    let wanted = Wanted { save: arguments.save, json: arguments.json, approvals };
    outcome::report(&result, &found.tool, &wanted, cx)
}

/// Returns the arguments as a model's text.
async fn argument_text(
    arguments: &CallArguments,
    found: &RegisteredTool,
    cx: &Context,
) -> Result<String, CommandError> {
    let input = match arguments.arguments.as_deref() {
        None => TextInput { origin: "the arguments".to_owned(), text: "{}".to_owned() },
        Some("-") => TextInput::read_or_wait(Path::new("-"), cx).await?,
        Some(text) if argument::is_assignment(text) => {
            let fault = Fault::new(format!("the arguments `{text}` are not JSON"));
            return Err(fault.advice(format!("set an argument with `--arg '{text}'`")).into());
        }
        Some(text) => match text.strip_prefix('@') {
            Some(path) => TextInput::read(Path::new(path))?,
            None => TextInput { origin: "the arguments".to_owned(), text: text.to_owned() },
        },
    };
    if arguments.args.is_empty() {
        return Ok(input.text);
    }
    let mut tree = ArgumentTree::read(&input)?;
    tree.set_all(&arguments.args, found.tool.json_schema())?;
    Ok(tree.to_string())
}

async fn run_call(
    call: &ToolCall,
    mode: &ApproveMode,
    timeout: Option<Duration>,
    executor: &Executor,
    cx: &Context,
) -> Result<Option<ToolResult>, CommandError> {
    let screen = Screen::new(cx);
    let mut own = RunOptions::new().cancellation(cx.interrupt.cancellation()).started_events();
    if let Some(timeout) = timeout {
        own = own.call_timeout(timeout);
    }
    let approver = mode.approver(Others::Denied, cx, &screen).await?;
    if let Approver::File(verdicts) = &approver {
        verdicts.ensure_known([&call.call_id].into_iter())?;
    }
    let options = approver.attach(executor.options().merge(own));
    let calls = [call.clone()];
    let mut view = LiveView::new(screen, &calls);
    let mut run = name::tools_for(&calls, executor)?.run_calls(calls.map(Into::into).into(), options);
    let mut result = None;
    while let Some(event) = run.next().await {
        view.event(&event);
        if let ToolEvent::Output { result: output, .. } = event {
            result = Some(output);
        }
    }
    drop(view);
    note_rejected(cx, &run);
    Ok(result)
}
