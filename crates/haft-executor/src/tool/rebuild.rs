//! Tools rebuilt from descriptors.
//!
//! A descriptor contains everything about a tool except code and the settings of its execution. The rebuilt tool has
//! the same kind, and its descriptor equals the one it was rebuilt from, so both have the same digest. What is missing
//! is never guessed: a tool that is executed here has no handler until one is attached, and runs nothing before.

use haft_core::{
    Annotation, Annotations, DescriptorKind, Destructive, Hints, Icons, Idempotent, Meta, OpenWorld, Readonly, Strict,
    Title, ToolDescriptor, Version,
};
use haft_schema::Schema;

use crate::tool::draft::ToolDraft;
use crate::tool::{DefinitionError, ProviderDefinition, SchemaPart, Tool, ToolKind};

impl Tool {
    /// Rebuilds a tool from its descriptor, which may have been stored or received from another process. Its schemas
    /// are enforced as before, and every fault of the descriptor is an error.
    ///
    /// A tool whose calls are executed here ([`ToolDescriptor::requires_handler`]) gets its handler from
    /// [`with_handler`](Tool::with_handler) or [`Toolkit::dynamic`](crate::Toolkit::dynamic). A descriptor contains no
    /// approval policy, dependencies, limits and failure mode, and no custom check of values
    /// ([`Enforcement::custom_check`](haft_schema::Enforcement)): set them again where the tool is executed.
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    /// use haft_core::{ToolCall, ToolDescriptor};
    /// use serde_json::Value;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let stored = r#"{
    ///     "name": "double", "kind": {"type": "dynamic"},
    ///     "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    /// }"#;
    /// let double = Tool::from_descriptor(&serde_json::from_str(stored)?)?
    ///     .with_handler(|arguments: Value, _cx| async move { arguments["n"].as_i64().map(|n| 2 * n) })?;
    /// let kit: Toolkit = Toolkit::from_iter([double]);
    ///
    /// assert_eq!(kit.run_call(&ToolCall::new("c1", "double", r#"{"n": 21}"#)).await.value().unwrap().as_str(), "42");
    /// assert!(kit.run_call(&ToolCall::new("c2", "double", r#"{"n": "x"}"#)).await.value().is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_descriptor(descriptor: &ToolDescriptor) -> Result<Self, DefinitionError> {
        let ToolDescriptor {
            id,
            name,
            version,
            title,
            description,
            kind,
            input_schema,
            output_schema,
            failure_schema,
            emits,
            strict,
            hints,
            icons,
            provider_options,
            annotations,
            meta,
            examples,
        } = descriptor;
        let mut faults = Vec::new();
        let kind = match kind {
            DescriptorKind::Local => ToolKind::Local,
            DescriptorKind::Dynamic => ToolKind::Dynamic,
            DescriptorKind::Provider { id, provider_name, args, requires_handler } => {
                let provider = ProviderDefinition::restored(id, provider_name, args, *requires_handler);
                faults.extend(provider.id_fault());
                ToolKind::Provider(provider)
            }
            DescriptorKind::Signal => ToolKind::Signal,
            DescriptorKind::Interaction => ToolKind::Interaction,
        };
        let mut draft = ToolDraft::new(name.clone(), kind);
        draft.id = Some(id.as_str().to_owned());
        draft.faults = faults;
        draft.description.clone_from(description);
        draft.examples.clone_from(examples);
        draft.set_schema(SchemaPart::Parameters, input_schema.schema().cloned());
        // A result without a schema is unknown, and a failure without one is not declared.
        let success = output_schema.as_ref().map_or_else(|| Ok(Schema::unknown()), |schema| schema.schema().cloned());
        draft.set_schema(SchemaPart::Success, success);
        if let Some(schema) = failure_schema {
            draft.set_schema(SchemaPart::Failure, schema.schema().cloned());
        }
        if let Some(schema) = emits {
            draft.set_schema(SchemaPart::Emits, schema.schema().cloned());
        }
        let mut restored = hint_annotations(*hints);
        restored = add(restored, title.clone().map(Title));
        restored = add(restored, version.clone().map(Version));
        restored = add(restored, strict.map(Strict));
        restored = add(restored, meta.clone().map(Meta));
        restored = add(restored, (!icons.is_empty()).then(|| Icons(icons.clone())));
        restored = add(restored, (!provider_options.is_empty()).then(|| provider_options.clone()));
        let own = annotations.iter();
        draft.annotations = own.fold(restored, |all, (key, json)| all.with_json(key.clone(), json.clone()));
        draft.finish(None)
    }
}

/// Returns the annotations of these hints. A hint with its default value is left unset.
fn hint_annotations(hints: Hints) -> Annotations {
    let Hints { readonly, destructive, idempotent, open_world, idempotence_unset } = hints;
    let unset = Hints::default();
    let mut annotations = Annotations::new();
    annotations = add(annotations, (readonly != unset.readonly).then_some(Readonly(readonly)));
    annotations = add(annotations, (destructive != unset.destructive).then_some(Destructive(destructive)));
    // For a tool that only reads, a stated `false` forbids to repeat calls.
    let is_stated = idempotent != unset.idempotent || (readonly && !idempotence_unset);
    annotations = add(annotations, is_stated.then_some(Idempotent(idempotent)));
    add(annotations, (open_world != unset.open_world).then_some(OpenWorld(open_world)))
}

pub(crate) fn add<A: Annotation>(annotations: Annotations, annotation: Option<A>) -> Annotations {
    match annotation {
        Some(annotation) => annotations.with(annotation),
        None => annotations,
    }
}
