//! A command's template: its program and the elements that follow.
//!
//! ```text
//! "--json"           a literal element
//! "{pattern}"        a variable: one element, one per value of an array, or none if there is no value
//! "--name={name}"    variables within an element
//! "{filter:json}"    a variable as JSON, whatever its type
//! "{{x}}"            the literal {x}
//! ```
//!
//! The template alone decides where options end: at the first literal element `--` that the program itself reads, not a
//! wrapper before it, as in `["kubectl", "exec", "pod", "--", "grep", "{p}"]`. An element before it that contains a
//! variable must not be able to name an option. That is checked here as far as the template shows it, and in
//! `render.rs` for the values.

use std::collections::{BTreeMap, BTreeSet};

use haft_registry::EntryFault;

use super::interpreter;

/// The literal element after which no element is an option.
const END_OF_OPTIONS: &str = "--";

/// The files that are a process's stdin.
const STDIN_FILES: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/self/fd/0"];

/// A program, and the elements that follow it.
#[derive(Clone, Debug, Default)]
pub(super) struct ArgvTemplate {
    pub(super) program: String,
    pub(super) elements: Vec<ArgvElement>,
    /// The number of elements that a program may read as options.
    pub(super) options: usize,
    /// The elements that must each be exactly one argument: otherwise what follows would have another meaning.
    pub(super) counted: BTreeSet<usize>,
    /// The program that would read stdin as code.
    pub(super) reads_stdin: Option<String>,
    /// The arguments that name programs: the command's own, and those that its wrappers start.
    pub(super) programs: BTreeSet<usize>,
}

/// A template element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArgvElement {
    /// Always the same text.
    Literal(String),
    /// A variable's values.
    Values(ArgvVariable),
    /// Text with variables: at least one, and at least two pieces.
    Joined(Vec<ArgvPiece>),
}

/// A part of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArgvPiece {
    Literal(String),
    Variable(ArgvVariable),
}

/// A place for an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArgvVariable {
    pub(super) name: String,
    pub(super) form: VariableForm,
}

/// The form in which a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableForm {
    /// Text as it is, numbers and booleans as in JSON.
    Plain,
    /// JSON.
    Json,
}

/// A zone: the elements that a program may read as options, or those after `--`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgvZone {
    Options,
    Operands,
}

impl ArgvTemplate {
    /// Parses a template, and adds its faults to the list. Faulty elements are left out.
    pub(super) fn parse(argv: &[String], faults: &mut Vec<EntryFault>) -> Self {
        let mut template = Self::default();
        if argv.is_empty() {
            faults.push(EntryFault::at("/command", "the command is empty; name at least a program"));
            return template;
        }
        let mut found: BTreeMap<usize, String> = BTreeMap::new();
        let mut parsed = Vec::with_capacity(argv.len());
        for (index, text) in argv.iter().enumerate() {
            let element = if index == 0 { parse_program(text).map(ArgvElement::Literal) } else { parse_element(text) };
            parsed.push(element.map_err(|message| found.insert(index, message)).ok());
        }
        let code = interpreter::check(&parsed);
        template.reads_stdin = code.reads_stdin;
        template.programs = code.programs;
        let ends = |element: &Option<ArgvElement>| element.as_ref().is_some_and(ArgvElement::ends_options);
        let end = parsed.iter().skip(code.innermost).position(ends).map_or(parsed.len(), |at| at + code.innermost);
        for (index, fault) in code.faults {
            found.entry(index).or_insert_with(|| fault.to_string());
        }
        for (index, element) in parsed.into_iter().enumerate() {
            let zone = if index <= end { ArgvZone::Options } else { ArgvZone::Operands };
            let Some(element) = element else { continue };
            match element.checked(zone) {
                Ok(ArgvElement::Literal(program)) if index == 0 => template.program = program,
                Ok(element) if !found.contains_key(&index) => {
                    if code.counted.contains(&index) && !element.is_optional() {
                        template.counted.insert(template.elements.len());
                    }
                    template.elements.push(element);
                    if zone == ArgvZone::Options {
                        template.options = template.elements.len();
                    }
                }
                Ok(_) => {}
                Err(message) => drop(found.entry(index).or_insert(message)),
            }
        }
        let fault = |(index, message)| EntryFault::at(format!("/command/{index}"), message);
        faults.extend(found.into_iter().map(fault));
        template
    }

    /// Returns all variables, with repetitions.
    pub(super) fn variables(&self) -> impl Iterator<Item = &ArgvVariable> {
        self.elements.iter().flat_map(ArgvElement::variables)
    }

    /// Returns the elements with their zones.
    pub(super) fn zoned(&self) -> impl Iterator<Item = (&ArgvElement, ArgvZone)> {
        let zone = move |index| if index < self.options { ArgvZone::Options } else { ArgvZone::Operands };
        self.elements.iter().enumerate().map(move |(index, element)| (element, zone(index)))
    }

    /// Returns the variables in elements that must each be exactly one argument.
    pub(super) fn counted(&self) -> impl Iterator<Item = &ArgvVariable> {
        let elements = self.elements.iter().enumerate().filter(|(index, _)| self.counted.contains(index));
        elements.flat_map(|(_, element)| element.variables())
    }

    /// Returns the variables that directly follow a literal option: without a value, the option would take the next
    /// element as its own.
    pub(super) fn after_option(&self) -> impl Iterator<Item = &ArgvVariable> {
        let pairs = self.zoned().zip(self.elements.iter().skip(1));
        pairs.filter_map(|((before, zone), element)| match element {
            ArgvElement::Values(variable) if before.is_option(zone) => Some(variable),
            ArgvElement::Values(_) | ArgvElement::Literal(_) | ArgvElement::Joined(_) => None,
        })
    }
}

impl ArgvElement {
    /// Reports whether this is a literal option that may take the next element as its value.
    pub(super) fn is_option(&self, zone: ArgvZone) -> bool {
        match self {
            Self::Literal(text) => {
                let takes_none = matches!(text.as_str(), "-" | END_OF_OPTIONS) || text.contains('=');
                zone == ArgvZone::Options && text.starts_with('-') && !takes_none
            }
            Self::Values(_) | Self::Joined(_) => false,
        }
    }

    /// Returns the element's variables.
    pub(super) fn variables(&self) -> impl Iterator<Item = &ArgvVariable> {
        let (own, pieces): (Option<&ArgvVariable>, &[ArgvPiece]) = match self {
            Self::Literal(_) => (None, &[]),
            Self::Values(variable) => (Some(variable), &[]),
            Self::Joined(pieces) => (None, pieces),
        };
        let joined = pieces.iter().filter_map(|piece| match piece {
            ArgvPiece::Variable(variable) => Some(variable),
            ArgvPiece::Literal(_) => None,
        });
        own.into_iter().chain(joined)
    }

    fn ends_options(&self) -> bool {
        matches!(self, Self::Literal(text) if text == END_OF_OPTIONS)
    }

    /// Rejects an option whose name contains a variable, such as `-{x}`.
    fn checked(self, zone: ArgvZone) -> Result<Self, String> {
        let names_option = match &self {
            Self::Joined(pieces) => {
                matches!(pieces.first(), Some(ArgvPiece::Literal(text)) if text.starts_with('-') && !text.contains('='))
            }
            Self::Literal(_) | Self::Values(_) => false,
        };
        if zone == ArgvZone::Options && names_option {
            return Err(
                "a value could name an option here; write `--name={value}`, make the variable an element of its \
                        own, or put an element `--` before it"
                    .to_owned(),
            );
        }
        Ok(self)
    }
}

fn parse_program(text: &str) -> Result<String, String> {
    match parse_element(text)? {
        ArgvElement::Literal(program) if program.is_empty() => {
            Err("the program is empty; name one, such as `git`".to_owned())
        }
        ArgvElement::Literal(program) => Ok(program),
        ArgvElement::Values(_) | ArgvElement::Joined(_) => {
            Err("the program can't contain a variable; name it literally".to_owned())
        }
    }
}

fn parse_element(text: &str) -> Result<ArgvElement, String> {
    if text.contains('\0') {
        return Err("an argument of a command can't contain a NUL character".to_owned());
    }
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        literal.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("{{") {
            literal.push('{');
            rest = after;
        } else if let Some(after) = rest.strip_prefix("}}") {
            literal.push('}');
            rest = after;
        } else if let Some((name, after)) = rest.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            if !literal.is_empty() {
                pieces.push(ArgvPiece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(ArgvPiece::Variable(parse_variable(name)?));
            rest = after;
        } else {
            return Err(format!("`{text}` has a brace without its counterpart; a literal brace is doubled"));
        }
    }
    literal.push_str(rest);
    if pieces.is_empty() {
        return Ok(ArgvElement::Literal(literal));
    }
    if !literal.is_empty() {
        pieces.push(ArgvPiece::Literal(literal));
    }
    Ok(match pieces.as_slice() {
        [ArgvPiece::Variable(variable)] => ArgvElement::Values(variable.clone()),
        _ => ArgvElement::Joined(pieces),
    })
}

fn parse_variable(text: &str) -> Result<ArgvVariable, String> {
    let (name, form) = match text.split_once(':') {
        None => (text, VariableForm::Plain),
        Some((name, "json")) => (name, VariableForm::Json),
        Some((_, form)) => return Err(format!("`{form}` is not a form of a variable; the only one is `json`")),
    };
    if name.is_empty() || name.contains('{') {
        return Err(format!("`{{{text}}}` is not a variable; write `{{name}}`, and double a literal brace"));
    }
    Ok(ArgvVariable { name: name.to_owned(), form })
}

impl ArgvElement {
    /// Returns the text before the first variable.
    pub(super) fn prefix(&self) -> &str {
        match self {
            Self::Literal(text) => text,
            Self::Values(_) => "",
            Self::Joined(pieces) => match pieces.first() {
                Some(ArgvPiece::Literal(text)) => text,
                Some(ArgvPiece::Variable(_)) | None => "",
            },
        }
    }

    /// Returns the literal texts.
    pub(super) fn literals(&self) -> impl Iterator<Item = &str> {
        let (own, pieces): (Option<&str>, &[ArgvPiece]) = match self {
            Self::Literal(text) => (Some(text), &[]),
            Self::Values(_) => (None, &[]),
            Self::Joined(pieces) => (None, pieces),
        };
        let joined = pieces.iter().filter_map(|piece| match piece {
            ArgvPiece::Literal(text) => Some(text.as_str()),
            ArgvPiece::Variable(_) => None,
        });
        own.into_iter().chain(joined)
    }

    pub(super) fn has_variable(&self) -> bool {
        self.variables().next().is_some()
    }

    /// Reports whether this names stdin as a file, perhaps as an option's value.
    pub(super) fn is_stdin(&self) -> bool {
        let Self::Literal(text) = self else { return false };
        let value = text.rsplit_once('=').map_or(text.as_str(), |(_, value)| value);
        let is_letter_with_value = text.len() == 3 && text.starts_with('-') && text.ends_with('-');
        is_letter_with_value || value == "-" || STDIN_FILES.iter().any(|file| value.ends_with(file))
    }

    /// Reports whether this may be left out without changing what follows: `--name={x}` and `NAME={x}`.
    fn is_optional(&self) -> bool {
        self.prefix().starts_with('-') || self.is_assignment()
    }

    /// Returns the texts before a variable that `=` follows, which may end with an environment variable's name: `A` in
    /// `--env=A={p}`.
    pub(super) fn settings(&self) -> impl Iterator<Item = &str> {
        let text = if self.has_variable() { self.prefix() } else { "" };
        text.match_indices('=').map(|(at, _)| &text[..at])
    }

    /// Reports whether this sets an environment variable, as in `env A=1`.
    pub(super) fn is_assignment(&self) -> bool {
        let name = self.prefix().split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(argv: &[&str]) -> (ArgvTemplate, Vec<String>) {
        let mut faults = Vec::new();
        let argv: Vec<String> = argv.iter().map(|&text| text.to_owned()).collect();
        let template = ArgvTemplate::parse(&argv, &mut faults);
        (template, faults.iter().map(ToString::to_string).collect())
    }

    fn plain(name: &str) -> ArgvVariable {
        ArgvVariable { name: name.to_owned(), form: VariableForm::Plain }
    }

    #[test]
    fn elements_are_parsed() {
        let json = ArgvVariable { name: "f".to_owned(), form: VariableForm::Json };
        let literal = |text: &str| ArgvElement::Literal(text.to_owned());
        for (text, element) in [
            ("", literal("")),
            ("-v", literal("-v")),
            ("{{x}}", literal("{x}")),
            ("}}{{", literal("}{")),
            ("{x}", ArgvElement::Values(plain("x"))),
            ("{a b/é}", ArgvElement::Values(plain("a b/é"))),
            ("{f:json}", ArgvElement::Values(json.clone())),
            (
                "--n={x}",
                ArgvElement::Joined(vec![ArgvPiece::Literal("--n=".to_owned()), ArgvPiece::Variable(plain("x"))]),
            ),
            (
                "{x}{f:json}",
                ArgvElement::Joined(vec![ArgvPiece::Variable(plain("x")), ArgvPiece::Variable(json.clone())]),
            ),
            ("{{{x}", ArgvElement::Joined(vec![ArgvPiece::Literal("{".to_owned()), ArgvPiece::Variable(plain("x"))])),
            ("{x}}}", ArgvElement::Joined(vec![ArgvPiece::Variable(plain("x")), ArgvPiece::Literal("}".to_owned())])),
        ] {
            assert_eq!(parse_element(text).as_ref(), Ok(&element), "{text}");
        }
    }

    #[test]
    fn all_faults_are_reported_at_their_elements() {
        let (_, faults) = parse(&["{prog}", "{", "}", "{}", "{x:yaml}", "a\0b", "{a{b}", "ok"]);
        let at: Vec<&str> = faults.iter().map(|fault| fault.split_once(": ").unwrap().0).collect();
        let expected: Vec<String> = [0, 1, 2, 3, 4, 5, 6].iter().map(|index| format!("/command/{index}")).collect();
        assert_eq!(at, expected, "{faults:?}");
        assert!(parse(&[]).1[0].starts_with("/command: "));
        assert!(parse(&[""]).1[0].contains("the program is empty"));
        assert_eq!(parse(&["{"]).1.len(), 1);
    }

    #[test]
    fn a_variable_can_not_name_an_option() {
        for (element, is_fault) in [
            ("-{x}", true),
            ("--{x}", true),
            ("--no-{x}", true),
            ("-I{x}", true),
            ("--{x}=a", true),
            ("--n={x}", false),
            ("--n={x}={y}", false),
            ("{x}", false),
            ("{x}-y", false),
            ("a-{x}", false),
        ] {
            assert_eq!(parse(&["p", element]).1.len(), usize::from(is_fault), "{element}");
            assert_eq!(parse(&["p", "--", element]).1, [""; 0], "{element} after `--`");
            assert_eq!(parse(&["p", "{{--}}", element, "--"]).1.len(), usize::from(is_fault), "{element} before `--`");
        }
    }

    #[test]
    fn variables_after_an_option_are_found() {
        let (template, faults) =
            parse(&["p", "-o", "{a}", "{b}", "--c=1", "{c}", "-d", "{d}", "--", "{e}", "-x", "{f}"]);
        assert_eq!(faults, [""; 0]);
        let names: Vec<&str> = template.after_option().map(|variable| variable.name.as_str()).collect();
        assert_eq!(names, ["a", "d"]);
        assert_eq!(parse(&["p", "-", "{a}", "--", "{b}"]).0.after_option().count(), 0);
        assert_eq!(template.variables().count(), 6);
    }
}
