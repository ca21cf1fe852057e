//! Values in shell scripts: each stays data, or the script is rejected.

use super::{Surroundings, check_in};
use crate::command::shell_script::{self, ScriptCommand, ScriptInput};
use crate::command::template::ArgvElement;

/// Commands that write no file that they name.
const READERS: [&str; 7] = ["[", "cat", "chmod", "echo", "ls", "stat", "test"];

/// A script's check.
#[derive(Debug, Default)]
pub(super) struct ScriptFindings {
    /// The reason why a value would be code. It continues a sentence about the script.
    pub(super) fault: Option<String>,
    /// The program that reads its code from the script's own stdin.
    pub(super) reads_stdin: Option<String>,
}

/// Checks a script inside other texts, which may set its variables.
pub(super) fn check(script: &str, around: &[&str]) -> ScriptFindings {
    let read = match shell_script::read(script, around) {
        Ok(read) => read,
        Err(error) => return ScriptFindings { fault: Some(error.to_string()), reads_stdin: None },
    };
    let mut around = around.to_vec();
    around.push(script);
    let (runs, findings) = (Vec::new(), ScriptFindings::default());
    let mut check = ScriptCheck { around, runs, mentions: read.written, is_elsewhere: false, findings };
    for command in read.commands {
        if let Err(fault) = check.command(command) {
            check.findings.fault.get_or_insert(fault);
        }
    }
    let ScriptCheck { runs, mentions, mut findings, .. } = check;
    if let Some(file) = runs.iter().find(|file| mentions.iter().any(|name| file_name(name) == file_name(file))) {
        findings.fault.get_or_insert_with(|| format!("runs the file `{file}`, which it may write before"));
    }
    findings
}

struct ScriptCheck<'s> {
    /// The texts that may set variables.
    around: Vec<&'s str>,
    /// The files with code that commands run.
    runs: Vec<String>,
    /// Names that may be files that commands write.
    mentions: Vec<String>,
    /// A value names the current folder.
    is_elsewhere: bool,
    findings: ScriptFindings,
}

impl ScriptCheck<'_> {
    fn command(&mut self, command: ScriptCommand) -> Result<(), String> {
        let ScriptCommand { mut words, stdin } = command;
        match words.first() {
            Some(first) if first.is_assignment() => words.insert(0, ArgvElement::Literal("env".to_owned())),
            Some(first) if first.has_variable() => return Err("runs it as a program".to_owned()),
            Some(_) | None => {}
        }
        let elements: Vec<Option<ArgvElement>> = words.iter().cloned().map(Some).collect();
        let found = check_in(Surroundings::Script, &elements, &self.around);
        let programs: Vec<&str> = found.programs.iter().map(|at| words[*at].prefix()).collect();
        if let Some(program) = programs.iter().find(|program| is_expanded(program)) {
            return Err(format!("passes it to the program `{program}`, which may be any"));
        }
        let scripts = found.scripts.iter().map(|at| words[*at].prefix());
        let scripts = scripts.map(|text| text.rsplit_once('=').map_or(text, |(_, value)| value));
        for file in programs.iter().copied().filter(|program| program.contains('/')).chain(scripts) {
            self.run(file)?;
        }
        if !programs.first().is_some_and(|program| READERS.contains(program)) {
            let is_other = |at: &usize| !found.programs.contains(at) && !found.scripts.contains(at);
            self.mentions.extend((0..words.len()).filter(is_other).map(|at| words[at].prefix().to_owned()));
        }
        let changes_folder = programs.iter().any(|program| matches!(*program, "cd" | "pushd"));
        self.is_elsewhere |= changes_folder && words.iter().any(ArgvElement::has_variable);
        if let (Some(program), ScriptInput::Inherited) = (&found.reads_stdin, &stdin) {
            self.findings.reads_stdin.get_or_insert_with(|| program.clone());
        }
        if let Some(fault) = found.faults.into_values().next() {
            return Err(format!("has a command in which {}", fault.problem()));
        }
        match (found.reads_stdin, stdin) {
            (None, _) => Ok(()),
            (Some(_), ScriptInput::File(file)) => self.run(&file),
            (Some(program), _) => Err(format!("lets `{program}` read code from stdin")),
        }
    }

    /// Adds a file whose code runs.
    fn run(&mut self, file: &str) -> Result<(), String> {
        if self.is_elsewhere && !file.starts_with('/') {
            return Err(format!("starts `{file}` in the folder that the value names"));
        }
        self.runs.push(file.to_owned());
        Ok(())
    }
}

/// Reports whether the shell may read a program's name as another one.
fn is_expanded(program: &str) -> bool {
    program != "[" && (program.contains(['$', '*', '?', '[']) || program.starts_with('~'))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
