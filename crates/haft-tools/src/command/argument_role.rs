//! The meaning that an option gives to its value, according to its program's row.

use super::known_program::{KnownProgram, OperandRule, OptionStyle, has_word};

/// The meaning of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueRole {
    /// Code.
    Code,
    /// Code, with everything that follows.
    Rest,
    /// The script's name.
    File,
    /// The name of other code.
    Load,
    /// An environment variable's name and value.
    Variable,
    /// A program's name, which its arguments follow.
    Program,
    Data,
}

/// The place of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValuePlace {
    /// The next element.
    Next,
    /// The option's own element.
    Inline,
}

/// An option's place among its program's arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct OptionPlace<'p> {
    /// Single-letter options have their meaning here.
    pub(super) takes_letters: bool,
    /// The subcommand before it.
    pub(super) subcommand: Option<&'p str>,
}

impl OptionPlace<'_> {
    /// Any place.
    pub(super) const UNKNOWN: Self = Self { takes_letters: true, subcommand: None };
}

/// Returns the role and place of an option's value. Returns `None` if the option is not listed or has no value.
pub(super) fn option_role(rule: &KnownProgram, text: &str, at: OptionPlace<'_>) -> Option<(ValueRole, ValuePlace)> {
    if rule.operands == OperandRule::Container {
        return container_role(rule, text);
    }
    match rule.style {
        OptionStyle::Cmd => {
            let lower = text.to_ascii_lowercase();
            let matches = |option: &str| lower.starts_with('/') && lower.contains(option);
            role_of(rule, matches).map(|role| (role, ValuePlace::Next))
        }
        OptionStyle::PowerShell => {
            let lower = text.replacen('/', "-", 1).to_ascii_lowercase();
            let lower = lower.replacen("--", "-", 1);
            let (name, place) = named(&lower, ':');
            role_of(rule, |option| name.len() > 1 && option.starts_with(name)).map(|role| (role, place))
        }
        OptionStyle::Unix | OptionStyle::Letters => unix_role(rule, text, at),
    }
}

fn unix_role(rule: &KnownProgram, text: &str, at: OptionPlace<'_>) -> Option<(ValueRole, ValuePlace)> {
    let is_letter = |text: &str| text.len() == 2 && text.starts_with(['-', '+']);
    let is = |option: &str, name: &str| match option.split_once(':').filter(|(word, _)| !word.starts_with('-')) {
        Some((subcommand, option)) => at.subcommand == Some(subcommand) && option == name,
        None => option == name && (at.takes_letters || !is_letter(name)),
    };
    if let Some(role) = role_of(rule, |option| is(option, text)) {
        return Some((role, ValuePlace::Next));
    }
    let (name, place) = named(text, '=');
    if text.starts_with("--") {
        // Most programs accept a long option by its beginning.
        return role_of(rule, |option| name.len() > 2 && option.starts_with(name)).map(|role| (role, place));
    }
    if place == ValuePlace::Inline
        && let Some(role) = role_of(rule, |option| is(option, name))
    {
        return Some((role, place));
    }
    let sign = text.chars().next().filter(|sign| matches!(sign, '-' | '+') && at.takes_letters)?;
    let letters = text[1..].char_indices().take_while(|(_, letter)| letter.is_ascii_alphanumeric());
    if rule.style == OptionStyle::Letters {
        let roles = letters.filter_map(|(_, letter)| role_of(rule, |option| option == format!("{sign}{letter}")));
        // Code counts wherever its letter stands.
        let role = roles
            .min_by_key(|role| [ValueRole::Rest, ValueRole::Code].iter().position(|code| code == role).unwrap_or(2));
        return role.map(|role| (role, ValuePlace::Next));
    }
    for (at, letter) in letters {
        let one = format!("{sign}{letter}");
        if let Some(role) = role_of(rule, |option| option == one) {
            let is_last = at + 2 == text.len();
            return Some((role, if is_last { ValuePlace::Next } else { ValuePlace::Inline }));
        }
    }
    None
}

/// Returns the role of the first list that has a matching option.
fn role_of(rule: &KnownProgram, matches: impl Fn(&str) -> bool) -> Option<ValueRole> {
    let lists = [
        (rule.rest, ValueRole::Rest),
        (rule.code, ValueRole::Code),
        (rule.file, ValueRole::File),
        (rule.load, ValueRole::Load),
        (rule.sets, ValueRole::Variable),
        (rule.starts, ValueRole::Program),
        (rule.valued, ValueRole::Data),
    ];
    lists.iter().find(|(list, _)| list.split_ascii_whitespace().any(&matches)).map(|(_, role)| *role)
}

/// Returns an option's name and its value's place.
fn named(text: &str, separator: char) -> (&str, ValuePlace) {
    match text.split_once(separator) {
        Some((name, _)) => (name, ValuePlace::Inline),
        None => (text, ValuePlace::Next),
    }
}

/// Returns how many later arguments are values for an option's letters, other than code.
pub(super) fn values_after(rule: &KnownProgram, text: &str) -> usize {
    match text.strip_prefix(['-', '+']) {
        Some(letters) if rule.style == OptionStyle::Letters && !letters.starts_with('-') => {
            letters.chars().filter(|letter| has_word(rule.valued, &format!("-{letter}"))).count()
        }
        _ => 0,
    }
}

/// Returns the role for a container engine, whose options have a value unless they are listed.
fn container_role(rule: &KnownProgram, text: &str) -> Option<(ValueRole, ValuePlace)> {
    let (name, place) = named(text, '=');
    let is_flag = |letter: char| has_word(rule.valued, &format!("-{letter}"));
    match name.strip_prefix('-') {
        None | Some("") => None,
        Some(_) if has_word(rule.load, name) => Some((ValueRole::Load, place)),
        Some(_) if has_word(rule.sets, name) => Some((ValueRole::Variable, place)),
        Some(_) if has_word(rule.valued, name) => None,
        Some(long) if long.starts_with('-') => Some((ValueRole::Data, place)),
        Some(letters) => {
            let (at, _) = letters.char_indices().find(|(_, letter)| !is_flag(*letter))?;
            let is_last = at + 1 == letters.len();
            Some((ValueRole::Data, if is_last { place } else { ValuePlace::Inline }))
        }
    }
}
