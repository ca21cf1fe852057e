//! An empty library: this package exists for its tests, which are those of haft-schema.
