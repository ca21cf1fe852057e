//! The command-line arguments after `cargo xtask`.
//!
//! A command takes the flags it knows and then the rest; a remaining word that begins with a dash is an error, never
//! ignored.

use std::collections::VecDeque;

use anyhow::{Context, bail};

/// The remaining words of the command line.
#[derive(Debug)]
pub(crate) struct Arguments(VecDeque<String>);

impl Arguments {
    /// Returns the words of this process, without its own name.
    pub(crate) fn from_env() -> Self {
        std::env::args().skip(1).collect()
    }

    /// Removes and returns the next word.
    pub(crate) fn next_word(&mut self) -> Option<String> {
        self.0.pop_front()
    }

    /// Removes the flag and returns whether it was given.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|word| word != name);
        self.0.len() < before
    }

    /// Removes the flag and the value after it, and returns the value.
    pub(crate) fn value(&mut self, name: &str) -> anyhow::Result<Option<String>> {
        let Some(at) = self.0.iter().position(|word| word == name) else { return Ok(None) };
        self.0.remove(at);
        self.0.remove(at).map(Some).with_context(|| format!("{name} needs a value"))
    }

    /// Returns the remaining words, none of which may be a flag.
    pub(crate) fn rest(self) -> anyhow::Result<Vec<String>> {
        if let Some(flag) = self.0.iter().find(|word| word.starts_with('-')) {
            bail!("unknown flag {flag}");
        }
        Ok(self.0.into())
    }

    /// Rejects remaining words.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self.0.front() {
            Some(word) => bail!("unexpected argument {word}"),
            None => Ok(()),
        }
    }
}

impl<S: Into<String>> FromIterator<S> for Arguments {
    fn from_iter<I: IntoIterator<Item = S>>(words: I) -> Self {
        Self(words.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    #[test]
    fn flags_and_values_are_taken_at_any_position() {
        let mut arguments = Arguments::from_iter(["decode", "--seconds", "5", "--trace"]);
        assert_eq!(arguments.value("--seconds").unwrap().as_deref(), Some("5"));
        assert!(arguments.flag("--trace"));
        assert!(!arguments.flag("--trace"));
        assert_eq!(arguments.rest().unwrap(), ["decode"]);
    }

    #[test]
    fn unknown_arguments_are_rejected() {
        assert!(Arguments::from_iter(["--ofline"]).rest().is_err());
        assert!(Arguments::from_iter(["extra"]).finish().is_err());
        assert!(Arguments::from_iter(["--seed"]).value("--seed").is_err());
    }
}
