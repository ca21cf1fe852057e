//! Scripts in commands: a variable inside one would be code.
//!
//! `["sh", "-c", "echo {p}"]` lets a value end the `echo` and start another command, so a command whose script contains
//! a variable is rejected when it is built. The script takes values as its own arguments instead.
//!
//! The list of interpreters and of their flags can't be complete: a program that is not listed here, such as `awk`, `sed`,
//! `ssh` or `find -exec`, may read an argument as code, too. The author of a command decides about those.

use super::template::{ArgvElement, ArgvPiece};

/// The programs that run a script from an argument. Versions, as in `python3.12`, are left out of the comparison.
const INTERPRETERS: [&str; 23] = [
    "ash",
    "bash",
    "bun",
    "cmd",
    "dash",
    "deno",
    "fish",
    "ksh",
    "lua",
    "luajit",
    "mksh",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "php",
    "powershell",
    "pwsh",
    "pypy",
    "ruby",
    "sh",
    "tclsh",
    "zsh",
];

/// The programs that start another one, which their arguments name.
const WRAPPERS: [&str; 10] =
    ["busybox", "doas", "env", "nice", "nohup", "setsid", "stdbuf", "sudo", "timeout", "xargs"];

/// The flags, besides combined short ones, whose next argument is a script.
const SCRIPT_FLAGS: [&str; 7] = ["--command", "--eval", "--print", "--run", "-p", "-r", "eval"];

/// The elements that follow a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScriptExtent {
    /// The first one that is no option is the script.
    First,
    /// All of them are.
    Rest,
}

/// Finds the variables inside scripts, while the elements of a command are read in their order.
#[derive(Debug)]
pub(super) struct ScriptCheck {
    /// The interpreter, once it is known.
    interpreter: Option<String>,
    is_wrapped: bool,
    script: Option<ScriptExtent>,
}

impl ScriptCheck {
    pub(super) fn new(program: &str) -> Self {
        let name = program_name(program);
        let is_wrapped = WRAPPERS.contains(&name.as_str());
        Self { interpreter: is_interpreter(&name).then_some(name), is_wrapped, script: None }
    }

    /// Checks the next element. The error says what to write instead.
    pub(super) fn check(&mut self, element: &ArgvElement) -> Result<(), String> {
        let has_variable = element.variables().next().is_some();
        if (self.script.is_some() && has_variable) || (self.interpreter.is_some() && element.is_inline_script()) {
            return Err(self.advice());
        }
        let ArgvElement::Literal(text) = element else { return Ok(()) };
        match self.script {
            Some(ScriptExtent::Rest) => return Ok(()),
            Some(ScriptExtent::First) if text.starts_with(['-', '+']) => return Ok(()),
            Some(ScriptExtent::First) => {
                self.script = None;
                return Ok(());
            }
            None => {}
        }
        match &self.interpreter {
            Some(interpreter) => self.script = script_after(interpreter, text),
            None if self.is_wrapped => {
                let name = program_name(text);
                self.interpreter = is_interpreter(&name).then_some(name);
            }
            None => {}
        }
        Ok(())
    }

    fn advice(&self) -> String {
        let interpreter = self.interpreter.as_deref().unwrap_or("the interpreter");
        format!(
            "a value would be code of `{interpreter}` here; pass it as an argument of the script instead, as in \
             [\"sh\", \"-c\", \"echo \\\"$1\\\"\", \"sh\", \"{{p}}\"]"
        )
    }
}

impl ArgvElement {
    /// Reports whether this is a flag with a script that contains a variable, such as `--eval={x}`.
    fn is_inline_script(&self) -> bool {
        let Self::Joined(pieces) = self else { return false };
        let Some(ArgvPiece::Literal(text)) = pieces.first() else { return false };
        text.split_once('=').is_some_and(|(flag, _)| flag.starts_with("--") && SCRIPT_FLAGS.contains(&flag))
    }
}

/// Returns the elements after a flag that are a script; `None` if it is not such a flag.
fn script_after(interpreter: &str, flag: &str) -> Option<ScriptExtent> {
    let lower = flag.to_ascii_lowercase();
    match interpreter {
        "cmd" => matches!(lower.as_str(), "/c" | "/k" | "/r").then_some(ScriptExtent::Rest),
        "powershell" | "pwsh" => {
            let is_short_for = |whole: &str| lower.len() > 1 && whole.starts_with(&lower);
            let is_script = lower == "-ec" || is_short_for("-command") || is_short_for("-encodedcommand");
            (is_script || lower == "/c" || lower == "/command").then_some(ScriptExtent::Rest)
        }
        _ => {
            let letters = flag.strip_prefix('-').unwrap_or_default();
            let is_short = !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let is_combined = is_short && letters.ends_with(['c', 'C', 'e', 'E']);
            (is_combined || SCRIPT_FLAGS.contains(&flag)).then_some(ScriptExtent::First)
        }
    }
}

fn is_interpreter(name: &str) -> bool {
    name.starts_with("python") || INTERPRETERS.contains(&name)
}

/// Returns the file name of a program, in lower case, without its version and without `.exe`.
fn program_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    name.trim_end_matches(|last: char| last.is_ascii_digit() || matches!(last, '.' | '-')).to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::template::ArgvTemplate;

    fn faults(argv: &[&str]) -> Vec<String> {
        let mut faults = Vec::new();
        let argv: Vec<String> = argv.iter().map(|&text| text.to_owned()).collect();
        ArgvTemplate::parse(&argv, &mut faults);
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_variable_is_no_part_of_a_script() {
        for argv in [
            &["sh", "-c", "echo {p}"][..],
            &["/bin/sh", "-c", "{p}"],
            &["bash", "-lc", "echo {p}"],
            &["bash", "-o", "pipefail", "-c", "echo {p}"],
            &["bash", "-c", "-x", "echo {p}"],
            &["sh", "-c", "--", "echo {p}"],
            &["python3.12", "-c", "print('{p}')"],
            &["perl", "-lane", "print {p}"],
            &["perl", "-E", "say {p}"],
            &["ruby", "-e", "puts {p}"],
            &["node", "--eval", "f({p})"],
            &["node", "--eval=f({p})"],
            &["deno", "eval", "f({p})"],
            &["php", "-r", "f({p});"],
            &["C:\\Windows\\cmd.exe", "/C", "echo", "{p}"],
            &["pwsh", "-NoProfile", "-Command", "Write-Output", "{p}"],
            &["powershell", "-enc", "{p}"],
            &["osascript", "-e", "say {p}"],
            &["env", "A=1", "sh", "-c", "echo {p}"],
            &["timeout", "5", "/bin/bash", "-c", "echo {p}"],
        ] {
            let faults = faults(argv);
            assert_eq!(faults.len(), 1, "{argv:?}: {faults:?}");
            assert!(
                faults[0].starts_with(&format!("/command/{}: a value would be code", argv.len() - 1)),
                "{faults:?}"
            );
        }
    }

    #[test]
    fn arguments_of_scripts_and_other_programs_are_no_code() {
        for argv in [
            &["sh", "-c", "echo \"$1\"", "sh", "{p}"][..],
            &["sh", "-c", "pwd", "--", "{p}"],
            &["python3", "-c", "import sys; print(sys.argv[1])", "{p}"],
            &["python3", "tool.py", "--name={p}"],
            &["head", "-c", "{p}"],
            &["grep", "-e", "{p}"],
            &["env", "A=1", "grep", "-c", "{p}"],
            &["sh", "script.sh", "{p}"],
        ] {
            assert_eq!(faults(argv), [""; 0], "{argv:?}");
        }
    }
}
