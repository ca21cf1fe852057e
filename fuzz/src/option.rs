//! The command line.

use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::target::{self, Target};

/// The mode of the command, and the folder of findings.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) out: PathBuf,
    pub(crate) mode: Mode,
}

/// Searching for inputs, or replaying one.
#[derive(Debug)]
pub(crate) enum Mode {
    /// Search the targets, sharing the time.
    Search { targets: Vec<&'static Target>, seconds: u64, seed: u64, trace: bool },
    /// Run one saved input.
    Replay { file: PathBuf, target: &'static Target },
}

impl Options {
    /// Reads the words: `--out DIR --seconds N --seed S --trace --replay FILE`, then names of targets.
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let (mut out, mut seconds, mut seed) = (PathBuf::from("target/fuzz"), 60, 1);
        let (mut trace, mut replay, mut targets) = (false, None, Vec::new());
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match word.as_str() {
                "--out" => out = value()?.into(),
                "--seconds" => seconds = value()?.parse().context("--seconds takes a whole number")?,
                "--seed" => seed = value()?.parse().context("--seed takes a whole number")?,
                "--replay" => replay = Some(PathBuf::from(value()?)),
                "--trace" => trace = true,
                flag if flag.starts_with('-') => bail!("unknown flag {flag}"),
                name => targets.push(target::find(name).with_context(|| unknown(name))?),
            }
        }
        let mode = match (replay, targets.as_slice()) {
            (Some(file), [target]) => Mode::Replay { file, target },
            (Some(_), _) => bail!("--replay takes one target"),
            (None, []) => Mode::Search { targets: target::ALL.iter().collect(), seconds, seed, trace },
            (None, _) => Mode::Search { targets, seconds, seed, trace },
        };
        Ok(Self { out, mode })
    }
}

fn unknown(name: &str) -> String {
    let names: Vec<_> = target::ALL.iter().map(|target| target.name).collect();
    format!("no target `{name}`, there are: {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{Mode, Options, target};

    fn parse(line: &str) -> anyhow::Result<Options> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn without_names_every_target_is_searched() {
        let Mode::Search { targets, seconds, seed, trace } = parse("--seconds 7 --seed 9").unwrap().mode else {
            panic!("not a search")
        };
        assert_eq!((targets.len(), seconds, seed, trace), (target::ALL.len(), 7, 9, false));
    }

    #[test]
    fn a_replay_takes_one_target() {
        let Mode::Replay { file, target } = parse("--replay x.bin decode").unwrap().mode else {
            panic!("not a replay")
        };
        assert_eq!((file.to_str(), target.name), (Some("x.bin"), "decode"));
        assert!(parse("--replay x.bin").is_err());
    }

    #[test]
    fn mistakes_are_named() {
        assert!(parse("decoed").unwrap_err().to_string().contains("decode"));
        assert!(parse("--seconds soon").is_err());
        assert!(parse("--fast").is_err());
    }
}
