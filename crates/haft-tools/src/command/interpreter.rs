//! Code in commands: a variable inside an argument that a program parses as code would let a value write code.
//!
//! `["sh", "-c", "echo {p}"]` lets a value end the `echo` and start another command, and `["timeout", "5", "{p}"]` lets
//! it name the program. haft rejects such commands when you build them. There are two passes over the arguments:
//!
//! - **The chain** begins at the program and follows each wrapper, such as `timeout`, `docker run img` or `find -exec`,
//!   to the program that it starts. Every argument's position is known there, so an operand is told from a value.
//! - **The scan** looks at every other argument that is an interpreter's name, and rejects a variable after its code
//!   option, wherever that is. So an unknown wrapper hides nothing that names an interpreter.
//!
//! The programs are data, in `known_program.rs`. No list is complete: an unlisted program may read an argument as code,
//! and a fixed script may evaluate its own arguments. The command's author decides about those.

mod chain;
mod script;

use std::collections::{BTreeMap, BTreeSet};

use super::argument_role::{OptionPlace, ValuePlace, ValueRole, option_role, values_after};
use super::code_fault::{CodeFault, Hazard};
use super::known_program::{
    AfterCode, KnownProgram, OperandRule, OptionStyle, code_variable_in, is_code_variable, known, option_of_code,
};
use super::shell_script;
use super::template::{ArgvElement, ArgvPiece, ArgvVariable, VariableForm};

/// The check's result.
#[derive(Debug, Default)]
pub(super) struct CodeFindings {
    /// The reasons why elements are rejected, by index.
    pub(super) faults: BTreeMap<usize, CodeFault>,
    /// The element index from which a later `--` ends the options: the program that is started last.
    pub(super) innermost: usize,
    /// The elements that must each be exactly one argument: otherwise what follows would have another meaning.
    pub(super) counted: BTreeSet<usize>,
    /// The program that reads its code from stdin.
    pub(super) reads_stdin: Option<String>,
    /// The elements that name the programs of the chain.
    pub(super) programs: BTreeSet<usize>,
    /// The elements that name files with code.
    scripts: BTreeSet<usize>,
}

/// Checks a command's elements, including the program. Invalid ones are `None`.
pub(super) fn check(elements: &[Option<ArgvElement>]) -> CodeFindings {
    check_in(Surroundings::Template, elements, &[])
}

/// Checks elements inside other texts.
fn check_in(surroundings: Surroundings, elements: &[Option<ArgvElement>], around: &[&str]) -> CodeFindings {
    let Some(at) = elements.iter().position(|element| reads_arguments(element.as_ref())) else {
        return findings(surroundings, elements, around);
    };
    // Such a program reads stdin as if it were written at the end.
    let input = ArgvVariable { name: "stdin".to_owned(), form: VariableForm::Plain };
    let mut with_input = elements.to_vec();
    with_input.push(Some(ArgvElement::Values(input)));
    let mut found = findings(surroundings, &with_input, around);
    if found.faults.remove(&elements.len()).is_some() {
        found.reads_stdin = elements[at].as_ref().map(|program| program.prefix().to_owned());
    }
    found
}

/// Reports whether this program reads another program's arguments from stdin.
fn reads_arguments(element: Option<&ArgvElement>) -> bool {
    let Some(ArgvElement::Literal(text)) = element else { return false };
    known(text).is_some_and(|rule| rule.appends_stdin)
}

fn findings(surroundings: Surroundings, elements: &[Option<ArgvElement>], around: &[&str]) -> CodeFindings {
    let mut texts = around.to_vec();
    texts.extend(elements.iter().flatten().flat_map(ArgvElement::literals));
    let findings = CodeFindings::default();
    let mut check = CodeCheck { surroundings, elements, texts, followed: Vec::new(), findings };
    check.follow(0);
    for at in 1..elements.len() {
        if !check.followed.contains(&at) {
            check.scan(at);
        }
        check.check_option_name(at);
        check.check_command_line(at);
        check.check_variable(at);
    }
    check.findings
}

/// The elements' origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surroundings {
    Template,
    /// A script's command, whose variables are the expansions.
    Script,
}

struct CodeCheck<'a> {
    surroundings: Surroundings,
    elements: &'a [Option<ArgvElement>],
    /// The texts that may set a script's variables: these elements', and those around them.
    texts: Vec<&'a str>,
    /// The chain positions whose programs are known.
    followed: Vec<usize>,
    findings: CodeFindings,
}

impl CodeCheck<'_> {
    /// Rejects variables after the code options of an interpreter that an argument names.
    fn scan(&mut self, at: usize) {
        let Some(Some(ArgvElement::Literal(text))) = self.elements.get(at) else { return };
        // As in `--entrypoint=sh`.
        let name = text.rsplit_once('=').map_or(text.as_str(), |(_, value)| value);
        let Some(rule) = known(name).filter(|rule| rule.is_scanned()) else { return };
        let place = OptionPlace::UNKNOWN;
        let (mut pending, mut values_before_code) = (None, 0);
        for (index, element) in self.elements.iter().enumerate().skip(at + 1) {
            let Some(element) = element else { continue };
            let text = element.prefix();
            if let Some(role) = pending {
                self.reject_variable(index, element, name, Hazard::Code);
                if rule.style.is_option(text) {
                    values_before_code += values_after(rule, text);
                } else if values_before_code > 0 {
                    values_before_code -= 1;
                } else if role == ValueRole::Code {
                    pending = None;
                    self.check_after(rule, name, index, element);
                }
                continue;
            }
            // A word such as `run` is an option only at its place, which is unknown here.
            let role = option_role(rule, text, place).filter(|_| rule.style.is_option(text));
            if let Some((role @ (ValueRole::Code | ValueRole::Rest), value)) = role {
                self.reject_variable(index, element, name, Hazard::Code);
                pending = (value == ValuePlace::Next || role == ValueRole::Rest).then_some(role);
                values_before_code = values_after(rule, text);
            }
        }
    }

    /// Checks the variables after an option's code.
    fn check_after(&mut self, rule: &KnownProgram, name: &str, at: usize, code: &ArgvElement) {
        let hazard = match (rule.after_code, code) {
            // Code with a variable has a fault already.
            (AfterCode::Operands, _) | (AfterCode::Parameters, ArgvElement::Values(_) | ArgvElement::Joined(_)) => {
                return;
            }
            (AfterCode::Code, _) => Hazard::Code,
            (AfterCode::Parameters, ArgvElement::Literal(script)) => {
                // A `--` after it is a parameter for the script.
                self.findings.innermost = self.elements.len();
                let script::ScriptFindings { fault, reads_stdin } = script::check(script, &self.texts);
                self.findings.reads_stdin = self.findings.reads_stdin.take().or(reads_stdin);
                let Some(reason) = fault else { return };
                let hazard = Hazard::Parameter(reason);
                self.reject_settings(at, script, name, &hazard);
                hazard
            }
        };
        for (index, element) in self.elements.iter().enumerate().skip(at + 1) {
            if let Some(element) = element {
                self.reject_variable(index, element, name, hazard.clone());
            }
        }
    }

    /// Rejects the environment variables with values that a script mentions. In another script, any may be one.
    fn reject_settings(&mut self, at: usize, script: &str, name: &str, hazard: &Hazard) {
        if self.surroundings == Surroundings::Script {
            self.findings
                .faults
                .entry(at)
                .or_insert_with(|| CodeFault { hazard: hazard.clone(), name: name.to_owned() });
        }
        for (index, element) in self.elements.iter().enumerate().take(at) {
            let Some(element) = element else { continue };
            let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
            let mut names = element.settings().filter_map(|text| text.rsplit(|last| !is_name(last)).next());
            if names.any(|variable| shell_script::mentions(script, variable)) {
                self.reject_variable(index, element, name, hazard.clone());
            }
        }
    }

    /// Rejects a variable in the value of an option that is code by its name.
    fn check_option_name(&mut self, at: usize) {
        let Some(Some(element)) = self.elements.get(at) else { return };
        let Some(name) = option_of_code(element.prefix()) else { return };
        if element.prefix().contains('=') {
            self.reject_variable(at, element, name, Hazard::Option);
        } else if let Some(Some(value)) = self.elements.get(at + 1) {
            self.reject_variable(at + 1, value, name, Hazard::Option);
        }
    }

    /// Rejects a variable in an element that is itself an interpreter's command line, as in `"sh -c {p}"`.
    fn check_command_line(&mut self, at: usize) {
        let Some(Some(element @ ArgvElement::Joined(pieces))) = self.elements.get(at) else { return };
        let is_separator = |character: char| character.is_whitespace() || "'\"\\;|&()=".contains(character);
        let mut interpreter = None;
        for piece in pieces {
            let ArgvPiece::Literal(text) = piece else { continue };
            for word in text.split(is_separator).filter(|word| !word.is_empty()) {
                let role = interpreter.and_then(|(rule, _)| option_role(rule, word, OptionPlace::UNKNOWN));
                if let (Some((ValueRole::Code | ValueRole::Rest, _)), Some((_, name))) = (role, interpreter) {
                    return self.reject_variable(at, element, name, Hazard::Code);
                }
                let found = known(word).filter(|rule| rule.is_scanned());
                interpreter = found.map(|rule| (rule, word)).or(interpreter);
            }
        }
    }

    /// Rejects a variable in an environment variable that other programs read as code.
    fn check_assignment(&mut self, index: usize, element: &ArgvElement) {
        let name = element.prefix().split_once('=').map_or("", |(name, _)| name);
        if is_code_variable(name) {
            self.reject_variable(index, element, name, Hazard::Variable);
        }
    }

    /// Rejects a variable in what looks like such an environment variable, whatever program reads it.
    fn check_variable(&mut self, at: usize) {
        let Some(Some(element)) = self.elements.get(at) else { return };
        if let Some(name) = element.settings().find_map(code_variable_in) {
            self.reject_variable(at, element, name, Hazard::Variable);
        }
    }

    /// Rejects the variables in environment variables for a program that expands them.
    fn reject_environment(&mut self, at: usize, name: &str) {
        for (index, element) in self.elements.iter().enumerate().take(at) {
            let Some(element) = element else { continue };
            // `--name={p}` alone is an option of a program before.
            if element.settings().any(|text| !text.starts_with("--") || text.contains('=')) {
                self.reject_variable(index, element, name, Hazard::Code);
            }
        }
    }

    /// Checks an option's value that sets an environment variable, or the option with its value.
    fn check_setting(&mut self, index: usize, element: &ArgvElement, name: &str) {
        let text = element.prefix();
        let setting = match text.strip_prefix("--") {
            Some(option) => option.split_once('=').map_or("", |(_, setting)| setting),
            None => text.strip_prefix('-').and_then(|option| option.get(1..)).unwrap_or(text),
        };
        if !setting.contains('=') {
            self.reject_variable(index, element, name, Hazard::VariableName);
        }
    }

    /// Checks an element that names a file with code.
    fn check_script_name(&mut self, index: usize, element: &ArgvElement, name: &str) {
        self.findings.scripts.insert(index);
        if element.is_stdin() {
            self.findings.reads_stdin = Some(name.to_owned());
        }
        self.reject_variable(index, element, name, Hazard::Script);
    }

    fn reject_variable(&mut self, index: usize, element: &ArgvElement, name: &str, hazard: Hazard) {
        if element.has_variable() {
            self.findings.faults.entry(index).or_insert_with(|| CodeFault { hazard, name: name.to_owned() });
        }
    }
}

impl KnownProgram {
    /// Reports whether the code options are so distinctive that they count wherever the program is named.
    fn is_scanned(&self) -> bool {
        match self.operands {
            OperandRule::Script | OperandRule::DataOrStdin | OperandRule::ProgramAfter(_) => true,
            OperandRule::CodeAfter(_) => matches!(self.style, OptionStyle::Cmd | OptionStyle::PowerShell),
            OperandRule::Data
            | OperandRule::Subcommand
            | OperandRule::Code
            | OperandRule::ProgramAfterDashes
            | OperandRule::Container => false,
        }
    }
}
