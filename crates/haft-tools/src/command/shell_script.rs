//! A shell script's commands, if the script is so simple that they can be known without running it.
//!
//! `["sh", "-c", "grep \"$1\" log | head", "sh", "{p}"]` passes a value to a script that never changes. The value stays
//! data only if the script keeps it so: `$1` alone would run it, and so would `eval "$1"`. So a script that gets values
//! is read here, and its commands are checked like a template's, with every expansion treated as a variable.
//!
//! The language is a small part of `sh`: commands with pipes, lists and redirections, and the words of `if`, `while`
//! and `for` around them. An expansion is a plain parameter within double quotes. Everything else is an error; write a
//! file if you need it. A variable that the script never sets does not contain a call's value.

use super::known_program::code_variable_in;
use super::template::{ArgvElement, ArgvPiece, ArgvVariable, VariableForm};

/// A script, as far as its values can be followed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellScript {
    pub(super) commands: Vec<ScriptCommand>,
    /// The files with fixed names to which a redirection writes.
    pub(super) written: Vec<String>,
}

/// A script's command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScriptCommand {
    /// The program, with the assignments before it, and its arguments.
    pub(super) words: Vec<ArgvElement>,
    pub(super) stdin: ScriptInput,
}

/// The stdin of a script's command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum ScriptInput {
    /// The script's own.
    #[default]
    Inherited,
    /// A file with this fixed name.
    File(String),
    /// A pipe, a text, a file that a value names, or another descriptor.
    Other,
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
    #[error("sets `{0}`, by which other programs load code")]
    Variable(String),
}

/// Words before a command.
const PREFIXES: [&str; 10] = ["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}"];

/// Words that do not begin a command: the end of a list, and a loop's names.
const NO_COMMANDS: [&str; 3] = ["fi", "done", "for"];

/// Words that begin what is not read here.
const UNREAD: [&str; 5] = ["case", "select", "function", "[[", "alias"];

/// Words whose operands name variables to set.
const SETTERS: [&str; 5] = ["for", "read", "getopts", "mapfile", "readarray"];

/// Redirections, each before those that it begins with.
const REDIRECTIONS: [&str; 11] = ["<<<", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">|", ">&", ">"];

/// Reads a script. Besides its own, it has the variables that other texts mention: the command's arguments, and the
/// script around it.
pub(super) fn read(script: &str, around: &[&str]) -> Result<ShellScript, ScriptError> {
    let (read, current) = (ShellScript::default(), ScriptCommand::default());
    let mut reader = ScriptReader { script, around, rest: script, read, current };
    reader.read()?;
    Ok(reader.read)
}

/// Reports whether a text contains a variable's name.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    !name.is_empty() && positions(text, name).next().is_some()
}

/// Returns the offsets of a name in a text.
fn positions<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let is_whole = move |at: &usize| !text[..*at].ends_with(is_name) && !text[at + name.len()..].starts_with(is_name);
    text.match_indices(name).map(|(at, _)| at).filter(is_whole)
}

struct ScriptReader<'s> {
    script: &'s str,
    around: &'s [&'s str],
    /// The part that is not read yet.
    rest: &'s str,
    read: ShellScript,
    current: ScriptCommand,
}

impl<'s> ScriptReader<'s> {
    fn read(&mut self) -> Result<(), ScriptError> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t']);
            let Some(first) = self.rest.chars().next() else { return self.end() };
            let digits = self.rest.find(|character: char| !character.is_ascii_digit()).unwrap_or_default();
            match first {
                '|' if !self.rest.starts_with("||") => {
                    self.rest = self.rest[1..].trim_start_matches('&');
                    self.end()?;
                    self.current.stdin = ScriptInput::Other;
                }
                '\n' | ';' | '&' | '|' if !self.rest.starts_with("&>") => {
                    self.rest = self.rest.strip_prefix("||").unwrap_or(&self.rest[1..]);
                    self.end()?;
                }
                '#' => self.rest = self.rest.find('\n').map_or("", |at| &self.rest[at..]),
                '<' | '>' | '&' => self.redirection("")?,
                _ if digits > 0 && self.rest[digits..].starts_with(['<', '>']) => {
                    let (descriptor, rest) = self.rest.split_at(digits);
                    self.rest = rest;
                    self.redirection(descriptor)?;
                }
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
        let mut after_setter = command.words.iter().skip_while(|word| !SETTERS.contains(&word.prefix()));
        if let Some(name) = after_setter.find_map(|word| code_variable_in(word.prefix())) {
            return Err(ScriptError::Variable(name.to_owned()));
        }
        if !command.words.is_empty() && !begins_with(&command, &NO_COMMANDS) {
            self.read.commands.push(command);
        }
        Ok(())
    }

    /// Reads `< file`, `2>> file`, `>&2` and their like, after the number before it.
    fn redirection(&mut self, descriptor: &str) -> Result<(), ScriptError> {
        let operator = REDIRECTIONS.into_iter().find(|operator| self.rest.starts_with(operator)).unwrap_or_default();
        if operator == "<<" {
            return Err(ScriptError::Construct(operator.to_owned()));
        }
        self.rest = self.rest[operator.len()..].trim_start_matches([' ', '\t']);
        let target = self.word()?;
        let file = match &target {
            ArgvElement::Literal(name) => Some(name),
            ArgvElement::Values(_) | ArgvElement::Joined(_) => None,
        };
        let is_stdin = if descriptor.is_empty() { operator.starts_with('<') } else { descriptor.parse() == Ok(0) };
        if is_stdin {
            let file = file.filter(|_| matches!(operator, "<" | "<>"));
            self.current.stdin = file.map_or(ScriptInput::Other, |name| ScriptInput::File(name.clone()));
        }
        self.read.written.extend(file.filter(|_| !matches!(operator, "<<<" | "<&" | "<")).cloned());
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
    /// that the script, or a text around it, mentions other than to expand it.
    fn is_value(&self, name: &str) -> bool {
        let is_set =
            |text: &str| positions(text, name).any(|at| !text[..at].ends_with('$') && !text[..at].ends_with("${"));
        let is_own = !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let mut texts = self.around.iter().copied().chain([self.script]);
        is_own || name.starts_with("HAFT_") || texts.any(is_set)
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
        Ok(read(script, &[])?.commands.iter().map(line).collect())
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
            ("a >out 2>&1 <in &>all", &["a"]),
            ("2>x a 3<&4 b c2>d", &["a·b·c2"]),
            ("a |& b || c", &["a", "b", "c"]),
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
            ("alias x=eval; x \"$1\"", "`alias`"),
            ("read -r PATH; ls", "sets `PATH`"),
            ("for PATH in \"$1\"; do ls; done", "sets `PATH`"),
            ("echo \"", "quote"),
            ("echo '", "quote"),
        ] {
            let error = words(script).unwrap_err().to_string();
            assert!(error.contains(part), "{script}: {error}");
        }
    }

    #[test]
    fn the_last_redirection_is_the_input() {
        let file = |name: &str| ScriptInput::File(name.to_owned());
        for (script, stdin) in [
            ("a", ScriptInput::Inherited),
            ("a <f", file("f")),
            ("a 0< f 3<g", file("f")),
            ("a < \"$1\"", ScriptInput::Other),
            ("a >f", ScriptInput::Inherited),
            ("a <<< x", ScriptInput::Other),
            ("a <f <<< x", ScriptInput::Other),
            ("a <f 0<&3", ScriptInput::Other),
            ("a <f 00>&3", ScriptInput::Other),
            ("a <&3", ScriptInput::Other),
        ] {
            assert_eq!(read(script, &[]).unwrap().commands[0].stdin, stdin, "{script}");
        }
        assert_eq!(read("a | b", &[]).unwrap().commands[1].stdin, ScriptInput::Other);
        assert_eq!(read("a >x 2>>y <z 3<>u &>v >&2", &[]).unwrap().written, ["x", "y", "u", "v", "2"]);
    }

    #[test]
    fn a_variable_that_a_text_around_the_script_mentions_is_a_value() {
        assert!(read("eval $X", &[]).is_ok());
        for around in ["X=", "sh -c 'eval \"$X\"' X", "--env=X"] {
            assert_eq!(read("eval $X", &["a", around]), Err(ScriptError::Unquoted("X".to_owned())), "{around}");
        }
        assert!(read("eval $X", &["echo $X ${X} XY"]).is_ok());
    }
}
