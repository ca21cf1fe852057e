//! One run of another program, with errors that say which program it was.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, bail};

/// A program about to run.
#[derive(Debug)]
pub(crate) struct Invocation(Command);

impl Invocation {
    /// A program with no arguments yet.
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        Self(Command::new(program))
    }

    /// One more argument.
    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.0.arg(argument);
        self
    }

    /// More arguments.
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.0.args(arguments);
        self
    }

    /// A variable for the program alone.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// The folder the program runs in.
    pub(crate) fn current_dir(mut self, folder: &Path) -> Self {
        self.0.current_dir(folder);
        self
    }

    /// Runs it on our own streams; anything but success is an error.
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        let status = self.0.status().with_context(|| format!("cannot start `{}`", self.line()))?;
        self.judge(status, "")
    }

    /// Runs it silently; what it said on its error stream is part of the error.
    pub(crate) fn run_quietly(self) -> anyhow::Result<()> {
        self.stderr_in_error(Stdio::piped()).map(drop)
    }

    /// Runs it and gives its standard output; its error stream is ours.
    pub(crate) fn capture(self) -> anyhow::Result<String> {
        self.stderr_in_error(Stdio::inherit())
    }

    /// Whether it starts and succeeds; says nothing.
    pub(crate) fn succeeds(mut self) -> bool {
        let quiet = self.0.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    }

    /// The command itself, for what this type does not offer.
    pub(crate) fn into_command(self) -> Command {
        self.0
    }

    fn stderr_in_error(mut self, stderr: Stdio) -> anyhow::Result<String> {
        let output = self.0.stdin(Stdio::null()).stderr(stderr).output();
        let output = output.with_context(|| format!("cannot start `{}`", self.line()))?;
        self.judge(output.status, &String::from_utf8_lossy(&output.stderr))?;
        String::from_utf8(output.stdout).with_context(|| format!("`{}` did not print UTF-8", self.line()))
    }

    fn judge(&self, status: ExitStatus, complaint: &str) -> anyhow::Result<()> {
        if status.success() {
            return Ok(());
        }
        let separator = if complaint.is_empty() { "" } else { ":\n" };
        bail!("`{}` failed ({status}){separator}{}", self.line(), complaint.trim_end())
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
    fn a_failure_names_the_program_its_arguments_and_its_complaint() {
        let error = Invocation::new("sh").args(["-c", "echo out of paper >&2; exit 3"]).run_quietly().unwrap_err();
        let text = error.to_string();
        assert!(text.contains("sh -c"), "{text}");
        assert!(text.contains('3') && text.ends_with("out of paper"), "{text}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = Invocation::new("no-such-program-here").capture().unwrap_err();
        assert!(error.to_string().contains("cannot start `no-such-program-here`"));
    }

    #[test]
    fn standard_output_is_given_whole() {
        assert_eq!(Invocation::new("sh").args(["-c", "printf 'a\nb\n'"]).capture().unwrap(), "a\nb\n");
    }
}
