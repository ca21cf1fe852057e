//! The process that ends a server if this process can't.
//!
//! It is a shell that waits for its input, a pipe that only this process holds. When the pipe closes without a word,
//! this process is gone, however it ended, and the guard ends the server's group: first with `SIGTERM`, then with
//! `SIGKILL`. It is in a group of its own and ignores what a terminal sends, so it outlives both.

use std::io::{self, PipeWriter, Write};
use std::process::Stdio;

use tokio::process::{Child, Command};

const SCRIPT: &str = r#"trap "" HUP INT QUIT TERM PIPE
read -r group || exit 0
read -r word && exit 0
kill -s TERM -- "-$group" 2>/dev/null || exit 0
for pause in 1 1; do
    sleep "$pause"
    kill -s 0 -- "-$group" 2>/dev/null || exit 0
done
kill -s KILL -- "-$group" 2>/dev/null
"#;

/// A guard of one group. Dropping it without [`release`](Self::release) ends the group.
#[derive(Debug)]
pub(super) struct Guard {
    pipe: PipeWriter,
    /// Reaped by the runtime.
    _shell: Child,
}

impl Guard {
    /// Starts a guard that guards nothing yet.
    pub(super) fn start() -> io::Result<Self> {
        let (input, pipe) = io::pipe()?;
        let shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { pipe, _shell: shell })
    }

    /// Guards the group with this id.
    pub(super) fn watch(&mut self, group: u32) -> io::Result<()> {
        writeln!(self.pipe, "{group}")
    }

    /// Ends the guard: its group has no process left.
    pub(super) fn release(mut self) {
        // The only error is that the guard was killed.
        let _ = self.pipe.write_all(b"done\n");
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt, ExitStatusExt};

    use super::*;

    fn group(script: &str) -> std::process::Child {
        std::process::Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).process_group(0).spawn().unwrap()
    }

    /// Waits until the child has written a line, so that its traps are set.
    fn until_ready(child: &mut std::process::Child) {
        let mut byte = [0];
        io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut byte).unwrap();
    }

    #[tokio::test]
    async fn a_group_is_ended_when_the_pipe_closes() {
        // The second one must be killed, with the process that it has started.
        for (script, signal) in [("echo; sleep 1000", 15), ("trap '' TERM; echo; sleep 1000 & wait; sleep 1000", 9)] {
            let mut child = group(script);
            until_ready(&mut child);
            let mut guard = Guard::start().unwrap();
            guard.watch(child.id()).unwrap();
            drop(guard);
            let mut output = child.stdout.take().unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(signal), "{script}");
            // The end of the output: no process of the group is left that holds it.
            assert_eq!(io::Read::read_to_end(&mut output, &mut Vec::new()).unwrap(), 0);
        }
    }

    #[tokio::test]
    async fn a_guard_that_is_released_ends_nothing() {
        let mut child = group("echo; exec sleep 1000");
        until_ready(&mut child);
        let mut guard = Guard::start().unwrap();
        guard.watch(child.id()).unwrap();
        let Guard { mut pipe, _shell: mut shell } = guard;
        pipe.write_all(b"done\n").unwrap();
        drop(pipe);
        assert!(shell.wait().await.unwrap().success());
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
