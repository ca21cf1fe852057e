//! Code in commands: a variable inside an argument that a program parses as code would let a value write code.
//!
//! `["sh", "-c", "echo {p}"]` lets a value end the `echo` and start another command, and `["timeout", "5", "{p}"]` lets it
//! name the program. Such commands are rejected when they are built. There are two passes over the arguments:
//!
//! - **The chain** begins at the program and follows each wrapper, such as `timeout`, `docker run img` or `find -exec`, to
//!   the program that it starts. The position of every argument is known there, so an operand is told from a value.
//! - **The scan** looks at every other argument that is an interpreter's name, and rejects a variable behind its
//!   code option, wherever that is. So an unknown wrapper hides nothing that names an interpreter.
//!
//! The programs are data, in `known_program.rs`. No list of them is complete: a program that is not listed may read an
//! argument as code, and a fixed script may evaluate its own arguments. The author of a command decides about those.

use std::collections::BTreeMap;

use super::known_program::{CODE_VARIABLES, KnownProgram, OperandRule, OptionStyle, has_word, known};
use super::template::ArgvElement;

/// Options by which a program prints something about itself, and runs no code.
const INFORMATION: &str = "--version --help -V -version";

/// The result of the check.
#[derive(Debug, Default)]
pub(super) struct CodeFindings {
    /// The reasons for which elements are rejected, by their indices.
    pub(super) faults: BTreeMap<usize, String>,
    /// The index of the program that is started at last; its own options end at a later `--`.
    pub(super) innermost: usize,
    /// The program that reads its code from stdin.
    pub(super) reads_stdin: Option<String>,
}

/// Checks the elements of a command, the program included. Invalid ones are `None`.
pub(super) fn check(elements: &[Option<ArgvElement>]) -> CodeFindings {
    let mut check = CodeCheck { elements, followed: Vec::new(), findings: CodeFindings::default() };
    check.follow(0);
    for at in 1..elements.len() {
        if !check.followed.contains(&at) {
            check.scan(at);
        }
    }
    check.findings
}

struct CodeCheck<'a> {
    elements: &'a [Option<ArgvElement>],
    /// The positions of the chain whose programs are known.
    followed: Vec<usize>,
    findings: CodeFindings,
}

/// The meaning of a value that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueRole {
    Code,
    Rest,
    File,
    Load,
    Program,
    Data,
}

/// The reason for which a variable is rejected.
#[derive(Clone, Copy, Debug)]
enum Hazard {
    Code,
    Script,
    Program,
}

/// The meaning of the elements that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// Options and operands.
    Arguments,
    /// Operands, after `--`.
    Operands,
    Code,
}

/// The state of one program of the chain.
struct ProgramState<'p> {
    at: usize,
    name: &'p str,
    rule: &'static KnownProgram,
    pending: Option<ValueRole>,
    /// The number of values that come besides, as in `-co pipefail`.
    more_values: usize,
    /// The code is known, from an option or an operand.
    has_script: bool,
    reads_stdin: bool,
    operands: usize,
    left: Left,
    /// `run`, `create` or `exec`, for containers.
    subcommand: Option<&'p str>,
}

impl<'a> CodeCheck<'a> {
    /// Follows the chain from a program.
    fn follow(&mut self, at: usize) {
        self.findings.innermost = self.findings.innermost.max(at);
        let Some(Some(ArgvElement::Literal(name))) = self.elements.get(at) else { return };
        let Some(rule) = known(name) else { return };
        self.followed.push(at);
        let mut state = ProgramState {
            at,
            name,
            rule,
            pending: None,
            more_values: 0,
            has_script: false,
            reads_stdin: false,
            operands: 0,
            left: Left::Arguments,
            subcommand: None,
        };
        for (index, element) in self.elements.iter().enumerate().skip(at + 1) {
            let Some(element) = element else { continue };
            if self.step(&mut state, index, element).is_break() {
                break;
            }
        }
        if state.reads_code_from_stdin() {
            self.findings.reads_stdin = Some(name.clone());
        }
    }

    /// Reads the next element of a program. It ends where everything that follows is data or belongs to another program.
    fn step(
        &mut self,
        state: &mut ProgramState<'a>,
        index: usize,
        element: &'a ArgvElement,
    ) -> std::ops::ControlFlow<()> {
        use std::ops::ControlFlow::{Break, Continue};
        let text = element.prefix();
        let is_option = state.left == Left::Arguments && state.rule.style.is_option(text);
        if state.left == Left::Code {
            self.reject_variable(index, element, state.name, Hazard::Code);
            return Continue(());
        }
        if let Some(role) = state.pending {
            let hazard = match role {
                ValueRole::Code | ValueRole::Rest => Some(Hazard::Code),
                ValueRole::File | ValueRole::Load => Some(Hazard::Script),
                ValueRole::Program => Some(Hazard::Program),
                ValueRole::Data => None,
            };
            if let Some(hazard) = hazard {
                self.reject_variable(index, element, state.name, hazard);
            }
            // A shell takes the first argument that is no option, as in `bash -c -x "echo"`, nor the value of one.
            if role == ValueRole::Code && is_option && !element.has_variable() {
                state.more_values += values_after(state.rule, text);
            } else if state.more_values > 0 {
                state.more_values -= 1;
            } else {
                state.pending = None;
            }
            return Continue(());
        }
        if state.left == Left::Arguments && text == "--" && !element.has_variable() {
            if state.rule.operands == OperandRule::ProgramAfterDashes {
                self.start(state.name, index + 1);
                return Break(());
            }
            state.left = Left::Operands;
            return Continue(());
        }
        if has_word(INFORMATION, text) {
            state.has_script = true;
        }
        if has_word(state.rule.stdin, text) {
            (state.reads_stdin, state.has_script) = (true, true);
            return Continue(());
        }
        match option_role(state.rule, text, state.takes_letters()).filter(|_| state.left == Left::Arguments) {
            Some((role, value)) => self.option(state, index, element, role, value),
            None if is_option => Continue(()),
            None => self.operand(state, index, element),
        }
    }

    fn option(
        &mut self,
        state: &mut ProgramState<'a>,
        index: usize,
        element: &ArgvElement,
        role: ValueRole,
        value: ValuePlace,
    ) -> std::ops::ControlFlow<()> {
        match role {
            ValueRole::Code | ValueRole::Rest => self.reject_variable(index, element, state.name, Hazard::Code),
            ValueRole::File | ValueRole::Load => self.reject_variable(index, element, state.name, Hazard::Script),
            ValueRole::Program => self.reject_variable(index, element, state.name, Hazard::Program),
            ValueRole::Data => {}
        }
        match role {
            ValueRole::Rest => state.left = Left::Code,
            ValueRole::Program if value == ValuePlace::Next => self.start(state.name, index + 1),
            ValueRole::Code | ValueRole::File | ValueRole::Load | ValueRole::Data | ValueRole::Program => {
                state.pending = (value == ValuePlace::Next).then_some(role);
                let values = values_after(state.rule, element.prefix());
                state.more_values = if role == ValueRole::Code { values } else { values.saturating_sub(1) };
            }
        }
        let has_code = matches!(role, ValueRole::Code | ValueRole::Rest);
        // Where operands are code, they are so besides that of an option.
        let adds_code = matches!(state.rule.operands, OperandRule::CodeAfter(_));
        state.has_script |= role == ValueRole::File || (has_code && !adds_code);
        std::ops::ControlFlow::Continue(())
    }

    fn operand(
        &mut self,
        state: &mut ProgramState<'a>,
        index: usize,
        element: &'a ArgvElement,
    ) -> std::ops::ControlFlow<()> {
        use std::ops::ControlFlow::{Break, Continue};
        let count = state.operands;
        state.operands += 1;
        match state.rule.operands {
            OperandRule::Data
            | OperandRule::DataOrStdin
            | OperandRule::Subcommand
            | OperandRule::ProgramAfterDashes => Continue(()),
            OperandRule::Script | OperandRule::Code | OperandRule::CodeAfter(_) if state.has_script => Break(()),
            OperandRule::Script | OperandRule::Code => {
                let hazard = if state.rule.operands == OperandRule::Code { Hazard::Code } else { Hazard::Script };
                self.reject_variable(index, element, state.name, hazard);
                state.has_script = true;
                // This may be the value of an option that is not listed, so that code options still count.
                let before = self.elements[index - 1].as_ref().map_or("", |before| before.prefix());
                let is_certain =
                    index - 1 == state.at || state.left == Left::Operands || !before.starts_with(['-', '+']);
                if is_certain { Break(()) } else { Continue(()) }
            }
            OperandRule::CodeAfter(data) => {
                if count >= data {
                    self.reject_variable(index, element, state.name, Hazard::Code);
                    (state.left, state.has_script) = (Left::Code, true);
                }
                Continue(())
            }
            OperandRule::ProgramAfter(0) if element.is_assignment() => {
                state.operands = 0;
                self.check_assignment(index, element);
                Continue(())
            }
            OperandRule::ProgramAfter(data) if count < data => Continue(()),
            OperandRule::ProgramAfter(_) => {
                self.start(state.name, index);
                Break(())
            }
            OperandRule::Container => self.container_operand(state, index, element),
        }
    }

    /// Reads an operand of a container engine: the subcommand, the image or container, or the program.
    fn container_operand(
        &mut self,
        state: &mut ProgramState<'a>,
        index: usize,
        element: &'a ArgvElement,
    ) -> std::ops::ControlFlow<()> {
        use std::ops::ControlFlow::{Break, Continue};
        let Some(subcommand) = state.subcommand else {
            state.operands = 0;
            if matches!(element, ArgvElement::Literal(text) if has_word("run create exec", text)) {
                state.subcommand = Some(element.prefix());
            }
            return Continue(());
        };
        if state.operands == 1 {
            if subcommand != "exec" {
                self.reject_variable(index, element, state.name, Hazard::Program);
            }
            // What follows is for the program, also if it begins with `-`.
            let after = index + 1;
            if self.elements.get(after).is_some_and(|next| next.as_ref().is_some_and(|next| next.prefix() != "--")) {
                self.start(state.name, after);
                return Break(());
            }
            return Continue(());
        }
        self.start(state.name, index);
        Break(())
    }

    /// Follows the chain to a program that another one starts.
    fn start(&mut self, name: &str, at: usize) {
        if let Some(Some(element)) = self.elements.get(at) {
            self.reject_variable(at, element, name, Hazard::Program);
            self.follow(at);
        }
    }

    /// Rejects variables behind the code options of an interpreter whose name an argument is.
    fn scan(&mut self, at: usize) {
        let Some(Some(ArgvElement::Literal(text))) = self.elements.get(at) else { return };
        // As in `--entrypoint=sh`.
        let name = text.rsplit_once('=').map_or(text.as_str(), |(_, value)| value);
        let Some(rule) = known(name) else { return };
        match rule.operands {
            OperandRule::Script | OperandRule::DataOrStdin | OperandRule::ProgramAfter(_) => {}
            OperandRule::CodeAfter(_) if matches!(rule.style, OptionStyle::Cmd | OptionStyle::PowerShell) => {}
            OperandRule::Data
            | OperandRule::Subcommand
            | OperandRule::Code
            | OperandRule::CodeAfter(_)
            | OperandRule::ProgramAfterDashes
            | OperandRule::Container => return,
        }
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
                }
                continue;
            }
            // A word such as `run` is an option at its place only, which is unknown here.
            let role = option_role(rule, text, true).filter(|_| rule.style.is_option(text));
            if let Some((role @ (ValueRole::Code | ValueRole::Rest), value)) = role {
                self.reject_variable(index, element, name, Hazard::Code);
                pending = (value == ValuePlace::Next || role == ValueRole::Rest).then_some(role);
                values_before_code = values_after(rule, text);
            }
        }
    }

    /// Rejects a variable in an environment variable that other programs read as code.
    fn check_assignment(&mut self, index: usize, element: &ArgvElement) {
        let name = element.prefix().split_once('=').map_or("", |(name, _)| name);
        if element.has_variable() && has_word(CODE_VARIABLES, name) {
            let message = format!(
                "a value would be loaded as code, by the environment variable `{name}`; write its value literally"
            );
            self.findings.faults.entry(index).or_insert(message);
        }
    }

    fn reject_variable(&mut self, index: usize, element: &ArgvElement, name: &str, hazard: Hazard) {
        if element.has_variable() {
            self.findings.faults.entry(index).or_insert_with(|| hazard.advice(name));
        }
    }
}

impl ProgramState<'_> {
    fn takes_letters(&self) -> bool {
        self.rule.operands != OperandRule::Subcommand || self.operands == 0
    }

    fn reads_code_from_stdin(&self) -> bool {
        match self.rule.operands {
            OperandRule::Script | OperandRule::DataOrStdin | OperandRule::CodeAfter(1..) => {
                self.reads_stdin || !self.has_script
            }
            OperandRule::CodeAfter(0) => {
                !self.has_script && self.left != Left::Code && self.rule.style != OptionStyle::Unix
            }
            OperandRule::Data
            | OperandRule::Subcommand
            | OperandRule::Code
            | OperandRule::ProgramAfter(_)
            | OperandRule::ProgramAfterDashes
            | OperandRule::Container => false,
        }
    }
}

impl Hazard {
    /// Returns what is wrong and what to write instead.
    fn advice(self, name: &str) -> String {
        match self {
            Self::Code => format!(
                "a value would be code of `{name}` here; keep this argument literal, and pass the value as data: as an \
                 argument of a script, as in [\"sh\", \"-c\", \"echo \\\"$1\\\"\", \"sh\", \"{{p}}\"], or with \
                 `stdin = \"json\"`"
            ),
            Self::Script => format!("a value would name the code that `{name}` runs here; write its name literally"),
            Self::Program => format!("a value would name the program that `{name}` starts here; name it literally"),
        }
    }
}

/// The place of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValuePlace {
    /// The next element.
    Next,
    /// The option's own element.
    Inline,
}

/// Returns the role of an option's value, and its place. `None` if the option is not listed, or has no value.
fn option_role(rule: &KnownProgram, text: &str, takes_letters: bool) -> Option<(ValueRole, ValuePlace)> {
    let lists = [
        (rule.rest, ValueRole::Rest),
        (rule.code, ValueRole::Code),
        (rule.file, ValueRole::File),
        (rule.load, ValueRole::Load),
        (rule.starts, ValueRole::Program),
        (rule.valued, ValueRole::Data),
    ];
    if rule.operands == OperandRule::Container {
        return container_role(rule, text);
    }
    let role_of = |matches: &dyn Fn(&str) -> bool| {
        let contains = |list: &str| list.split_ascii_whitespace().any(matches);
        lists.iter().find(|(list, _)| contains(list)).map(|(_, role)| *role)
    };
    match rule.style {
        OptionStyle::Cmd => {
            let lower = text.to_ascii_lowercase();
            return role_of(&|option| lower.starts_with('/') && lower.contains(option))
                .map(|role| (role, ValuePlace::Next));
        }
        OptionStyle::PowerShell => {
            let lower = text.replacen('/', "-", 1).to_ascii_lowercase();
            let lower = lower.replacen("--", "-", 1);
            let (name, place) = match lower.split_once(':') {
                Some((name, _)) => (name, ValuePlace::Inline),
                None => (lower.as_str(), ValuePlace::Next),
            };
            return role_of(&|option| name.len() > 1 && option.starts_with(name)).map(|role| (role, place));
        }
        OptionStyle::Unix | OptionStyle::Letters => {}
    }
    let is_letter = |text: &str| text.len() == 2 && text.starts_with(['-', '+']);
    if let Some(role) = role_of(&|option| option == text && (takes_letters || !is_letter(text))) {
        return Some((role, ValuePlace::Next));
    }
    if text.starts_with("--") {
        let (name, place) = match text.split_once('=') {
            Some((name, _)) => (name, ValuePlace::Inline),
            None => (text, ValuePlace::Next),
        };
        // Most programs accept a long option by its beginning.
        return role_of(&|option| name.len() > 2 && option.starts_with(name)).map(|role| (role, place));
    }
    let sign = text.chars().next().filter(|sign| matches!(sign, '-' | '+') && takes_letters)?;
    let letters = text[1..].char_indices().take_while(|(_, letter)| letter.is_ascii_alphanumeric());
    if rule.style == OptionStyle::Letters {
        let roles = letters.filter_map(|(_, letter)| role_of(&|option| option == format!("{sign}{letter}")));
        // Code counts wherever its letter stands.
        let role = roles
            .min_by_key(|role| [ValueRole::Rest, ValueRole::Code].iter().position(|code| code == role).unwrap_or(2));
        return role.map(|role| (role, ValuePlace::Next));
    }
    for (at, letter) in letters {
        let one = format!("{sign}{letter}");
        if let Some(role) = role_of(&|option| option == one) {
            let is_last = at + 2 == text.len();
            return Some((role, if is_last { ValuePlace::Next } else { ValuePlace::Inline }));
        }
    }
    None
}

/// Returns the number of later arguments that are values of the letters of an option, other than code.
fn values_after(rule: &KnownProgram, text: &str) -> usize {
    match text.strip_prefix(['-', '+']) {
        Some(letters) if rule.style == OptionStyle::Letters && !letters.starts_with('-') => {
            letters.chars().filter(|letter| has_word(rule.valued, &format!("-{letter}"))).count()
        }
        _ => 0,
    }
}

/// Returns the same for a container engine, whose options have a value unless they are listed.
fn container_role(rule: &KnownProgram, text: &str) -> Option<(ValueRole, ValuePlace)> {
    let (name, place) = match text.split_once('=') {
        Some((name, _)) => (name, ValuePlace::Inline),
        None => (text, ValuePlace::Next),
    };
    let is_flag = |letter: char| has_word(rule.valued, &format!("-{letter}"));
    match name.strip_prefix('-') {
        None | Some("") => None,
        Some(_) if has_word(rule.load, name) => Some((ValueRole::Load, place)),
        Some(_) if has_word(rule.valued, name) => None,
        Some(long) if long.starts_with('-') => Some((ValueRole::Data, place)),
        Some(letters) => {
            let (at, _) = letters.char_indices().find(|(_, letter)| !is_flag(*letter))?;
            let is_last = at + 1 == letters.len();
            Some((ValueRole::Data, if is_last { place } else { ValuePlace::Inline }))
        }
    }
}
