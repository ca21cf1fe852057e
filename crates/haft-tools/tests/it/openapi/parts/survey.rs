//! A table that counts imported and skipped operations in real documents.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use haft_parts::corpus::OpenApiDocument;
use haft_registry::SimpleName;
use haft_tools::openapi::{ImportOptions, Imported, OpenApi};

/// The counts for one import or for many.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) documents: usize,
    /// The documents by their versions.
    pub(crate) versions: BTreeMap<String, usize>,
    pub(crate) operations: usize,
    pub(crate) imported: usize,
    /// The operations that were not imported, by code, with the first of each as an example.
    pub(crate) skipped: BTreeMap<String, (usize, String)>,
    /// The keywords that were left out, by keyword and reason.
    pub(crate) loosened: BTreeMap<String, usize>,
    /// The documents that could not be read, with the code.
    pub(crate) rejected: Vec<String>,
    pub(crate) panics: Vec<String>,
    pub(crate) schema_bytes: usize,
    pub(crate) largest: usize,
    pub(crate) time: Duration,
    pub(crate) slowest: (Duration, String),
}

impl Survey {
    /// Imports all documents. A document is from the host that its provider names.
    pub(crate) fn of(documents: &[OpenApiDocument]) -> Self {
        let mut survey = Self::default();
        for document in documents {
            survey.add(document);
        }
        survey
    }

    /// Returns the share of operations that were imported.
    #[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    pub(crate) fn share(&self) -> f64 {
        if self.operations == 0 { 0.0 } else { self.imported as f64 / self.operations as f64 }
    }

    fn add(&mut self, document: &OpenApiDocument) {
        self.documents += 1;
        let started = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| import(document))) {
            Ok(Ok((version, imported))) => {
                *self.versions.entry(version).or_default() += 1;
                self.count(document, &imported);
            }
            Ok(Err(code)) => self.rejected.push(format!("{} ({code})", document.path)),
            Err(_) => self.panics.push(document.path.clone()),
        }
        let took = started.elapsed();
        self.time += took;
        if took > self.slowest.0 {
            self.slowest = (took, document.path.clone());
        }
    }

    fn count(&mut self, document: &OpenApiDocument, imported: &Imported) {
        self.operations += imported.operations.len() + imported.skipped.len();
        self.imported += imported.operations.len();
        let mut names = BTreeSet::new();
        for tool in imported.tools() {
            assert!(SimpleName::new(tool.name()).is_ok(), "{}: {}", document.path, tool.name());
            assert!(names.insert(tool.name()), "{}: {} twice", document.path, tool.name());
            let bytes = tool.json_schema().to_string().len();
            self.schema_bytes += bytes;
            self.largest = self.largest.max(bytes);
        }
        for skipped in &imported.skipped {
            let example = || (0, format!("{}: {skipped}", document.path));
            self.skipped.entry(skipped.reason.code().to_owned()).or_insert_with(example).0 += 1;
        }
        for loosened in &imported.loosened {
            *self.loosened.entry(format!("{}: {}", loosened.keyword, loosened.reason)).or_default() += 1;
        }
    }
}

fn import(document: &OpenApiDocument) -> Result<(String, Imported), &'static str> {
    let read = OpenApi::from_json(&document.text).map_err(|error| error.code())?;
    let options = ImportOptions::new().location(format!("https://{}/", document.provider()));
    let version: String = read.version().chars().take(3).collect();
    Ok((version, read.import(&options)))
}

impl fmt::Display for Survey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let versions: Vec<_> = self.versions.iter().map(|(version, count)| format!("{version}: {count}")).collect();
        writeln!(f, "documents        {:>7}  ({})", self.documents, versions.join(", "))?;
        writeln!(f, "rejected         {:>7}  {}", self.rejected.len(), self.rejected.join(", "))?;
        writeln!(f, "panics           {:>7}  {}", self.panics.len(), self.panics.join(", "))?;
        writeln!(f, "operations       {:>7}", self.operations)?;
        writeln!(f, "imported         {:>7}  {:.2} %", self.imported, self.share() * 100.0)?;
        for (code, (count, example)) in &self.skipped {
            writeln!(f, "  {code:<21} {count:>5}  {example}")?;
        }
        writeln!(f, "keywords left out {:>6}", self.loosened.values().sum::<usize>())?;
        for (keyword, count) in &self.loosened {
            writeln!(f, "  {keyword:<45} {count:>5}")?;
        }
        let mean = self.schema_bytes / self.imported.max(1);
        writeln!(f, "schemas          {:>7} bytes on average, {} at most", mean, self.largest)?;
        write!(
            f,
            "time             {:>7} ms, {} ms at most ({})",
            self.time.as_millis(),
            self.slowest.0.as_millis(),
            self.slowest.1
        )
    }
}
