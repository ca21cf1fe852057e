//! Registry tool names, as checked types.
//!
//! A full name has one to three segments: `tool` in the standard toolbox, `namespace/tool` in the project, and
//! `organisation/namespace/tool` in an organisation. Segments are ASCII, so that no two names look alike. They begin
//! with a letter or a digit, so that none is a path or a command's option.

use std::fmt;
use std::str::FromStr;

/// The maximum segment length in bytes.
pub const MAX_SEGMENT_LEN: usize = 64;

/// A rejected name, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name `{name}` is invalid: {fault}")]
#[non_exhaustive]
pub struct NameError {
    /// The name, shortened if it is very long.
    pub name: String,
    /// The reason.
    pub fault: RegistryNameFault,
}

/// The reason why a name is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryNameFault {
    /// The name, or a part between slashes, is empty.
    #[error("it has an empty segment; write `tool`, `namespace/tool` or `organisation/namespace/tool`")]
    EmptySegment,
    /// The name has more than three segments.
    #[error("it has {0} segments; write `tool`, `namespace/tool` or `organisation/namespace/tool`")]
    TooManySegments(usize),
    /// A segment is longer than [`MAX_SEGMENT_LEN`].
    #[error("the segment `{0}…` is longer than {MAX_SEGMENT_LEN} bytes; shorten it")]
    TooLong(String),
    /// A segment does not begin with a letter or a digit.
    #[error("the segment `{0}` must begin with an ASCII letter or digit")]
    Start(String),
    /// A segment contains a character that is not allowed.
    #[error("the segment `{segment}` contains {character:?}; use ASCII letters, digits, `_`, `-` and `.`")]
    Character {
        /// The segment.
        segment: String,
        /// The character.
        character: char,
    },
    /// A single-segment name contains a slash.
    #[error("it contains a slash; name the namespace and the tool apart")]
    Slash,
}

/// Checks a segment.
fn check(segment: &str) -> Result<(), RegistryNameFault> {
    let Some(first) = segment.chars().next() else { return Err(RegistryNameFault::EmptySegment) };
    if segment.len() > MAX_SEGMENT_LEN {
        return Err(RegistryNameFault::TooLong(segment.chars().take(16).collect()));
    }
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.');
    if let Some(character) = segment.chars().find(|character| !is_allowed(*character)) {
        return Err(RegistryNameFault::Character { segment: segment.to_owned(), character });
    }
    if first.is_ascii_alphanumeric() { Ok(()) } else { Err(RegistryNameFault::Start(segment.to_owned())) }
}

fn invalid(name: &str, fault: RegistryNameFault) -> NameError {
    NameError { name: name.chars().take(200).collect(), fault }
}

macro_rules! segment {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(Box<str>);

        impl $type {
            /// Checks a name.
            pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
                let name = name.into();
                if name.contains('/') {
                    return Err(invalid(&name, RegistryNameFault::Slash));
                }
                match check(&name) {
                    Ok(()) => Ok(Self(name.into())),
                    Err(fault) => Err(invalid(&name, fault)),
                }
            }

            /// Returns the name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $type {
            type Err = NameError;

            fn from_str(name: &str) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

segment! {
    /// An organisation's name, such as `acme`.
    OrgName
}
segment! {
    /// A toolbox's name in a workspace, such as `math`.
    Namespace
}
segment! {
    /// A tool's name in its toolbox, such as `add`.
    SimpleName
}

impl OrgName {
    /// Reports whether two names are equal, ignoring case.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

/// A tool's full name: `tool`, `namespace/tool` or `organisation/namespace/tool`.
///
/// ```
/// use haft_registry::FullName;
///
/// let name: FullName = "acme/math/add".parse()?;
/// assert_eq!(name.org().unwrap().as_str(), "acme");
/// assert_eq!(name.namespace().unwrap().as_str(), "math");
/// assert_eq!(name.tool().as_str(), "add");
/// assert_eq!(name.to_string(), "acme/math/add");
/// assert!("../secrets".parse::<FullName>().is_err());
/// # Ok::<_, haft_registry::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FullName {
    origin: ToolOrigin,
    tool: SimpleName,
}

/// A tool's origin. It determines the full name's form and the tool's precedence in lookups.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolOrigin {
    /// The standard toolbox.
    Internal,
    /// A project toolbox.
    Project(Namespace),
    /// An organisation's toolbox.
    Org(OrgName, Namespace),
}

impl FullName {
    /// Creates a tool's name.
    #[must_use]
    pub fn new(origin: ToolOrigin, tool: SimpleName) -> Self {
        Self { origin, tool }
    }

    /// Returns the place that the tool comes from.
    #[must_use]
    pub fn origin(&self) -> &ToolOrigin {
        &self.origin
    }

    /// Returns the organisation.
    #[must_use]
    pub fn org(&self) -> Option<&OrgName> {
        if let ToolOrigin::Org(org, _) = &self.origin { Some(org) } else { None }
    }

    /// Returns the namespace. Tools in the standard toolbox have none.
    #[must_use]
    pub fn namespace(&self) -> Option<&Namespace> {
        match &self.origin {
            ToolOrigin::Internal => None,
            ToolOrigin::Project(namespace) | ToolOrigin::Org(_, namespace) => Some(namespace),
        }
    }

    /// Returns the tool's name in its toolbox.
    #[must_use]
    pub fn tool(&self) -> &SimpleName {
        &self.tool
    }
}

impl fmt::Display for FullName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            ToolOrigin::Internal => write!(f, "{}", self.tool),
            ToolOrigin::Project(namespace) => write!(f, "{namespace}/{}", self.tool),
            ToolOrigin::Org(org, namespace) => write!(f, "{org}/{namespace}/{}", self.tool),
        }
    }
}

impl FromStr for FullName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let mut segments = name.split('/');
        let taken: [Option<&str>; 3] = std::array::from_fn(|_| segments.next());
        let more = segments.count();
        for segment in taken.into_iter().flatten() {
            check(segment).map_err(|fault| invalid(name, fault))?;
        }
        let segment = |text: &str| Box::<str>::from(text);
        let (origin, tool) = match taken {
            _ if more > 0 => return Err(invalid(name, RegistryNameFault::TooManySegments(3 + more))),
            [Some(org), Some(namespace), Some(tool)] => {
                (ToolOrigin::Org(OrgName(segment(org)), Namespace(segment(namespace))), tool)
            }
            [Some(namespace), Some(tool), None] => (ToolOrigin::Project(Namespace(segment(namespace))), tool),
            [Some(tool), ..] => (ToolOrigin::Internal, tool),
            [None, ..] => return Err(invalid(name, RegistryNameFault::EmptySegment)),
        };
        Ok(Self { origin, tool: SimpleName(segment(tool)) })
    }
}
