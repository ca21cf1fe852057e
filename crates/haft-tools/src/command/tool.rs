//! A builder for tools that start a command.

use std::path::{MAIN_SEPARATOR, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use haft_core::ToolCall;
use haft_executor::{Cx, ForwardCx, Tool, ToolBuilder};
use haft_registry::{CallEffect, CallPreview, EntryError, EntryFault, Reach, Recipient, Secrets, StartedCommand};
use haft_schema::{Issue, Issues, JsonText};
use serde_json::{Map, Value, json};

use super::environment::Environment;
use super::option::{StderrReader, StdinFormat, StdoutFormat};
use super::render::pointer;
use super::template::ArgvTemplate;

/// A command that becomes a tool: a program, its arguments with places for the call's, and its limits.
///
/// ```
/// use haft_core::{Readonly, ToolCall};
/// use haft_executor::{Tool, Toolkit};
/// use haft_tools::command::CommandTool;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let command = CommandTool::new(["printf", "--", "%s", "{text}"]);
/// let print = Tool::dynamic("print").params_json(command.default_parameters()).annotate(Readonly(true));
/// let kit: Toolkit = Toolkit::new().with(command.build(print)?)?;
///
/// let result = kit.run_call(&ToolCall::new("c1", "print", r#"{"text": "$(id); -n"}"#)).await;
/// # if cfg!(unix) {
/// assert_eq!(result.to_model_text(), "$(id); -n");
/// # }
/// # Ok(())
/// # }
/// ```
///
/// # Arguments
///
/// The first element is the program. A name is looked up in `PATH`; a path is relative to the folder. In each further
/// element, `{name}` stands for a call argument:
///
/// - As a whole element it becomes one element, or one per array value; none if it is null or missing.
/// - Within an element it must be text, a number or a boolean. If all variables in an element are missing, so is the
///   element.
/// - `{name:json}` is the value as JSON, whatever its type.
/// - `{{` and `}}` are literal braces.
///
/// A value can't become an option. Before the first element `--`, an element that begins with a value must not begin
/// with `-`: the call is rejected, and the model reads why. In an option, a variable must come after `=`, as in
/// `--name={name}`. For other conventions, such as `@file` for a file with more arguments, add a `pattern` to the
/// parameter schema, unless the program is known for them. A `--` after a shell's script ends no options.
///
/// A variable can't be part of an argument that a program parses as code, because its value would be code. This covers:
///
/// - interpreters with their code options, anywhere in the command: `sh -c`, `python -c`, `node --eval`, also behind
///   wrappers, known or not: `docker run img sh -c`, `kubectl exec pod -- sh -c`, `mywrap bash -lc`,
///   `mywrap "sh -c {p}"`
/// - programs that take a command or a query as text: `ssh host`, `su -c`, `env -S`, `flock -c`, `watch`, `make`,
///   `git config`, `sed`, `awk`, `psql -c`, `sqlite3` and others
/// - any program's options whose name says so: those that end in a word such as `command`, `exec`, `eval`, `pager`
/// - the program itself, one behind a known wrapper (`timeout 5`, `sudo -u bob`, `find -exec`) or behind `exec`, and an
///   interpreter's script
/// - environment variables that load code (`env LD_PRELOAD={p}`, `docker run -e BASH_ENV={p}`)
/// - an interpreter that would read its code from the call's arguments on stdin
/// - a first character with its own meaning, such as the `+` in `vim +q`: begin the argument literally, or put `--`
///   before it
///
/// Before the program or the code, a variable stands for exactly one element, so that no number of values moves what
/// follows.
///
/// Write `["sh", "-c", "grep -e \"$1\" log.txt", "sh", "{p}"]`: `$1` is data. haft reads an `sh` script that gets
/// values, and rejects the command unless each `"$1"` is in double quotes and is data for a command that would be
/// accepted here too. Scripts with more than commands, lists, pipes and redirections (`$(…)`, functions, `case`) are
/// rejected if they get values. So are values for shells other than `sh`, `dash`, `bash` and their like: `ksh` and
/// `zsh` evaluate too much.
///
/// Programs are known by their names, and no list is complete. haft does not cover a program that is not listed or has
/// another name, code in another language or in a file, which may evaluate its arguments, and a file that a program
/// loads code from because a value names it or its folder, such as a repository's configuration.
///
/// Every variable must be one of the tool's parameters. Without stdin, every argument must have a variable.
///
/// # Environment
///
/// The environment contains only [`KEPT_VARIABLES`](super::KEPT_VARIABLES), the variables you set here, `HAFT_CALL_ID`,
/// and `HAFT_IDEMPOTENCY_KEY`, which is the same for every attempt at the call.
///
/// # Result
///
/// An exit code that is not a [success](Self::success_codes) is the failure `tool_failed`, and the model reads the
/// code. More output than [permitted](Self::max_stdout) kills the command and is the failure `output_too_large`. Output
/// in another form than [declared](Self::stdout) is `output_validation_error`. A command that can't be started is
/// `execution_error`, and its call has not started. The causes are [`CommandError`](super::CommandError)s.
#[derive(Clone, Debug)]
#[must_use = "a command is no tool until `build` is called"]
pub struct CommandTool {
    argv: Vec<String>,
    stdin: Option<StdinFormat>,
    stdout: StdoutFormat,
    stderr: StderrReader,
    folder: PathBuf,
    environment: Environment,
    success_codes: Vec<i32>,
    max_stdout: usize,
    max_stderr: usize,
    grace: Duration,
}

/// Setters. Faults are reported under the key that a setting has in a file's entry.
impl CommandTool {
    /// The default [`max_stdout`](Self::max_stdout): 1 MiB.
    pub const MAX_STDOUT: usize = 1 << 20;
    /// The default [`max_stderr`](Self::max_stderr): 16 KiB.
    pub const MAX_STDERR: usize = 16 << 10;
    /// The default [`grace`](Self::grace): 2 seconds.
    pub const GRACE: Duration = Duration::from_secs(2);
    /// The call timeout for a tool whose [limits](haft_executor::ExecutionLimits) have none: 60 seconds.
    pub const TIMEOUT: Duration = Duration::from_secs(60);

    /// Creates a command from its program and the arguments that follow.
    pub fn new(argv: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            stdin: None,
            stdout: StdoutFormat::default(),
            stderr: StderrReader::default(),
            folder: PathBuf::from("."),
            environment: Environment::default(),
            success_codes: vec![0],
            max_stdout: Self::MAX_STDOUT,
            max_stderr: Self::MAX_STDERR,
            grace: Self::GRACE,
        }
    }

    /// Sets what the command reads from stdin. By default it reads the arguments if the command has no variables, and
    /// nothing otherwise.
    pub fn stdin(mut self, format: StdinFormat) -> Self {
        self.stdin = Some(format);
        self
    }

    /// Sets the meaning of stdout. The default is text.
    pub fn stdout(mut self, format: StdoutFormat) -> Self {
        self.stdout = format;
        self
    }

    /// Sets who reads stderr if the command fails. The default is the operator alone.
    pub fn stderr(mut self, reader: StderrReader) -> Self {
        self.stderr = reader;
        self
    }

    /// Sets the working directory. The default is this process's.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.constants.insert(name.into(), value.into());
        self
    }

    /// Sets an environment variable to the secret with this name. It is read from the service [`Secrets`] for each
    /// call, and removed from whatever the command writes.
    pub fn secret_env(mut self, name: impl Into<String>, secret: impl Into<String>) -> Self {
        self.environment.secrets.insert(name.into(), secret.into());
        self
    }

    /// Sets the exit codes that mean success. The default is 0 alone.
    pub fn success_codes(mut self, codes: impl IntoIterator<Item = i32>) -> Self {
        self.success_codes = codes.into_iter().collect();
        self
    }

    /// Sets how many bytes the command may write to stdout, including progress. A command that writes more is killed.
    pub fn max_stdout(mut self, bytes: usize) -> Self {
        self.max_stdout = bytes;
        self
    }

    /// Sets how many bytes to keep from the end of stderr.
    pub fn max_stderr(mut self, bytes: usize) -> Self {
        self.max_stderr = bytes;
        self
    }

    /// Sets the time between `SIGTERM` and `SIGKILL` for a command whose call has ended. Zero kills at once.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Returns the names of the secrets that calls read.
    pub fn secret_names(&self) -> impl Iterator<Item = &str> {
        self.environment.secrets.values().map(String::as_str)
    }

    /// Returns the tool's reach: the command, which gets the secrets.
    #[must_use]
    pub fn reach(&self) -> Reach {
        self.reach_of(self.started())
    }

    pub(super) fn reach_of(&self, command: StartedCommand) -> Reach {
        Reach::nothing().with(Recipient::Command(command), self.secret_names().map(str::to_owned))
    }

    /// Returns the command as it is started.
    pub(super) fn started(&self) -> StartedCommand {
        let Environment { constants, secrets } = &self.environment;
        let mut command = StartedCommand::new(&self.argv, &self.folder);
        command.env.clone_from(constants);
        command.secret_env.clone_from(secrets);
        command
    }

    /// Returns the argument schema for a tool that has no other: an object with a required text for each variable, or
    /// any object if there are no variables.
    #[must_use]
    pub fn default_parameters(&self) -> Value {
        let template = ArgvTemplate::parse(&self.argv, &mut Vec::new());
        let mut names: Vec<&str> = template.variables().map(|variable| variable.name.as_str()).collect();
        if names.is_empty() {
            return json!({"type": "object"});
        }
        names.sort_unstable();
        names.dedup();
        let properties: Map<String, Value> =
            names.iter().map(|&name| (name.to_owned(), json!({"type": "string"}))).collect();
        json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
    }

    /// Builds the tool. Set what the model reads on the builder. This sets the handler and, if the command has
    /// variables, the [refine](ToolBuilder::refine) function: arguments that the command can't take are rejected before
    /// anybody is asked to approve them.
    pub fn build<P, R>(self, mut builder: ToolBuilder<P, R>) -> Result<Tool, EntryError> {
        let mut faults = Vec::new();
        let argv = self.argv.clone();
        let plan = Arc::new(self.plan(&mut faults));
        let previewed = Arc::clone(&plan);
        let effect = move |arguments: &JsonText| {
            let arguments = arguments.to_value();
            let none = Map::new();
            Ok(previewed.effect(previewed.started(arguments.as_object().unwrap_or(&none))?))
        };
        builder = builder.annotate(CallPreview::new(plan.effect(argv), effect));
        if !plan.environment.secrets.is_empty() {
            builder = builder.depends_on::<Secrets>();
        }
        if plan.template.variables().next().is_some() {
            let plan = Arc::clone(&plan);
            builder = builder.refine(move |arguments: Map<String, Value>, _cx: Cx| {
                std::future::ready(plan.argv(&arguments).map(|_| arguments))
            });
        }
        let defined = builder.define();
        let tool = match defined {
            Ok(tool) => tool,
            Err(error) => {
                faults.extend(EntryError::from(error).faults);
                return Err(EntryError { faults });
            }
        };
        plan.check_parameters(tool.parameters().as_json(), &mut faults);
        EntryError::check(faults)?;
        let limits = tool.limits().clone();
        let tool = if limits.timeout.is_none() { tool.with_limits(limits.timeout(Self::TIMEOUT))? } else { tool };
        let forward = move |_: Tool, call: ToolCall, cx: ForwardCx| {
            let plan = Arc::clone(&plan);
            async move { plan.execute(call, cx).await }
        };
        Ok(tool.with_forward(forward)?)
    }

    /// Returns what a call requires, and adds the command's faults to the list.
    fn plan(self, faults: &mut Vec<EntryFault>) -> CommandPlan {
        let template = ArgvTemplate::parse(&self.argv, faults);
        self.environment.check(faults);
        if self.success_codes.is_empty() {
            faults.push(EntryFault::at("/success-codes", "no exit code is a success; list at least one, such as 0"));
        }
        if self.max_stdout == 0 {
            faults.push(EntryFault::at("/max-stdout", "must be at least 1"));
        }
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|error| {
            faults.push(EntryFault::at("/folder", format!("the folder can't be used: {error}")));
            PathBuf::new()
        });
        let has_variables = template.variables().next().is_some();
        let default_stdin = if has_variables { StdinFormat::None } else { StdinFormat::Json };
        let stdin = self.stdin.unwrap_or(default_stdin);
        if let (Some(program), StdinFormat::Json) = (&template.reads_stdin, stdin) {
            let message = format!(
                "`{program}` would read the call's arguments on stdin as its code; name a script that reads them as data, \
                 or set `stdin = \"none\"`"
            );
            faults.push(EntryFault::at("/command", message));
        }
        CommandPlan {
            template,
            stdin,
            stdout: self.stdout,
            stderr: self.stderr,
            folder,
            environment: self.environment,
            success_codes: self.success_codes,
            max_stdout: self.max_stdout,
            max_stderr: self.max_stderr,
            grace: self.grace,
        }
    }
}

/// A checked command, as its calls run it.
#[derive(Debug)]
pub(super) struct CommandPlan {
    pub(super) template: ArgvTemplate,
    pub(super) stdin: StdinFormat,
    pub(super) stdout: StdoutFormat,
    pub(super) stderr: StderrReader,
    pub(super) folder: PathBuf,
    pub(super) environment: Environment,
    success_codes: Vec<i32>,
    pub(super) max_stdout: usize,
    pub(super) max_stderr: usize,
    pub(super) grace: Duration,
}

impl CommandPlan {
    /// Returns the elements after the program, or the reasons why the arguments are rejected.
    pub(super) fn argv(&self, arguments: &Map<String, Value>) -> Result<Vec<String>, Issues> {
        let unused = |name: &&String| self.template.variables().all(|variable| variable.name != **name);
        let unused: Vec<Issue> = match self.stdin {
            StdinFormat::Json => Vec::new(),
            StdinFormat::None => {
                let issue = |name: &String| Issue::new(pointer(name), "command", "is not used by the command; omit it");
                arguments.keys().filter(unused).map(issue).collect()
            }
        };
        match self.template.render(arguments) {
            Ok(argv) if unused.is_empty() => Ok(argv),
            Ok(_) => Err(Issues::new(unused)),
            Err(issues) => Err(issues.into_vec().into_iter().chain(unused).collect()),
        }
    }

    /// Returns the program and the elements after it, or the reasons why the arguments are rejected.
    fn started(&self, arguments: &Map<String, Value>) -> Result<Vec<String>, Issues> {
        Ok(std::iter::once(self.template.program.clone()).chain(self.argv(arguments)?).collect())
    }

    /// Returns the effect of starting this.
    fn effect(&self, argv: Vec<String>) -> CallEffect {
        CallEffect::Starts {
            argv,
            folder: self.folder.clone(),
            reads_arguments: self.stdin == StdinFormat::Json,
            secrets: self.environment.secrets.values().cloned().collect(),
        }
    }

    /// Returns the program as the system looks it up: by its name, or by its path from the folder.
    pub(super) fn program(&self) -> PathBuf {
        let program = &self.template.program;
        if program.contains(['/', MAIN_SEPARATOR]) { self.folder.join(program) } else { PathBuf::from(program) }
    }

    pub(super) fn is_success(&self, status: ExitStatus) -> bool {
        status.code().is_some_and(|code| self.success_codes.contains(&code))
    }

    /// Adds the faults between the command and its tool's parameters to the list.
    fn check_parameters(&self, schema: &Value, faults: &mut Vec<EntryFault>) {
        let properties = schema["properties"].as_object();
        let mut names: Vec<&str> = self.template.variables().map(|variable| variable.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in &names {
            if !properties.is_some_and(|properties| properties.contains_key(*name)) {
                let message = format!("`{{{name}}}` is no parameter; add it to the `properties` of the parameters");
                faults.push(EntryFault::at("/command", message));
            }
        }
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        for variable in self.template.after_option() {
            if !required.iter().any(|name| name == variable.name.as_str()) {
                let name = &variable.name;
                let message = format!(
                    "`{{{name}}}` follows an option and is not a required parameter; without a value the option would \
                     take the next argument; write `--option={{{name}}}`, or make it required"
                );
                faults.push(EntryFault::at("/command", message));
            }
        }
        for variable in self.template.counted() {
            if !required.iter().any(|name| name == variable.name.as_str()) {
                let name = &variable.name;
                let message = format!(
                    "`{{{name}}}` is not a required parameter; without a value, what follows it would have another \
                     meaning; make it required"
                );
                faults.push(EntryFault::at("/command", message));
            }
        }
        if self.stdin == StdinFormat::None {
            let unused = properties.into_iter().flat_map(Map::keys).filter(|name| !names.contains(&name.as_str()));
            for name in unused {
                let message = format!("the parameter is not used; write `{{{name}}}` in the command, or set `stdin`");
                faults.push(EntryFault::at(format!("/parameters/properties{}", pointer(name)), message));
            }
        }
    }
}
