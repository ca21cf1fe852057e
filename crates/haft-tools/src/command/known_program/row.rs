//! Row constructors.

use super::{AfterCode, KnownProgram, OperandRule, OptionStyle};

/// Creates a row for a program without options.
pub(super) const fn program(names: &'static str, operands: OperandRule) -> KnownProgram {
    KnownProgram {
        names,
        operands,
        style: OptionStyle::Unix,
        code: "",
        rest: "",
        file: "",
        load: "",
        sets: "",
        starts: "",
        targets: "",
        valued: "",
        flags: "",
        stdin: "",
        marks: "",
        after_code: AfterCode::Operands,
        starts_shell: false,
        expands_environment: false,
        appends_stdin: false,
    }
}

/// Creates a row for an interpreter with its own script: options with code, options that load code, and options with
/// another value.
pub(super) const fn interpreter(
    names: &'static str,
    code: &'static str,
    load: &'static str,
    valued: &'static str,
) -> KnownProgram {
    KnownProgram { code, load, valued, stdin: "-", ..program(names, OperandRule::Script) }
}

/// Creates a row for a shell whose scripts differ from `sh`'s: options with code, and options with a value.
pub(super) const fn shell(names: &'static str, code: &'static str, valued: &'static str) -> KnownProgram {
    KnownProgram { after_code: AfterCode::Code, ..interpreter(names, code, "", valued) }
}

/// Creates a row for a program that starts the one its arguments name after so many others: options with a value, and
/// options without.
pub(super) const fn wrapper(
    names: &'static str,
    before: usize,
    valued: &'static str,
    flags: &'static str,
) -> KnownProgram {
    KnownProgram { valued, flags, ..program(names, OperandRule::ProgramAfter(before)) }
}

/// Creates a row for a wrapper that starts a shell without a program.
pub(super) const fn shell_starting(
    names: &'static str,
    before: usize,
    valued: &'static str,
    flags: &'static str,
) -> KnownProgram {
    KnownProgram { starts_shell: true, ..wrapper(names, before, valued, flags) }
}

/// Creates a row for a program that starts another one after a word such as `run`, or after `--`: options with a value.
pub(super) const fn runner(names: &'static str, starts: &'static str, valued: &'static str) -> KnownProgram {
    KnownProgram { starts, valued, ..program(names, OperandRule::ProgramAfterDashes) }
}

/// Creates a row for a program whose first operand is code: options with code, and options with a value.
pub(super) const fn editor(names: &'static str, code: &'static str, valued: &'static str) -> KnownProgram {
    KnownProgram { code, valued, ..program(names, OperandRule::Code) }
}

/// Creates a row for a program whose operands are data: options with code.
pub(super) const fn options(names: &'static str, code: &'static str) -> KnownProgram {
    KnownProgram { code, ..program(names, OperandRule::Data) }
}

/// Creates a row for a program whose operands are data unless they begin with a mark: options with code.
pub(super) const fn marked(names: &'static str, marks: &'static str, code: &'static str) -> KnownProgram {
    KnownProgram { marks, ..options(names, code) }
}

/// Creates a row for a program that gives its operands, but the first ones, to a shell.
pub(super) const fn shell_line(names: &'static str, before: usize, valued: &'static str) -> KnownProgram {
    KnownProgram { valued, ..program(names, OperandRule::CodeAfter(before)) }
}

/// Creates a row for a program that reads code from stdin if no option has it: options with code, with a code file, and
/// with other values.
pub(super) const fn reader(
    names: &'static str,
    code: &'static str,
    file: &'static str,
    valued: &'static str,
) -> KnownProgram {
    KnownProgram { code, file, valued, ..program(names, OperandRule::DataOrStdin) }
}

/// Creates a row for a program with subcommands: options with code.
pub(super) const fn options_of_subcommand(names: &'static str, code: &'static str) -> KnownProgram {
    KnownProgram { code, ..program(names, OperandRule::Subcommand) }
}
