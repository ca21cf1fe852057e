//! Permissions and approval rules as data: what a workspace file contains, and what code builds.
//!
//! The settings are plain values. Nothing is checked until they are built; then all faults are reported, each with the
//! JSON Pointer of the setting that caused it. A key that does not exist, such as `when` without the feature `cel`, is an
//! error, so no condition is ever ignored.

use std::collections::BTreeMap;
use std::fmt;

use haft_core::Decider;
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::pattern::ToolPattern;

/// The permissions of a workspace.
///
/// Everything that no rule allows is denied, and a rule that denies overrules all that allow.
///
/// ```
/// use haft_registry::{PermissionSettings, RuleSettings};
///
/// let settings = PermissionSettings::new()
///     .allow("math/*")
///     .allow(RuleSettings::tools(["github/*"]).readonly(true))
///     .deny("github/delete_*");
/// let same: PermissionSettings = serde_json::from_str(r#"{
///     "allow": ["math/*", { "tools": "github/*", "readonly": true }],
///     "deny": ["github/delete_*"]
/// }"#)?;
/// assert_eq!(settings, same);
///
/// let permissions = settings.build()?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct PermissionSettings {
    /// The names of the sets that apply.
    #[serde(rename = "use", skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<String>,
    /// Hides the tools that no rule allows: they are unknown instead of denied.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hide_denied: bool,
    /// The rules that allow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<RuleForm>")]
    pub allow: Vec<RuleSettings>,
    /// The rules that deny. They overrule the rules that allow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<RuleForm>")]
    pub deny: Vec<RuleSettings>,
    /// Named sets of rules. A set has no effect unless it is used.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sets: BTreeMap<String, RuleSetSettings>,
}

/// A named set of rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct RuleSetSettings {
    /// The names of other sets whose rules belong to this one.
    #[serde(rename = "use", skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<String>,
    /// The rules that allow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<RuleForm>")]
    pub allow: Vec<RuleSettings>,
    /// The rules that deny. They overrule the rules that allow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<RuleForm>")]
    pub deny: Vec<RuleSettings>,
}

/// A rule about tools: patterns over their full names, and conditions. All conditions must hold.
///
/// A rule without conditions may be written as its pattern alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct RuleSettings {
    /// The tools: a pattern or a list of patterns, of which one must match.
    pub tools: PatternList,
    /// Applies to tools that only read (`true`), or to all others (`false`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readonly: Option<bool>,
    /// Applies to tools that may destroy data (`true`), which all may that are not marked otherwise, or to all others
    /// (`false`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Applies to tools whose calls can be repeated without further effect (`true`), or to all others (`false`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Applies to tools that reach outside systems (`true`), which all do that are not marked otherwise, or to all others
    /// (`false`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// Applies to calls for which this expression over `args`, `tool`, `caller` and `groups` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The name of the rule, for the operator. A rule without one is named by its own text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A rule that requires approval for calls of tools. All conditions must hold.
///
/// ```
/// use haft_registry::{AskRules, AskSettings};
///
/// let settings: Vec<AskSettings> = serde_json::from_str(r#"[{ "ask": "bank/*", "name": "money" }]"#)?;
/// let rules = AskRules::new(&settings)?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct AskSettings {
    /// The tools: a pattern or a list of patterns, of which one must match.
    pub ask: PatternList,
    /// Applies to tools that only read (`true`), or to all others (`false`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readonly: Option<bool>,
    /// Applies to tools that may destroy data (`true`), which all may that are not marked otherwise, or to all others
    /// (`false`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Applies to tools whose calls can be repeated without further effect (`true`), or to all others (`false`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Applies to tools that reach outside systems (`true`), which all do that are not marked otherwise, or to all others
    /// (`false`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// Requires approval for calls for which this expression over `args`, `tool`, `caller` and `groups` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The party that decides when the tools are served: `"client"`, the user of the client that calls, or `"approvers"`,
    /// other people. Without it, clients decide over stdio and approvers over HTTP. If several rules match a call and one
    /// says `"approvers"`, they decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approve: Option<Decider>,
    /// The name of the rule, for the operator. A rule without one is named by its own text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Patterns over the full names of tools, written as one text or as a list. See [`ToolPattern`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "PatternForm")]
pub struct PatternList(pub Vec<String>);

/// The forms of a rule in the schema.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
enum RuleForm {
    /// A pattern.
    Pattern(ToolPattern),
    /// Patterns with conditions.
    Table(RuleSettings),
}

/// The forms of patterns in the schema.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
enum PatternForm {
    /// A pattern.
    One(ToolPattern),
    /// A list of patterns.
    Many(Vec<ToolPattern>),
}

impl PermissionSettings {
    /// Creates settings without rules, which deny everything.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule that allows.
    #[must_use]
    pub fn allow(mut self, rule: impl Into<RuleSettings>) -> Self {
        self.allow.push(rule.into());
        self
    }

    /// Adds a rule that denies.
    #[must_use]
    pub fn deny(mut self, rule: impl Into<RuleSettings>) -> Self {
        self.deny.push(rule.into());
        self
    }

    /// Adds a named set of rules, or replaces it. It has no effect unless it is used.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, set: RuleSetSettings) -> Self {
        self.sets.insert(name.into(), set);
        self
    }

    /// Uses the rules of a set.
    #[must_use]
    pub fn uses(mut self, set: impl Into<String>) -> Self {
        self.uses.push(set.into());
        self
    }

    /// Hides the tools that no rule allows: they are unknown instead of denied.
    #[must_use]
    pub fn hide_denied(mut self) -> Self {
        self.hide_denied = true;
        self
    }
}

impl RuleSetSettings {
    /// Creates a set without rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule that allows.
    #[must_use]
    pub fn allow(mut self, rule: impl Into<RuleSettings>) -> Self {
        self.allow.push(rule.into());
        self
    }

    /// Adds a rule that denies.
    #[must_use]
    pub fn deny(mut self, rule: impl Into<RuleSettings>) -> Self {
        self.deny.push(rule.into());
        self
    }

    /// Adds the rules of another set.
    #[must_use]
    pub fn uses(mut self, set: impl Into<String>) -> Self {
        self.uses.push(set.into());
        self
    }
}

/// Defines the conditions of a rule, which all kinds of rules have.
macro_rules! conditions {
    ($type:ident) => {
        impl $type {
            /// Limits the rule to tools that only read, or to all others.
            #[must_use]
            pub fn readonly(mut self, is_readonly: bool) -> Self {
                self.readonly = Some(is_readonly);
                self
            }

            /// Limits the rule to tools that may destroy data, or to all others.
            #[must_use]
            pub fn destructive(mut self, may_destroy: bool) -> Self {
                self.destructive = Some(may_destroy);
                self
            }

            /// Limits the rule to tools whose calls can be repeated without further effect, or to all others.
            #[must_use]
            pub fn idempotent(mut self, is_idempotent: bool) -> Self {
                self.idempotent = Some(is_idempotent);
                self
            }

            /// Limits the rule to tools that reach outside systems, or to all others.
            #[must_use]
            pub fn open_world(mut self, reaches_out: bool) -> Self {
                self.open_world = Some(reaches_out);
                self
            }

            /// Limits the rule to calls for which this expression is true. See
            /// [`RuleExpression`](crate::RuleExpression).
            #[must_use]
            pub fn when(mut self, expression: impl Into<String>) -> Self {
                self.when = Some(expression.into());
                self
            }

            /// Names the rule, for the operator.
            #[must_use]
            pub fn named(mut self, name: impl Into<String>) -> Self {
                self.name = Some(name.into());
                self
            }
        }
    };
}

conditions!(RuleSettings);
conditions!(AskSettings);

impl RuleSettings {
    /// Creates a rule about the tools that match one of these patterns.
    #[must_use]
    pub fn tools(patterns: impl Into<PatternList>) -> Self {
        Self { tools: patterns.into(), ..Self::default() }
    }
}

impl AskSettings {
    /// Creates a rule that requires approval for calls of the tools that match one of these patterns.
    #[must_use]
    pub fn ask(patterns: impl Into<PatternList>) -> Self {
        Self { ask: patterns.into(), ..Self::default() }
    }

    /// Names the party that decides when the tools are served.
    #[must_use]
    pub fn approve(mut self, decider: Decider) -> Self {
        self.approve = Some(decider);
        self
    }
}

/// A rule without conditions.
impl<P: Into<PatternList>> From<P> for RuleSettings {
    fn from(patterns: P) -> Self {
        Self::tools(patterns)
    }
}

impl From<&str> for PatternList {
    fn from(pattern: &str) -> Self {
        Self(vec![pattern.to_owned()])
    }
}

impl From<String> for PatternList {
    fn from(pattern: String) -> Self {
        Self(vec![pattern])
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for PatternList {
    fn from(patterns: [S; N]) -> Self {
        Self(patterns.into_iter().map(Into::into).collect())
    }
}

impl Serialize for RuleSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Not the method of this trait, but the function that the derive has written.
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for RuleSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RuleVisitor)
    }
}

impl<'de> Deserialize<'de> for PatternList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PatternVisitor)
    }
}

struct RuleVisitor;

impl<'de> Visitor<'de> for RuleVisitor {
    type Value = RuleSettings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pattern such as \"github/*\", or a table such as { tools = \"github/*\", readonly = true }")
    }

    fn visit_str<E: de::Error>(self, pattern: &str) -> Result<RuleSettings, E> {
        Ok(pattern.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<RuleSettings, A::Error> {
        // Not the method of the trait, but the function that the derive has written.
        RuleSettings::deserialize(MapAccessDeserializer::new(table))
    }
}

struct PatternVisitor;

impl<'de> Visitor<'de> for PatternVisitor {
    type Value = PatternList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pattern such as \"github/*\", or a list of patterns")
    }

    fn visit_str<E: de::Error>(self, pattern: &str) -> Result<PatternList, E> {
        Ok(pattern.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<PatternList, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(PatternList)
    }
}
