//! Wire names on the command line: those of [`KnownWire`], the one list of wires.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use haft::wire::{KnownWire, Profile};
use serde::{Deserialize, Serialize};

/// A wire whose responses are read, and which results are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct WireName(pub(crate) KnownWire);

/// A form that tools are shown in: a wire's, or that of the Model Context Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProfileName {
    Wire(KnownWire),
    Mcp,
}

impl ValueEnum for WireName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<[WireName; KnownWire::ALL.len()]> = LazyLock::new(|| KnownWire::ALL.map(WireName));
        &*ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.as_str()).help(format!("The {}", self.0.title())))
    }
}

impl std::fmt::Display for WireName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl ProfileName {
    /// Returns all forms, in the order they are shown.
    pub(crate) fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<ProfileName>> =
            LazyLock::new(|| KnownWire::ALL.map(ProfileName::Wire).into_iter().chain([ProfileName::Mcp]).collect());
        &ALL
    }

    /// Returns the name on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Wire(wire) => wire.as_str(),
            Self::Mcp => "mcp",
        }
    }

    /// Returns the form's profile.
    pub(crate) fn profile(self) -> Profile {
        match self {
            Self::Wire(wire) => wire.profile(),
            Self::Mcp => Profile::mcp(),
        }
    }
}

impl ValueEnum for ProfileName {
    fn value_variants<'a>() -> &'a [Self] {
        Self::all()
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Wire(wire) => WireName(*wire).to_possible_value(),
            Self::Mcp => Some(PossibleValue::new(self.as_str()).help("The Model Context Protocol")),
        }
    }
}
