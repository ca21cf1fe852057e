//! A provider's items and message parts that haft does not know.
//!
//! They are kept in the history with their provider's name, and sent back to it as they were. The type has the
//! provider's name as a prefix, so it never equals one of our own item or part types.

use serde_json::{Map, Value, json};

/// Returns a provider's item or part as the value of an `Unknown` variant.
pub(crate) fn keep(provider: &str, item: &Map<String, Value>) -> Value {
    let item_type = item.get("type").and_then(Value::as_str).unwrap_or("item");
    json!({"type": format!("{provider}.{item_type}"), "provider": provider, "item": item})
}

/// Returns the item or part that was kept for a provider.
pub(crate) fn kept_for<'i>(provider: &str, unknown: &'i Value) -> Option<&'i Map<String, Value>> {
    let item_type = unknown.get("type")?.as_str()?;
    let is_own = item_type.strip_prefix(provider)?.starts_with('.') && unknown.get("provider")? == provider;
    is_own.then(|| unknown.get("item")?.as_object()).flatten()
}

#[cfg(test)]
mod tests {
    use haft_core::Item;

    use super::*;

    #[test]
    fn an_item_is_returned_to_its_own_provider_only() {
        for item in [json!({"type": "message", "x": [1]}), json!({"x": null})] {
            let item = item.as_object().unwrap();
            let kept = Item::Unknown(keep("acme", item));
            let stored: Item = serde_json::from_str(&serde_json::to_string(&kept).unwrap()).unwrap();
            let Item::Unknown(unknown) = &stored else { panic!("{stored:?}") };
            assert_eq!(kept_for("acme", unknown), Some(item));
            assert_eq!(kept_for("ac", unknown), None);
            assert_eq!(kept_for("other", unknown), None);
        }
        assert_eq!(kept_for("acme", &json!({"type": "acme.a", "provider": "other", "item": {}})), None);
        assert_eq!(kept_for("acme", &json!("acme")), None);
    }
}
