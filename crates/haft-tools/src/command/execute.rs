//! One call to a command, from its arguments to its result.
//!
//! stdin, stdout, stderr and the exit are awaited together, so no order in which a command reads and writes can block
//! it. Everything happens within the call's future: dropping it drops the [`ChildGroup`], which kills the command.

use std::io;
use std::path::Path;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use haft_core::{FailureKind, ToolCall, ToolFailure, ToolOutput};
use haft_executor::{Cancellation, Cx, ForwardCx};
use haft_schema::Issues;
use serde_json::{Map, Value};
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, Command};
use tokio::time::sleep;

use super::error::CommandError;
use super::group::{ChildGroup, ChildPipes};
use super::option::{StderrReader, StdinFormat};
use super::pipe::PipeReader;
use super::stderr::StderrTail;
use super::stdout::{StdoutReader, TooMuchOutput};
use super::tool::CommandPlan;

/// The time for which a group's other processes may keep the output open after the command has exited.
const DRAIN: Duration = Duration::from_millis(500);

/// The message for the model about a command that did not start.
const NOT_STARTED: &str = "the command can't be started; only its operator can see the cause";

/// The most bytes from stderr that a model reads.
const MODEL_STDERR: usize = 4 * 1024;

impl CommandPlan {
    /// Runs the command for one call.
    pub(super) async fn execute(&self, call: ToolCall, cx: ForwardCx) -> Result<ToolOutput, ToolFailure> {
        cx.mark_unsent();
        let arguments = read_arguments(&call.arguments)?;
        let argv = self.argv(&arguments).map_err(invalid_arguments)?;
        let environment = self.environment.of_call(&cx);
        let environment = environment.map_err(|source| {
            not_started(CommandError::Environment { program: self.template.program.clone(), source })
        })?;
        let mut command = Command::new(self.program());
        command.args(argv).env_clear().envs(environment.variables).current_dir(&self.folder);
        let stdin = match self.stdin {
            StdinFormat::Json => Some(line(&call.arguments)),
            StdinFormat::None => None,
        };
        command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let tail = StderrTail::new(self.max_stderr, Arc::new(environment.redactor));

        cx.mark_sending()?;
        let group = ChildGroup::spawn(command, self.grace).map_err(|error| self.spawn_failure(error))?;
        let running = CommandCall { plan: self, group, tail };
        let cancelled = || ToolFailure::new(FailureKind::Cancelled, "").started();
        cx.run_until_cancelled(running.run(stdin, &cx)).await.unwrap_or_else(|| Err(cancelled()))
    }

    fn spawn_failure(&self, source: io::Error) -> ToolFailure {
        let (program, folder) = (self.template.program.clone(), self.folder.clone());
        if source.kind() == io::ErrorKind::ArgumentListTooLong {
            let message = "the arguments are too long for a command; shorten them";
            let cause = CommandError::Spawn { program, folder, source };
            return ToolFailure::new(FailureKind::InputValidationError, message).not_started().cause(cause);
        }
        if Path::is_dir(&folder) {
            not_started(CommandError::Spawn { program, folder, source })
        } else {
            not_started(CommandError::Folder { program, folder })
        }
    }
}

/// A command that was started for a call.
struct CommandCall<'a> {
    plan: &'a CommandPlan,
    group: ChildGroup,
    tail: StderrTail,
}

impl CommandCall<'_> {
    async fn run(mut self, stdin: Option<String>, cx: &Cx) -> Result<ToolOutput, ToolFailure> {
        let mut output = StdoutReader::new(self.plan.stdout, self.plan.max_stdout, Arc::clone(&self.tail.redactor));
        match self.communicate(stdin, &mut output, cx).await {
            Err(TooMuchOutput) => {
                self.group.terminate().await;
                Err(self.too_much_output())
            }
            Ok(exited) => {
                self.group.leader.kill_rest().await;
                let status = exited.map_err(|source| self.wait_failure(source))?;
                if !self.plan.is_success(status) {
                    return Err(self.exit_failure(status));
                }
                let result = output.finish(cx).await.map_err(|fault| self.output_failure(&fault))?;
                self.tail.redactor.check_result(result.as_str().as_bytes(), &result, cx)?;
                tracing::debug!(tool = cx.tool_name(), stderr = self.tail.text(), "the command succeeded");
                Ok(ToolOutput::new(result))
            }
        }
    }

    /// Writes and reads until the command has exited and its output has ended.
    async fn communicate(
        &mut self,
        stdin: Option<String>,
        output: &mut StdoutReader,
        cx: &Cx,
    ) -> Result<io::Result<ExitStatus>, TooMuchOutput> {
        // The pipes stay with the group, which keeps them open if it is dropped.
        let ChildGroup { leader, pipes: ChildPipes { stdin: input, stdout, stderr }, .. } = &mut self.group;
        let released = Cancellation::new();
        let stdout = PipeReader { pipe: stdout.as_mut(), released: released.clone() };
        let stderr = PipeReader { pipe: stderr.as_mut(), released: released.clone() };
        let tail = &mut self.tail;
        let reading = async {
            let errors = async {
                tail.read(stderr).await;
                Ok(())
            };
            tokio::try_join!(output.read(stdout, cx), errors).map(|_| ())
        };
        let (mut reading, mut writing) = (pin!(reading), pin!(feed(input.take(), stdin)));
        let (mut has_read, mut has_written) = (false, false);

        let status = {
            let mut exit = pin!(leader.wait());
            loop {
                tokio::select! {
                    read = &mut reading, if !has_read => {
                        read?;
                        has_read = true;
                    }
                    () = &mut writing, if !has_written => has_written = true,
                    status = &mut exit => break status,
                }
            }
        };
        if !has_read {
            tokio::select! {
                biased;
                read = &mut reading => return read.map(|()| status),
                () = sleep(DRAIN) => {}
            }
            // A process that the command has left behind holds the output.
            leader.kill_rest().await;
            released.cancel();
            reading.await?;
        }
        Ok(status)
    }

    fn too_much_output(&mut self) -> ToolFailure {
        let limit = self.plan.max_stdout;
        let message = format!(
            "the command was stopped, as its output exceeds the limit of {limit} bytes; request less, for example with a \
             filter or a smaller page"
        );
        let cause = CommandError::TooMuchOutput { program: self.program(), limit, stderr: self.tail.text() };
        ToolFailure::new(FailureKind::OutputTooLarge, message).cause(cause)
    }

    fn exit_failure(&mut self, status: ExitStatus) -> ToolFailure {
        let stderr = self.tail.text();
        let mut message = match status.code() {
            Some(code) => format!("the command failed with exit code {code}"),
            None => "the command was ended by a signal".to_owned(),
        };
        match self.plan.stderr {
            StderrReader::Model if !stderr.trim().is_empty() => {
                message.push_str(": ");
                message.push_str(end_of(stderr.trim(), MODEL_STDERR));
            }
            StderrReader::Model | StderrReader::Operator => {}
        }
        let cause = CommandError::Exit { program: self.program(), status, stderr };
        ToolFailure::new(FailureKind::ToolFailed, message).cause(cause)
    }

    fn output_failure(&mut self, fault: &str) -> ToolFailure {
        // The fault may quote the output, and that may contain a secret.
        let fault = self.tail.redact(fault);
        let cause = CommandError::InvalidOutput { program: self.program(), fault, stderr: self.tail.text() };
        let message = "the command returned invalid output; only its operator can see the cause";
        ToolFailure::new(FailureKind::OutputValidationError, message).cause(cause)
    }

    fn wait_failure(&self, source: io::Error) -> ToolFailure {
        let cause = CommandError::Wait { program: self.program(), source };
        ToolFailure::new(FailureKind::ExecutionError, "").cause(cause)
    }

    fn program(&self) -> String {
        self.plan.template.program.clone()
    }
}

/// Writes text to stdin and closes it. A command need not read it.
async fn feed(pipe: Option<ChildStdin>, text: Option<String>) {
    if let (Some(mut pipe), Some(text)) = (pipe, text) {
        drop(pipe.write_all(text.as_bytes()).await);
    }
}

/// Returns a text's end, at most this many bytes.
fn end_of(text: &str, most: usize) -> &str {
    let mut start = text.len().saturating_sub(most);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

fn read_arguments(text: &str) -> Result<Map<String, Value>, ToolFailure> {
    let message = "the arguments of a command must be a JSON object";
    let invalid = |error| ToolFailure::new(FailureKind::InputValidationError, message).not_started().cause(error);
    if text.trim().is_empty() { Ok(Map::new()) } else { serde_json::from_str(text).map_err(invalid) }
}

/// Returns the arguments as one line, with numbers as they were written. Outside strings a line break is white space,
/// and JSON strings contain none.
fn line(arguments: &str) -> String {
    let object = if arguments.trim().is_empty() { "{}" } else { arguments };
    object.replace(['\n', '\r'], " ") + "\n"
}

fn invalid_arguments(issues: Issues) -> ToolFailure {
    ToolFailure::with_issues(FailureKind::InputValidationError, issues).not_started()
}

fn not_started(cause: CommandError) -> ToolFailure {
    ToolFailure::new(FailureKind::ExecutionError, NOT_STARTED).not_started().cause(cause)
}
