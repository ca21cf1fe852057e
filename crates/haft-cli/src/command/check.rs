//! `haft check`: every tool against every wire, and what would fail only when you call a tool.
//!
//! Nothing is started, and only host names are sent, to the resolver, unless `--locked` is given.

mod finding;
mod group;
mod lock;
mod probe;
mod wire_check;

use std::collections::HashSet;
use std::sync::Arc;

use haft::registry::{RegisteredTool, ToolOrigin};
use serde_json::{Value, json};

use self::finding::{CheckFinding, CheckSeverity};
use crate::command::tools;
use crate::command::trust::grant::status_name;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::wire::ProfileName;
use crate::workspace::{OpenWorkspace, Remarks};

/// Checks all tools against all wires, and finds missing secrets, programs and hosts, for CI too
///
/// Faults are entries that are set aside, tools that a provider can't take, and rules that can never apply. Losses are
/// parts of a schema that a provider does not express; the arguments are still checked in full; those of the standard
/// toolbox are listed only if a pattern is given. Warnings are what may fail when a tool is called. On a terminal, a
/// finding about many tools is one line; `-v` and JSON have all.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "independent flags of the command line")]
#[command(after_help = "Examples:
  haft check
  haft check 'github/*' --for openai --for anthropic
  haft check --offline --deny losses --deny warnings     for CI
  haft check --locked                                    start the servers, and compare their tools

Exit codes: 0 fine, 1 faults (and what `--deny` names), 2 the workspace can't be loaded, or not
everything was checked.")]
pub(crate) struct CheckArguments {
    /// A pattern over full names, such as `github/*`: only these tools are checked against the wires
    pattern: Option<String>,
    /// A wire to check. Without it, all are checked
    #[arg(long = "for", value_name = "PROFILE")]
    profiles: Vec<ProfileName>,
    /// Fails on losses or warnings as well
    #[arg(long, value_name = "WHAT")]
    deny: Vec<Denied>,
    /// Passes although parts of the workspace were not checked, because it is not trusted
    #[arg(long)]
    allow_unchecked: bool,
    /// Does not resolve the names of hosts
    #[arg(long)]
    offline: bool,
    /// Lists the tools of all servers, and fails if they are not as they were accepted in `haft.lock`
    #[arg(long)]
    locked: bool,
    /// Prints JSON also on a terminal
    #[arg(long)]
    json: bool,
}

impl CheckArguments {
    /// Returns the severity of what could not be checked.
    fn unchecked(&self) -> CheckSeverity {
        if self.allow_unchecked { CheckSeverity::Warning } else { CheckSeverity::Unchecked }
    }
}

/// Findings that a check fails on, besides faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Denied {
    /// Parts of a schema that a provider does not express
    Losses,
    /// Signs that a tool may fail when it is called
    Warnings,
}

/// Carries out the command.
pub(crate) async fn run(arguments: &CheckArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let workspace = OpenWorkspace::open(cx, Remarks::Silent).await?;
    let mut tools = tools::visible(&workspace);
    if let Some(pattern) = &arguments.pattern {
        tools = tools::matching(pattern, &tools, &workspace)?;
    }
    let profiles = if arguments.profiles.is_empty() { ProfileName::all().to_vec() } else { arguments.profiles.clone() };
    let mut findings = of_wires(cx, arguments, &tools, &profiles).await?;
    findings.extend(probe::file(&workspace));
    findings.extend(probe::unchecked(&workspace, arguments.unchecked()));
    findings.extend(probe::rules(&workspace));
    findings.extend(probe::secrets(&workspace));
    findings.extend(probe::programs(&workspace));
    findings.extend(probe::entries(&workspace));
    findings.extend(lock::suspicions(&workspace));
    if arguments.locked {
        findings.extend(lock::differences(&workspace, arguments.unchecked()).await);
    }
    if !arguments.offline {
        findings.extend(probe::hosts(&workspace, &tools).await);
    }
    // The worst come last, where they are seen.
    findings.sort_by_key(|finding| finding.severity);
    let report = CheckReport { findings, tools: tools.len(), profiles };
    if arguments.json || !cx.terminal.stdout {
        cx.terminal.print_json(report.json(&workspace))?;
    } else {
        let detail = if cx.global.verbose > 0 { Detail::All } else { Detail::Grouped };
        cx.terminal.print(report.text(detail))?;
    }
    if !cx.terminal.stdout || arguments.json {
        cx.terminal.note(report.summary());
    }
    Ok(report.status(&arguments.deny))
}

/// Returns all wires' findings. Thousands of tools take long.
async fn of_wires(
    cx: &Context,
    arguments: &CheckArguments,
    tools: &[Arc<RegisteredTool>],
    profiles: &[ProfileName],
) -> Result<Vec<CheckFinding>, CommandError> {
    let (tools, profiles) = (tools.to_vec(), profiles.to_vec());
    let lists_standard = arguments.pattern.is_some();
    tracing::info!(tools = tools.len(), wires = profiles.len(), "checking the tools against the wires");
    let work = move || {
        let mut findings = wire_check::findings(&tools, &profiles);
        if !lists_standard {
            // They are the same in every workspace, and nobody can change them there.
            let is_standard = |tool: &&Arc<RegisteredTool>| *tool.origin() == ToolOrigin::Internal;
            let standard: HashSet<&str> = tools.iter().filter(is_standard).map(|tool| tool.tool.name()).collect();
            let is_loss = |finding: &CheckFinding| finding.severity == CheckSeverity::Loss;
            findings.retain(|finding| !is_loss(finding) || !standard.contains(finding.subject()));
        }
        findings
    };
    cx.interrupt.blocking(work).await
}

/// The findings that a report for people lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// One line per fact.
    Grouped,
    /// Every finding.
    All,
}

/// A check's outcome.
struct CheckReport {
    findings: Vec<CheckFinding>,
    /// The number of tools.
    tools: usize,
    profiles: Vec<ProfileName>,
}

impl CheckReport {
    fn count(&self, severity: CheckSeverity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Returns the exit status. What was not checked weighs most: the findings are not complete.
    fn status(&self, denied: &[Denied]) -> ExitStatus {
        let fails = |severity| match severity {
            CheckSeverity::Fault | CheckSeverity::Unchecked => true,
            CheckSeverity::Loss => denied.contains(&Denied::Losses),
            CheckSeverity::Warning => denied.contains(&Denied::Warnings),
        };
        if self.count(CheckSeverity::Unchecked) > 0 {
            ExitStatus::Invalid
        } else if self.findings.iter().any(|finding| fails(finding.severity)) {
            ExitStatus::Failed
        } else {
            ExitStatus::Done
        }
    }

    /// Returns one line about all findings.
    fn summary(&self) -> String {
        let counted = |count: usize, one: &str, many: &str| match count {
            0 => format!("no {many}"),
            1 => format!("1 {one}"),
            count => format!("{count} {many}"),
        };
        let unchecked = if self.count(CheckSeverity::Unchecked) > 0 { "; not everything was checked" } else { "" };
        format!(
            "{} on {}: {}, {}, {}{unchecked}",
            counted(self.tools, "tool", "tools"),
            counted(self.profiles.len(), "wire", "wires"),
            counted(self.count(CheckSeverity::Fault), "fault", "faults"),
            counted(self.count(CheckSeverity::Loss), "loss", "losses"),
            counted(self.count(CheckSeverity::Warning), "warning", "warnings"),
        )
    }

    /// Returns the report for people: what is one fact is one line, unless they want every finding.
    fn text(&self, detail: Detail) -> String {
        let findings = match detail {
            Detail::Grouped => group::grouped(&self.findings),
            Detail::All => self.findings.clone(),
        };
        let mut lines: Vec<String> = findings.iter().map(CheckFinding::text).collect();
        lines.push(self.summary());
        if detail == Detail::Grouped && findings.len() < self.findings.len() {
            lines.push(format!("{} findings are on {} lines; `-v` lists all", self.findings.len(), findings.len()));
        }
        lines.join("\n")
    }

    fn json(&self, workspace: &OpenWorkspace) -> Value {
        let loaded = workspace.loaded.as_ref();
        json!({
            "path": loaded.map(|loaded| loaded.path.display().to_string()),
            "trust": loaded.map(|loaded| status_name(loaded.trust)),
            "tools": self.tools,
            "wires": self.profiles.iter().map(|profile| profile.as_str()).collect::<Vec<_>>(),
            "faults": self.count(CheckSeverity::Fault),
            "losses": self.count(CheckSeverity::Loss),
            "warnings": self.count(CheckSeverity::Warning),
            "unchecked": self.count(CheckSeverity::Unchecked),
            "findings": self.findings,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> CheckReport {
        let finding = |severity, subject: &str| CheckFinding::new(severity, "secret", subject, "it is\u{1b}[2J gone");
        CheckReport {
            findings: vec![
                finding(CheckSeverity::Warning, "secrets.github").advice("set the variable GITHUB_TOKEN"),
                finding(CheckSeverity::Loss, "shop/find").wires(vec!["openai", "gemini"]).at("/properties/name"),
                finding(CheckSeverity::Fault, "shop/find").wires(vec!["mcp"]),
            ],
            tools: 1,
            profiles: ProfileName::all().to_vec(),
        }
    }

    #[test]
    fn a_report_ends_with_its_summary() {
        insta::assert_snapshot!(anstream::adapter::strip_str(&report().text(Detail::Grouped)));
    }

    #[test]
    fn faults_always_fail_and_others_if_they_are_denied() {
        use ExitStatus::{Done, Failed};
        let mut report = report();
        assert_eq!(report.status(&[]), Failed);
        report.findings.pop();
        assert_eq!(report.status(&[]), Done);
        assert_eq!((report.status(&[Denied::Losses]), report.status(&[Denied::Warnings])), (Failed, Failed));
        report.findings.pop();
        assert_eq!(report.status(&[Denied::Losses]), Done);
        assert_eq!(report.status(&[Denied::Losses, Denied::Warnings]), Failed);
        report.findings.clear();
        assert_eq!(report.status(&[Denied::Losses, Denied::Warnings]), Done);
        assert_eq!(report.summary(), "1 tool on 5 wires: no faults, no losses, no warnings");
    }

    #[test]
    fn what_was_not_checked_fails_the_check_whatever_was_found() {
        let mut report = report();
        report.findings.push(CheckFinding::new(CheckSeverity::Unchecked, "trust", "haft.toml", "is not trusted"));
        assert_eq!(report.status(&[]), ExitStatus::Invalid);
        report.findings.drain(..3);
        assert_eq!(report.status(&[]), ExitStatus::Invalid);
        assert_eq!(
            report.summary(),
            "1 tool on 5 wires: no faults, no losses, no warnings; not everything was checked"
        );
    }
}
