//! The command in a pseudo-terminal, as a person sees it and types to it.
//!
//! ```text
//! let mut pty = PtyCommand::new(["call", "delete_file", r#"{"path": "a.txt"}"#]).folder(&workspace).size(80, 24).spawn();
//! pty.wait_for("Approve");        // reads until the screen contains it
//! pty.send("\r");                 // keys as a terminal sends them: see the constants in `key`
//! assert_eq!(pty.wait_exit(), 0); // reads the rest
//! assert!(pty.screen().contains("gone"));
//! ```
//!
//! The command starts with a clean environment: the test's `PATH`, its own home and state folder, a usual terminal's
//! `TERM`. Nothing here sleeps: a wait ends when the terminal has changed as expected. If it has not after
//! [`PATIENCE`], the wait fails with the screen's content. Something that is on the screen only for a moment can't be
//! waited for: let a tool wait for a file that the test writes, and look while it waits.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};
use tempfile::TempDir;
use vt100::Parser;

/// The time after which a wait fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The number of lines to keep when they leave the screen at its top.
const SCROLLBACK: usize = 10_000;

/// Keys as a terminal sends them.
pub(crate) mod key {
    pub(crate) const ENTER: &str = "\r";
    pub(crate) const ESCAPE: &str = "\u{1b}";
    pub(crate) const CTRL_C: &str = "\u{3}";
    pub(crate) const CTRL_D: &str = "\u{4}";
}

/// A command that is about to start in a terminal.
pub(crate) struct PtyCommand {
    command: CommandBuilder,
    size: PtySize,
    /// The home and the state of the command, removed with the terminal.
    home: TempDir,
}

/// A command in a terminal. It is killed when this is dropped.
pub(crate) struct Pty {
    parser: Parser,
    messages: Receiver<Message>,
    keyboard: Box<dyn Write + Send>,
    master: Box<dyn MasterPty + Send>,
    /// Open until the command has ended, so that the terminal's modes outlive the command.
    slave: Option<Box<dyn SlavePty + Send>>,
    process: u32,
    code: Option<u32>,
    output: Vec<u8>,
    _home: TempDir,
}

enum Message {
    Output(Vec<u8>),
    /// The command has ended, with this code, or by a signal.
    Exit {
        code: u32,
        signal: Option<String>,
    },
}

impl PtyCommand {
    /// Creates the command `haft` with these arguments, in a terminal of 80 columns and 24 rows.
    pub(crate) fn new(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_haft"));
        command.args(arguments);
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", home.path());
        command.env("HAFT_STATE_DIR", home.path().join("state"));
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.cwd(home.path());
        Self { command, size: PtySize::default(), home }
    }

    /// Sets the size of the terminal.
    pub(crate) fn size(mut self, columns: u16, rows: u16) -> Self {
        self.size = PtySize { rows, cols: columns, ..PtySize::default() };
        self
    }

    /// Sets the working folder. Without one it is an empty folder.
    pub(crate) fn folder(mut self, folder: &Path) -> Self {
        self.command.cwd(folder);
        self
    }

    /// Sets an environment variable, including one that is set otherwise (`HAFT_STATE_DIR` to share the state).
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts the command.
    pub(crate) fn spawn(self) -> Pty {
        let pair = native_pty_system().openpty(self.size).unwrap();
        let mut child = pair.slave.spawn_command(self.command).unwrap();
        let process = child.process_id().unwrap();
        let (sender, messages) = channel();
        let exit = sender.clone();
        thread::spawn(move || {
            let status = child.wait().unwrap();
            let _ = exit.send(Message::Exit { code: status.exit_code(), signal: status.signal().map(str::to_owned) });
        });
        let reader = pair.master.try_clone_reader().unwrap();
        thread::spawn(move || read(reader, &sender));
        Pty {
            parser: Parser::new(non_zero(self.size.rows), non_zero(self.size.cols), SCROLLBACK),
            messages,
            keyboard: pair.master.take_writer().unwrap(),
            master: pair.master,
            slave: Some(pair.slave),
            process,
            code: None,
            output: Vec::new(),
            _home: self.home,
        }
    }
}

impl Pty {
    /// Reads until the screen contains the text. Rows that the terminal wrapped are one line.
    pub(crate) fn wait_for(&mut self, text: &str) {
        self.wait_until(&format!("the screen contains {text:?}"), |pty| pty.screen().contains(text));
    }

    /// Reads until the condition holds. `expected` describes it for the message of a failure.
    pub(crate) fn wait_until(&mut self, expected: &str, condition: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !condition(self) {
            match self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => self.fail(&format!("waited too long until {expected}")),
                Err(RecvTimeoutError::Disconnected) => self.fail(&format!("the command ended before {expected}")),
            }
        }
    }

    /// Types text or keys.
    pub(crate) fn send(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Sends a signal to the command alone, by its name without `SIG`. A terminal's own Ctrl-C is `send(key::CTRL_C)`.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.process.to_string()]).status().unwrap();
        assert!(status.success(), "the signal {name} was not sent");
    }

    /// Returns what is on the screen now.
    pub(crate) fn screen(&self) -> String {
        self.parser.screen().contents()
    }

    /// Returns the lines that have left the screen at its top, and those on the screen.
    pub(crate) fn history(&mut self) -> String {
        let screen = self.parser.screen_mut();
        let (rows, columns) = screen.size();
        let mut lines = Vec::new();
        for above in (1..=screen.scrollback_len()).rev() {
            screen.set_scrollback(above);
            lines.extend(screen.rows(0, columns.get()).next());
        }
        screen.set_scrollback(0);
        lines.extend(screen.rows(0, columns.get()).take(rows.get().into()));
        lines.join("\n")
    }

    /// Returns everything that was written to the terminal, with its control sequences.
    pub(crate) fn output(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }

    /// Returns the terminal for questions about colours, the cursor and so on.
    pub(crate) fn terminal(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// Returns the modes of the terminal (echo, line editing, signals), to compare them.
    pub(crate) fn modes(&self) -> String {
        let modes = self.master.get_termios().unwrap();
        format!("{:?} {:?} {:?}", modes.local_flags, modes.input_flags, modes.output_flags)
    }

    /// Waits until the command has ended and nobody has the terminal open, and returns the exit code.
    pub(crate) fn wait_exit(&mut self) -> u32 {
        self.wait_until("the command has ended", |pty| pty.code.is_some());
        // The messages end with the last one who has the terminal open.
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Disconnected) => return self.code.unwrap(),
                Err(RecvTimeoutError::Timeout) => {
                    self.fail("the command has left a process that has the terminal open")
                }
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Output(bytes) => {
                self.parser.process(&bytes);
                self.output.extend(bytes);
            }
            Message::Exit { code, signal } => {
                self.code = Some(code);
                self.slave = None;
                if let Some(signal) = signal {
                    self.fail(&format!("the command was ended by a signal: {signal}"));
                }
            }
        }
    }

    fn fail(&self, message: &str) -> ! {
        let code = self.code.map_or_else(|| "runs".to_owned(), |code| format!("exit code {code}"));
        panic!("{message}\n--- screen ({code}):\n{}\n--- output:\n{}", self.screen(), self.output().escape_debug());
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if self.code.is_none() {
            let _ = Command::new("kill").args(["-s", "KILL", &self.process.to_string()]).status();
        }
    }
}

/// Sends what the terminal shows, until nobody has it open.
fn read(mut reader: Box<dyn Read + Send>, sender: &Sender<Message>) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = reader.read(&mut buffer) {
        if sender.send(Message::Output(buffer[..length].to_vec())).is_err() {
            return;
        }
    }
}

fn non_zero(value: u16) -> NonZeroU16 {
    NonZeroU16::new(value).expect("a terminal has rows and columns")
}

#[test]
fn the_terminal_shows_what_the_command_writes_and_has_its_exit_code() {
    let mut pty = PtyCommand::new(["--help"]).size(60, 10).spawn();
    assert_eq!(pty.wait_exit(), 0);
    assert!(pty.screen().contains("Exit codes"), "{}", pty.screen());
    assert!(!pty.screen().contains("Usage"), "{}", pty.screen());
    assert!(pty.history().contains("Usage"), "{}", pty.history());
    assert_eq!(PtyCommand::new(["--unknown"]).spawn().wait_exit(), 2);
}
