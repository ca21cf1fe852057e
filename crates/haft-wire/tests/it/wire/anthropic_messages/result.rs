//! Results that are written alone.

use haft_wire::{AnthropicMessages, Wire};

use super::{context, read, rich};
use crate::wire::result::{sampled, shown};

#[test]
fn all_results_are_blocks_of_one_message() {
    let turn = read(&rich());
    let written = AnthropicMessages::new().results(&turn, &sampled(&turn), &context()).unwrap();
    insta::assert_json_snapshot!(shown(&written));
}
