//! The settings of a command in an entry of a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::option::{StderrReader, StdinFormat, StdoutFormat};
use super::tool::CommandTool;

/// The settings of the kind `command`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct CommandSettings {
    /// The program and its arguments. No shell is involved. The program is a name that is looked up in `PATH`, or a path
    /// relative to the folder. `{name}` in an argument stands for a parameter: as a whole argument, or within one, as in
    /// `--name={name}`; `{name:json}` is its JSON; `{{` and `}}` are literal braces. A value that begins with `-` is
    /// rejected, unless an argument `--` precedes it. A parameter can't be part of an argument that a program parses as code,
    /// as in `["sh", "-c", "echo {x}"]`; write `["sh", "-c", "echo \"$1\"", "sh", "{x}"]`.
    #[schemars(length(min = 1))]
    command: Vec<String>,
    /// The standard input: `json`, the arguments as one JSON object in one line, or `none`. The default is `json` if the command
    /// has no variables, and `none` otherwise.
    stdin: Option<StdinFormat>,
    /// The standard output: `text`, `json`, or `json-lines`, where lines `{"progress": value}` are progress and a
    /// line `{"result": value}`, or else the last line, is the result. The default is `text`.
    #[serde(default)]
    stdout: StdoutFormat,
    /// The reader of stderr, if the command fails: `operator`, or `model`, which includes the operator. The default is
    /// `operator`.
    #[serde(default)]
    stderr: StderrReader,
    /// The working directory, relative to the folder of this file. The default is that folder.
    folder: Option<PathBuf>,
    /// Environment variables. The environment is otherwise empty, except for `HOME`, `LANG`, `LC_ALL`, `PATH`, `TMPDIR`,
    /// `TZ`, `HAFT_CALL_ID` and `HAFT_IDEMPOTENCY_KEY`.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Environment variables with the names of the secrets that they contain.
    #[serde(default)]
    secret_env: BTreeMap<String, String>,
    /// The exit codes of a success. The default is `[0]`.
    #[schemars(length(min = 1), inner(range(min = 0, max = 255)))]
    success_codes: Option<Vec<i32>>,
    /// The maximum number of bytes on stdout, with all progress. A command that writes more is killed. The default is
    /// 1048576. The part of the result that the model reads is limited by `max-output`.
    #[schemars(range(min = 1, max = 1_073_741_824))]
    max_stdout: Option<usize>,
    /// The number of bytes that are kept of the end of stderr. The default is 16384.
    #[schemars(range(max = 16_777_216))]
    max_stderr: Option<usize>,
    /// The seconds between `SIGTERM` and `SIGKILL` when a call times out or is cancelled. The default is 2. A `haft` that is
    /// interrupted waits for it, at most 60 seconds.
    #[schemars(range(min = 0, max = 3600))]
    grace: Option<f64>,
}

impl CommandSettings {
    /// Returns the command, with paths relative to a folder.
    pub(super) fn into_command(self, folder: &Path) -> CommandTool {
        let mut command = CommandTool::new(self.command).stdout(self.stdout).stderr(self.stderr);
        command = command.folder(match self.folder {
            // Without `.` in between: people read it, and one folder should have one spelling.
            Some(own) => folder.join(own).components().collect(),
            None if folder.as_os_str().is_empty() => Path::new(".").to_owned(),
            None => folder.to_owned(),
        });
        if let Some(format) = self.stdin {
            command = command.stdin(format);
        }
        command = self.env.into_iter().fold(command, |command, (name, value)| command.env(name, value));
        command = self.secret_env.into_iter().fold(command, |command, (name, secret)| command.secret_env(name, secret));
        if let Some(codes) = self.success_codes {
            command = command.success_codes(codes);
        }
        if let Some(bytes) = self.max_stdout {
            command = command.max_stdout(bytes);
        }
        if let Some(bytes) = self.max_stderr {
            command = command.max_stderr(bytes);
        }
        // The schema has rejected numbers that are no durations.
        if let Some(grace) = self.grace.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            command = command.grace(grace);
        }
        command
    }
}
