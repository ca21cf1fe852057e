//! The location of a user, by which web searches are adapted.

use serde::{Deserialize, Serialize};

use crate::catalogue::typed::setting_object;

setting_object! {
    /// The approximate location of a user.
    pub struct UserLocation {
        required {
            /// The kind of location.
            r#type: LocationKind,
        }
        optional {
            /// The city.
            city: String,
            /// The country, by its two-letter ISO code.
            country: String,
            /// The region.
            region: String,
            /// The IANA time zone.
            timezone: String,
        }
    }
}

/// The kind of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LocationKind {
    /// A location that need not be exact.
    Approximate,
}

impl UserLocation {
    /// Creates an approximate location of which nothing is known.
    #[must_use]
    pub fn approximate() -> Self {
        Self::new(LocationKind::Approximate)
    }
}
