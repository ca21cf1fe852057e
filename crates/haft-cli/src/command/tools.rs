//! `haft tools`: a workspace's tools as a table, as JSON, or in a provider's form.

mod listing;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use haft::registry::{RegisteredTool, ToolPattern};
use haft::wire::{Finding, FindingKind, Severity};

pub(crate) use self::listing::{EntryIndex, ToolListing};
use crate::context::Context;
use crate::error::{CommandError, Excerpt, Fault};
use crate::exit::ExitStatus;
use crate::terminal::printable;
use crate::wire::ProfileName;
use crate::workspace::{OpenWorkspace, Remarks};

/// The least findings alike that are reported on one line.
const LEAST_GROUPED: usize = 3;

/// Lists the tools, or prints them in the form of a provider
///
/// On a terminal the list is a table; otherwise it is a JSON array. Tools that the permissions hide are not listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft tools
  haft tools 'github/*'                       the tools of one toolbox
  haft tools --for anthropic > tools.json     the list that a request to the provider contains
  haft tools --json | jq -r '.[].name'

Exit codes: 0 fine, 1 a provider does not get some of the tools, 2 the workspace can't be loaded.")]
pub(crate) struct ToolsArguments {
    /// A pattern over full names: `github/*` are the tools of a toolbox, `/*` those of the standard toolbox
    pattern: Option<String>,
    /// Prints the exact JSON list of tools that this provider gets
    #[arg(long = "for", value_name = "PROFILE")]
    profile: Option<ProfileName>,
    /// Prints JSON also on a terminal
    #[arg(long)]
    json: bool,
}

/// Carries out the command.
pub(crate) async fn run(arguments: &ToolsArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let workspace = OpenWorkspace::open(cx, Remarks::Shown).await?;
    let all = visible(&workspace);
    let tools = match &arguments.pattern {
        Some(pattern) => matching(pattern, &all, &workspace)?,
        None => all,
    };
    if let Some(profile) = arguments.profile {
        return print_for(profile, &tools, cx);
    }
    let entries = EntryIndex::new(&workspace);
    let listings: Vec<ToolListing<'_>> = tools.iter().map(|tool| ToolListing::new(tool, &entries)).collect();
    if arguments.json || !cx.terminal.stdout {
        // One array with a line per tool, for programs that read all of it and for people who search it.
        let lines: Vec<_> = listings.iter().map(|listing| listing.json().to_string()).collect();
        cx.terminal.print_json(format_args!("[{}]", lines.join(",\n ")))?;
    } else {
        cx.terminal.print(listing::table_text(&listings, cx.terminal.width()))?;
    }
    Ok(ExitStatus::Done)
}

/// Returns the tools that the permissions do not hide, with their rules.
pub(crate) fn visible(workspace: &OpenWorkspace) -> Vec<Arc<RegisteredTool>> {
    let executor = &workspace.executor;
    // A leading slash means exactly the tool with this full name.
    let guarded = |tool: Arc<RegisteredTool>| executor.find(&format!("/{}", tool.name)).ok();
    executor.registry().list().into_iter().filter_map(guarded).collect()
}

/// Returns the tools that a pattern matches. Fails if it matches none that can be used.
pub(crate) fn matching(
    pattern: &str,
    tools: &[Arc<RegisteredTool>],
    workspace: &OpenWorkspace,
) -> Result<Vec<Arc<RegisteredTool>>, Fault> {
    let parsed: ToolPattern = pattern.parse().map_err(|error: haft::registry::ToolPatternError| {
        let at = error.at.min(pattern.len());
        let excerpt = Excerpt {
            origin: "PATTERN".to_owned(),
            text: pattern.to_owned(),
            span: at..pattern.len(),
            label: error.fault.to_string(),
        };
        Fault::new("the pattern is invalid").excerpt(excerpt)
    })?;
    let found: Vec<_> = tools.iter().filter(|tool| parsed.matches(&tool.name)).cloned().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    if let Some(fault) = workspace.missing(|name| parsed.matches(name)) {
        return Err(fault);
    }
    let fault = Fault::new(format!("no tool matches `{pattern}`"));
    Err(match near(pattern, tools).as_slice() {
        [] => fault.advice("`haft tools` lists all tools"),
        near => fault.advice(format!("did you mean {}?", near.join(" or "))),
    })
}

/// Returns the toolbox names and patterns that are similar to a pattern, the most similar first.
fn near(pattern: &str, tools: &[Arc<RegisteredTool>]) -> Vec<String> {
    const MOST: usize = 3;
    const LEAST_SIMILAR: f64 = 0.8;
    const NEAR_BEST: f64 = 0.05;
    let written = pattern.trim_start_matches('/');
    let mut names: Vec<String> = tools.iter().map(|tool| tool.name.to_string()).collect();
    let toolbox = |name: &String| Some(format!("{}/*", name.rsplit_once('/')?.0));
    let toolboxes: Vec<String> = names.iter().filter_map(toolbox).collect();
    names.extend(toolboxes);
    names.sort_unstable();
    names.dedup();
    // A name without its toolbox, or a toolbox without `/*`, is similar enough.
    let is_part = |name: &str| name.rsplit('/').next() == Some(written) || name.strip_suffix("/*") == Some(written);
    let similarity = |name: &str| if is_part(name) { 2.0 } else { strsim::jaro_winkler(written, name) };
    let mut ranked: Vec<(f64, String)> = names.into_iter().map(|name| (similarity(&name), name)).collect();
    ranked.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    // Names in one toolbox all resemble each other, so only the best are meant.
    let least = ranked.first().map_or(LEAST_SIMILAR, |(best, _)| LEAST_SIMILAR.max(best - NEAR_BEST));
    ranked.retain(|(similarity, _)| *similarity >= least);
    ranked.into_iter().take(MOST).map(|(_, name)| format!("`{name}`")).collect()
}

/// Prints what a provider gets. Whatever it can't express is reported, and a tool that it does not get fails the command.
fn print_for(profile: ProfileName, tools: &[Arc<RegisteredTool>], cx: &Context) -> Result<ExitStatus, CommandError> {
    let sent = tools.iter().filter(|tool| !tool.is_replaced());
    let descriptors: Vec<_> = sent.map(|tool| tool.tool.descriptor()).collect();
    let rendered = profile.profile().render(&descriptors);
    let reported = || rendered.findings().iter().filter(|finding| finding.severity() >= Severity::Loss);
    for line in notes(reported(), cx.global.verbose > 0) {
        cx.terminal.note(format!("note: {}", printable(&line)));
    }
    cx.terminal.print_json(rendered.list())?;
    let is_left_out = |finding: &&Finding| finding.kind == FindingKind::LeftOut;
    let left_out: HashSet<&str> = reported().filter(is_left_out).map(|finding| finding.tool.as_str()).collect();
    if left_out.is_empty() {
        return Ok(ExitStatus::Done);
    }
    let (all, name) = (descriptors.len(), profile.as_str());
    cx.terminal.note(format!("{name} gets {} of {all} tools; {} are left out", all - left_out.len(), left_out.len()));
    Ok(ExitStatus::Failed)
}

/// Returns the findings as lines: what holds for many tools alike is one line, unless `is_whole`.
fn notes<'f>(findings: impl Iterator<Item = &'f Finding> + Clone, is_whole: bool) -> Vec<String> {
    let key = |finding: &'f Finding| (finding.kind, &finding.pointer, &finding.message, &finding.advice);
    let mut counts: HashMap<_, usize> = HashMap::new();
    for finding in findings.clone() {
        *counts.entry(key(finding)).or_default() += 1;
    }
    let line = |finding: &'f Finding| match counts.get_mut(&key(finding)) {
        Some(count) if *count >= LEAST_GROUPED && !is_whole => {
            let others = std::mem::take(count) - 1;
            Some(format!("{finding} (and {others} more tools)"))
        }
        Some(0) => None,
        _ => Some(finding.to_string()),
    };
    findings.filter_map(line).collect()
}
