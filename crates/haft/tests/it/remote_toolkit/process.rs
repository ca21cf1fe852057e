//! A process with tools: this program again, which runs one test of its own and serves tools in it.

use std::env;
use std::io::{BufReader, Write, stdout};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Set in the process that has the tools.
const SERVES: &str = "HAFT_TEST_SERVES_TOOLS";

/// A process with tools, which is ended and waited for when this is dropped: none is left behind.
pub(super) struct ToolProcess(Child);

/// The pipes of a process.
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: BufReader<ChildStdout>,
    pub(super) stderr: BufReader<ChildStderr>,
}

/// Held while a process starts: until it is executed, it has copies of the pipes of others, which keep them open.
static STARTING: Mutex<()> = Mutex::new(());

/// Keeps other processes from being started, so that the pipes of one that is killed are closed.
pub(super) fn starts_stopped() -> MutexGuard<'static, ()> {
    STARTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reports whether this is the process that has the tools.
pub(super) fn serves_tools() -> bool {
    let serves = env::var_os(SERVES).is_some();
    if serves {
        // The test harness may have begun a line.
        stdout().write_all(b"\n").unwrap();
    }
    serves
}

impl ToolProcess {
    /// Starts this program again with one test, given by its path in this crate.
    pub(super) fn start(test: &str) -> (Self, Pipes) {
        let test = test.strip_prefix("it::").unwrap();
        let starting = starts_stopped();
        let mut child = Command::new(env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env(SERVES, "1")
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(starting);
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr = BufReader::new(child.stderr.take().unwrap());
        (Self(child), Pipes { stdin, stdout, stderr })
    }

    /// Ends the process at once, whatever it does, and waits until it is gone.
    pub(super) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Waits until the process has ended by itself, successfully.
    pub(super) fn wait(&mut self) {
        assert!(self.0.wait().unwrap().success(), "the process with the tools failed");
    }
}

impl Drop for ToolProcess {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
