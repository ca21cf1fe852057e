//! The reason why a command's element can't contain a variable.

use std::fmt;

/// A variable in an element that is code, or names code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodeFault {
    pub(super) hazard: Hazard,
    /// The program that reads the element, or the option or variable whose name reveals it.
    pub(super) name: String,
}

/// An element's use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hazard {
    /// It is code.
    Code,
    /// It names the code that runs.
    Script,
    /// It names the program that is started.
    Program,
    /// It is the value of an option whose name says that it is code.
    Option,
    /// It is the value of an environment variable that is read as code.
    Variable,
    /// It names an environment variable, which may be such a one.
    VariableName,
    /// It may begin with one of these characters, and is then an option or code.
    Mark(&'static str),
    /// It is a script's parameter, about which this text tells more.
    Parameter(String),
}

impl CodeFault {
    /// Returns what is wrong, without advice.
    pub(super) fn problem(&self) -> String {
        let name = &self.name;
        match &self.hazard {
            Hazard::Code => format!("a value would be code of `{name}` here"),
            Hazard::Script => format!("a value would name the code that `{name}` runs here"),
            Hazard::Program => format!("a value would name the program that `{name}` starts here"),
            Hazard::Option => format!("a value would be code, as the name of `{name}` says"),
            Hazard::Variable => format!("a value would be loaded as code, by the environment variable `{name}`"),
            Hazard::VariableName => format!("a value would name the environment variable that `{name}` sets"),
            Hazard::Mark(marks) => {
                let marks: Vec<String> = marks.chars().map(|mark| format!("`{mark}`")).collect();
                format!("a value that begins with {} would be no data of `{name}`", marks.join(" or "))
            }
            Hazard::Parameter(reason) => format!("a value would be code, since the script of `{name}` {reason}"),
        }
    }
}

impl fmt::Display for CodeFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.problem())?;
        out.write_str(match &self.hazard {
            Hazard::Code => {
                "; keep this argument literal, and pass the value as data: as an argument of a script, as in \
                 [\"sh\", \"-c\", \"echo \\\"$1\\\"\", \"sh\", \"{p}\"], or with `stdin = \"json\"`"
            }
            Hazard::Script => "; write its name literally",
            Hazard::Program => "; name it literally",
            Hazard::VariableName => "; write its name literally, as in `NAME={p}`",
            Hazard::Option | Hazard::Variable => "; write its value literally",
            Hazard::Mark(_) => "; begin it literally, as in `./{p}`, or put `--` before it if the program reads that",
            Hazard::Parameter(_) => {
                "; write `\"$1\"` where it is data of a literal command, or put the script into a file"
            }
        })
    }
}
