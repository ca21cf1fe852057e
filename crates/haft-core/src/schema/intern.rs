//! Equal schemas share one compiled form: a hundred tools that take the same parameters compile them once.
//!
//! The list holds nothing alive: when the last tool with a schema is gone, so is its compiled form.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use serde_json::Value;

use super::Compiled;
use super::compile::Widths;

type CompiledByDigest = HashMap<u64, Vec<Weak<Compiled>>>;

/// The compiled form of a schema that is already in use.
pub(super) fn find(json: &Value, widths: Widths) -> Option<Arc<Compiled>> {
    let digest = digest(json, widths);
    let compiled_forms = compiled_forms().lock().unwrap_or_else(PoisonError::into_inner);
    let known = compiled_forms.get(&digest)?;
    known.iter().filter_map(Weak::upgrade).find(|compiled| compiled.widths == widths && identical(&compiled.json, json))
}

/// Lets others find a compiled form.
pub(super) fn share(compiled: &Arc<Compiled>) {
    let digest = digest(&compiled.json, compiled.widths);
    let mut compiled_forms = compiled_forms().lock().unwrap_or_else(PoisonError::into_inner);
    let slot = compiled_forms.entry(digest).or_default();
    slot.retain(|weak| weak.strong_count() > 0);
    slot.push(Arc::downgrade(compiled));
    // Emptied slots are few next to live ones; sweep them when the shelf has doubled since it was last full.
    if compiled_forms.len().is_power_of_two() {
        compiled_forms.retain(|_, slot| slot.iter().any(|weak| weak.strong_count() > 0));
    }
}

fn compiled_forms() -> &'static Mutex<CompiledByDigest> {
    static COMPILED: OnceLock<Mutex<CompiledByDigest>> = OnceLock::new();
    COMPILED.get_or_init(Mutex::default)
}

fn digest(json: &Value, widths: Widths) -> u64 {
    let mut hasher = DefaultHasher::new();
    json.to_string().hash(&mut hasher);
    widths.hash(&mut hasher);
    hasher.finish()
}

/// Whether two schemas are the same to the byte, the order of keys included: each is shown as it was given.
fn identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| identical(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((x, a), (y, b))| x == y && identical(a, b))
        }
        _ => a == b,
    }
}
