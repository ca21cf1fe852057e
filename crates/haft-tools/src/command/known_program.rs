//! Rows that describe how a program reads arguments as code, or starts another program.
//!
//! The programs themselves are rows in `table.rs` and `wrapper.rs`; the code in [`interpreter`](super::interpreter) knows
//! no program by name. A row that is too strict rejects a command that its author can write in another way; a missing
//! or lax row lets a model write code. So a row lists every option that takes code, and in doubt a text counts as code.

mod row;
mod table;
mod word;
mod wrapper;

use self::table::PROGRAMS;
use self::word::{CODE_VARIABLES, CODE_WORDS, INFORMATION, SHELL_WORDS, UNKNOWN};
use self::wrapper::WRAPPERS;

/// A program, by its names, and what its arguments mean. Each option list is one text, separated by spaces. A
/// single-letter option may be combined with others, as in `-lc`. `clone:-c` is an option for the subcommand `clone`.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownProgram {
    /// Its names, without folders, versions and `.exe`.
    pub(super) names: &'static str,
    pub(super) operands: OperandRule,
    pub(super) style: OptionStyle,
    /// Options whose value is code.
    pub(super) code: &'static str,
    /// Options after which everything is code.
    pub(super) rest: &'static str,
    /// Options whose value names the script.
    pub(super) file: &'static str,
    /// Options whose value names code to load besides the script.
    pub(super) load: &'static str,
    /// Options whose value sets an environment variable, as in `-e NAME=value`.
    pub(super) sets: &'static str,
    /// Options that a program's name follows.
    pub(super) starts: &'static str,
    /// Words and options that another name follows, such as a container's, and then a program.
    pub(super) targets: &'static str,
    /// Other options whose value is a separate argument. Unlisted options have none.
    pub(super) valued: &'static str,
    /// Wrapper options without a value. Unlisted ones may have one.
    pub(super) flags: &'static str,
    /// Arguments by which the script is read from stdin. With any, it is also read from there if no script is named.
    pub(super) stdin: &'static str,
    /// The first characters that make an operand something else than data, such as the `+` in `vim +q`.
    pub(super) marks: &'static str,
    pub(super) after_code: AfterCode,
    /// Without a program or code, it starts a shell.
    pub(super) starts_shell: bool,
    /// It expands environment variables as code.
    pub(super) expands_environment: bool,
    /// It reads more arguments from stdin, for the program that it starts.
    pub(super) appends_stdin: bool,
}

/// The meaning of arguments that are not options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandRule {
    /// All are data.
    Data,
    /// All are data. Without code or a file, the code is read from stdin.
    DataOrStdin,
    /// The first is the program's own word, and single-letter options have another meaning after it.
    Subcommand,
    /// The first names a file with code, unless an option did; all others are data.
    Script,
    /// The first is code, unless an option contained it; all others are data.
    Code,
    /// All after this many are code. Without any, the code is read from stdin.
    CodeAfter(usize),
    /// A program and its arguments follow so many others.
    ProgramAfter(usize),
    /// A program and its arguments follow an argument `--`.
    ProgramAfterDashes,
    /// After `run`, `create` or `exec`: an image or a container, then a program and its arguments. The options in
    /// `valued` are those that have *no* value.
    Container,
}

impl KnownProgram {
    /// Reports whether an operand that begins like this may be a word of the program, such as `run`, that makes what
    /// follows code or a program.
    pub(super) fn may_be_word(&self, prefix: &str) -> bool {
        let lists = [self.rest, self.code, self.starts, self.targets];
        let mut words = lists.iter().flat_map(|list| list.split_ascii_whitespace());
        let is_word = |word: &str| word.starts_with(|first: char| first.is_ascii_alphabetic()) && !word.contains(':');
        !self.names.is_empty() && words.any(|word| is_word(word) && word.starts_with(prefix))
    }
}

impl OperandRule {
    /// Reports whether an operand's meaning depends on the number of operands before it.
    pub(super) fn are_counted(self) -> bool {
        match self {
            Self::Data | Self::DataOrStdin | Self::ProgramAfterDashes => false,
            Self::Subcommand
            | Self::Script
            | Self::Code
            | Self::CodeAfter(_)
            | Self::ProgramAfter(_)
            | Self::Container => true,
        }
    }
}

/// The meaning of arguments that follow an option's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterCode {
    /// The same as for operands: the code reads them as data, or evaluates them on purpose.
    Operands,
    /// Parameters for a script in `sh`'s language. The script is read to find out what becomes of them.
    Parameters,
    /// In doubt, code.
    Code,
}

/// The form of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionStyle {
    /// `-c`, `-lc`, `--command`, `--command=x`.
    Unix,
    /// The same, except that no letter has its value in its own argument: `-cx`, `-euo pipefail`.
    Letters,
    /// `-Command`, `-comm` and `/command`, in any case.
    PowerShell,
    /// `/c`, `/s/c`, in any case.
    Cmd,
}

impl OptionStyle {
    /// Reports whether a text looks like an option.
    pub(super) fn is_option(self, text: &str) -> bool {
        match self {
            Self::Unix | Self::Letters => text.len() > 1 && text.starts_with(['-', '+']),
            Self::PowerShell => text.len() > 1 && text.starts_with(['-', '/']) && !text[1..].contains('/'),
            Self::Cmd => text.starts_with('/'),
        }
    }
}

/// Finds a program by the text that starts it: a name, a path or an image such as `node:20`.
pub(super) fn known(text: &str) -> Option<&'static KnownProgram> {
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let name = name.split([':', '@']).next().unwrap_or_default();
    let name = [".exe", ".cmd", ".bat", ".com"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    let unversioned = name.trim_end_matches(|last: char| last.is_ascii_digit() || matches!(last, '.' | '-'));
    let find = |name| named(PROGRAMS, name).or_else(|| named(WRAPPERS, name));
    find(name).or_else(|| find(unversioned))
}

/// Finds a word that is a command only in a script.
pub(super) fn shell_word(text: &str) -> Option<&'static KnownProgram> {
    named(SHELL_WORDS, text)
}

/// Returns the row for programs that are not listed.
pub(super) fn unknown() -> &'static KnownProgram {
    &UNKNOWN
}

/// Returns the first row with a name.
fn named(rows: &'static [KnownProgram], name: &str) -> Option<&'static KnownProgram> {
    rows.iter().find(|program| has_word(program.names, name))
}

/// Returns an option's name without its value, if the name says that the value is code whatever the program: its last
/// word does, as in `--ssh-command`.
pub(super) fn option_of_code(text: &str) -> Option<&str> {
    let name = text.split(['=', ':']).next().unwrap_or(text);
    let words = name.strip_prefix('-')?.trim_start_matches('-').to_ascii_lowercase();
    let last = words.rsplit(['-', '_']).next()?;
    has_word(CODE_WORDS, last).then_some(name)
}

/// Reports whether a program prints something about itself with this option, and runs no code.
pub(super) fn is_information(text: &str) -> bool {
    has_word(INFORMATION, text)
}

/// Reports whether an environment variable's value is code, or names code that a program loads.
pub(super) fn is_code_variable(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or_default().to_ascii_lowercase();
    has_word(CODE_VARIABLES, name) || has_word(CODE_WORDS, &last) || name.starts_with("GIT_CONFIG")
}

/// Returns the name of such a variable in upper case that a text ends with: `PATH` in `--env=PATH`.
pub(super) fn code_variable_in(text: &str) -> Option<&str> {
    let is_name = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let length = text.bytes().rev().take_while(|byte| is_name(byte)).count();
    let name = &text[text.len() - length..];
    is_code_variable(name).then_some(name)
}

/// Reports whether a list has a word.
pub(super) fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_program_has_one_row() {
        for rows in [[PROGRAMS, WRAPPERS].concat(), SHELL_WORDS.to_vec()] {
            let mut names: BTreeMap<&str, usize> = BTreeMap::new();
            for name in rows.iter().flat_map(|row| row.names.split_ascii_whitespace()) {
                *names.entry(name).or_default() += 1;
            }
            names.retain(|_, count| *count > 1);
            assert_eq!(names, BTreeMap::new());
        }
    }

    #[test]
    fn a_program_is_found_by_each_form_of_its_name() {
        for name in
            ["sh", "/bin/sh", "C:\\bin\\SH.EXE", "python3.12", "node:20-slim", "reg.example/x/node@sha256", "lua5.4"]
        {
            assert!(known(name).is_some(), "{name}");
        }
        assert!(known("shell").is_none() && known("eval").is_none() && shell_word("eval").is_some());
    }

    #[test]
    fn options_and_variables_are_code_by_their_names() {
        for (text, expected) in [
            ("--ssh-command", Some("--ssh-command")),
            ("--pager=less {}", Some("--pager")),
            ("-exec", Some("-exec")),
            ("--command-id", None),
            ("--", None),
            ("-", None),
            ("exec", None),
        ] {
            assert_eq!(option_of_code(text), expected, "{text}");
        }
        assert!(
            is_code_variable("X_COMMAND") && is_code_variable("LD_PRELOAD") && is_code_variable("GIT_CONFIG_KEY_0")
        );
        assert!(!is_code_variable("LANG") && !is_code_variable("COMMAND_ID"));
        for (text, expected) in [
            ("PATH", Some("PATH")),
            ("--env=BASH_ENV", Some("BASH_ENV")),
            ("-eLD_PRELOAD", Some("LD_PRELOAD")),
            ("--path", None),
            ("cmd", None),
            ("A", None),
            ("", None),
        ] {
            assert_eq!(code_variable_in(text), expected, "{text}");
        }
    }
}
