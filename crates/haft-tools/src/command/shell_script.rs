//! A shell script's commands, if the script is so simple that they can be known without running it.
//!
//! `["sh", "-c", "grep \"$1\" log | head", "sh", "{p}"]` passes a value to a script that never changes. The value stays
//! data only if the script keeps it so: `$1` alone would run it, and so would `eval "$1"`. So a script that gets values
//! is read here, and its commands are checked like a template's, with every expansion treated as a variable.
//!
//! The language is a small part of `sh`: commands with pipes, lists and redirections, and the words of `if`, `while`
//! and `for` around them. An expansion is a plain parameter within double quotes. Everything else is an error; write a
//! file if you need it. A variable that the script never sets does not contain a call's value.

use super::template::{ArgvElement, ArgvPiece, ArgvVariable, VariableForm};

/// A script's command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScriptCommand {
    /// The program, with the assignments before it, and its arguments.
    pub(super) words: Vec<ArgvElement>,
    /// Its stdin is a file with a fixed name.
    pub(super) reads_file: bool,
}

/// A script whose values can't be followed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ScriptError {
    #[error("contains `{0}`, behind which no value can be followed")]
    Construct(String),
    #[error("expands `${0}` without double quotes")]
    Unquoted(String),
    #[error("has a quote without its counterpart")]
    OpenQuote,
}

/// Words before a command.
const PREFIXES: [&str; 10] = ["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}"];

/// Words that do not begin a command: the end of a list, and a loop's names.
const NO_COMMANDS: [&str; 3] = ["fi", "done", "for"];

/// Words that begin what is not read here.
const UNREAD: [&str; 4] = ["case", "select", "function", "[["];

/// Reads a script's commands.
pub(super) fn commands(script: &str) -> Result<Vec<ScriptCommand>, ScriptError> {
    let mut reader = ScriptReader { script, rest: script, commands: Vec::new(), current: ScriptCommand::default() };
    reader.read()?;
    Ok(reader.commands)
}

struct ScriptReader<'s> {
    script: &'s str,
    /// The part that is not read yet.
    rest: &'s str,
    commands: Vec<ScriptCommand>,
    current: ScriptCommand,
}

impl<'s> ScriptReader<'s> {
    fn read(&mut self) -> Result<(), ScriptError> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t']);
            let Some(first) = self.rest.chars().next() else { return self.end() };
            match first {
                '\n' | ';' | '&' | '|' if !self.rest.starts_with("&>") => {
                    self.rest = &self.rest[1..];
                    self.end()?;
                }
                '#' => self.rest = self.rest.find('\n').map_or("", |at| &self.rest[at..]),
                '<' | '>' | '&' => self.redirection()?,
                _ => {
                    let word = self.word()?;
                    self.current.words.push(word);
                }
            }
        }
    }

    /// Ends a command.
    fn end(&mut self) -> Result<(), ScriptError> {
        let mut command = std::mem::take(&mut self.current);
        let begins_with = |command: &ScriptCommand, words: &[&str]| match command.words.first() {
            Some(ArgvElement::Literal(word)) => words.contains(&word.as_str()),
            Some(ArgvElement::Values(_) | ArgvElement::Joined(_)) | None => false,
        };
        while begins_with(&command, &PREFIXES) {
            command.words.remove(0);
        }
        if begins_with(&command, &UNREAD) {
            let word = command.words.first().map(ArgvElement::prefix).unwrap_or_default();
            return Err(ScriptError::Construct(word.to_owned()));
        }
        if !command.words.is_empty() && !begins_with(&command, &NO_COMMANDS) {
            self.commands.push(command);
        }
        Ok(())
    }

    /// Reads `< file`, `2>> file`, `>&2` and their like. The number before it is a separate word, which is harmless.
    fn redirection(&mut self) -> Result<(), ScriptError> {
        if self.rest.starts_with("<<") && !self.rest.starts_with("<<<") {
            return Err(ScriptError::Construct("<<".to_owned()));
        }
        let is_file = self.rest.starts_with('<') && !self.rest.starts_with("<<<");
        self.rest = self.rest.trim_start_matches(['<', '>', '&', '|']).trim_start_matches([' ', '\t']);
        let target = self.word()?;
        self.current.reads_file |= is_file && !target.has_variable();
        Ok(())
    }

    /// Reads a word.
    fn word(&mut self) -> Result<ArgvElement, ScriptError> {
        let mut word = ScriptWord::default();
        while let Some(character) = self.rest.chars().next() {
            let after = &self.rest[character.len_utf8()..];
            match character {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' => break,
                '\'' => {
                    let (text, rest) = after.split_once('\'').ok_or(ScriptError::OpenQuote)?;
                    word.literal.push_str(text);
                    self.rest = rest;
                }
                '"' => {
                    self.rest = after;
                    self.quoted(&mut word)?;
                }
                '\\' => {
                    let escaped = after.chars().next().filter(|character| *character != '\n');
                    word.literal.extend(escaped);
                    self.rest = after.get(escaped.map_or(1, char::len_utf8)..).unwrap_or_default();
                }
                '$' => match self.expansion()? {
                    Expansion::Constant(text) => word.literal.push_str(text),
                    Expansion::Parameter(name) => return Err(ScriptError::Unquoted(name.to_owned())),
                },
                // Braces expand to several words, unless they are one themselves.
                '{' if self.rest.starts_with("{}") => {
                    word.literal.push_str("{}");
                    self.rest = &after[1..];
                }
                '{' | '}' if word.is_empty() && after.chars().next().is_none_or(char::is_whitespace) => {
                    word.literal.push(character);
                    self.rest = after;
                }
                '}' if word.is_empty() && after.starts_with(';') => {
                    word.literal.push(character);
                    self.rest = after;
                }
                '`' | '(' | ')' | '{' => return Err(ScriptError::Construct(character.to_string())),
                _ => {
                    word.literal.push(character);
                    self.rest = after;
                }
            }
        }
        Ok(word.into_element())
    }

    /// Reads the rest of a double-quoted text.
    fn quoted(&mut self, word: &mut ScriptWord) -> Result<(), ScriptError> {
        loop {
            let character = self.rest.chars().next().ok_or(ScriptError::OpenQuote)?;
            let after = &self.rest[character.len_utf8()..];
            match character {
                '"' => {
                    self.rest = after;
                    return Ok(());
                }
                '`' => return Err(ScriptError::Construct("`".to_owned())),
                '\\' if after.starts_with(['$', '`', '"', '\\']) => {
                    word.literal.push_str(&after[..1]);
                    self.rest = &after[1..];
                }
                '$' => match self.expansion()? {
                    Expansion::Constant(text) => word.literal.push_str(text),
                    Expansion::Parameter(name) => word.variable(name),
                },
                _ => {
                    word.literal.push(character);
                    self.rest = after;
                }
            }
        }
    }

    /// Reads what follows `$`, and it.
    fn expansion(&mut self) -> Result<Expansion<'s>, ScriptError> {
        let whole = self.rest;
        let after = &whole[1..];
        let construct = |text: &str| Err(ScriptError::Construct(format!("${text}")));
        match after.chars().next() {
            Some('#' | '?' | '$' | '!' | '-') => {
                self.rest = &after[1..];
                Ok(Expansion::Constant(&whole[..2]))
            }
            Some('@' | '*' | '0'..='9') => self.parameter(&after[..1], &after[1..]),
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
                let end = after.find(|character| !is_name(character)).unwrap_or(after.len());
                self.parameter(&after[..end], &after[end..])
            }
            Some('{') => {
                let Some((name, rest)) = after[1..].split_once('}') else { return construct("{") };
                let is_plain = !name.is_empty()
                    && (matches!(name, "@" | "*")
                        || name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
                if is_plain { self.parameter(name, rest) } else { construct(&format!("{{{name}}}")) }
            }
            Some(first @ ('(' | '[' | '\'')) => construct(&first.to_string()),
            Some(_) | None => {
                self.rest = after;
                Ok(Expansion::Constant("$"))
            }
        }
    }

    /// Finishes reading a parameter. Some shells read `[…]` after it as arithmetic.
    fn parameter(&mut self, name: &'s str, rest: &'s str) -> Result<Expansion<'s>, ScriptError> {
        if rest.starts_with('[') {
            return Err(ScriptError::Construct(format!("${name}[")));
        }
        let whole = &self.rest[..self.rest.len() - rest.len()];
        self.rest = rest;
        Ok(if self.is_value(name) { Expansion::Parameter(name) } else { Expansion::Constant(whole) })
    }

    /// Reports whether a parameter may be a value: the script's own parameter, one that the call sets, or a variable
    /// that the script mentions other than to expand it.
    fn is_value(&self, name: &str) -> bool {
        let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let is_mentioned = |(at, _): (usize, &str)| {
            let (before, after) = (&self.script[..at], &self.script[at + name.len()..]);
            let is_whole = !before.ends_with(is_name) && !after.starts_with(is_name);
            is_whole && !before.ends_with('$') && !before.ends_with("${")
        };
        let is_own = !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        is_own || name.starts_with("HAFT_") || self.script.match_indices(name).any(is_mentioned)
    }
}

/// An expansion.
enum Expansion<'s> {
    /// A `$` alone, a number that the shell sets, such as `$?`, or an environment variable.
    Constant(&'s str),
    /// A value.
    Parameter(&'s str),
}

/// A word's pieces so far.
#[derive(Default)]
struct ScriptWord {
    pieces: Vec<ArgvPiece>,
    literal: String,
}

impl ScriptWord {
    fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.literal.is_empty()
    }

    fn variable(&mut self, name: &str) {
        if !self.literal.is_empty() {
            self.pieces.push(ArgvPiece::Literal(std::mem::take(&mut self.literal)));
        }
        self.pieces.push(ArgvPiece::Variable(ArgvVariable { name: name.to_owned(), form: VariableForm::Plain }));
    }

    fn into_element(mut self) -> ArgvElement {
        if self.pieces.is_empty() {
            return ArgvElement::Literal(self.literal);
        }
        if !self.literal.is_empty() {
            self.pieces.push(ArgvPiece::Literal(self.literal));
        }
        match self.pieces.as_slice() {
            [ArgvPiece::Variable(variable)] => ArgvElement::Values(variable.clone()),
            _ => ArgvElement::Joined(self.pieces),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes each command's words, with variables as `<name>`.
    fn words(script: &str) -> Result<Vec<String>, ScriptError> {
        let text = |element: &ArgvElement| match element {
            ArgvElement::Literal(text) => text.clone(),
            ArgvElement::Values(variable) => format!("<{}>", variable.name),
            ArgvElement::Joined(pieces) => pieces
                .iter()
                .map(|piece| match piece {
                    ArgvPiece::Literal(text) => text.clone(),
                    ArgvPiece::Variable(variable) => format!("<{}>", variable.name),
                })
                .collect(),
        };
        let line = |command: &ScriptCommand| command.words.iter().map(text).collect::<Vec<_>>().join("·");
        Ok(commands(script)?.iter().map(line).collect())
    }

    #[test]
    fn simple_scripts_are_read() {
        for (script, expected) in [
            ("", &[][..]),
            ("pwd", &["pwd"]),
            ("echo \"$1\"", &["echo·<1>"]),
            ("echo \"a $1 b\" '$1' \\$1 \"\\$1\" a'b'\"c\"", &["echo·a <1> b·$1·$1·$1·abc"]),
            ("grep -e \"$1\" -- \"${2}\" | head -n 5", &["grep·-e·<1>·--·<2>", "head·-n·5"]),
            ("a && b || c; d & e\nf", &["a", "b", "c", "d", "e", "f"]),
            ("if grep \"$1\" f; then echo yes; fi", &["grep·<1>·f", "echo·yes"]),
            ("{ a; b; }", &["a", "b"]),
            ("X=\"$1\" run", &["X=<1>·run"]),
            ("a >out 2>&1 <in &>all", &["a·2"]),
            ("a # b \"$1\nc", &["a", "c"]),
            ("echo $? $# \"$$\" $", &["echo·$?·$#·$$·$"]),
            ("find . -exec cat {} \\;", &["find·.·-exec·cat·{}·;"]),
            ("a \"\" ''", &["a··"]),
            ("cd $HOME/x; ls ${LANG}", &["cd·$HOME/x", "ls·${LANG}"]),
            ("exec \"$@\"", &["exec·<@>"]),
            ("for x in \"$@\"; do echo \"$x: y\"; done", &["echo·<x>: y"]),
        ] {
            assert_eq!(
                words(script).as_deref(),
                Ok(expected.iter().map(|&text| text.to_owned()).collect::<Vec<_>>().as_slice()),
                "{script}"
            );
        }
    }

    #[test]
    fn what_hides_a_value_is_an_error() {
        for (script, part) in [
            ("$1", "`$1` without"),
            ("rm $1", "`$1` without"),
            ("rm ${1}", "`$1` without"),
            ("rm $@", "`$@` without"),
            ("a=\"$1\"; $a", "`$a` without"),
            ("read a; ls $a", "`$a` without"),
            ("for a in x; do ls $a; done", "`$a` without"),
            ("ls $HAFT_CALL_ID", "`$HAFT_CALL_ID` without"),
            ("echo `$1`", "``"),
            ("echo \"`$1`\"", "``"),
            ("echo $(x)", "`$("),
            ("echo \"$(x)\"", "`$("),
            ("echo \"$((x))\"", "`$("),
            ("echo \"${1:-x}\"", "`${1:-x}`"),
            ("echo \"${!1}\"", "`${!1}`"),
            ("echo \"${1@P}\"", "`${1@P}`"),
            ("echo \"${}\"", "`${}`"),
            ("echo \"$1[0]\"", "`$1[`"),
            ("echo $'x'", "`$'`"),
            ("(a)", "`(`"),
            ("f() { x; }", "`(`"),
            ("{sh,-c,\"$1\"}", "`{`"),
            ("cat <<X", "`<<`"),
            ("cat <(x)", "`(`"),
            ("case \"$1\" in a) x;; esac", "`)`"),
            ("[[ a == b && \"$1\" ]]", "`[[`"),
            ("for x in $@; do y; done", "`$@` without"),
            ("select x in a; do y; done", "`select`"),
            ("echo \"", "quote"),
            ("echo '", "quote"),
        ] {
            let error = words(script).unwrap_err().to_string();
            assert!(error.contains(part), "{script}: {error}");
        }
    }

    #[test]
    fn a_fixed_file_as_input_is_known() {
        for (script, reads_file) in [("a <f", true), ("a < \"$1\"", false), ("a >f", false), ("a <<< x", false)] {
            assert_eq!(commands(script).unwrap()[0].reads_file, reads_file, "{script}");
        }
    }
}
