//! Surveys real tools on every profile: how many are rendered and how, what is lost, and which calls survive.
//!
//! `cargo xtask wires` prints it, and the tests assert it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use haft_core::{Loss, ToolDescriptor};
use haft_parts::corpus::{CorpusCall, CorpusSet, CorpusTool};
use haft_schema::{Codec, Schema};
use haft_wire::{Finding, FindingKind, Profile, RenderedTool, RenderedTools, Strictness, ToolMode};
use serde_json::Value;

use crate::explanation::explains_change;

/// The counts of one corpus on one profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SurveyRow {
    pub(crate) profile: String,
    pub(crate) tools: usize,
    pub(crate) rendered: usize,
    pub(crate) strict: usize,
    /// Tools that the profile would send in strict mode, and that are sent without it.
    pub(crate) downgraded: usize,
    pub(crate) left_out: usize,
    pub(crate) losses: BTreeMap<String, usize>,
    /// Calls that the tool's schema accepts, to rendered tools.
    pub(crate) calls: usize,
    /// Calls that are the same after they were encoded and decoded.
    pub(crate) round_tripped: usize,
    /// Calls that differ as a reported loss says.
    pub(crate) explained: usize,
}

/// The fate of a call that is encoded and decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallFate {
    RoundTripped,
    /// The arguments differ as a reported loss says.
    Explained,
    Changed,
}

/// A call to a rendered tool that the tool's schema accepts.
#[derive(Debug)]
pub(crate) struct SurveyedCall<'s> {
    pub(crate) call: &'s CorpusCall,
    pub(crate) tool: &'s RenderedTool,
    schema: &'s Schema,
    losses: Vec<Loss>,
}

/// The counts of one corpus.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) corpus: &'static str,
    pub(crate) requests: usize,
    /// Calls in the corpus, also those that the schema of their tool rejects.
    pub(crate) calls: usize,
    pub(crate) rows: Vec<SurveyRow>,
}

/// A rendered tool set.
#[derive(Debug)]
pub(crate) struct Surveyed<'s> {
    pub(crate) set: &'s CorpusSet,
    pub(crate) descriptors: &'s [Arc<ToolDescriptor>],
    pub(crate) rendered: &'s RenderedTools,
}

/// A function that is called for every tool set on every profile.
pub(crate) type See<'s> = &'s mut dyn FnMut(&Profile, &Surveyed<'_>);

/// Returns all profiles, and those with a strict mode again with strict mode for every tool.
pub(crate) fn profiles() -> Vec<Profile> {
    let on = |profile: Profile| {
        let name = format!("{}, strict", profile.name());
        profile.strictness(Strictness::On).named(name)
    };
    Profile::all().into_iter().chain([on(Profile::openai()), on(Profile::anthropic())]).collect()
}

/// Renders every tool set with every profile, and calls a function for each.
pub(crate) fn survey(corpus: &'static str, sets: &[CorpusSet], see: See<'_>) -> Survey {
    let tools: Vec<Vec<_>> = sets.iter().map(|set| set.tools.iter().map(descriptor).collect()).collect();
    let mut rows = Vec::new();
    for profile in profiles() {
        let mut row = SurveyRow { profile: profile.name().to_owned(), ..SurveyRow::default() };
        for (set, descriptors) in sets.iter().zip(&tools) {
            let rendered = profile.render(descriptors);
            let surveyed = Surveyed { set, descriptors, rendered: &rendered };
            row.count(&surveyed);
            see(&profile, &surveyed);
        }
        rows.push(row);
    }
    Survey { corpus, requests: sets.len(), calls: sets.iter().map(|set| set.calls.len()).sum(), rows }
}

fn descriptor(tool: &CorpusTool) -> Arc<ToolDescriptor> {
    Arc::new(ToolDescriptor::new(&tool.name, tool.schema.clone()).describe(&tool.description))
}

impl Surveyed<'_> {
    /// Iterates over the calls to rendered tools that the tool's schema accepts.
    pub(crate) fn calls(&self) -> impl Iterator<Item = SurveyedCall<'_>> {
        self.set.calls.iter().filter_map(|call| {
            let descriptor = self.descriptors.iter().find(|descriptor| descriptor.name == call.tool)?;
            let schema = descriptor.input_schema.schema().ok()?;
            schema.check(&call.arguments).ok()?;
            let tool = self.rendered.get(&call.tool)?;
            Some(SurveyedCall { call, tool, schema, losses: self.losses(&call.tool) })
        })
    }

    fn losses(&self, tool: &str) -> Vec<Loss> {
        let findings = self.rendered.findings().iter().filter(|finding| finding.tool == tool);
        let loss = |finding: &Finding| match finding.kind {
            FindingKind::Loss(kind) => Some(Loss::new(&finding.pointer, kind, &finding.message)),
            _ => None,
        };
        findings.filter_map(loss).collect()
    }
}

impl SurveyedCall<'_> {
    /// Encodes and decodes the arguments.
    pub(crate) fn fate(&self) -> CallFate {
        let arguments = &self.call.arguments;
        match decoded(&self.tool.codec, arguments) {
            Some(decoded) if decoded == *arguments => CallFate::RoundTripped,
            Some(decoded) if explains_change(self.schema, &self.losses, arguments, &decoded) => CallFate::Explained,
            _ => CallFate::Changed,
        }
    }
}

fn decoded(codec: &Codec, arguments: &Value) -> Option<Value> {
    let text = arguments.to_string();
    let sent = codec.encode(&text).ok()?;
    serde_json::from_str(&codec.decode(&sent).ok()?).ok()
}

impl SurveyRow {
    fn count(&mut self, surveyed: &Surveyed<'_>) {
        self.tools += surveyed.set.tools.len();
        self.rendered += surveyed.rendered.iter().count();
        self.strict += surveyed.rendered.iter().filter(|tool| tool.mode == ToolMode::Strict).count();
        for Finding { kind, .. } in surveyed.rendered.findings() {
            match kind {
                FindingKind::LeftOut => self.left_out += 1,
                FindingKind::NotStrict => self.downgraded += 1,
                FindingKind::Loss(kind) => *self.losses.entry(format!("{kind:?}")).or_default() += 1,
                _ => {}
            }
        }
        for call in surveyed.calls() {
            self.calls += 1;
            match call.fate() {
                CallFate::RoundTripped => self.round_tripped += 1,
                CallFate::Explained => self.explained += 1,
                CallFate::Changed => {}
            }
        }
    }
}

impl fmt::Display for Survey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { corpus, requests, calls, rows } = self;
        writeln!(f, "{corpus}: {requests} tool sets, {calls} calls")?;
        let heads = ["tools", "rendered", "strict", "downgraded", "left out", "calls", "round-tripped", "explained"];
        write!(f, "  {:<18}", "profile")?;
        heads.iter().try_for_each(|head| write!(f, "  {head}"))?;
        writeln!(f, "  losses")?;
        for row in rows {
            let counts = [
                row.tools,
                row.rendered,
                row.strict,
                row.downgraded,
                row.left_out,
                row.calls,
                row.round_tripped,
                row.explained,
            ];
            write!(f, "  {:<18}", row.profile)?;
            heads
                .iter()
                .zip(counts)
                .try_for_each(|(head, count)| write!(f, "  {count:>width$}", width = head.len()))?;
            let losses: Vec<String> = row.losses.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            writeln!(f, "  {}", if losses.is_empty() { "-".to_owned() } else { losses.join(", ") })?;
        }
        Ok(())
    }
}
