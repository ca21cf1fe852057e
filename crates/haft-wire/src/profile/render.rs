//! Renders a tool set with a profile.
//!
//! Each tool is rendered by itself. Then the request's limits decide which tools are sent without strict mode, among
//! those that state no mode: the ones with the most optional and union parameters first, ties by name. An explicit
//! `strict: true` that can't be met is a fault, unless the profile allows downgrades; the tool stays in the list either
//! way. If the provider has no strict mode, the flag is left off and reported.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use haft_core::{DescriptorKind, LossKind, RenderFault, Rendered, Secret, ToolDescriptor};
use haft_schema::{Codec, EnforcedRules, Schema};
use serde_json::Value;

use super::tool_limits::{Cost, StrictTotal};
use super::{ProfileDefinition, Strictness, UnmetStrict};
use crate::profile::finding::{Finding, FindingKind};
use crate::profile::rendered_tools::{DEFERRED, RenderedTool, RenderedTools, ToolMode};
use crate::profile::tool_form::{FunctionTool, ProviderToolJson};
use crate::seal::{self, Opened, SealedElsewhere};

/// A tool that can be sent.
struct ToolCandidate<'t> {
    descriptor: &'t ToolDescriptor,
    wire_name: String,
    form: CandidateForm,
}

enum CandidateForm {
    BuiltIn(Box<ProviderToolJson>),
    Plain(Rendered),
    /// Strict, with the plain form that takes its place if a limit is exceeded. An explicitly strict tool has none.
    Strict {
        strict: Rendered,
        cost: Cost,
        plain: Option<Rendered>,
    },
}

pub(super) fn render(profile: &ProfileDefinition, tools: &[Arc<ToolDescriptor>]) -> RenderedTools {
    let mut findings = Vec::new();
    let mut candidates = Vec::new();
    for descriptor in tools {
        match candidate(profile, descriptor, &mut findings) {
            Ok(candidate) => candidates.push(candidate),
            Err(fault) => findings.push(Finding::left_out(&descriptor.name, &fault)),
        }
    }
    leave_out_clashes(&mut candidates, &mut findings);
    leave_out_excess(profile, &mut candidates, &mut findings);
    keep_within_limits(profile, &mut candidates, &mut findings);
    let mut tools: Vec<_> =
        candidates.into_iter().map(|candidate| written(profile, candidate, &mut findings)).collect();
    if profile.form.has_namespaces() {
        profile.namespaces.assign(&mut tools, profile.names);
    }
    RenderedTools::new(profile.provider.clone(), tools, profile.names, Arc::clone(&profile.form), findings)
}

fn candidate<'t>(
    profile: &ProfileDefinition,
    descriptor: &'t ToolDescriptor,
    findings: &mut Vec<Finding>,
) -> Result<ToolCandidate<'t>, RenderFault> {
    if let DescriptorKind::Provider { .. } = descriptor.kind {
        let tool = profile.form.provider_tool(descriptor)?;
        let wire_name = tool.wire_name.clone();
        return Ok(ToolCandidate { descriptor, wire_name, form: CandidateForm::BuiltIn(Box::new(tool)) });
    }
    let schema = descriptor.input_schema.schema().map_err(|error| {
        RenderFault::new("", format!("the input schema is invalid: {error}"), "correct the schema of the tool")
    })?;
    let wire_name = profile.names.encode(&descriptor.name).into_owned();
    if wire_name.is_empty() {
        return Err(RenderFault::new("", "the tool has no name", "give it a name"));
    }
    let form = function(profile, descriptor, schema, findings)?;
    Ok(ToolCandidate { descriptor, wire_name, form })
}

fn function(
    profile: &ProfileDefinition,
    descriptor: &ToolDescriptor,
    schema: &Schema,
    findings: &mut Vec<Finding>,
) -> Result<CandidateForm, RenderFault> {
    let plain = || profile.plain.render(schema);
    let is_programmatic = profile.form.is_called_by_programs(descriptor);
    let Some(dialect) = profile.strict.as_ref().filter(|_| !is_programmatic) else {
        if descriptor.strict == Some(true) {
            findings.push(no_strict_mode(profile, descriptor, is_programmatic));
        }
        return plain().map(CandidateForm::Plain);
    };
    match (descriptor.strict, profile.strictness) {
        (Some(false), _) | (None, Strictness::Off) => plain().map(CandidateForm::Plain),
        (strict @ Some(true), _) | (strict @ None, Strictness::On) => match dialect.render(schema) {
            Ok(rendered) => Ok(strict_form(rendered, strict.is_none().then(plain).and_then(Result::ok))),
            Err(fault) => {
                let plain = plain()?;
                findings.push(unmet(profile, descriptor, &fault.message, &fault.remedy).at(&fault.pointer));
                Ok(CandidateForm::Plain(plain))
            }
        },
        (None, Strictness::Auto) => match dialect.render(schema) {
            Ok(strict) => match strict.losses.iter().find(|loss| narrows(loss.kind, reading_of_null(schema))) {
                None => Ok(strict_form(strict, Some(plain()?))),
                Some(loss) => {
                    let advice = "state `strict` for the tool to send it so anyway, or simplify the schema";
                    let message = format!("sent without strict mode: {}", loss.message);
                    let finding = Finding::new(&descriptor.name, FindingKind::NotStrict, message, advice);
                    findings.push(finding.at(&loss.pointer));
                    plain().map(CandidateForm::Plain)
                }
            },
            Err(fault) => {
                let message = format!("sent without strict mode: {}", fault.message);
                let finding = Finding::new(&descriptor.name, FindingKind::NotStrict, message, &fault.remedy);
                findings.push(finding.at(&fault.pointer));
                plain().map(CandidateForm::Plain)
            }
        },
    }
}

fn no_strict_mode(profile: &ProfileDefinition, descriptor: &ToolDescriptor, is_programmatic: bool) -> Finding {
    let (message, advice) = if is_programmatic {
        let message = format!("`strict` is left off: {} rejects it for a tool that programs call", profile.name);
        (message, "remove `strict` from the tool, or let only the model call it")
    } else {
        let message = format!("`strict` is left off: {} has no strict mode, or none for this model", profile.name);
        (message, "rely on the tool's own check of its arguments, or choose another model")
    };
    Finding::new(&descriptor.name, FindingKind::NoStrictMode, message, advice)
}

/// Returns the finding for a tool that must be strict and can't be.
fn unmet(profile: &ProfileDefinition, descriptor: &ToolDescriptor, reason: &str, remedy: &str) -> Finding {
    let name = &descriptor.name;
    match profile.unmet {
        UnmetStrict::Fails => {
            let message = format!("the tool must be strict, and can't be: {reason}");
            let advice = format!("{remedy}; or remove `strict`, or allow downgrades (`Profile::allow_downgrades`)");
            Finding::new(name, FindingKind::StrictUnmet, message, advice)
        }
        UnmetStrict::IsDowngraded => {
            Finding::new(name, FindingKind::NotStrict, format!("sent without strict mode: {reason}"), remedy)
        }
    }
}

fn strict_form(strict: Rendered, plain: Option<Rendered>) -> CandidateForm {
    CandidateForm::Strict { cost: Cost::of(&strict.json), strict, plain }
}

/// The meaning of `null` where a value may also be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NullReading {
    /// The same as absent: a Rust `Option`, or an answer's member.
    Absent,
    /// Possibly different from absent, such as "remove the value" and "leave it as it is".
    Unknown,
}

fn reading_of_null(schema: &Schema) -> NullReading {
    match schema.enforcement().rules {
        EnforcedRules::AllAndWidths => NullReading::Absent,
        _ => NullReading::Unknown,
    }
}

/// Reports whether a strict form with such a loss keeps the model from sending what the tool is meant to receive. A
/// model would not send keys that the schema does not mention.
pub(super) fn narrows(loss: LossKind, null: NullReading) -> bool {
    match loss {
        LossKind::Keyword | LossKind::Format | LossKind::Annotation | LossKind::UnlistedKeys => false,
        LossKind::Ambiguity => null == NullReading::Unknown,
        _ => true,
    }
}

/// Leaves out tools whose wire name an earlier tool has. Provider tools come first, because their names are fixed.
fn leave_out_clashes(candidates: &mut Vec<ToolCandidate<'_>>, findings: &mut Vec<Finding>) {
    let mut owners: HashMap<String, String> = HashMap::new();
    let mut taken = |candidate: &ToolCandidate<'_>| match owners.get(&candidate.wire_name) {
        Some(owner) => Some(owner.clone()),
        None => {
            owners.insert(candidate.wire_name.clone(), candidate.descriptor.name.clone());
            None
        }
    };
    let is_built_in = |candidate: &ToolCandidate<'_>| matches!(candidate.form, CandidateForm::BuiltIn(_));
    let mut clashes: Vec<Option<String>> = vec![None; candidates.len()];
    for first in [true, false] {
        for (candidate, clash) in candidates.iter().zip(&mut clashes) {
            if is_built_in(candidate) == first {
                *clash = taken(candidate);
            }
        }
    }
    let mut clashes = clashes.into_iter();
    candidates.retain(|candidate| match clashes.next().flatten() {
        None => true,
        Some(owner) => {
            let message = format!("the tool `{owner}` has the same name `{}` on this wire", candidate.wire_name);
            findings.push(Finding::new(
                &candidate.descriptor.name,
                FindingKind::LeftOut,
                message,
                "rename one of the two tools",
            ));
            false
        }
    });
}

fn leave_out_excess(profile: &ProfileDefinition, candidates: &mut Vec<ToolCandidate<'_>>, findings: &mut Vec<Finding>) {
    let Some(limit) = profile.limits.tools.filter(|limit| candidates.len() > *limit) else { return };
    for candidate in candidates.drain(limit..) {
        let message = format!("{} accepts {limit} tools in a request, and this is one more", profile.name);
        let advice = "offer fewer tools at once: filter the toolkit, or choose some per turn";
        findings.push(Finding::new(&candidate.descriptor.name, FindingKind::LeftOut, message, advice));
    }
}

/// Sends tools without strict mode until the others fit the limits: the heaviest first, and then, if only tools that must be
/// strict are left, the last.
fn keep_within_limits(
    profile: &ProfileDefinition,
    candidates: &mut Vec<ToolCandidate<'_>>,
    findings: &mut Vec<Finding>,
) {
    let mut total = StrictTotal::default();
    candidates.iter().filter_map(ToolCandidate::cost).for_each(|cost| total.add(cost));
    let mut heaviest: Vec<usize> = (0..candidates.len()).filter(|at| candidates[*at].has_plain_form()).collect();
    let weight = |at: usize| candidates[at].cost().map(|cost| cost.optional + cost.unions);
    heaviest.sort_by(|one, other| {
        let by_name = || candidates[*one].descriptor.name.cmp(&candidates[*other].descriptor.name);
        weight(*other).cmp(&weight(*one)).then_with(by_name)
    });
    let (mut heaviest, mut last) = (heaviest.into_iter(), (0..candidates.len()).rev());
    let mut left_out = HashSet::new();
    while let Some(limit) = profile.limits.exceeded_by(total) {
        let next = heaviest.next();
        let Some(at) = next.or_else(|| last.find(|at| candidates[*at].cost().is_some())) else { break };
        total.subtract(candidates[at].cost().unwrap_or_default());
        let descriptor = candidates[at].descriptor;
        if next.is_some() {
            let message = format!("sent without strict mode: {limit}");
            let advice = "state `strict` for the tools that need it most, or offer fewer tools at once";
            findings.push(Finding::new(&descriptor.name, FindingKind::NotStrict, message, advice));
            candidates[at].downgrade();
            continue;
        }
        let advice = "state `strict` for fewer tools, or offer fewer tools at once";
        findings.push(unmet(profile, descriptor, &limit, advice));
        match plain_form(profile, descriptor) {
            Ok(form) => candidates[at].form = form,
            Err(fault) => {
                left_out.insert(at);
                findings.push(Finding::left_out(&descriptor.name, &fault));
            }
        }
    }
    let mut at = 0..;
    candidates.retain(|_| at.next().is_none_or(|at| !left_out.contains(&at)));
}

fn plain_form(profile: &ProfileDefinition, descriptor: &ToolDescriptor) -> Result<CandidateForm, RenderFault> {
    let invalid = |error| RenderFault::new("", format!("the input schema is invalid: {error}"), "correct the schema");
    let schema = descriptor.input_schema.schema().map_err(invalid)?;
    profile.plain.render(schema).map(CandidateForm::Plain)
}

fn written(profile: &ProfileDefinition, candidate: ToolCandidate<'_>, findings: &mut Vec<Finding>) -> RenderedTool {
    let ToolCandidate { descriptor, wire_name, form } = candidate;
    let (rendered, mode) = match form {
        CandidateForm::BuiltIn(tool) => return built_in(profile, descriptor, *tool, findings),
        CandidateForm::Plain(rendered) => (rendered, ToolMode::Plain),
        CandidateForm::Strict { strict, .. } => (strict, ToolMode::Strict),
    };
    let (json, codec) = function_json(profile, descriptor, &wire_name, rendered, mode, findings);
    RenderedTool { mode, codec, ..rendered_tool(profile, descriptor, wire_name, &json) }
}

/// Returns a provider's tool with its secrets in place.
fn built_in(
    profile: &ProfileDefinition,
    descriptor: &ToolDescriptor,
    tool: ProviderToolJson,
    findings: &mut Vec<Finding>,
) -> RenderedTool {
    let ProviderToolJson { json, wire_name, beta, beside } = tool;
    let opened = || -> Result<_, SealedElsewhere> {
        Ok((seal::open_all(&json)?, beside.as_ref().map(seal::open_all).transpose()?))
    };
    let mut written = RenderedTool { beta, ..rendered_tool(profile, descriptor, wire_name, &json) };
    match opened() {
        Ok((own, beside)) => {
            let text = |opened: &Opened<'_>| Secret::new(opened.value.to_string());
            written.opened_json = (!own.secrets.is_empty()).then(|| text(&own));
            written.beside = beside.as_ref().map(text);
            written.secrets =
                own.secrets.into_iter().chain(beside.into_iter().flat_map(|beside| beside.secrets)).collect();
        }
        Err(fault) => {
            let message = format!("a secret of its settings can't be sent: {fault}");
            let advice = "define the tool in the process that sends the request";
            findings.push(Finding::new(&descriptor.name, FindingKind::SealedSecret, message, advice));
        }
    }
    written
}

fn rendered_tool(
    profile: &ProfileDefinition,
    descriptor: &ToolDescriptor,
    wire_name: String,
    json: &Value,
) -> RenderedTool {
    RenderedTool {
        name: descriptor.name.clone(),
        wire_name,
        json: json.to_string(),
        mode: ToolMode::BuiltIn,
        codec: Codec::identity(),
        beta: None,
        namespace: None,
        called_by_programs: profile.form.is_called_by_programs(descriptor),
        deferred: json[DEFERRED] == true,
        opened_json: None,
        beside: None,
        secrets: Vec::new(),
    }
}

fn function_json(
    profile: &ProfileDefinition,
    descriptor: &ToolDescriptor,
    wire_name: &str,
    rendered: Rendered,
    mode: ToolMode,
    findings: &mut Vec<Finding>,
) -> (Value, Codec) {
    let name = &descriptor.name;
    findings.extend(rendered.losses.iter().map(|loss| Finding::loss(name, loss)));
    describe(profile, descriptor, findings);
    let strict = mode == ToolMode::Strict;
    let tool = FunctionTool::new(descriptor, wire_name, &rendered.json, strict).codec(&rendered.codec);
    (profile.form.function(&tool), rendered.codec)
}

/// Reports missing and long descriptions.
fn describe(profile: &ProfileDefinition, descriptor: &ToolDescriptor, findings: &mut Vec<Finding>) {
    let name = &descriptor.name;
    let description = descriptor.description.as_deref().unwrap_or_default();
    if description.trim().is_empty() {
        let message = "the tool has no description";
        let advice = "say what it does and when to call it";
        findings.push(Finding::new(name, FindingKind::NoDescription, message, advice));
    }
    if let Some(limit) = profile.limits.description_chars.filter(|limit| description.chars().count() > *limit) {
        let message = format!("the description has more than {limit} characters, which some servers reject");
        findings.push(Finding::new(name, FindingKind::LongDescription, message, "shorten it"));
    }
    let properties = descriptor.input_schema.as_json().get("properties").and_then(Value::as_object);
    for (key, schema) in properties.into_iter().flatten() {
        let described = |member: &str| schema.get(member).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        if !described("description") && !described("title") && schema.get("$ref").is_none() {
            let message = format!("the parameter `{key}` has no description");
            let finding = Finding::new(
                name,
                FindingKind::NoParameterDescription,
                message,
                "say what to send, with its unit or form",
            );
            findings.push(finding.at(format!("/properties/{}", key.replace('~', "~0").replace('/', "~1"))));
        }
    }
}

impl ToolCandidate<'_> {
    fn cost(&self) -> Option<Cost> {
        if let CandidateForm::Strict { cost, .. } = &self.form { Some(*cost) } else { None }
    }

    fn has_plain_form(&self) -> bool {
        matches!(self.form, CandidateForm::Strict { plain: Some(_), .. })
    }

    fn downgrade(&mut self) {
        if let CandidateForm::Strict { plain, .. } = &mut self.form
            && let Some(plain) = plain.take()
        {
            self.form = CandidateForm::Plain(plain);
        }
    }
}
