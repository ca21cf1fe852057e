//! The rules of the checkers: each one rejects the schemas that it is stated with.

use crate::checker::{breaches, dialects};

#[test]
fn every_rule_rejects_its_examples() {
    for (dialect, rules) in dialects() {
        for rule in &rules {
            let rejected = (rule.rejected)();
            assert!(!rejected.is_empty(), "{}: {}: no example", dialect.name(), rule.text);
            for schema in rejected {
                let found = breaches(std::slice::from_ref(rule), &schema);
                assert!(!found.is_empty(), "{}: {}: {schema} passes", dialect.name(), rule.text);
            }
        }
    }
}
