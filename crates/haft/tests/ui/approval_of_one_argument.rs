//! Approval functions without the context of the decision.

use haft::approval::ApprovalPolicy;
use haft::tool;

#[tool(approval = |transfer| transfer.cents > 10_000)]
fn transfer(cents: u64) -> u64 {
    cents
}

fn main() {
    let _ = ApprovalPolicy::when(|cents: u64| cents > 10_000);
}
