//! The program chain: the one that a command starts, the one that this starts, and so on.
//!
//! Every argument's position is known here. An unlisted option, which may or may not have a value, makes it unknown;
//! both are then assumed.

use std::ops::ControlFlow::{self, Break, Continue};

use super::{CodeCheck, Surroundings};
use crate::command::argument_role::{OptionPlace, ValuePlace, ValueRole, option_role, values_after};
use crate::command::code_fault::Hazard;
use crate::command::known_program::{
    AfterCode, KnownProgram, OperandRule, OptionStyle, has_word, is_information, known, shell_word, unknown,
};
use crate::command::template::ArgvElement;

/// A container engine's words that an image or a container follows.
const CONTAINER_WORDS: &str = "run create exec";

/// A container engine's words before those.
const CONTAINER_GROUPS: &str = "compose container pod";

/// The meaning of the remaining elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// Options and operands.
    Arguments,
    /// Operands, after `--`.
    Operands,
    Code,
}

/// The state for one program in the chain.
struct ProgramState<'p> {
    at: usize,
    name: &'p str,
    rule: &'static KnownProgram,
    pending: Option<ValueRole>,
    /// The number of additional values, as in `-co pipefail`.
    more_values: usize,
    /// The code is known, from an option or an operand.
    has_script: bool,
    reads_stdin: bool,
    operands: usize,
    /// The number of options that may or may not have a value.
    doubts: usize,
    /// The number of operands before a program, after a word such as `exec`.
    until_program: Option<usize>,
    left: Left,
    /// The first operand, or `run`, `create` or `exec` for containers.
    subcommand: Option<&'p str>,
}

impl<'a> CodeCheck<'a> {
    /// Follows the chain from a program.
    pub(super) fn follow(&mut self, at: usize) {
        self.findings.innermost = self.findings.innermost.max(at);
        let Some(Some(ArgvElement::Literal(name))) = self.elements.get(at) else { return };
        self.findings.programs.insert(at);
        let rule = self.known(name).unwrap_or_else(unknown);
        self.followed.push(at);
        if rule.expands_environment {
            self.reject_environment(at, name);
        }
        let mut state = ProgramState {
            at,
            name,
            rule,
            pending: None,
            more_values: 0,
            has_script: false,
            reads_stdin: false,
            operands: 0,
            doubts: 0,
            until_program: None,
            left: Left::Arguments,
            subcommand: None,
        };
        let mut end = None;
        for (index, element) in self.elements.iter().enumerate().skip(at + 1) {
            let Some(element) = element else { continue };
            if self.step(&mut state, index, element).is_break() {
                end = end.or(Some(index));
                break;
            }
            if state.left == Left::Code || (rule.operands == OperandRule::Subcommand && state.operands == 1) {
                end = end.or(Some(index));
            }
        }
        if rule.operands.are_counted() {
            self.findings.counted.extend(at + 1..end.unwrap_or(self.elements.len()));
        }
        if state.reads_code_from_stdin() {
            self.findings.reads_stdin = Some(name.clone());
        }
    }

    fn known(&self, name: &str) -> Option<&'static KnownProgram> {
        match self.surroundings {
            Surroundings::Script => shell_word(name).or_else(|| known(name)),
            Surroundings::Template => known(name),
        }
    }

    /// Reads a program's next element. Ends where everything that follows is data or belongs to another program.
    fn step(&mut self, state: &mut ProgramState<'a>, index: usize, element: &'a ArgvElement) -> ControlFlow<()> {
        let text = element.prefix();
        let is_option = state.left == Left::Arguments && state.rule.style.is_option(text);
        if state.left == Left::Code {
            if element.is_stdin() && state.rule.style == OptionStyle::PowerShell {
                self.findings.reads_stdin = Some(state.name.to_owned());
            }
            state.has_script = true;
            self.reject_variable(index, element, state.name, Hazard::Code);
            return Continue(());
        }
        if let Some(role) = state.pending {
            self.check_value(state, index, element, role);
            // A shell takes the first argument that is neither an option, as in `bash -c -x "echo"`, nor an option's
            // value.
            if role == ValueRole::Code && is_option && !element.has_variable() {
                state.more_values += values_after(state.rule, text);
            } else if state.more_values > 0 {
                state.more_values -= 1;
            } else {
                state.pending = None;
                if role == ValueRole::Code {
                    self.check_after(state.rule, state.name, index, element);
                }
            }
            return Continue(());
        }
        if state.left == Left::Arguments && text == "--" && !element.has_variable() {
            if state.rule.operands == OperandRule::ProgramAfterDashes {
                state.has_script = true;
                self.start(state.name, index + 1);
                return Break(());
            }
            let is_code = has_word(state.rule.rest, text);
            state.left = if is_code { Left::Code } else { Left::Operands };
            return Continue(());
        }
        if is_information(text) {
            state.has_script = true;
        }
        if has_word(state.rule.stdin, text) {
            (state.reads_stdin, state.has_script) = (true, true);
            return Continue(());
        }
        match option_role(state.rule, text, state.option_place()).filter(|_| state.left == Left::Arguments) {
            Some((role, value)) => self.option(state, index, element, role, value),
            None if is_option && !has_word(state.rule.targets, text) => {
                state.doubts += usize::from(!state.rule.is_flag(text));
                Continue(())
            }
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
    ) -> ControlFlow<()> {
        if value == ValuePlace::Inline || element.has_variable() {
            self.check_value(state, index, element, role);
        }
        match role {
            ValueRole::Rest => state.left = Left::Code,
            ValueRole::Program if value == ValuePlace::Next => self.start_after(state, index),
            ValueRole::Code
            | ValueRole::File
            | ValueRole::Load
            | ValueRole::Variable
            | ValueRole::Data
            | ValueRole::Program => {
                state.pending = (value == ValuePlace::Next).then_some(role);
                let values = values_after(state.rule, element.prefix());
                state.more_values = if role == ValueRole::Code { values } else { values.saturating_sub(1) };
            }
        }
        if (role, value) == (ValueRole::Code, ValuePlace::Inline) {
            self.check_after(state.rule, state.name, index, element);
        }
        // A wrapper's option for a shell needs no command: the shell then reads stdin.
        let is_shell = role == ValueRole::Rest && matches!(state.rule.operands, OperandRule::ProgramAfter(_));
        let has_code = matches!(role, ValueRole::Code | ValueRole::Rest | ValueRole::Program) && !is_shell;
        // If operands are code, they are so in addition to an option's.
        let adds_code = matches!(state.rule.operands, OperandRule::CodeAfter(_));
        let adds_code = adds_code && state.rule.after_code != AfterCode::Parameters;
        state.has_script |= role == ValueRole::File || (has_code && !adds_code);
        Continue(())
    }

    /// Checks an option's value, or an element that contains it.
    fn check_value(&mut self, state: &ProgramState<'a>, index: usize, element: &ArgvElement, role: ValueRole) {
        match role {
            ValueRole::Code | ValueRole::Rest => self.reject_variable(index, element, state.name, Hazard::Code),
            ValueRole::File | ValueRole::Load => self.check_script_name(index, element, state.name),
            ValueRole::Program => self.reject_variable(index, element, state.name, Hazard::Program),
            ValueRole::Variable => self.check_setting(index, element, state.name),
            ValueRole::Data => {}
        }
    }

    fn operand(&mut self, state: &mut ProgramState<'a>, index: usize, element: &'a ArgvElement) -> ControlFlow<()> {
        if has_word(state.rule.targets, element.prefix()) {
            state.until_program = Some(1);
            return Continue(());
        }
        let is_target = state.until_program.is_some();
        match state.until_program {
            Some(0) => {
                state.has_script = true;
                self.start(state.name, index);
                return Break(());
            }
            until => state.until_program = until.map(|operands| operands - 1),
        }
        // As in `su - bob` and `env - ls`.
        let is_dash = matches!(element, ArgvElement::Literal(text) if text == "-");
        if is_dash && state.rule.operands.are_counted() {
            return Continue(());
        }
        let count = state.operands;
        state.operands += 1;
        let marks = state.rule.marks;
        if !marks.is_empty() && state.left == Left::Arguments && element.prefix().is_empty() {
            self.reject_variable(index, element, state.name, Hazard::Mark(marks));
        } else if element.prefix().starts_with(|first| marks.contains(first)) {
            self.reject_variable(index, element, state.name, Hazard::Code);
        }
        match state.rule.operands {
            OperandRule::Data | OperandRule::DataOrStdin | OperandRule::ProgramAfterDashes
                if count == 0
                    && !is_target
                    && state.left == Left::Arguments
                    && state.rule.may_be_word(element.prefix()) =>
            {
                self.reject_variable(index, element, state.name, Hazard::Program);
                Continue(())
            }
            OperandRule::Subcommand if count == 0 => {
                self.reject_variable(index, element, state.name, Hazard::Program);
                state.subcommand = Some(element.prefix());
                Continue(())
            }
            OperandRule::Data
            | OperandRule::DataOrStdin
            | OperandRule::Subcommand
            | OperandRule::ProgramAfterDashes => Continue(()),
            OperandRule::Script | OperandRule::Code | OperandRule::CodeAfter(_) if state.has_script => Break(()),
            OperandRule::Script | OperandRule::Code => {
                match state.rule.operands {
                    OperandRule::Script => self.check_script_name(index, element, state.name),
                    _ => self.reject_variable(index, element, state.name, Hazard::Code),
                }
                state.has_script = true;
                // This may be an unlisted option's value, so code options still count.
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
                self.start_in_doubt(state, index);
                Break(())
            }
            OperandRule::Container => self.container_operand(state, index, element),
        }
    }

    /// Follows the chain to a program, which comes later if unknown options have values.
    fn start_in_doubt(&mut self, state: &mut ProgramState<'a>, index: usize) {
        state.has_script = true;
        self.start(state.name, index);
        for later in index + 1..=index + state.doubts {
            if let Some(Some(element)) = self.elements.get(later) {
                self.reject_variable(later, element, state.name, Hazard::Program);
            }
        }
    }

    /// Reads a container engine's operand: the subcommand, the image or container, or the program.
    fn container_operand(
        &mut self,
        state: &mut ProgramState<'a>,
        index: usize,
        element: &'a ArgvElement,
    ) -> ControlFlow<()> {
        let Some(subcommand) = state.subcommand else {
            state.operands = 0;
            self.reject_variable(index, element, state.name, Hazard::Program);
            if has_word(CONTAINER_WORDS, element.prefix()) {
                state.subcommand = Some(element.prefix());
            } else if !has_word(CONTAINER_GROUPS, element.prefix()) {
                return Break(());
            }
            return Continue(());
        };
        if state.operands == 1 {
            if subcommand != "exec" {
                self.reject_variable(index, element, state.name, Hazard::Program);
            }
            self.findings.counted.insert(index);
            // What follows is for the program, also if it begins with `-`. Without it, the image's own program runs.
            let after = index + 1;
            if after == self.elements.len() && subcommand != "exec" {
                self.follow(index);
            }
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

    /// Follows the chain to the program that a word or an option names, perhaps after further options.
    fn start_after(&mut self, state: &ProgramState<'a>, word: usize) {
        let mut at = word + 1;
        while let Some(Some(ArgvElement::Literal(text))) = self.elements.get(at)
            && text.starts_with('-')
        {
            let role = option_role(state.rule, text, OptionPlace::UNKNOWN);
            at += if matches!(role, Some((ValueRole::Data, ValuePlace::Next))) { 2 } else { 1 };
        }
        self.start(state.name, at);
    }
}

impl KnownProgram {
    /// Reports whether an option certainly has no value.
    fn is_flag(&self, text: &str) -> bool {
        let is_flag = |option: &str| has_word(self.flags, option);
        let is_letter = |letter: char| letter.is_ascii_digit() || is_flag(&format!("-{letter}"));
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        text.contains('=') || is_flag(text) || letters.is_some_and(|letters| letters.chars().all(is_letter))
    }
}

impl<'p> ProgramState<'p> {
    fn option_place(&self) -> OptionPlace<'p> {
        let takes_letters = self.rule.operands != OperandRule::Subcommand || self.operands == 0;
        OptionPlace { takes_letters, subcommand: self.subcommand }
    }

    fn reads_code_from_stdin(&self) -> bool {
        match self.rule.operands {
            OperandRule::Script => self.reads_stdin || (!self.has_script && !self.rule.stdin.is_empty()),
            OperandRule::DataOrStdin | OperandRule::CodeAfter(1..) => self.reads_stdin || !self.has_script,
            OperandRule::CodeAfter(0) => {
                let reads_some = self.rule.style != OptionStyle::Unix || !self.rule.stdin.is_empty();
                reads_some && !self.has_script && self.left != Left::Code
            }
            OperandRule::ProgramAfter(_) => !self.has_script && (self.rule.starts_shell || self.left == Left::Code),
            OperandRule::Data | OperandRule::ProgramAfterDashes => self.rule.starts_shell && !self.has_script,
            OperandRule::Subcommand | OperandRule::Code | OperandRule::Container => false,
        }
    }
}
