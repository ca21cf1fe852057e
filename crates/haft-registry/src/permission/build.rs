//! From settings to rules: checks every pattern, expression and set, and reports all faults.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use haft_schema::nearest;

use super::expression::RuleExpression;
use super::matcher::{HintConditions, MatchEffect, ToolMatcher};
use super::pattern::ToolPattern;
use super::rule::{PermissionRule, RuleEffect, RuleParts, default_name};
use super::setting::{AskSettings, PatternList, PermissionSettings, RuleSetSettings, RuleSettings};
use super::verdict::DEFAULT_RULE;
use super::{PermissionTable, Permissions, Unlisted, Visibility};
use crate::kind::{EntryError, EntryFault};

/// The most rule sets.
const MAX_SETS: usize = 256;

/// The most rules, including those in all sets.
pub(super) const MAX_RULES: usize = 10_000;

/// The most patterns in one rule.
const MAX_PATTERNS: usize = 1_000;

/// The longest rule or set name, in bytes.
const MAX_NAME_LEN: usize = 200;

impl PermissionSettings {
    /// Checks the settings, and reports all faults.
    pub fn build(&self) -> Result<Permissions, EntryError> {
        let mut faults = Vec::new();
        self.check_sizes()?;
        let mut rules = Vec::new();
        compile_rules(&self.allow, &self.deny, "", None, &mut rules, &mut faults);
        let mut sets = BTreeMap::new();
        for (name, set) in &self.sets {
            let pointer = format!("/sets/{}", escaped(name));
            if name.is_empty() || name.len() > MAX_NAME_LEN {
                faults.push(EntryFault::at(&pointer, format!("a set has a name of 1 to {MAX_NAME_LEN} bytes")));
            }
            self.check_uses(&set.uses, &pointer, &mut faults);
            let mut of_set = Vec::new();
            compile_rules(&set.allow, &set.deny, &pointer, Some(name), &mut of_set, &mut faults);
            sets.insert(name.as_str(), of_set);
        }
        self.check_uses(&self.uses, "", &mut faults);
        self.check_cycles(&mut faults);
        EntryError::check(faults)?;
        for name in self.sets_in_use() {
            rules.extend(sets.remove(name).unwrap_or_default());
        }
        let visibility = if self.hide_denied { Visibility::Hidden } else { Visibility::Shown };
        let (rules, unlisted) = (rules.into(), Unlisted::Denied);
        Ok(Permissions(Arc::new(PermissionTable { rules, visibility, unlisted, default_rule: DEFAULT_RULE.into() })))
    }

    fn check_sizes(&self) -> Result<(), EntryError> {
        if self.sets.len() > MAX_SETS {
            return Err(EntryError::at("/sets", format!("there are more than {MAX_SETS} sets; merge some")));
        }
        let in_sets: usize = self.sets.values().map(|set| set.allow.len() + set.deny.len()).sum();
        if self.allow.len() + self.deny.len() + in_sets > MAX_RULES {
            return Err(EntryError::at("", format!("there are more than {MAX_RULES} rules; use patterns")));
        }
        Ok(())
    }

    /// Reports unknown set names.
    fn check_uses(&self, uses: &[String], pointer: &str, faults: &mut Vec<EntryFault>) {
        for (index, name) in uses.iter().enumerate().filter(|(_, name)| !self.sets.contains_key(*name)) {
            let similar = nearest(name, self.sets.keys().map(String::as_str));
            let hint = similar.first().map_or_else(String::new, |similar| format!("; is it `{similar}`?"));
            let shown: String = name.chars().take(MAX_NAME_LEN).collect();
            faults.push(EntryFault::at(format!("{pointer}/use/{index}"), format!("there is no set `{shown}`{hint}")));
        }
    }

    /// Reports sets that use themselves, directly or through others.
    fn check_cycles(&self, faults: &mut Vec<EntryFault>) {
        for name in self.sets.keys() {
            let Some(set) = self.sets.get(name) else { continue };
            let reached = self.reached(set.uses.iter());
            if reached.contains(name.as_str()) {
                let pointer = format!("/sets/{}/use", escaped(name));
                faults.push(EntryFault::at(pointer, format!("the set `{name}` uses itself; remove one of the uses")));
            }
        }
    }

    /// Returns the sets in use, ordered by name.
    fn sets_in_use(&self) -> BTreeSet<&str> {
        self.reached(self.uses.iter())
    }

    /// Returns these sets and all that they use, without unknown ones.
    fn reached<'s>(&'s self, uses: impl Iterator<Item = &'s String>) -> BTreeSet<&'s str> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&String> = uses.collect();
        while let Some(name) = open.pop() {
            if let Some(RuleSetSettings { uses, .. }) = self.sets.get(name)
                && reached.insert(name.as_str())
            {
                open.extend(uses);
            }
        }
        reached
    }
}

/// The settings that all kinds of rules have.
pub(super) struct RuleSource<'s> {
    /// The key that holds the patterns.
    key: &'static str,
    patterns: &'s PatternList,
    hints: HintConditions,
    when: Option<&'s str>,
    name: Option<&'s str>,
}

/// A rule that was checked.
pub(super) struct CompiledRule {
    pub(super) name: String,
    pub(super) matcher: ToolMatcher,
    pub(super) when: Option<RuleExpression>,
}

impl<'s> RuleSource<'s> {
    fn of_rule(rule: &'s RuleSettings) -> Self {
        let RuleSettings { tools, readonly, destructive, idempotent, open_world, name, .. } = rule;
        let (readonly, destructive) = (*readonly, *destructive);
        let (idempotent, open_world) = (*idempotent, *open_world);
        Self {
            key: "tools",
            patterns: tools,
            hints: HintConditions { readonly, destructive, idempotent, open_world },
            when: rule.when.as_deref(),
            name: name.as_deref(),
        }
    }

    pub(super) fn of_ask(rule: &'s AskSettings) -> Self {
        let AskSettings { ask, readonly, destructive, idempotent, open_world, name, .. } = rule;
        let (readonly, destructive) = (*readonly, *destructive);
        let (idempotent, open_world) = (*idempotent, *open_world);
        Self {
            key: "ask",
            patterns: ask,
            hints: HintConditions { readonly, destructive, idempotent, open_world },
            when: rule.when.as_deref(),
            name: name.as_deref(),
        }
    }
}

/// Checks a rule and reports all its faults. With any fault, there is no rule.
pub(super) fn compile(
    form: &RuleSource<'_>,
    effect: &str,
    matching: MatchEffect,
    pointer: &str,
    faults: &mut Vec<EntryFault>,
) -> Option<CompiledRule> {
    let before = faults.len();
    let patterns = compile_patterns(form, pointer, faults);
    let when = form.when.and_then(|source| match RuleExpression::new(source) {
        Ok(expression) => Some(expression),
        Err(error) => {
            faults.push(EntryFault::at(format!("{pointer}/when"), error.to_string()));
            None
        }
    });
    if form.name.is_some_and(|name| name.trim().is_empty() || name.len() > MAX_NAME_LEN) {
        faults.push(EntryFault::at(
            format!("{pointer}/name"),
            format!("a rule has a name of 1 to {MAX_NAME_LEN} bytes; leave it out to name the rule by its text"),
        ));
    }
    if faults.len() > before {
        return None;
    }
    let matcher = ToolMatcher::new(patterns, form.hints, matching);
    let name = form.name.map_or_else(|| default_name(effect, &matcher, when.as_ref()), ToOwned::to_owned);
    Some(CompiledRule { name, matcher, when })
}

fn compile_patterns(form: &RuleSource<'_>, pointer: &str, faults: &mut Vec<EntryFault>) -> Vec<ToolPattern> {
    let PatternList(written) = form.patterns;
    let pointer = format!("{pointer}/{}", form.key);
    if written.is_empty() || written.len() > MAX_PATTERNS {
        faults.push(EntryFault::at(pointer, format!("a rule has 1 to {MAX_PATTERNS} patterns")));
        return Vec::new();
    }
    let mut patterns = Vec::new();
    for (index, pattern) in written.iter().enumerate() {
        match ToolPattern::new(pattern) {
            Ok(pattern) => patterns.push(pattern),
            Err(error) if written.len() == 1 => faults.push(EntryFault::at(&pointer, error.to_string())),
            Err(error) => faults.push(EntryFault::at(format!("{pointer}/{index}"), error.to_string())),
        }
    }
    patterns
}

/// Checks the rules in the settings or in a set, denying rules first.
fn compile_rules(
    allow: &[RuleSettings],
    deny: &[RuleSettings],
    pointer: &str,
    set: Option<&str>,
    rules: &mut Vec<PermissionRule>,
    faults: &mut Vec<EntryFault>,
) {
    let allow = allow.iter().enumerate().map(|(index, rule)| (RuleEffect::Allow, MatchEffect::Permits, index, rule));
    let deny = deny.iter().enumerate().map(|(index, rule)| (RuleEffect::Deny, MatchEffect::Restricts, index, rule));
    for (effect, matching, index, rule) in deny.chain(allow) {
        let effect_name = effect.to_string();
        let pointer = format!("{pointer}/{effect_name}/{index}");
        let Some(compiled) = compile(&RuleSource::of_rule(rule), &effect_name, matching, &pointer, faults) else {
            continue;
        };
        let name = match (set, &rule.name) {
            (Some(set), None) => format!("{set}: {}", compiled.name),
            _ => compiled.name,
        };
        rules.push(PermissionRule::new(RuleParts {
            name: name.into(),
            pointer: pointer.into(),
            effect,
            matcher: compiled.matcher,
            when: compiled.when,
        }));
    }
}

/// Escapes a JSON Pointer token.
fn escaped(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}
