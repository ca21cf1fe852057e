//! A wire's profile by model: a model without strict tools gets the profile without strict mode.

use crate::capability::{Capabilities, ModelTable};
use crate::profile::Profile;

#[derive(Clone, Debug)]
pub(crate) struct ModelProfile {
    profile: Profile,
    without_strict: Profile,
    models: ModelTable,
}

impl ModelProfile {
    pub(crate) fn new(profile: Profile) -> Self {
        let without_strict = profile.clone().without_strict_mode();
        Self { profile, without_strict, models: ModelTable::built_in() }
    }

    pub(crate) fn with_profile(self, profile: Profile) -> Self {
        Self { models: self.models, ..Self::new(profile) }
    }

    pub(crate) fn with_models(self, models: ModelTable) -> Self {
        Self { models, ..self }
    }

    /// Returns the profile for models that can do everything.
    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns a model's capabilities and its profile.
    pub(crate) fn for_model(&self, model: &str) -> (Capabilities, &Profile) {
        let capabilities = self.models.find(model);
        (capabilities, if capabilities.strict_tools { &self.profile } else { &self.without_strict })
    }
}
