//! Conversations at a terminal: streaming, verdicts, interrupts, and files that survive all of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::pty::{Pty, PtyCommand, key};

/// A folder with a workspace, a script and the state of the command.
struct Talk {
    folder: TempDir,
}

impl Talk {
    /// Creates a workspace in which `calculate` requires approval, and a script of these turns.
    fn new(turns: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let talk = Self { folder };
        talk.write("haft.toml", "[workspace]\nstandard = true\n\n[[approval]]\nask = \"calculate\"\n");
        talk.write("script.json", &json!({ "turns": turns }).to_string());
        talk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn pty(&self, arguments: &[&str]) -> PtyCommand {
        let arguments = ["chat", "--model", "scripted:script.json"].iter().chain(arguments);
        PtyCommand::new(arguments).folder(self.folder.path()).env("HAFT_STATE_DIR", self.path("state")).size(100, 30)
    }

    /// Starts a conversation, and asks a question.
    fn ask(&self, question: &str) -> Pty {
        let mut pty = self.pty(&["--save", "talk.json"]).spawn();
        pty.wait_for("/help for help");
        say(&mut pty, question);
        pty
    }

    /// Runs the command without a terminal.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        command.args(arguments).current_dir(self.folder.path()).env("HAFT_STATE_DIR", self.path("state"));
        command.stdin(Stdio::null());
        command
    }

    /// Returns the items of the stored history, by their type, or role and text.
    fn history(&self) -> Vec<String> {
        let stored: Value = serde_json::from_slice(&fs::read(self.path("talk.json")).unwrap()).unwrap();
        let items = stored["request"]["history"].as_array().unwrap();
        items
            .iter()
            .map(|item| match item["type"].as_str().unwrap() {
                "message" => format!("{}: {}", text(&item["role"]), text(&item["content"][0]["text"])),
                "tool_output" => format!("output: {}", text(&item["output"])),
                other => other.to_owned(),
            })
            .collect()
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Types a line once the prompt is there.
fn say(pty: &mut Pty, line: &str) {
    pty.wait_until("the prompt is there", |pty| pty.screen().trim_end().ends_with('>'));
    pty.send(line);
    pty.send(key::ENTER);
}

fn quit(mut pty: Pty) {
    pty.wait_until("the prompt is there", |pty| pty.screen().trim_end().ends_with('>'));
    pty.send(key::CTRL_D);
    assert_eq!(pty.wait_exit(), 0);
    assert!(pty.history().contains("haft chat --resume"), "{}", pty.history());
}

fn calculate(expression: &str) -> Value {
    json!({"calls": [{"call_id": "c1", "name": "calculate", "arguments": {"expression": expression}}]})
}

/// Waits for something outside of the terminal.
#[track_caller]
fn wait_until(expected: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "waited too long until {expected}");
        std::thread::yield_now();
    }
}

#[test]
fn an_answer_streams_and_ctrl_c_cancels_it_and_the_conversation_goes_on() {
    let talk = Talk::new(&json!([{"text": "Hello, I am", "then": "pending"}, {"text": "Goodbye then."}]));
    let mut pty = talk.ask("hi");
    pty.wait_for("Hello, I am");
    pty.send(key::CTRL_C);
    pty.wait_for("cancelled");
    say(&mut pty, "bye");
    pty.wait_for("Goodbye then.");
    quit(pty);
    assert_eq!(talk.history(), ["user: hi", "user: bye", "assistant: Goodbye then."]);
}

#[test]
fn a_call_is_approved_at_the_prompt() {
    let talk = Talk::new(&json!([calculate("6 * 7"), {"text": "It is known."}]));
    let mut pty = talk.ask("what is it?");
    pty.wait_for("Approve this call?");
    pty.send("ap\r");
    pty.wait_for("It is known.");
    assert!(pty.screen().contains("✓ calculate"), "{}", pty.screen());
    quit(pty);
    assert!(talk.history()[2].contains("42"), "{:?}", talk.history());
}

#[test]
fn a_call_is_denied_at_the_prompt_and_the_model_reads_why() {
    let talk = Talk::new(&json!([calculate("6 * 7"), {"text": "As you wish."}]));
    let mut pty = talk.ask("what is it?");
    pty.wait_for("Approve this call?");
    pty.send("d\r");
    pty.wait_for("Reason");
    pty.send("too easy\r");
    pty.wait_for("As you wish.");
    quit(pty);
    assert!(talk.history()[2].contains("too easy"), "{:?}", talk.history());
}

#[test]
fn a_call_is_edited_in_the_editor() {
    let talk = Talk::new(&json!([calculate("6 * 7"), {"text": "It is known."}]));
    talk.write("edit.sh", "sed 's/6/8/' \"$1\" > new && cat new > \"$1\"\n");
    let editor = format!("sh {}", talk.path("edit.sh").display());
    let mut pty = talk.pty(&["--save", "talk.json"]).env("EDITOR", &editor).spawn();
    say(&mut pty, "what is it?");
    pty.wait_for("Approve this call?");
    pty.send("e\r");
    pty.wait_for("as you edited it");
    pty.wait_until("the question is there again", |pty| pty.screen().matches("Approve this call?").count() == 2);
    pty.send("ap\r");
    pty.wait_for("It is known.");
    assert!(pty.screen().contains("8 * 7"), "{}", pty.screen());
    quit(pty);
    assert!(talk.history()[2].contains("56"), "{:?}", talk.history());
}

#[test]
fn ctrl_c_at_the_question_cancels_the_answer_and_not_the_conversation() {
    let talk = Talk::new(&json!([calculate("6 * 7"), {"text": "Something else."}]));
    let mut pty = talk.ask("what is it?");
    pty.wait_for("Approve this call?");
    pty.send(key::CTRL_C);
    pty.wait_for("cancelled");
    say(&mut pty, "go on");
    pty.wait_for("Something else.");
    quit(pty);
    let history = talk.history();
    assert_eq!(
        history.iter().filter(|item| *item == "tool_call").count(),
        history.iter().filter(|item| item.starts_with("output")).count()
    );
}

/// A command that writes its process id, and waits.
fn slow_talk(turns: &Value) -> Talk {
    let talk = Talk::new(turns);
    talk.write("slow.sh", "echo $$ > pid.new && mv pid.new pid && exec sleep 1000\n");
    talk.write(
        "haft.toml",
        "[workspace]\nstandard = true\n\n[toolbox.dev.tool.slow]\nkind = \"command\"\ndescription = \"Waits.\"\ncommand = [\"sh\", \"slow.sh\"]\n",
    );
    let trusted = talk.command(&["trust", "--yes"]).output().unwrap();
    assert!(trusted.status.success(), "{}", String::from_utf8_lossy(&trusted.stderr));
    talk
}

fn slow_call() -> Value {
    json!({"text": "One moment.", "calls": [{"call_id": "c1", "name": "dev/slow", "arguments": {}}]})
}

/// Reports whether a process exists.
fn is_alive(pid: &str) -> bool {
    Command::new("kill").args(["-s", "0", pid]).stderr(Stdio::null()).status().unwrap().success()
}

fn started_pid(folder: &Path) -> String {
    wait_until("the tool runs", || folder.join("pid").exists());
    fs::read_to_string(folder.join("pid")).unwrap().trim().to_owned()
}

#[test]
fn ctrl_c_ends_the_tools_that_run_and_the_history_stays_whole() {
    let talk = slow_talk(&json!([slow_call(), {"text": "Never mind."}]));
    let mut pty = talk.ask("wait");
    let pid = started_pid(talk.folder.path());
    pty.send(key::CTRL_C);
    pty.wait_for("cancelled");
    wait_until("the child is gone", || !is_alive(&pid));
    say(&mut pty, "go on");
    pty.wait_for("Never mind.");
    quit(pty);
    let history = talk.history();
    let (calls, outputs) = (|item: &&String| *item == "tool_call", |item: &&String| item.starts_with("output"));
    assert_eq!(history.iter().filter(calls).count(), history.iter().filter(outputs).count(), "{history:?}");
    assert_eq!(history.last().unwrap(), "assistant: Never mind.");
}

#[test]
fn a_signal_that_ends_processes_ends_the_conversation_and_its_tools() {
    let talk = slow_talk(&json!([slow_call()]));
    let mut pty = talk.ask("wait");
    let pid = started_pid(talk.folder.path());
    pty.signal("TERM");
    assert_eq!(pty.wait_exit(), 130);
    wait_until("the child is gone", || !is_alive(&pid));
    assert_eq!(talk.history()[0], "user: wait");
}

#[test]
fn ctrl_c_twice_in_an_empty_line_quits_and_in_a_line_with_text_clears_it() {
    let talk = Talk::new(&json!([]));
    let mut pty = talk.pty(&[]).spawn();
    pty.wait_until("the prompt is there", |pty| pty.screen().trim_end().ends_with('>'));
    pty.send("some text");
    pty.wait_for("some text");
    pty.send(key::CTRL_C);
    pty.wait_until("a new prompt is there", |pty| pty.screen().trim_end().ends_with('>'));
    pty.send(key::CTRL_C);
    pty.wait_for("press Ctrl-C again");
    pty.wait_until("the prompt is there", |pty| pty.screen().trim_end().ends_with('>'));
    pty.send(key::CTRL_C);
    assert_eq!(pty.wait_exit(), 0);
    assert!(!talk.path("state/chats").exists(), "nothing was said, so nothing is stored");
}

#[test]
fn the_commands_of_a_conversation() {
    let talk =
        Talk::new(&json!([{"text": "Fine.", "usage": {"input_tokens": 20, "output_tokens": 4, "total_tokens": 24}}]));
    let mut pty = talk.ask("how are you? \\");
    say_more(&mut pty, "well?");
    pty.wait_for("tokens: 20 in, 4 out; 24 in total");
    say(&mut pty, "/tools");
    pty.wait_for("json_query");
    say(&mut pty, "/usage");
    pty.wait_for("for reasoning");
    say(&mut pty, "/hlep");
    pty.wait_for("did you mean /help?");
    say(&mut pty, "/save");
    pty.wait_for("saved in talk.json");
    say(&mut pty, "/retry");
    pty.wait_for("answered everything");
    say(&mut pty, "/quit");
    assert_eq!(pty.wait_exit(), 0);
    assert_eq!(talk.history()[0], "user: how are you? \nwell?");
}

/// Types a further line of a message.
fn say_more(pty: &mut Pty, line: &str) {
    pty.wait_until("the next line is there", |pty| pty.screen().trim_end().ends_with('…'));
    pty.send(line);
    pty.send(key::ENTER);
}

#[test]
fn a_conversation_is_resumed_and_one_in_use_is_refused() {
    let talk = Talk::new(&json!([{"text": "Hello, Ana."}]));
    let mut first = talk.pty(&[]).spawn();
    say(&mut first, "I am Ana.");
    first.wait_for("Hello, Ana.");
    first.wait_until("the prompt is there", |pty| pty.screen().trim_end().ends_with('>'));
    let refused = talk.command(&["chat", "--resume", "-p", "hi"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(message.contains("already in use by another process"), "{message}");
    quit(first);

    talk.write("script.json", &json!({"turns": [{"expect": {"items": 3}, "text": "You are Ana."}]}).to_string());
    let mut again = talk.pty(&["--resume"]).spawn();
    again.wait_for("Hello, Ana.");
    say(&mut again, "Who am I?");
    again.wait_for("You are Ana.");
    quit(again);
    let list = talk.command(&["chat", "--list"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!((listed["messages"].as_u64(), text(&listed["title"])), (Some(2), "I am Ana."));
}

#[test]
fn a_process_that_is_killed_leaves_the_last_complete_state() {
    let talk = slow_talk(&json!([{"text": "Hello."}, slow_call()]));
    let mut pty = talk.ask("hi");
    pty.wait_for("Hello.");
    say(&mut pty, "wait");
    let pid = started_pid(talk.folder.path());
    pty.signal("KILL");
    let lock = fs::File::open(talk.path("talk.json.lock")).unwrap();
    wait_until("the command is gone", || lock.try_lock().is_ok());
    drop(lock);
    // Nobody is left to end the tool.
    let _ = Command::new("kill").arg(&pid).stderr(Stdio::null()).status();
    assert_eq!(talk.history(), ["user: hi", "assistant: Hello.", "user: wait"]);

    talk.write("script.json", &json!({"turns": [{"text": "I am back."}]}).to_string());
    let mut again = talk.pty(&["--resume", "talk.json"]).spawn();
    again.wait_for("/retry asks the model again");
    say(&mut again, "/retry");
    again.wait_for("I am back.");
    quit(again);
    assert_eq!(talk.history().last().unwrap(), "assistant: I am back.");
}

#[test]
fn a_broken_history_is_repaired_and_it_says_so() {
    let talk = Talk::new(&json!([{"text": "Where were we?"}]));
    let call = json!({"type": "tool_call", "v": 1, "call_id": "c1", "name": "calculate", "arguments": "{}"});
    let user = json!({"type": "message", "role": "user", "content": [{"type": "text", "text": "hi"}]});
    talk.write("talk.json", &json!({"v": 1, "request": {"v": 1, "model": "m", "history": [user, call]}}).to_string());
    let output = talk
        .command(&["chat", "--model", "scripted:script.json", "--resume", "talk.json", "-p", "go on"])
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && message.contains("is repaired"), "{message}");
    assert!(talk.history()[2].starts_with("output"), "{:?}", talk.history());
}

#[test]
fn standard_input_is_the_prompt_of_a_script() {
    let talk = Talk::new(&json!([{"text": "\u{1b}[1mRead."}]));
    let mut command = talk.command(&["chat", "--model", "scripted:script.json", "--save", "talk.json"]);
    talk.write("prompt.txt", "from a pipe\n");
    command.stdin(fs::File::open(talk.path("prompt.txt")).unwrap());
    let output = command.output().unwrap();
    // A program gets the text as it is.
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "\u{1b}[1mRead.\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn what_a_model_writes_does_not_change_the_terminal() {
    let talk = Talk::new(&json!([{"text": "\u{1b}[2Jgone"}]));
    let mut pty = talk.ask("clear the screen");
    pty.wait_for("\\u{1b}[2Jgone");
    quit(pty);
}
