//! One run of another program, with errors that name the program.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, bail};

/// A program about to run.
#[derive(Debug)]
pub(crate) struct Invocation(Command);

impl Invocation {
    /// Creates an invocation without arguments.
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        Self(Command::new(program))
    }

    /// Adds an argument.
    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.0.arg(argument);
        self
    }

    /// Adds arguments.
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.0.args(arguments);
        self
    }

    /// Sets an environment variable of the program.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// Sets the folder in which the program runs.
    pub(crate) fn current_dir(mut self, folder: &Path) -> Self {
        self.0.current_dir(folder);
        self
    }

    /// Runs the program with our own streams. Any exit code but success is an error.
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        let status = self.0.status().with_context(|| format!("cannot start `{}`", self.line()))?;
        self.check(status, "")
    }

    /// Runs the program silently. An error contains its error stream.
    pub(crate) fn run_quietly(self) -> anyhow::Result<()> {
        self.stderr_in_error(Stdio::piped()).map(drop)
    }

    /// Runs the program and returns its standard output; its error stream is ours.
    pub(crate) fn capture(self) -> anyhow::Result<String> {
        self.stderr_in_error(Stdio::inherit())
    }

    /// Returns whether the program starts and succeeds; prints nothing.
    pub(crate) fn succeeds(mut self) -> bool {
        let quiet = self.0.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    }

    /// Returns the command itself, for settings that this type does not offer.
    pub(crate) fn into_command(self) -> Command {
        self.0
    }

    fn stderr_in_error(mut self, stderr: Stdio) -> anyhow::Result<String> {
        let output = self.0.stdin(Stdio::null()).stderr(stderr).output();
        let output = output.with_context(|| format!("cannot start `{}`", self.line()))?;
        self.check(output.status, &String::from_utf8_lossy(&output.stderr))?;
        String::from_utf8(output.stdout).with_context(|| format!("`{}` did not print UTF-8", self.line()))
    }

    fn check(&self, status: ExitStatus, stderr: &str) -> anyhow::Result<()> {
        if status.success() {
            return Ok(());
        }
        let separator = if stderr.is_empty() { "" } else { ":\n" };
        bail!("`{}` failed ({status}){separator}{}", self.line(), stderr.trim_end())
    }

    fn line(&self) -> String {
        let program = Path::new(self.0.get_program());
        let mut line = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
        for argument in self.0.get_args() {
            let _ = write!(line, " {}", argument.to_string_lossy());
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::Invocation;

    #[test]
    fn a_failure_contains_the_program_its_arguments_and_its_error_stream() {
        let error = Invocation::new("sh").args(["-c", "echo out of paper >&2; exit 3"]).run_quietly().unwrap_err();
        let text = error.to_string();
        assert!(text.contains("sh -c"), "{text}");
        assert!(text.contains('3') && text.ends_with("out of paper"), "{text}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Invocation::new("no-such-program-here").capture().unwrap_err();
        assert!(error.to_string().contains("cannot start `no-such-program-here`"));
    }

    #[test]
    fn standard_output_is_returned_whole() {
        assert_eq!(Invocation::new("sh").args(["-c", "printf 'a\nb\n'"]).capture().unwrap(), "a\nb\n");
    }
}
