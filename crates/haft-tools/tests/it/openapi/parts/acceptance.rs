//! Counts correct requests: for every operation of a document, a call with generated arguments goes to Prism, which
//! serves the same document and accepts the request or rejects it with a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use haft_core::{FailureKind, Outcome, ToolCall};
use haft_executor::{Services, Tool, Toolkit};
use haft_http::{AddressGuard, GuardedClient, HttpClient};
use haft_parts::corpus::OpenApiDocument;
use haft_parts::{Prism, folder};
use haft_registry::Secrets;
use haft_tools::openapi::{ImportOptions, Imported, OpenApi, SchemeCredential};

use super::example::example;

/// The operations that are not accepted, with the reasons.
const KNOWN: &str = include_str!("known.txt");

/// The counts of all documents.
#[derive(Debug, Default)]
pub(crate) struct Acceptance {
    pub(crate) rows: Vec<AcceptanceRow>,
}

/// The counts of one document.
#[derive(Debug, Default)]
pub(crate) struct AcceptanceRow {
    document: String,
    operations: usize,
    pub(crate) accepted: usize,
    /// The operations that are not accepted, by a reason of the list.
    named: BTreeMap<String, usize>,
    /// The operations without a reason: what was sent, and the answer.
    pub(crate) wrong: Vec<String>,
    /// The lines of the list that match nothing.
    pub(crate) stale: Vec<String>,
}

impl Acceptance {
    /// Calls every operation of these documents of the part `openapi-large`.
    pub(crate) async fn of(documents: &[OpenApiDocument]) -> Self {
        let mut prism = Prism::start();
        let mut acceptance = Self::default();
        for document in documents {
            acceptance.rows.push(AcceptanceRow::of(&mut prism, document).await);
        }
        acceptance
    }

    /// Reports whether every operation is accepted or has a reason, and every reason has an operation.
    pub(crate) fn is_met(&self) -> bool {
        self.rows.iter().all(|row| row.wrong.is_empty() && row.stale.is_empty())
    }
}

impl AcceptanceRow {
    async fn of(prism: &mut Prism, document: &OpenApiDocument) -> Self {
        let url = prism.serve_requests(&folder("openapi-large").join(&document.path));
        let imported = imported(document, &url);
        let kit = toolkit(&imported, &url);
        let mut row = Self { document: document.path.clone(), ..Self::default() };
        row.operations = imported.operations.len() + imported.skipped.len();
        let mut failed: Vec<String> =
            imported.skipped.iter().map(|skipped| format!("not imported: {skipped}")).collect();
        let mut sent = Vec::new();
        for operation in &imported.operations {
            let label = &operation.operation;
            let Some(arguments) = example(&operation.tool) else {
                failed.push(format!("no example: {label}"));
                continue;
            };
            let result = kit.run_call(&ToolCall::new("c1", operation.tool.name(), arguments.to_string())).await;
            match &result.outcome {
                Outcome::Failed(failure) if failure.kind == FailureKind::InputValidationError => {
                    failed.push(format!("not sent: {label}: {failure}"));
                }
                _ => sent.push((label, arguments)),
            }
        }
        let answers = prism.answers(&url);
        assert_eq!(answers.len(), sent.len(), "{}", document.path);
        for ((label, arguments), answer) in sent.iter().zip(answers) {
            if answer.is_rejected() {
                let arguments: String = arguments.to_string().chars().take(1_000).collect();
                failed.push(format!("rejected: {label}: {} {} {arguments}", answer.request, answer.body));
            } else {
                row.accepted += 1;
            }
        }
        row.name(failed);
        row
    }

    /// Finds the reasons of what was not accepted.
    fn name(&mut self, failed: Vec<String>) {
        let known = known(&self.document);
        let mut used = BTreeSet::new();
        for failure in failed {
            match known.iter().position(|(text, _)| failure.contains(text)) {
                Some(at) => {
                    used.insert(at);
                    *self.named.entry(known[at].1.to_owned()).or_default() += 1;
                }
                None => self.wrong.push(failure),
            }
        }
        let stale = known.iter().enumerate().filter(|(at, _)| !used.contains(at));
        self.stale.extend(stale.map(|(_, (text, _))| format!("{}: {text}", self.document)));
    }
}

/// Returns the texts of known failures of a document, with their reasons.
fn known(document: &str) -> Vec<(&'static str, &'static str)> {
    let lines = KNOWN.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let of_document = lines.filter_map(|line| line.strip_prefix(document)?.strip_prefix(": "));
    // A line without a reason names nothing.
    of_document.filter_map(|line| line.split_once(" -- ")).collect()
}

/// Imports a document for its own server, with a credential for every scheme.
pub(super) fn imported(document: &OpenApiDocument, url: &str) -> Imported {
    let read = OpenApi::from_json(&document.text).unwrap();
    let options = read.security_schemes().fold(ImportOptions::new().base_url(url), |options, scheme| {
        options.credential(scheme, SchemeCredential::new("any"))
    });
    read.import(&options)
}

/// Returns an import's tools with all that their calls need.
pub(super) fn toolkit(imported: &Imported, url: &str) -> Toolkit {
    let tools: Toolkit = imported.tools().cloned().collect::<Vec<Tool>>().into_iter().collect();
    let host = url.strip_prefix("http://").unwrap();
    let guard = AddressGuard::new().allow_host(host).unwrap();
    let client: GuardedClient = HttpClient::builder().no_proxy().guarded(guard).unwrap();
    let secrets = Secrets::new().value("any", "user:secret");
    tools.with_services(Services::new().with(client).with(secrets))
}

impl fmt::Display for Acceptance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<32} {:>10} {:>8} {:>5} {:>5}", "requests", "operations", "accepted", "named", "wrong")?;
        let mut all = AcceptanceRow { document: "all".to_owned(), ..AcceptanceRow::default() };
        for row in &self.rows {
            writeln!(f, "{row}")?;
            all.operations += row.operations;
            all.accepted += row.accepted;
            all.named.entry(String::new()).and_modify(|count| *count += row.named()).or_insert(row.named());
            all.wrong.extend(row.wrong.iter().cloned());
        }
        writeln!(f, "{all}")?;
        for row in &self.rows {
            for (reason, count) in &row.named {
                writeln!(f, "  {}: {count}: {reason}", row.document)?;
            }
            for wrong in &row.wrong {
                writeln!(f, "WRONG {}: {wrong}", row.document)?;
            }
            for stale in &row.stale {
                writeln!(f, "no longer fails, take it off the list: {stale}")?;
            }
        }
        Ok(())
    }
}

impl AcceptanceRow {
    fn named(&self) -> usize {
        self.named.values().sum()
    }
}

impl fmt::Display for AcceptanceRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { document, operations, accepted, wrong, .. } = self;
        write!(f, "{document:<32} {operations:>10} {accepted:>8} {:>5} {:>5}", self.named(), wrong.len())
    }
}
