//! Sharing of compiled forms between equal schemas: a hundred tools with the same parameters compile them once.
//!
//! The table holds weak references only: when the last tool with a schema is dropped, so is its compiled form.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use serde_json::Value;

use super::Compiled;
use super::compile::Widths;

type CompiledByDigest = HashMap<u64, Vec<Weak<Compiled>>>;

/// Finds the compiled form of an equal schema that is in use.
pub(super) fn find(json: &Value, widths: Widths) -> Option<Arc<Compiled>> {
    let digest = digest(json, widths);
    let compiled_forms = compiled_forms().lock().unwrap_or_else(PoisonError::into_inner);
    let known = compiled_forms.get(&digest)?;
    known.iter().filter_map(Weak::upgrade).find(|compiled| compiled.widths == widths && identical(&compiled.json, json))
}

/// Makes a compiled form available to equal schemas.
pub(super) fn share(compiled: &Arc<Compiled>) {
    let digest = digest(&compiled.json, compiled.widths);
    let mut compiled_forms = compiled_forms().lock().unwrap_or_else(PoisonError::into_inner);
    let slot = compiled_forms.entry(digest).or_default();
    slot.retain(|weak| weak.strong_count() > 0);
    slot.push(Arc::downgrade(compiled));
    // Few entries are dead, so they are removed only when the table has doubled in size.
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

/// Reports whether two schemas are identical, including the order of keys: each is shown as it was given.
fn identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| identical(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((x, a), (y, b))| x == y && identical(a, b))
        }
        _ => a == b,
    }
}
