//! Every written value is read back as the same value, from text and from a tree.

use haft_core::{CallOutputBody, Delta};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::arbitrary;

fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> Result<(), TestCaseError> {
    let text = serde_json::to_string(value).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let read: T = serde_json::from_str(&text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
    prop_assert_eq!(&read, value, "{}", text);
    prop_assert_eq!(serde_json::to_string(&read).unwrap_or_default(), text);
    let tree = serde_json::to_value(value).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let read: T = serde_json::from_value(tree).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&read, value);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parts(part in arbitrary::part()) {
        check(&part)?;
    }

    #[test]
    fn calls(call in arbitrary::call()) {
        check(&call)?;
    }

    #[test]
    fn items(item in arbitrary::item()) {
        check(&item)?;
    }

    #[test]
    fn results(result in arbitrary::result()) {
        check(&result)?;
        check(&result.to_call_output())?;
    }

    #[test]
    fn turns(turn in arbitrary::turn()) {
        check(&turn)?;
        check(&Delta::complete(turn))?;
    }

    #[test]
    fn requests(request in arbitrary::request()) {
        check(&request)?;
    }

    /// A failure is always one JSON object the model can read, with a message in it.
    #[test]
    fn failures_are_readable(result in arbitrary::result()) {
        let output = result.to_call_output();
        prop_assert_eq!(output.is_error, result.failure().is_some());
        if let (Some(failure), CallOutputBody::Text(text)) = (result.failure(), &output.output) {
            let read: serde_json::Value = serde_json::from_str(text).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(read["error"]["kind"].as_str(), Some(failure.kind.as_str()));
            prop_assert!(read["error"]["message"].as_str().is_some_and(|message| !message.trim().is_empty()));
        }
    }
}
