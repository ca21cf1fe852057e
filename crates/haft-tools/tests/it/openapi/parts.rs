//! Real documents: how much is imported, and whether a server accepts the requests.

mod acceptance;
mod example;
mod survey;

use haft_core::ToolCall;
use haft_parts::corpus::{large_openapi, openapi};
use haft_parts::{Prism, folder};

use self::acceptance::{Acceptance, imported, toolkit};
use self::example::example;
use self::survey::Survey;

/// Documents that together have all places, most styles, all body formats and many ways to authenticate.
const SERVED: [&str; 8] = [
    "amazonaws.com/emr-containers.json",
    "apideck.com/file-storage.json",
    "conjur.local.json",
    "discourse.local.json",
    "elmah.io.json",
    "gitea.io.json",
    "opendatasoft.com.json",
    "tfl.gov.uk.json",
];

/// The most operations of a document that are called.
const CALLED: usize = 30;

#[test]
fn at_least_95_of_100_operations_are_imported_and_all_others_have_a_code() {
    let survey = Survey::of(&openapi());
    assert!(survey.panics.is_empty() && survey.rejected.is_empty(), "{survey}");
    // The guide states the share, to a tenth of a percent.
    assert_eq!((survey.documents, survey.operations, survey.imported), (203, 5_917, 5_891), "{survey}");
    assert_eq!(format!("{:.1}", survey.share() * 100.0), "99.6", "{survey}");
    let skipped: usize = survey.skipped.values().map(|(count, _)| count).sum();
    assert_eq!(survey.imported + skipped, survey.operations);
}

#[tokio::test]
async fn prism_accepts_the_requests_of_imported_tools() {
    let mut prism = Prism::start();
    let documents = openapi();
    let mut rejected = Vec::new();
    let mut accepted = 0;
    for path in SERVED {
        let document = documents.iter().find(|document| document.path == path).unwrap();
        let url = prism.serve(&folder("openapi").join(path));
        let imported = imported(document, &url);
        let kit = toolkit(&imported, &url);
        // The operations are chosen from the whole document.
        let step = imported.operations.len().div_ceil(CALLED);
        for tool in imported.tools().step_by(step) {
            // A schema with patterns may have no simple example.
            if let Some(arguments) = example(tool) {
                let _ = kit.run_call(&ToolCall::new("c1", tool.name(), arguments.to_string())).await;
            }
        }
        for answer in prism.answers(&url) {
            if answer.is_rejected() {
                rejected.push(format!("{path}: {} {} {}", answer.request, answer.status, answer.body));
            } else {
                accepted += 1;
            }
        }
    }
    assert!(rejected.is_empty(), "{} of {}:\n{}", rejected.len(), rejected.len() + accepted, rejected.join("\n"));
    assert!(accepted > 120, "{accepted} requests");
}

/// The document whose forms nest, and one with URL-encoded forms of texts. `cargo xtask openapi` checks all.
#[tokio::test]
async fn prism_accepts_a_request_of_every_operation() {
    let mut documents = large_openapi();
    documents.retain(|document| matches!(&*document.path, "gitlab.com.json" | "stripe.com.json"));
    let acceptance = Acceptance::of(&documents).await;
    assert!(acceptance.is_met(), "{acceptance}");
    let accepted: usize = acceptance.rows.iter().map(|row| row.accepted).sum();
    assert!(accepted > 700, "{acceptance}");
}
